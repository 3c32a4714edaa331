//! What the program's floor knows of one thread.

use crate::sys::thread::{self, PROGRAM_AT, REGION_AT};

#[repr(C)]
pub struct Master {
    /// Number of its slot, plus one; 0 before its first region, [`NO_SLOT`] where there was none left.
    pub slot: u32,
    /// Parallel regions around it.
    pub depth: u32,
    /// Short regions until the next measured one.
    pub left_out: u32,
}

const _: () = assert!(size_of::<Master>() <= REGION_AT - PROGRAM_AT);
/// Value of [`Master::slot`] for a master that runs unmeasured.
pub const NO_SLOT: u32 = u32::MAX;

#[inline(always)]
pub fn master() -> *mut Master {
    thread::part::<Master, PROGRAM_AT>()
}
