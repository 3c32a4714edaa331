//! Loops of all schedules but those in [`work`](super::work), and ordered ones: a member goes on in an
//! ordered part when all iterations before its chunk are over.

use super::team::{CREW, Member, SHARES, TEAM, around};
use super::turns::wait_for;
use super::work::{begin, next as next_chunk};
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::sys::futex::Futex;
use core::ffi::{c_int, c_void};
use scaf_team::gather::shares::{Loop, Rule};

/// The schedule that the calling thread has chosen for loops that leave it open.
pub unsafe fn asked(runtime: &Runtime) -> Rule {
    const MONOTONIC: c_int = c_int::MIN;
    const STATIC: c_int = 1;
    const DYNAMIC: c_int = 2;
    const GUIDED: c_int = 3;
    let (mut kind, mut chunk) = (0, 0);
    if let Some(get_schedule) = runtime.get_schedule {
        // SAFETY: omp_get_schedule fills in two integers.
        unsafe { get_schedule(&mut kind, &mut chunk) }
    }
    let chunk = u64::try_from(chunk).unwrap_or(0);
    match kind & !MONOTONIC {
        STATIC => Rule::Static(chunk),
        DYNAMIC => Rule::Dynamic(chunk.max(1)),
        GUIDED => Rule::Guided(chunk.max(1)),
        _ => Rule::Static(0),
    }
}

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

pub unsafe extern "C" fn start_runtime(
    start: i64,
    end: i64,
    step: i64,
    first: *mut c_void,
    last: *mut c_void,
) -> bool {
    // SAFETY: as above.
    unsafe { begin(Loop::signed(start, end, step, TEAM.rule.get()), first, last) }
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
    unsafe { begin(Loop::unsigned(up, start, end, step, TEAM.rule.get()), first, last) }
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
            let mut hand = me.hand.get();
            SHARES.are_over(me.share.get(), &mut hand);
            me.hand.set(hand);
            CREW.changed(&Futex);
        }
        next_chunk(me, first, last)
    }
}

/// Waits until all iterations before those that the member holds are over.
pub unsafe fn await_turn(me: &'static Member) {
    if me.inside().is_none() {
        // SAFETY: the caller runs the member.
        unsafe { wait_for(me, || SHARES.is_next(me.share.get(), &me.hand.get())) }
    }
}
