//! Gathers teams in the middle of a region, and returns them to threads.
//!
//! A region on threads is gathered at a barrier once its grant is smaller than its team, or if its team has
//! more threads than PUs anyway and meets often. The last thread to arrive decides. Each thread becomes a
//! member that keeps its stack and its TLS; its kernel thread sleeps on its idle stack ([`idle_stacks`]).
//!
//! At a barrier no thread is in a worksharing construct, and all members miss the same ones in the runtime.
//! So the team can return to threads behind any later barrier. The carrier monitor asks for that once the
//! grant is as large as the team. At the region's end each member returns to its own kernel thread.

use super::current_task::CurrentTask;
use super::eligibility::{may_midway, may_now};
use super::fibers::{after_switch, meet, switch_to, wait};
use super::gathered_team::{MEMBERS, MOST, Member, SCHEDULER, TEAM, current};
use super::icvs::{self, Icvs};
use super::{
    carrier_monitor, carriers, forbids, idle_stacks, member_signals, midway_report, task_pool, worker_tls,
    yielding_loops,
};
use crate::link::pages;
use crate::program::masters::{is_oversubscribed, is_too_large};
use crate::region::frame::Frame;
use crate::region::kind::Region;
use crate::region::serving_runtime::index;
use crate::region::thread::{Thread, thread};
use crate::runtimes::lookup::Code;
use crate::sys::arch::{self, switch, ticks};
use crate::sys::futex::Futex;
use core::ffi::c_int;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_team::gather::scheduler::Until;
use scaf_team::gather::task_table::NONE;
use scaf_team::gather::worksharing::Assigned;

/// The tick at which the last team returned to threads.
static RETURNED_AT: AtomicU64 = AtomicU64::new(0);

/// Oversubscribed barriers of that team's region before it was gathered.
static AT_GATHERING: AtomicU32 = AtomicU32::new(0);

/// Oversubscribed barriers before a team is gathered: to gather it and return costs as much.
const PATIENCE: u32 = 3;
/// Ticks for which a team that returned stays on threads (1 to 2 ms): a grant may change all the time.
const BETWEEN: u64 = 1 << 22;
/// Longest nap of a carrier, in milliseconds.
const NAP_MS: u32 = 2;

/// The region's code, if its team may be gathered at a barrier.
#[inline(always)]
pub fn may(region: &Region, size: u32) -> Option<Code> {
    let code = region.code;
    let may = may_midway(region, size);
    if may && code.runtime.is_llvms() && forbids::asks_icvs() {
        // SAFETY: `Icvs::of` asks the calling thread's runtime, and this thread is about to be the region's
        // master.
        icvs::record_schedule(&unsafe { Icvs::of(code.runtime) });
    }
    may.then_some(code)
}

/// Called by the last thread to arrive at a barrier: whether the team is gathered there.
#[inline(always)]
pub fn gathers(frame: &Frame, team: u32) -> bool {
    yielding_loops::make_at_barrier();
    match frame.gathers {
        Some(code) if is_oversubscribed(team) || is_too_large(team) => gather(frame, code, team),
        _ => false,
    }
}

#[cold]
#[inline(never)]
fn gather(frame: &Frame, code: Code, team: u32) -> bool {
    let word = pages::grant().word();
    let before = frame.oversubscribed.fetch_add(1, Ordering::Relaxed);
    let meets_often = || {
        let (since, already) = on_threads_since(frame);
        midway_report::is_often(ticks().wrapping_sub(since), before.saturating_sub(already))
    };
    let possible = before >= PATIENCE
        && (is_oversubscribed(team) || meets_often())
        && team <= MOST as u32
        && frame.has_no_tasks()
        && (!word.spins() || yielding_loops::are_made())
        && ticks().wrapping_sub(RETURNED_AT.load(Ordering::Relaxed)) > BETWEEN
        && SCHEDULER.carrier_limit() == 0
        && SCHEDULER.is_quiescent()
        && may_now(code)
        && carrier_monitor::is_there()
        && idle_stacks::are_there(team);
    let Some(dop) = word.dop().filter(|_| possible) else { return false };
    worker_tls::record_limit(code.runtime);
    if !forbids::asks_icvs() {
        // SAFETY: `Icvs::of` asks the calling thread's runtime. No thread can have changed the master's
        // value.
        icvs::record_schedule(&unsafe { Icvs::of(code.runtime) });
    }
    TEAM.has_tasks.set(forbids::has_tasks());
    // Regions that may be cancelled aren't gathered midway.
    TEAM.cancels.set(false);
    if TEAM.has_tasks.get() {
        task_pool::begin();
    }
    worker_tls::take_for_own_thread();
    midway_report::reports_at(frame.slot);
    carrier_monitor::of(code);
    AT_GATHERING.store(before, Ordering::Relaxed);
    SCHEDULER.gather(team, dop.min(team).max(1));
    true
}

/// The tick since which the team has been on threads in this region, and its oversubscribed barriers before
/// that.
fn on_threads_since(frame: &Frame) -> (u64, u32) {
    let returned = RETURNED_AT.load(Ordering::Relaxed);
    if returned.wrapping_sub(frame.entered).cast_signed() > 0 {
        (returned, AT_GATHERING.load(Ordering::Relaxed))
    } else {
        (frame.entered, 0)
    }
}

/// The calling thread becomes a member of its gathered team. Returns when the member is scheduled. `this` is
/// the calling thread's state.
#[cold]
#[inline(never)]
pub unsafe fn join(this: &Thread, frame: &Frame) {
    let runtime = frame.runtime();
    // SAFETY: `this` is the calling thread's state. Its number in the team is its alone, so nobody else uses
    // the member. The runtime's functions take nothing, or a null place in the source.
    unsafe {
        let number = index(this, runtime);
        let Some(me) = MEMBERS.get(number as usize) else { return };
        me.number.set(number);
        me.share.set(TEAM.share.get());
        me.assigned.set(Assigned::NONE);
        me.task.set(CurrentTask::IMPLICIT);
        me.inner.set(null());
        me.most.set(runtime.omp_get_max_threads.map_or(1, |most| most()).max(1) as u32);
        me.icvs.set(Icvs::of(runtime));
        me.llvm
            .begin(number as c_int, runtime.__kmpc_global_thread_num.map_or(0, |number| number(null_mut())));
        *me.fiber.get() = arch::Fiber::with_tls(arch::tls_base());
        this.member.set((&raw const *me).cast());
        if number != 0 {
            member_signals::join(me, None);
            return idle_stacks::sleep(me);
        }
        let carrier = carriers::begin_midway();
        carrier_monitor::again();
        me.carrier.set(Some(carrier));
        member_signals::join(me, Some(carrier));
        midway_report::begins(ticks());
        let open = SCHEDULER.carrier_limit();
        if open > 1 {
            carriers::wake(open);
        }
    }
}

/// A member is at a barrier: in a region that began on threads, the master marks that as threads do.
#[inline(always)]
pub fn mark(me: &Member) {
    if me.number.get() == 0
        && let Some(frame) = thread().frame()
    {
        frame.mark(ticks(), SCHEDULER.size());
    }
}

/// A member has passed a barrier behind which the team returns to threads; `last` if it arrived there last.
#[cold]
#[inline(never)]
pub fn return_to_thread(me: &'static Member, last: bool) {
    if last {
        (1..SCHEDULER.size() as usize).for_each(idle_stacks::wake);
    }
    return_to_own_thread(me);
    if me.number.get() == 0 {
        end(me);
    }
    resume_as_thread(me);
}

/// A thread has come to the end of a region's function. If it is a member, it becomes a thread again.
#[inline(always)]
pub fn leave() {
    if let Some(me) = current() {
        leave_as(me)
    }
}

#[cold]
#[inline(never)]
fn leave_as(me: &'static Member) {
    if TEAM.has_tasks.get() {
        let last = meet(me, true);
        if SCHEDULER.is_returning() {
            return return_to_thread(me, last);
        }
    }
    if me.number.get() == 0 {
        return_to_own_thread(me);
        wait(me, Until::Joined);
        end(me);
    } else {
        SCHEDULER.finish_midway(&Futex);
        return_to_own_thread(me);
    }
    resume_as_thread(me);
}

/// Moves a member to its own kernel thread.
fn return_to_own_thread(me: &'static Member) {
    let number = me.number.get() as usize;
    // SAFETY: the member is saved by `switch`, and becomes schedulable once its carrier is off its stack. The
    // carrier's own fiber waits in `run_fiber`; `next` was taken.
    unsafe {
        while let Some(carrier) = me.carrier.get() {
            if carrier.number() != 0 {
                SCHEDULER.set_wait(number, Until::OwnThread);
                idle_stacks::wake(number);
                carrier.has_changed();
                after_switch(switch(me.fiber.get(), carrier.own_fiber(), number));
            } else if number == 0 {
                return;
            } else {
                // Carrier 0 always runs on some member's stack: on its own member's at last.
                let look = || SCHEDULER.take(0, number).or_else(|| SCHEDULER.take_master().then_some(0));
                if let Some(next) = SCHEDULER.nap(&Futex, NAP_MS, look) {
                    SCHEDULER.set_wait(number, Until::OwnThread);
                    idle_stacks::wake(number);
                    switch_to(me, carrier, next, number);
                }
            }
        }
    }
}

/// The master ends a gathered team.
fn end(me: &'static Member) {
    SCHEDULER.close();
    carriers::wait_for_others();
    member_signals::end(0);
    TEAM.share.set(me.share.get());
    let now = ticks();
    midway_report::ends(now);
    RETURNED_AT.store(now, Ordering::Relaxed);
}

/// The member is a thread again.
fn resume_as_thread(me: &'static Member) {
    let this = thread();
    // SAFETY: `this` is the calling thread's state; the runtime's setters get values that it gave before.
    unsafe {
        this.member.set(null());
        if me.number.get() != 0 {
            member_signals::back_on_own_thread(me);
        }
        if let Some(frame) = this.frame() {
            let (most, runtime) = (me.most.get(), frame.runtime());
            if let (Some(ask), Some(set)) = (runtime.omp_get_max_threads, runtime.omp_set_num_threads)
                && ask() as u32 != most
            {
                set(most as i32);
            }
            me.icvs.get().put_back(runtime);
            open_groups(me, frame);
        }
    }
}

/// Closes the task groups that a member is in; how many.
fn close_groups(me: &Member) -> u32 {
    let now = me.task.get();
    let (mut group, mut count) = (now.group, now.unrecorded);
    while group != NONE {
        group = task_pool::with(|table| table.close_group(group));
        count = count.saturating_add(1);
    }
    count
}

/// Opens as many groups in the runtime for the thread as the member was in. None of their tasks is left.
fn open_groups(me: &Member, frame: &Frame) {
    for _ in 0..close_groups(me) {
        // From here on tasks are the runtime's.
        frame.has_tasks(frame.times_tasks());
        if let Some(open) = frame.runtime().GOMP_taskgroup_start {
            // SAFETY: it takes nothing that it reads.
            unsafe { open(null_mut()) };
        }
    }
}
