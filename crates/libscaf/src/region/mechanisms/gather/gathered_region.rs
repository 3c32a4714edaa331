//! A gathered region from its beginning to its end, as its master has it.

use super::current_task::CurrentTask;
use super::explicit_tasks::in_inner;
use super::fibers::{meet_at_end, move_to_first_carrier, start, wait};
use super::gathered_team::{MEMBERS, Member, SCHEDULER, SHARES, TEAM};
use super::icvs::{self, Icvs};
use super::inner_region::Inner;
use super::{
    cancel, carrier_monitor, carriers, float_control, forbids, gomp_reductions, llvm_reductions,
    member_signals, member_stacks, task_pool, worker_tls,
};
use crate::program::masters::Master;
use crate::program::masters::natural;
use crate::region::kind::{Kind, Region};
use crate::region::thread::{Thread, thread};
use crate::sys::arch::{self, Fiber};
use crate::sys::thread_state::part_of;
use core::ffi::c_int;
use core::ptr::null;
use scaf_team::gather::scheduler::Until;
use scaf_team::gather::task_table::NONE;
use scaf_team::gather::worksharing::{Assigned, Came, Loop};

/// The state of the thread whose storage this is.
/// # Safety
/// It sleeps for as long as its storage is lent.
unsafe fn state_in(storage: usize) -> (&'static Thread, &'static Master) {
    // SAFETY: the caller's promise: it sleeps.
    unsafe { (part_of(storage), part_of(storage)) }
}

/// The loop or the sections that a region begins with.
fn first_share(me: &Member, kind: &Kind) -> Option<Loop> {
    match *kind {
        Kind::Loop(whole) => Some(whole),
        Kind::AskedLoop(whole) => Some(Loop { rule: me.icvs.get().rule(), ..whole }),
        Kind::Sections(count) => Some(Loop::sections(count.into())),
        Kind::Plain | Kind::Reductions | Kind::Opened => None,
    }
}

/// Runs a region as its master.
pub unsafe fn run(this: &Thread, region: &Region, carriers: u32, size: u32) {
    // SAFETY: the scheduler is empty, so members and team are the master's; their workers sleep.
    unsafe {
        TEAM.body.set(Some(region.work.run));
        TEAM.data.set(region.work.data);
        let first = TEAM.share.get();
        // What the program chose itself may be newer than what was last found.
        let asked = region.code.runtime.max_threads.filter(|_| region.requested != 0);
        let most = asked.map_or_else(natural, |most| most().max(1) as u32);
        for (number, member) in MEMBERS.iter().enumerate().take(size as usize) {
            member.number.set(number as u32);
            member.share.set(first);
            member.assigned.set(Assigned::NONE);
            member.task.set(CurrentTask::MEMBERS);
            member.inner.set(null());
            member.cancelled.set(0);
            member.most.set(most);
            member.llvm.begin(number as c_int, worker_tls::number_of(number));
            *member.fiber.get() = if number == 0 {
                Fiber::with_tls(arch::tls_base())
            } else {
                let Some(end) = member_stacks::end(number) else { return };
                let storage = worker_tls::of(number);
                let (its, master) = state_in(storage);
                its.member.set((&raw const *member).cast());
                its.runtime.set(Some(region.code.runtime));
                its.numbers.set(member.llvm.numbers());
                its.frame.set(null());
                its.serial.set(0);
                master.depth.set(1);
                Fiber::fresh(end, storage, float_control::first(region.code.runtime, number), start)
            };
        }
        TEAM.has_tasks.set(forbids::has_tasks());
        TEAM.cancels.set(cancel::may_be(region.code.runtime));
        if TEAM.has_tasks.get() {
            task_pool::begin();
            llvm_reductions::clear();
        }
        if region.kind == Kind::Reductions {
            begin_reductions(region, size);
        }
        if forbids::asks_icvs() {
            let chosen = Icvs::of(region.code.runtime);
            icvs::record_schedule(&chosen);
            MEMBERS.iter().take(size as usize).for_each(|member| member.icvs.set(chosen));
        }
        if let Some(whole) = MEMBERS.first().and_then(|me| first_share(me, &region.kind)) {
            let first = first.wrapping_add(1);
            MEMBERS.iter().take(size as usize).for_each(|member| member.share.set(first));
            let _: Came = SHARES.come(first, &whole);
        }
        let Some(me) = MEMBERS.first() else { return };
        worker_tls::use_recorded_signals();
        carrier_monitor::of(region.code);
        me.carrier.set(Some(carriers::begin()));
        carrier_monitor::again();
        SCHEDULER.begin(size, carriers);
        if carriers > 1 {
            carriers::wake(carriers);
        }
        this.member.set((&raw const *me).cast());
        this.numbers.set(me.llvm.numbers());
        (region.work.run)(region.work.data);
        if TEAM.has_tasks.get() {
            meet_at_end(me);
        }
        this.member.set(null());
        move_to_first_carrier(me);
        wait(me, Until::Joined);
        SCHEDULER.close();
        carriers::wait_for_others();
        member_signals::end(size);
        cancel::end(me, size);
        for number in 1..size as usize {
            let (its, master) = state_in(worker_tls::of(number));
            its.member.set(null());
            its.runtime.set(None);
            master.depth.set(0);
        }
    }
}

/// All members are in a group with the region's reductions, which no member waits for.
unsafe fn begin_reductions(region: &Region, size: u32) {
    // SAFETY: the program's own data.
    unsafe {
        let list = gomp_reductions::list_of(region.work.data);
        gomp_reductions::give_memory(list, size as usize, 0);
        let group = task_pool::with(|table| {
            let group = table.open_group(NONE)?;
            table.set_reductions(group, list.expose_provenance());
            Some(group)
        });
        let now = CurrentTask { group: group.unwrap_or(NONE), ..CurrentTask::MEMBERS };
        MEMBERS.iter().take(size as usize).for_each(|member| member.task.set(now));
    }
}

/// A region within the region: a team of one, as with one active level.
pub unsafe fn inner(me: &'static Member, region: &Region) {
    // SAFETY: the program's own function and data; the caller runs the member.
    unsafe {
        let inner = Inner::new(me.inner.get(), first_share(me, &region.kind));
        let before = me.inner.replace(&raw const inner);
        let cancelled = me.cancelled.replace(0);
        thread().numbers.set(me.llvm.numbers_alone());
        let run = || {
            if region.kind == Kind::Reductions {
                gomp_reductions::register(me, gomp_reductions::list_of(region.work.data));
            }
            (region.work.run)(region.work.data);
        };
        if TEAM.has_tasks.get() {
            in_inner(me, run)
        } else {
            run()
        }
        me.inner.set(before);
        me.cancelled.set(cancelled);
        inner.room.give_back();
    }
}
