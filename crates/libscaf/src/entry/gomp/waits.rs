//! Barriers and cancellation.

use crate::region::mechanisms::{fold, gather};
use crate::region::place::place;
use crate::region::thread::thread;
use crate::sys::arch::ticks;
use core::ffi::c_int;

pub unsafe extern "C" fn barrier(caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state, and the runtime's own entry point.
    unsafe {
        if let Some(me) = gather::around(this) {
            return gather::work::barrier(me);
        }
        let Some((runtime, frame)) = place(this, caller) else { return };
        let Some(real) = runtime.barrier else { return };
        match frame {
            Some(frame) => fold::meet(this, frame, runtime, || real()),
            None => real(),
        }
    }
}

pub unsafe extern "C" fn barrier_cancel(caller: usize) -> bool {
    let this = thread();
    // SAFETY: as above.
    unsafe {
        if let Some(me) = gather::around(this) {
            gather::work::barrier(me);
            return false;
        }
        let Some((runtime, frame)) = place(this, caller) else { return false };
        let Some(real) = runtime.barrier_cancel else { return false };
        let Some(frame) = frame else { return real() };
        // A wait that cancellation may end is always the runtime's.
        frame.waits(this, ticks(), || real())
    }
}

pub unsafe extern "C" fn cancel(which: c_int, really: bool, caller: usize) -> bool {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        if gather::around(this).is_some() {
            // A program that may cancel anything isn't gathered.
            return false;
        }
        let Some((runtime, frame)) = place(this, caller) else { return false };
        if let Some(frame) = frame {
            frame.is_cancelled();
        }
        runtime.cancel.is_some_and(|real| real(which, really))
    }
}
