//! Teams that are gathered in the middle of a region, and go back to threads of their own.
//!
//! A region that began on real threads is gathered at a barrier when its grant has become smaller than its
//! team, or if its team has always had more threads than PUs and meets often. The last thread to arrive
//! decides that, while all others wait for it. Each thread becomes a member that keeps its stack and its
//! thread-local storage. Its kernel thread goes to its *berth* ([`idle_stacks`]) and sleeps. The master's
//! doesn't: it is carrier 0, and takes the signals that are for the whole process.
//!
//! Nobody is within a loop, a section or a single then, so what the runtime keeps of these, for each thread,
//! is equal for all of them. It stays so while the team is gathered, because all miss the same ones. So
//! members can be threads again behind any later barrier, and are when the grant is as large as the team: the
//! watch asks for it. At the region's end each goes home before it returns into the runtime.

use super::current_task::CurrentTask;
use super::eligibility::{may_midway, may_now};
use super::fibers::{after_switch, meet, switch_to, wait};
use super::gathered_team::{MEMBERS, MOST, Member, SCHEDULER, TEAM, around};
use super::icvs::{self, Icvs};
use super::{
    carrier_monitor, carriers, forbids, idle_stacks, member_signals, midway_report, task_pool, worker_tls,
    yielding_loops,
};
use crate::link::pages;
use crate::program::masters::{is_crowded, is_too_large};
use crate::region::frame::Frame;
use crate::region::kind::Region;
use crate::region::place::index;
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

/// The tick at which the last team went home.
static RETURNED_AT: AtomicU64 = AtomicU64::new(0);

/// Crowded barriers of the region of the team that was gathered last, before that.
static AT_GATHERING: AtomicU32 = AtomicU32::new(0);

/// Barriers of a crowded team before it is gathered: becoming members and threads again costs as much.
const PATIENCE: u32 = 3;
/// Ticks for which a team that went home stays on its threads (1 to 2 ms): a grant may change all the time.
const BETWEEN: u64 = 1 << 22;
/// Longest nap of a carrier, in milliseconds.
const NAP_MS: u32 = 2;

/// The region's code, if its team, on real threads, may be gathered at a barrier.
#[inline(always)]
pub fn may(region: &Region, size: u32) -> Option<Code> {
    let code = region.code;
    let may = may_midway(region, size);
    if may && code.runtime.is_llvms() && forbids::asks_icvs() {
        // SAFETY: the calling thread is about to be the region's master.
        icvs::record_schedule(&unsafe { Icvs::of(code.runtime) });
    }
    may.then_some(code)
}

/// The caller is the last thread to arrive at the region's barrier: whether it becomes a gathered team there.
#[inline(always)]
pub fn gathers(frame: &Frame, team: u32) -> bool {
    yielding_loops::make_at_barrier();
    match frame.gathers {
        Some(code) if is_crowded(team) || is_too_large(team) => gather(frame, code, team),
        _ => false,
    }
}

#[cold]
#[inline(never)]
fn gather(frame: &Frame, code: Code, team: u32) -> bool {
    let word = pages::grant().word();
    let before = frame.crowded.fetch_add(1, Ordering::Relaxed);
    let meets_often = || {
        let (since, already) = on_threads_since(frame);
        midway_report::is_often(ticks().wrapping_sub(since), before.saturating_sub(already))
    };
    let possible = before >= PATIENCE
        && (is_crowded(team) || meets_often())
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
        // SAFETY: the calling thread's. Nobody can have changed it, so it is the master's.
        icvs::record_schedule(&unsafe { Icvs::of(code.runtime) });
    }
    TEAM.has_tasks.set(forbids::has_tasks());
    // What may be cancelled isn't gathered midway.
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

/// The tick from which on the team has been on threads in this region, and its crowded barriers before that.
fn on_threads_since(frame: &Frame) -> (u64, u32) {
    let home = RETURNED_AT.load(Ordering::Relaxed);
    if home.wrapping_sub(frame.entered).cast_signed() > 0 {
        (home, AT_GATHERING.load(Ordering::Relaxed))
    } else {
        (frame.entered, 0)
    }
}

/// The calling thread of a region becomes a member of its gathered team. Returns when the member is run.
#[cold]
#[inline(never)]
pub unsafe fn join(this: &Thread, frame: &Frame) {
    let runtime = frame.runtime();
    // SAFETY: this thread's own state, and its own member; omp_get_max_threads takes nothing.
    unsafe {
        let number = index(this, runtime);
        let Some(me) = MEMBERS.get(number as usize) else { return };
        me.number.set(number);
        me.share.set(TEAM.share.get());
        me.assigned.set(Assigned::NONE);
        me.task.set(CurrentTask::MEMBERS);
        me.inner.set(null());
        me.most.set(runtime.max_threads.map_or(1, |most| most()).max(1) as u32);
        me.icvs.set(Icvs::of(runtime));
        me.llvm.begin(number as c_int, runtime.global_thread_num.map_or(0, |number| number(null_mut())));
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

/// A member is at a barrier: where the region began on threads, the master marks that as they do.
#[inline(always)]
pub unsafe fn mark(me: &Member) {
    if me.number.get() == 0
        && let Some(frame) = thread().frame()
    {
        frame.mark(ticks(), SCHEDULER.size());
    }
}

/// A member has passed a barrier behind which all go home; `last` if it was the last to arrive there.
#[cold]
#[inline(never)]
pub unsafe fn return_to_thread(me: &'static Member, last: bool) {
    if last {
        (1..SCHEDULER.size() as usize).for_each(idle_stacks::wake);
    }
    // SAFETY: the caller runs the member.
    unsafe {
        return_to_own_thread(me);
        if me.number.get() == 0 {
            end(me);
        }
        resume_as_thread(me);
    }
}

/// A thread has come to the end of a region's function; if it is a member, it goes home.
#[inline(always)]
pub unsafe fn leave() {
    // SAFETY: the calling thread's own state.
    if let Some(me) = unsafe { around(thread()) } {
        // SAFETY: the caller runs the member. Members of regions that were gathered from their start don't
        // come here.
        unsafe { leave_as(me) }
    }
}

#[cold]
#[inline(never)]
unsafe fn leave_as(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
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
}

/// Has a member on its own kernel thread again.
unsafe fn return_to_own_thread(me: &'static Member) {
    let number = me.number.get() as usize;
    // SAFETY: the caller runs the member. It is said to be free once its carrier is off its stack.
    unsafe {
        while let Some(carrier) = me.carrier.get() {
            if carrier.number() != 0 {
                SCHEDULER.set_wait(number, Until::OwnThread);
                idle_stacks::wake(number);
                carrier.has_changed();
                after_switch(switch(me.fiber.get(), carrier.home(), number));
            } else if number == 0 {
                return;
            } else {
                // The master's kernel thread has no other place than a member's stack, its own at last.
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
unsafe fn resume_as_thread(me: &'static Member) {
    let this = thread();
    // SAFETY: this thread's own state; the runtime's own entry points, with the member's own number.
    unsafe {
        this.member.set(null());
        if me.number.get() != 0 {
            member_signals::back_home(me);
        }
        if let Some(frame) = this.frame() {
            let (most, runtime) = (me.most.get(), frame.runtime());
            if let (Some(ask), Some(set)) = (runtime.max_threads, runtime.set_num_threads)
                && ask() as u32 != most
            {
                set(most as i32);
            }
            me.icvs.get().put_back(runtime);
            open_groups(me, frame);
        }
    }
}

/// Groups of tasks that a member is in, which are closed.
fn close_groups(me: &Member) -> u32 {
    let now = me.task.get();
    let (mut group, mut count) = (now.group, now.unrecorded);
    while group != NONE {
        group = task_pool::with(|table| table.close_group(group));
        count = count.saturating_add(1);
    }
    count
}

/// Has the thread in as many groups of the runtime's as the member was in: none of their tasks is left.
unsafe fn open_groups(me: &Member, frame: &Frame) {
    for _ in 0..close_groups(me) {
        // From here on tasks are the runtime's.
        frame.has_tasks(frame.times_tasks());
        if let Some(open) = frame.runtime().taskgroup_start {
            // SAFETY: it takes nothing.
            unsafe { open(null_mut()) };
        }
    }
}
