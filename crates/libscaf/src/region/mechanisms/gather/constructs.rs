//! What members ask of their team: barriers, loops, sections, singles, and who and how many they are.
//!
//! Each function is the answer to an entry point of the runtime for a member.

use super::cancel::{self, Construct, is_cancelled};
use super::explicit_tasks::end_inner;
use super::fibers::{meet, meet_or_leave, yield_member};
use super::gathered_team::{Member, SCHEDULER, SHARES, TEAM, around};
use super::loop_memory::{self, LoopMemory};
use super::midway;
use crate::region::thread::thread;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, with_exposed_provenance_mut};
use scaf_team::gather::worksharing::{Assigned, Came, Loop, Rule};

/// Waits for all members.
#[inline(always)]
pub unsafe fn barrier(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        if me.is_alone() {
            cancel::passes_alone(me);
            return end_inner(me);
        }
        midway::mark(me);
        let last = meet(me, true);
        if SCHEDULER.is_returning() {
            midway::return_to_thread(me, last);
        }
    }
}

/// The same where it shows that the region is cancelled; whether it is.
pub unsafe fn barrier_cancel(me: &'static Member) -> bool {
    // SAFETY: the caller runs the member.
    unsafe {
        if me.is_alone() || !TEAM.cancels.get() {
            barrier(me);
        } else {
            meet_or_leave(me);
        }
    }
    is_cancelled(me, Construct::Region)
}

/// The same in the middle of something that members do otherwise than the runtime's threads: they stay
/// members.
#[inline(always)]
pub unsafe fn barrier_within(me: &'static Member) {
    // SAFETY: the caller runs the member.
    unsafe {
        midway::mark(me);
        meet(me, false);
    }
}

/// Comes to the next share; whether it is the first to come.
pub unsafe fn come(me: &'static Member, whole: &Loop) -> bool {
    // SAFETY: the caller runs the member.
    unsafe { come_and(me, whole, |_| {}) }
}

/// The same; who is the first prepares the share's room, before the others go on.
pub unsafe fn come_and(me: &'static Member, whole: &Loop, prepare: impl Fn(&LoopMemory)) -> bool {
    if me.is_alone() {
        if let Some(inner) = me.inside() {
            inner.open(whole);
            prepare(&inner.room);
        }
        return true;
    }
    let number = me.share.get().wrapping_add(1);
    me.share.set(number);
    me.assigned.set(Assigned::NONE);
    loop {
        match SHARES.come_and(number, whole, || prepare(loop_memory::of(number))) {
            Came::First => return true,
            Came::Later => return false,
            // Those that have left the region leave no share. What comes now isn't dealt out to the member.
            Came::TooEarly if is_cancelled(me, Construct::Region) => return false,
            // SAFETY: the caller runs the member.
            Came::TooEarly => unsafe { yield_member(me) },
        }
    }
}

pub fn leave(me: &Member) {
    if !me.is_alone() {
        leave_share(me.share.get());
    }
}

/// The same for the share of this number.
pub fn leave_share(number: u32) {
    SHARES.leave_and(number, SCHEDULER.size(), || loop_memory::of(number).close());
}

fn deal(me: &Member) -> Option<(u64, u64)> {
    match me.inside() {
        Some(inner) => inner.deal(),
        None => {
            let mut assigned = me.assigned.get();
            let dealt = SHARES.deal(me.share.get(), (me.number.get(), SCHEDULER.size()), &mut assigned);
            me.assigned.set(assigned);
            dealt
        }
    }
}

/// Nothing to deal out.
const NOTHING: Loop = Loop { start: 0, end: 0, step: 1, count: 0, rule: Rule::Dynamic(1) };

/// Whether the member executes the `single` construct.
pub unsafe fn single(me: &'static Member) -> bool {
    // SAFETY: the caller runs the member.
    let first = unsafe { come(me, &NOTHING) };
    leave(me);
    first
}

/// A `single` with `copyprivate`: null for the member that executes it, else what that one hands on.
pub unsafe fn single_copy(me: &'static Member) -> *mut c_void {
    // SAFETY: the caller runs the member.
    unsafe {
        if come(me, &NOTHING) {
            return null_mut();
        }
        barrier(me);
        let handed = SHARES.handed(me.share.get());
        leave(me);
        with_exposed_provenance_mut(handed as usize)
    }
}

/// The member that executed it hands this on.
pub unsafe fn single_copied(me: &'static Member, what: *mut c_void) {
    if !me.is_alone() {
        SHARES.hand(me.share.get(), what.expose_provenance() as u64);
        // SAFETY: the caller runs the member.
        unsafe { barrier(me) };
        leave(me);
    }
}

/// The next chunk of the loop that the member is in; whether there was one.
pub unsafe fn next(me: &Member, first: *mut c_void, end: *mut c_void) -> bool {
    match deal(me) {
        Some((from, to)) => {
            // SAFETY: the program's own variables, of 8 bytes, signed or not.
            unsafe {
                *first.cast::<u64>() = from;
                *end.cast::<u64>() = to;
            }
            true
        }
        None => false,
    }
}

/// The end of a loop or of sections.
pub unsafe fn end(me: &'static Member, waits: bool) {
    leave(me);
    if waits {
        // SAFETY: the caller runs the member.
        unsafe { barrier(me) }
    }
}

/// The same where it shows that the region is cancelled; whether it is.
pub unsafe fn end_cancel(me: &'static Member) -> bool {
    leave(me);
    // SAFETY: the caller runs the member.
    unsafe { barrier_cancel(me) }
}

/// The member's first section; 0 if there is none left.
pub unsafe fn sections(me: &'static Member, count: u32) -> u32 {
    // SAFETY: the caller runs the member.
    unsafe { come(me, &Loop::sections(u64::from(count))) };
    next_section(me)
}

/// Its next one.
pub fn next_section(me: &Member) -> u32 {
    deal(me).map_or(0, |(section, _)| section as u32)
}

/// Starts of loops, with the arguments of the runtime's.
macro_rules! starts {
    ($($signed:ident, $unsigned:ident: $rule:ident;)*) => {
        $(
            pub unsafe extern "C" fn $signed(
                start: i64, end: i64, step: i64, chunk: i64, first: *mut c_void, last: *mut c_void,
            ) -> bool {
                let whole = Loop::signed(start, end, step, Rule::$rule(chunk.max(1) as u64));
                // SAFETY: the caller is a member.
                unsafe { begin(whole, first, last) }
            }

            pub unsafe extern "C" fn $unsigned(
                up: bool, start: u64, end: u64, step: u64, chunk: u64, first: *mut c_void, last: *mut c_void,
            ) -> bool {
                let whole = Loop::unsigned(up, start, end, step, Rule::$rule(chunk.max(1)));
                // SAFETY: as above.
                unsafe { begin(whole, first, last) }
            }
        )*
    };
}

starts! {
    start_dynamic, start_ull_dynamic: Dynamic;
    start_guided, start_ull_guided: Guided;
}

/// A member begins a loop; whether there is a chunk for it.
pub unsafe fn begin(whole: Loop, first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: the caller is a member, and runs itself.
    unsafe {
        let Some(me) = around(thread()) else { return false };
        come(me, &whole);
        next(me, first, last)
    }
}

/// The member's number in the innermost team.
#[inline(always)]
pub fn number(me: &Member) -> c_int {
    if me.is_alone() { 0 } else { me.number.get() as c_int }
}

/// Threads of the innermost team.
#[inline(always)]
pub fn size(me: &Member) -> c_int {
    if me.is_alone() { 1 } else { SCHEDULER.size() as c_int }
}

/// Parallel regions around the member.
pub fn level(me: &Member) -> c_int {
    me.levels()
}

/// Threads of the team at that level.
pub fn size_at(me: &Member, level: c_int) -> c_int {
    match level {
        1 => SCHEDULER.size() as c_int,
        0 => 1,
        level if (2..=me.levels()).contains(&level) => 1,
        _ => -1,
    }
}

/// The member's ancestor's number at that level.
pub fn number_at(me: &Member, level: c_int) -> c_int {
    match level {
        1 => me.number.get() as c_int,
        level if (0..=me.levels()).contains(&level) => 0,
        _ => -1,
    }
}
