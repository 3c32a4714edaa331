//! Start and next functions of GOMP loops with static and runtime schedules, and of ordered loops: a member
//! enters an ordered part once all iterations before its chunk are complete.

use super::constructs::{begin, next as next_chunk};
use super::fibers::wait_for;
use super::gathered_team::{Member, SCHEDULER, SHARES, current};
use super::icvs;
use crate::sys::futex::Futex;
use core::ffi::c_void;
use scaf_team::gather::worksharing::{Loop, Rule};

pub unsafe extern "C" fn start_static(
    start: i64,
    end: i64,
    step: i64,
    chunk: i64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe { begin(Loop::signed(start, end, step, Rule::Static(chunk.max(0) as u64)), first, last) }
}

pub unsafe extern "C" fn start_ull_static(
    up: bool,
    start: u64,
    end: u64,
    step: u64,
    chunk: u64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe { begin(Loop::unsigned(up, start, end, step, Rule::Static(chunk)), first, last) }
}

/// The calling member's schedule for loops with `schedule(runtime)`.
fn rule() -> Rule {
    current().map_or(Rule::Static(0), |me| icvs::rule(me.icvs.get()))
}

pub unsafe extern "C" fn start_runtime(
    start: i64,
    end: i64,
    step: i64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe { begin(Loop::signed(start, end, step, rule()), first, last) }
}

pub unsafe extern "C" fn start_ull_runtime(
    up: bool,
    start: u64,
    end: u64,
    step: u64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe { begin(Loop::unsigned(up, start, end, step, rule()), first, last) }
}

pub unsafe extern "C" fn next(first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe { current().is_some_and(|me| next_chunk(me, first, last)) }
}

/// The next chunk of an ordered loop. The chunk before is complete.
pub unsafe extern "C" fn ordered_next(first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: `first` and `last` are variables of the program.
    unsafe {
        let Some(me) = current() else { return false };
        await_turn(me);
        if me.inside().is_none() {
            let mut assigned = me.assigned.get();
            SHARES.are_over(me.share.get(), &mut assigned);
            me.assigned.set(assigned);
            SCHEDULER.notify_changed(&Futex);
        }
        next_chunk(me, first, last)
    }
}

/// Waits until all iterations before the member's chunk are complete.
pub fn await_turn(me: &'static Member) {
    if me.inside().is_none() {
        wait_for(me, || SHARES.is_next(me.share.get(), &me.assigned.get()))
    }
}
