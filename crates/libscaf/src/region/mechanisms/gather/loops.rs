//! Loops of all schedules but those in [`constructs`](super::constructs), and ordered ones: a member goes on
//! in an ordered part when all iterations before its chunk are over.

use super::constructs::{begin, next as next_chunk};
use super::fibers::wait_for;
use super::gathered_team::{Member, SCHEDULER, SHARES, around};
use super::icvs;
use crate::region::thread::thread;
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
    // SAFETY: the caller is a member.
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
    // SAFETY: as above.
    unsafe { begin(Loop::unsigned(up, start, end, step, Rule::Static(chunk)), first, last) }
}

/// The calling member's schedule for loops that leave it open.
unsafe fn rule() -> Rule {
    // SAFETY: this thread's own state.
    unsafe { around(thread()).map_or(Rule::Static(0), |me| icvs::rule(me.icvs.get())) }
}

pub unsafe extern "C" fn start_runtime(
    start: i64,
    end: i64,
    step: i64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: as above.
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
    // SAFETY: as above.
    unsafe { begin(Loop::unsigned(up, start, end, step, rule()), first, last) }
}

pub unsafe extern "C" fn next(first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: the caller is a member.
    unsafe { around(thread()).is_some_and(|me| next_chunk(me, first, last)) }
}

/// The next chunk of an ordered loop; the one before is over.
pub unsafe extern "C" fn ordered_next(first: *mut c_void, last: *mut c_void) -> bool {
    // SAFETY: as above.
    unsafe {
        let Some(me) = around(thread()) else { return false };
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

/// Waits until all iterations before those that the member holds are over.
pub unsafe fn await_turn(me: &'static Member) {
    if me.inside().is_none() {
        // SAFETY: the caller runs the member.
        unsafe { wait_for(me, || SHARES.is_next(me.share.get(), &me.assigned.get())) }
    }
}
