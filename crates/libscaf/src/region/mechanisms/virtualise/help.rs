//! Threads of their own for the parts of a region whose threads turned out to wait for each other.

use crate::region::frame::Frame;
use crate::region::parts::Parts;
use crate::region::thread::thread;
use crate::sys::thread::spawn;
use core::ffi::c_void;
use core::ptr::null_mut;

/// Gives each part that is left a thread of its own.
pub fn help(frame: &Frame) {
    let parts = &frame.parts;
    if !parts.give_own_threads() {
        return;
    }
    let real = frame.team_if_known();
    for _ in 0..parts.left(real) {
        parts.helper_comes();
        if !spawn(run_one, (&raw const *frame).cast_mut().cast()) {
            parts.take_own_threads_back();
            Parts::helper_goes(parts);
            return;
        }
    }
}

/// A thread of its own for a part that is left, if there still is one.
extern "C" fn run_one(frame: *mut c_void) -> *mut c_void {
    let this = thread();
    // SAFETY: the region's end waits for this thread.
    unsafe {
        let frame = &*frame.cast_const().cast::<Frame>();
        // LLVM's regions are handed two of their thread's numbers; what tells its parts apart is ours.
        let global = frame.runtime().global_thread_num.map_or(0, |number| number(null_mut()));
        let bound = 0;
        (*this).numbers = [&raw const global, &raw const bound];
        if let Some(part) = frame.parts.take(frame.team_if_known()) {
            frame.visit(this, || {
                // Not of the runtime's team: all loops are exhausted to it.
                (*this).entered = u32::MAX;
                (*this).in_loop = 0;
                (*this).index = part;
                (*this).loops = 0;
                frame.run_body();
            });
        }
        Parts::helper_goes(&frame.parts);
    }
    null_mut()
}
