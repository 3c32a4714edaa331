//! Cancellation of the region, of worksharing constructs and of task groups, if `OMP_CANCELLATION` is on.
//! Tasks of a cancelled group or region that haven't begun are dropped: they complete without being run, and
//! dependences on them are met.

use super::forbids;
use super::gathered_team::{MEMBERS, Member, SCHEDULER, SHARES, TEAM};
pub use super::task_pool::drops;
use super::task_pool::with;
use crate::runtimes::entries::Runtime;
use crate::sys::futex::Futex;
use core::ffi::c_int;
use scaf_team::gather::scheduler::Cancelled;

#[derive(Clone, Copy)]
pub enum Construct {
    Region,
    /// A loop or sections.
    Share,
    Group,
}

impl Construct {
    /// The construct of a compiler's number: 1 is a region, and `group` a task group.
    pub fn of(number: c_int, group: c_int) -> Construct {
        match number {
            1 => Construct::Region,
            _ if number == group => Construct::Group,
            _ => Construct::Share,
        }
    }
}

/// Whether the program has cancellation, and it is on.
pub fn may_be(runtime: &Runtime) -> bool {
    // SAFETY: `omp_get_cancellation` takes nothing.
    forbids::cancels() && runtime.omp_get_cancellation.is_none_or(|on| unsafe { on() != 0 })
}

/// Cancels a construct around the member; returns whether cancellation is on.
pub fn cancel(me: &Member, what: Construct) -> bool {
    if !TEAM.cancels.get() {
        return false;
    }
    match what {
        Construct::Region => cancel_in_team(me, Cancelled::Region),
        Construct::Share => cancel_in_team(me, Cancelled::Shares),
        // Tasks of a group without a record are undeferred.
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

/// A member that is alone passes a barrier: a cancelled worksharing construct has ended.
#[inline]
pub fn passes_alone(me: &Member) {
    me.cancelled.set(me.cancelled.get() & !(Cancelled::Shares as u32));
}

/// The master ends the region after all have left it, and records the last worksharing construct. If members
/// left early, that is the last one that any has reached.
#[inline]
pub fn end(master: &Member, size: u32) {
    let first = TEAM.share.get();
    let come = |member: &Member| member.share.get().wrapping_sub(first);
    let mut most = come(master);
    if SCHEDULER.is_cancelled(Cancelled::Region) {
        SHARES.abandon();
        // SAFETY: all members have left the region.
        most = unsafe { MEMBERS.all(size) }.map(|(_, member)| come(member)).fold(most, u32::max);
    }
    TEAM.share.set(first.wrapping_add(most));
}
