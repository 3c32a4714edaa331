//! A region that is gathered at its beginning, from its master's point of view.

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

/// The state of the thread with this TLS base.
/// # Safety
/// It sleeps while its TLS is lent.
unsafe fn state_in(tls_base: usize) -> (&'static Thread, &'static Master) {
    // SAFETY: the thread sleeps, so nobody else uses its state.
    unsafe { (part_of(tls_base), part_of(tls_base)) }
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
    // SAFETY: no region is open, so only the master uses members and team. Workers whose state is written
    // sleep in the runtime's idle barrier.
    unsafe {
        TEAM.body.set(Some(region.work.run));
        TEAM.data.set(region.work.data);
        let first = TEAM.share.get();
        // The program may have chosen another number since it was last recorded.
        let asked = region.code.runtime.omp_get_max_threads.filter(|_| region.requested != 0);
        let most = asked.map_or_else(natural, |most| most().max(1) as u32);
        for (number, member) in MEMBERS.all(size) {
            member.number.set(number as u32);
            member.share.set(first);
            member.assigned.set(Assigned::NONE);
            member.task.set(CurrentTask::IMPLICIT);
            member.inner.set(null());
            member.cancelled.set(0);
            member.most.set(most);
            member.llvm.begin(number as c_int, worker_tls::number_of(number));
            *member.fiber.get() = if number == 0 {
                Fiber::with_tls(arch::tls_base())
            } else {
                let Some(end) = member_stacks::end(number) else { return };
                let tls_base = worker_tls::of(number);
                let (its, master) = state_in(tls_base);
                its.member.set((&raw const *member).cast());
                its.runtime.set(Some(region.code.runtime));
                its.numbers.set(member.llvm.numbers());
                its.frame.set(null());
                its.serial.set(0);
                master.depth.set(1);
                Fiber::fresh(end, tls_base, float_control::first(region.code.runtime, number), start)
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
            MEMBERS.all(size).for_each(|(_, member)| member.icvs.set(chosen));
        }
        if let Some(whole) = MEMBERS.get(0).and_then(|me| first_share(me, &region.kind)) {
            let first = first.wrapping_add(1);
            MEMBERS.all(size).for_each(|(_, member)| member.share.set(first));
            let _: Came = SHARES.come(first, &whole);
        }
        let Some(me) = MEMBERS.get(0) else { return };
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

/// All members are in a group with the region's reductions. No member waits for it.
unsafe fn begin_reductions(region: &Region, size: u32) {
    // SAFETY: the compiler passes reductions by the first word of the data; no region is open, so only the
    // master uses the members.
    unsafe {
        let list = gomp_reductions::list_of(region.work.data);
        gomp_reductions::give_memory(list, size as usize, 0);
        let group = task_pool::with(|table| {
            let group = table.open_group(NONE)?;
            table.set_reductions(group, list.expose_provenance());
            Some(group)
        });
        let now = CurrentTask { group: group.unwrap_or(NONE), ..CurrentTask::IMPLICIT };
        MEMBERS.all(size).for_each(|(_, member)| member.task.set(now));
    }
}

/// A nested region: a team of one thread, as with one active level.
pub unsafe fn inner(me: &'static Member, region: &Region) {
    // SAFETY: the region's own function gets its own data; `inner` outlives it.
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
