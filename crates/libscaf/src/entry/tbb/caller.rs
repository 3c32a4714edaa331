//! What is known of one thread that calls oneTBB or works for it.

use crate::program::work::Ticket;
use crate::sys::thread_state::{self, MPI_AT, Part, TBB_AT};
use core::cell::Cell;
use core::ffi::c_void;

#[repr(C)]
pub struct Caller {
    pub permit: Cell<*const c_void>,
    /// The innermost callback about a permit that the thread runs; null outside.
    pub call: Cell<*const c_void>,
    /// 1 while it works for a permit and came from outside.
    pub is_master: Cell<u32>,
    /// Nested calls of oneTBB's functions by which it came from outside.
    pub from_outside: Cell<u32>,
    /// The work of the outermost of these calls.
    pub ticket: Cell<Ticket>,
    /// 1 if it is the one thread that counts while oneTBB has no permits.
    pub is_first: Cell<u32>,
}

// SAFETY: null pointers and 0 are zeros, and so is `Ticket::NONE`; `Cell`s aren't `Sync`; the bytes are this
// port's.
unsafe impl Part for Caller {
    const AT: usize = TBB_AT;
    const END: usize = MPI_AT;
}

#[inline(always)]
pub fn caller() -> &'static Caller {
    thread_state::own()
}
