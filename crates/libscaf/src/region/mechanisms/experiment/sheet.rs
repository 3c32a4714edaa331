//! Where a copy of the process leaves word.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// What the copy leaves behind: a page that it shares with the program.
#[repr(C)]
pub struct Sheet {
    /// How it ended, by the outcome's number; 0 if it hasn't, or couldn't say.
    pub outcome: AtomicU32,
    pub cpu_ns: AtomicU64,
    pub lost_ns: AtomicU64,
}

/// Bytes of the page.
pub const SHEET_BYTES: usize = 4096;
