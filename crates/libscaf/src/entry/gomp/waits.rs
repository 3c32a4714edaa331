//! Barriers and cancellation.

use crate::region::mechanisms::gather::Member;
use crate::region::mechanisms::gather::cancel::{self, Construct};
use crate::region::mechanisms::{fold, gather};
use crate::region::serving_runtime::place;
use crate::region::thread::thread;
use crate::sys::arch::ticks;
use core::ffi::c_int;

pub unsafe extern "C" fn barrier(caller: usize) {
    if let Some(me) = gather::current() {
        return gather::constructs::barrier(me);
    }
    let Some((runtime, frame)) = place(thread(), caller) else { return };
    let Some(real) = runtime.GOMP_barrier else { return };
    // SAFETY: the caller called this function, which takes nothing.
    let real = || unsafe { real() };
    match frame {
        Some(frame) => fold::meet(thread(), frame, runtime, real),
        None => real(),
    }
}

pub unsafe extern "C" fn barrier_cancel(caller: usize) -> bool {
    if let Some(me) = gather::current() {
        return gather::constructs::barrier_cancel(me);
    }
    let Some((runtime, frame)) = place(thread(), caller) else { return false };
    let Some(real) = runtime.GOMP_barrier_cancel else { return false };
    // SAFETY: the caller called this function, which takes nothing.
    let real = || unsafe { real() };
    // A wait that cancellation may end is always the runtime's.
    frame.map_or_else(real, |frame| frame.waits(thread(), ticks(), real))
}

/// gcc's number for groups that are cancelled; 2 and 4 are loops and sections.
const GROUP: c_int = 8;

fn construct(which: c_int) -> Construct {
    Construct::of(which, GROUP)
}

/// A task is told of its region's end as well.
fn is_cancelled(me: &Member, which: c_int) -> bool {
    match construct(which) {
        Construct::Group => cancel::drops(me),
        what => cancel::is_cancelled(me, what),
    }
}

pub unsafe extern "C" fn cancellation_point(which: c_int, caller: usize) -> bool {
    if let Some(me) = gather::current() {
        return is_cancelled(me, which);
    }
    let real = place(thread(), caller).and_then(|(runtime, _)| runtime.GOMP_cancellation_point);
    // SAFETY: the caller called this function with this number.
    real.is_some_and(|real| unsafe { real(which) })
}

pub unsafe extern "C" fn cancel(which: c_int, really: bool, caller: usize) -> bool {
    if let Some(me) = gather::current() {
        return if really { cancel::cancel(me, construct(which)) } else { is_cancelled(me, which) };
    }
    let Some((runtime, frame)) = place(thread(), caller) else { return false };
    if let Some(frame) = frame {
        frame.is_cancelled();
    }
    // SAFETY: the caller called this function with these numbers.
    runtime.GOMP_cancel.is_some_and(|real| unsafe { real(which, really) })
}
