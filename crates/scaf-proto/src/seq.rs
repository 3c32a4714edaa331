//! A sequence counter: one writer, any number of readers, nobody waits for a lock. The counter is odd while a
//! write is under way. A reader keeps what it read only if the counter was even before and has not moved. All
//! guarded fields are atomics, accessed with relaxed ordering: a torn read is discarded, never undefined.

use crate::sync::{AtomicU64, Ordering, fence};

/// Tries of a reader before it gives up on a writer that is always within a write (dead, stopped, hostile).
pub const READ_TRIES: usize = 64;

/// Begins a write: the counter becomes odd. Only for the one writer, never nested. [`end`] wants the result.
#[inline(always)]
pub fn begin(seq: &AtomicU64) -> u64 {
    // A writer that died half way left the counter odd; `| 1` heals it.
    let odd = seq.load(Ordering::Relaxed) | 1;
    seq.store(odd, Ordering::Relaxed);
    // The odd value has to be visible before any field changes.
    fence(Ordering::Release);
    odd
}

/// Ends the write that [`begin`] began: the counter becomes even, one step further.
#[inline(always)]
pub fn end(seq: &AtomicU64, odd: u64) {
    seq.store(odd.wrapping_add(1), Ordering::Release);
}

/// How many writes were ended, as far as `seq` says.
pub fn writes(seq: &AtomicU64) -> u64 {
    seq.load(Ordering::Relaxed) >> 1
}

/// Runs `fields` until it saw one consistent state; `None` if each of [`READ_TRIES`] tries met a write.
pub fn read<T>(seq: &AtomicU64, mut fields: impl FnMut() -> T) -> Option<T> {
    for _ in 0..READ_TRIES {
        let before = seq.load(Ordering::Acquire);
        if before & 1 == 0 {
            let value = fields();
            // What was read above has to be read before the counter is looked at again.
            fence(Ordering::Acquire);
            if seq.load(Ordering::Relaxed) == before {
                return Some(value);
            }
        }
        #[cfg(loom)]
        loom::thread::yield_now();
        #[cfg(not(loom))]
        core::hint::spin_loop();
    }
    None
}
