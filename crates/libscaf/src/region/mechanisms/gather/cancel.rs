//! What members cancel: their region, the loop or sections that they are in, and groups of tasks. Each is
//! heeded by itself, where `OMP_CANCELLATION` says that they are at all.
//!
//! Of a group that is cancelled, and of a region, tasks that haven't begun are dropped: they are over without
//! being run, and so are met dependences on them.

use super::forbids;
use super::gathered_team::{MEMBERS, Member, SCHEDULER, SHARES, TEAM};
pub use super::task_pool::drops;
use super::task_pool::with;
use crate::runtimes::entries::Runtime;
use crate::sys::futex::Futex;
use core::ffi::c_int;
use scaf_team::gather::scheduler::Cancelled;

/// A construct that is cancelled by one of its members.
#[derive(Clone, Copy)]
pub enum Construct {
    Region,
    /// A loop or sections.
    Share,
    Group,
}

impl Construct {
    /// The construct of a compiler's number: a region is 1 for all, and groups are `group`.
    pub fn of(number: c_int, group: c_int) -> Construct {
        match number {
            1 => Construct::Region,
            _ if number == group => Construct::Group,
            _ => Construct::Share,
        }
    }
}

/// Whether the program cancels constructs, and `OMP_CANCELLATION` says that they are.
pub fn may_be(runtime: &Runtime) -> bool {
    // SAFETY: omp_get_cancellation takes nothing.
    forbids::cancels() && runtime.cancellation.is_none_or(|on| unsafe { on() != 0 })
}

/// A member cancels a construct around it; whether that is heeded.
pub fn cancel(me: &Member, what: Construct) -> bool {
    if !TEAM.cancels.get() {
        return false;
    }
    match what {
        Construct::Region => cancel_in_team(me, Cancelled::Region),
        Construct::Share => cancel_in_team(me, Cancelled::Shares),
        // One without a record has no tasks that wait.
        Construct::Group => with(|table| table.cancel(me.task.get().recorded_group())),
    }
    true
}

fn cancel_in_team(me: &Member, what: Cancelled) {
    if me.is_alone() {
        me.cancelled.set(me.cancelled.get() | what as u32);
    } else {
        SCHEDULER.cancel(what, &Futex);
    }
}

/// Whether a construct around the member is cancelled.
#[inline]
pub fn is_cancelled(me: &Member, what: Construct) -> bool {
    TEAM.cancels.get()
        && match what {
            Construct::Region => me.has_cancelled(Cancelled::Region),
            Construct::Share => me.has_cancelled(Cancelled::Shares),
            Construct::Group => {
                let group = me.task.get().recorded_group();
                with(|table| table.is_cancelled(group))
            }
        }
}

/// A member that is alone passes a barrier, behind what it may have cancelled.
#[inline]
pub fn passes_alone(me: &Member) {
    me.cancelled.set(me.cancelled.get() & !(Cancelled::Shares as u32));
}

/// The master ends the region, which all have left; notes the last share that they have come to. If they left
/// it early that is the last one of any.
#[inline]
pub fn end(master: &Member, size: u32) {
    let first = TEAM.share.get();
    let come = |member: &Member| member.share.get().wrapping_sub(first);
    let mut most = come(master);
    if SCHEDULER.is_cancelled(Cancelled::Region) {
        SHARES.abandon();
        most = MEMBERS.iter().take(size as usize).map(come).fold(most, u32::max);
    }
    TEAM.share.set(first.wrapping_add(most));
}
