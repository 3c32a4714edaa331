//! Loops whose iterations are dealt out as tasks.

use super::cancel::{Construct, is_cancelled};
use super::explicit_tasks::{New, create, group_end, group_start};
use super::gathered_team::{Member, SCHEDULER};
use super::gomp_reductions::register;
use core::ptr::null_mut;

/// Of the flags of such a loop: it counts up, its count is iterations in a task, it doesn't wait for its
/// tasks, these add up, and each has as many iterations as said.
const UP: u32 = 1 << 8;
const GRAIN: u32 = 1 << 9;
const NO_GROUP: u32 = 1 << 11;
const REDUCTIONS: u32 = 1 << 12;
const STRICT: u32 = 1 << 14;

/// The numbers from `start` to `end`, in steps of `step`, as the program has them.
#[derive(Clone, Copy)]
pub struct Range {
    pub start: u64,
    pub end: u64,
    pub step: u64,
    /// Whether they are signed; else the flags say which way it counts.
    pub signed: bool,
}

impl Range {
    /// How many numbers.
    fn count(&self, flags: u32) -> u64 {
        use scaf_team::gather::worksharing::{Loop, Rule};
        if self.signed {
            Loop::signed(self.start as i64, self.end as i64, self.step as i64, Rule::Static(0)).count
        } else {
            Loop::unsigned(flags & UP != 0, self.start, self.end, self.step, Rule::Static(0)).count
        }
    }
}

/// A member creates the tasks of a loop. `new` is any of them, `wanted` their number or size, 0 for none.
pub unsafe fn taskloop(me: &'static Member, new: &New, flags: u32, wanted: u64, range: Range) {
    let count = range.count(flags);
    let grouped = flags & NO_GROUP == 0;
    // What the tasks are told of their reductions comes behind the loop's numbers.
    let list = if grouped && flags & REDUCTIONS != 0 {
        // SAFETY: the program's own data.
        unsafe { *new.data.cast::<*mut usize>().add(2) }
    } else {
        null_mut()
    };
    if count == 0 || is_cancelled(me, Construct::Region) {
        if !list.is_null() {
            // SAFETY: its first word says that nothing was added up.
            unsafe { *list = 0 }
        }
        return;
    }
    // All but the first `more` tasks have `each` iterations, those have one more; the last one has the rest.
    let (tasks, each, more) = if flags & GRAIN != 0 && flags & STRICT != 0 {
        let grain = wanted.max(1);
        (count.div_ceil(grain), grain, 0)
    } else {
        let tasks = if flags & GRAIN != 0 {
            count.checked_div(wanted.max(1)).unwrap_or(1)
        } else if wanted == 0 {
            SCHEDULER.size().into()
        } else {
            wanted
        };
        let tasks = if me.inside().is_some() && flags & GRAIN == 0 && wanted == 0 { 1 } else { tasks };
        let tasks = tasks.clamp(1, count);
        (tasks, count.checked_div(tasks).unwrap_or(count), count.checked_rem(tasks).unwrap_or(0))
    };
    if grouped {
        group_start(me);
    }
    if !list.is_null() {
        // SAFETY: the program's own list.
        unsafe { register(me, list) }
    }
    let at = |iteration: u64| range.start.wrapping_add(iteration.wrapping_mul(range.step));
    let mut from = 0u64;
    for task in 0..tasks {
        let behind = from.saturating_add(each).saturating_add(u64::from(task < more)).min(count);
        let end = if tasks == 1 && flags & (GRAIN | STRICT) == GRAIN { range.end } else { at(behind) };
        // SAFETY: the caller runs the member; the program's own task.
        unsafe { create(me, &New { part: Some([at(from), end]), ..new.clone() }) }
        from = behind;
    }
    if grouped {
        // SAFETY: as above.
        unsafe { group_end(me) }
    }
}
