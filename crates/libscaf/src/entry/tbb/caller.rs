//! What is known of one thread that calls oneTBB or works for it.

use crate::program::work::Ticket;
use crate::sys::thread::{self, CALLER_AT, TBB_AT};
use core::ffi::c_void;

/// All zero when the thread starts.
#[repr(C)]
pub struct Caller {
    pub permit: *const c_void,
    /// The innermost callback about a permit that the thread runs; null outside.
    pub call: *const c_void,
    /// 1 while it works for a permit and came from outside.
    pub is_master: u32,
    /// Nested calls of oneTBB's functions by which it came from outside.
    pub from_outside: u32,
    /// The work of the outermost of these calls.
    pub ticket: Ticket,
    /// 1 if it is the one thread that counts while oneTBB has no permits.
    pub is_first: u32,
}

const _: () = assert!(size_of::<Caller>() <= CALLER_AT - TBB_AT);

#[inline(always)]
pub fn caller() -> *mut Caller {
    thread::part::<Caller, TBB_AT>()
}
