//! Where a copy of the process leaves word.

use core::sync::atomic::{AtomicU32, AtomicU64};

#[repr(C)]
pub struct ResultPage {
    /// The outcome's number; 0 if the copy hasn't ended, or couldn't say.
    pub outcome: AtomicU32,
    pub cpu_ns: AtomicU64,
    pub lost_ns: AtomicU64,
}

pub const RESULT_BYTES: usize = 4096;
