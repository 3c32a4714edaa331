//! What is known of one thread that calls oneTBB or works for it.

use crate::program::work::Ticket;
use crate::sys::thread::{self, END, TBB_AT};
use core::ffi::c_void;

/// The calling thread. All zero when the thread starts.
#[repr(C)]
pub struct Caller {
    /// The permit that the thread works for; null outside.
    pub permit: *const c_void,
    /// The callback about a permit that it is in; null outside.
    pub call: *const c_void,
    /// 1 while it works for a permit and came from outside.
    pub is_master: u32,
    /// Calls of oneTBB's functions, by which it came from outside, that it is in.
    pub from_outside: u32,
    /// The work that the outermost of these is.
    pub ticket: Ticket,
    /// 1 if it is the one thread that counts where oneTBB's own aren't known.
    pub is_first: u32,
}

const _: () = assert!(size_of::<Caller>() <= END - TBB_AT);

/// The calling thread.
#[inline(always)]
pub fn caller() -> *mut Caller {
    thread::part::<Caller, TBB_AT>()
}
