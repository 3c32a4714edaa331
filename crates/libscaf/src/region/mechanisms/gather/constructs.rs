//! OpenMP constructs as members execute them: barriers, loops, sections, singles, and the queries of numbers
//! and sizes. Each function answers an entry point of the runtime for a member.

use super::cancel::{self, Construct, is_cancelled};
use super::explicit_tasks::end_inner;
use super::fibers::{meet, meet_or_leave, yield_member};
use super::gathered_team::{Member, SCHEDULER, SHARES, TEAM, current};
use super::loop_memory::{self, LoopMemory};
use super::midway;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, with_exposed_provenance_mut};
use scaf_team::gather::worksharing::{Assigned, Came, Loop, Rule};

#[inline(always)]
pub fn barrier(me: &'static Member) {
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

/// A barrier that is a cancellation point; returns whether the region is cancelled.
pub fn barrier_cancel(me: &'static Member) -> bool {
    if me.is_alone() || !TEAM.cancels.get() {
        barrier(me);
    } else {
        meet_or_leave(me);
    }
    is_cancelled(me, Construct::Region)
}

/// A barrier in the middle of something that members do differently than the runtime's threads: the team
/// stays gathered.
#[inline(always)]
pub fn barrier_within(me: &'static Member) {
    midway::mark(me);
    meet(me, false);
}

/// Enters the next worksharing construct; returns whether the member is the first.
pub fn come(me: &'static Member, whole: &Loop) -> bool {
    come_and(me, whole, |_| {})
}

/// The same; the first member prepares the construct's memory before the others continue.
pub fn come_and(me: &'static Member, whole: &Loop, prepare: impl Fn(&LoopMemory)) -> bool {
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
            // Members that have left a cancelled region don't leave their constructs. This one gets no
            // iterations.
            Came::TooEarly if is_cancelled(me, Construct::Region) => return false,
            Came::TooEarly => yield_member(me),
        }
    }
}

pub fn leave(me: &Member) {
    if !me.is_alone() {
        leave_share(me.share.get());
    }
}

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

const NOTHING: Loop = Loop { start: 0, end: 0, step: 1, count: 0, rule: Rule::Dynamic(1) };

/// Whether the member executes the `single` region.
pub fn single(me: &'static Member) -> bool {
    let first = come(me, &NOTHING);
    leave(me);
    first
}

/// `single` with `copyprivate`: null for the member that executes it, else what that one passes on.
pub fn single_copy(me: &'static Member) -> *mut c_void {
    if come(me, &NOTHING) {
        return null_mut();
    }
    barrier(me);
    let handed = SHARES.handed(me.share.get());
    leave(me);
    with_exposed_provenance_mut(handed as usize)
}

/// The member that executed it passes this to the others.
pub fn single_copied(me: &'static Member, what: *mut c_void) {
    if !me.is_alone() {
        SHARES.hand(me.share.get(), what.expose_provenance() as u64);
        barrier(me);
        leave(me);
    }
}

/// The next chunk of the member's loop; returns whether there was one.
pub unsafe fn next(me: &Member, first: *mut c_void, end: *mut c_void) -> bool {
    match deal(me) {
        Some((from, to)) => {
            // SAFETY: the compiler passes two variables of 8 bytes.
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
pub fn end(me: &'static Member, waits: bool) {
    leave(me);
    if waits {
        barrier(me)
    }
}

/// The same at a cancellation point; returns whether the region is cancelled.
pub fn end_cancel(me: &'static Member) -> bool {
    leave(me);
    barrier_cancel(me)
}

/// The member's first section; 0 if none is left.
pub fn sections(me: &'static Member, count: u32) -> u32 {
    come(me, &Loop::sections(u64::from(count)));
    next_section(me)
}

pub fn next_section(me: &Member) -> u32 {
    deal(me).map_or(0, |(section, _)| section as u32)
}

/// `GOMP_loop_*_start` functions.
macro_rules! starts {
    ($($signed:ident, $unsigned:ident: $rule:ident;)*) => {
        $(
            pub unsafe extern "C" fn $signed(
                start: i64, end: i64, step: i64, chunk: i64, first: *mut c_void, last: *mut c_void,
            ) -> bool {
                let whole = Loop::signed(start, end, step, Rule::$rule(chunk.max(1) as u64));
                // SAFETY: `first` and `last` are variables of the program.
                unsafe { begin(whole, first, last) }
            }

            pub unsafe extern "C" fn $unsigned(
                up: bool, start: u64, end: u64, step: u64, chunk: u64, first: *mut c_void, last: *mut c_void,
            ) -> bool {
                let whole = Loop::unsigned(up, start, end, step, Rule::$rule(chunk.max(1)));
                // SAFETY: `first` and `last` are variables of the program.
                unsafe { begin(whole, first, last) }
            }
        )*
    };
}

starts! {
    start_dynamic, start_ull_dynamic: Dynamic;
    start_guided, start_ull_guided: Guided;
}

pub unsafe fn begin(whole: Loop, first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: the caller passes two variables of the program.
    unsafe {
        let Some(me) = current() else { return false };
        come(me, &whole);
        next(me, first, last)
    }
}

/// The member's number in the innermost team.
#[inline(always)]
pub fn number(me: &Member) -> c_int {
    if me.is_alone() { 0 } else { me.number.get() as c_int }
}

/// Size of the innermost team.
#[inline(always)]
pub fn size(me: &Member) -> c_int {
    if me.is_alone() { 1 } else { SCHEDULER.size() as c_int }
}

pub fn level(me: &Member) -> c_int {
    me.levels()
}

pub fn size_at(me: &Member, level: c_int) -> c_int {
    match level {
        1 => SCHEDULER.size() as c_int,
        0 => 1,
        level if (2..=me.levels()).contains(&level) => 1,
        _ => -1,
    }
}

pub fn number_at(me: &Member, level: c_int) -> c_int {
    match level {
        1 => me.number.get() as c_int,
        level if (0..=me.levels()).contains(&level) => 0,
        _ => -1,
    }
}
