//! Memory that all members of a loop share: what the compiler asks for with it, and who has told what in a
//! `doacross` loop. There is one room for each share that may be open at a time.

use crate::sys::memory::{block, unmap};
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use scaf_team::gather::worksharing::RING;

/// Smallest and largest room that is kept for the next share, in bytes.
const LEAST: usize = 4096;
const MOST_KEPT: usize = 1 << 16;

pub struct LoopMemory {
    at: AtomicPtr<c_void>,
    bytes: AtomicUsize,
}

static ROOMS: [LoopMemory; RING] = [const { LoopMemory::new() }; RING];

/// That of the share of this number.
pub fn of(share: u32) -> &'static LoopMemory {
    &ROOMS[share as usize % RING]
}

impl LoopMemory {
    pub const fn new() -> LoopMemory {
        LoopMemory { at: AtomicPtr::new(null_mut()), bytes: AtomicUsize::new(0) }
    }

    /// Makes room for so many bytes, all zero, once there is memory for it.
    pub fn open(&self, bytes: usize) {
        if bytes <= self.bytes.load(Ordering::Relaxed) {
            // SAFETY: nobody uses the room yet, and it is as large.
            return unsafe { self.at().cast::<u8>().write_bytes(0, bytes) };
        }
        self.give_back();
        let bytes = bytes.max(LEAST);
        self.at.store(block(bytes), Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    pub fn at(&self) -> *mut c_void {
        self.at.load(Ordering::Relaxed)
    }

    /// Its first words.
    /// # Safety
    /// They are used as such only, and not after it is closed.
    pub unsafe fn words(&self, count: usize) -> &'static [AtomicU64] {
        if count.saturating_mul(size_of::<u64>()) > self.bytes.load(Ordering::Relaxed) {
            return &[];
        }
        // SAFETY: the caller's word.
        unsafe { core::slice::from_raw_parts(self.at().cast(), count) }
    }

    /// Nobody uses it any more.
    #[inline(always)]
    pub fn close(&self) {
        if self.bytes.load(Ordering::Relaxed) > MOST_KEPT {
            self.give_back();
        }
    }

    #[cold]
    pub fn give_back(&self) {
        let (block, bytes) = (self.at(), self.bytes.load(Ordering::Relaxed));
        if bytes != 0 {
            self.bytes.store(0, Ordering::Relaxed);
            // SAFETY: a mapping of ours, which nobody uses.
            unsafe { unmap(block, bytes) }
        }
    }
}
