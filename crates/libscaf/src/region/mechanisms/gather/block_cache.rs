//! Blocks of memory of sizes that come again: a few of each are kept, for the kernel takes microseconds for
//! a new one.

use crate::sys::memory::{block, unmap};
use core::ffi::c_void;
use core::ptr::with_exposed_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the smallest ones that are kept, how many doublings of that, and blocks of each.
const SMALLEST: usize = 4096;
const SIZES: usize = 9;
const KEPT: usize = 8;

static BLOCKS: [[AtomicUsize; KEPT]; SIZES] = [const { [const { AtomicUsize::new(0) }; KEPT] }; SIZES];

/// What is kept of that size, and bytes of each; `None` if it is too large.
fn of(bytes: usize) -> Option<(&'static [AtomicUsize; KEPT], usize)> {
    let rounded = bytes.max(SMALLEST).checked_next_power_of_two()?;
    let doublings = rounded.trailing_zeros().wrapping_sub(SMALLEST.trailing_zeros());
    BLOCKS.get(doublings as usize).map(|blocks| (blocks, rounded))
}

/// A block of zeros, which begins a page.
pub fn take(bytes: usize) -> *mut c_void {
    let Some((blocks, rounded)) = of(bytes) else { return block(bytes) };
    let kept = blocks.iter().map(|kept| kept.swap(0, Ordering::Acquire)).find(|kept| *kept != 0);
    match kept {
        Some(kept) => {
            let block = with_exposed_provenance_mut::<u8>(kept);
            // SAFETY: it is that large, and nobody else's.
            unsafe { block.write_bytes(0, bytes) }
            block.cast()
        }
        None => block(rounded),
    }
}

/// It isn't used any more.
/// # Safety
/// It was taken with so many bytes.
pub unsafe fn put_back(taken: *mut c_void, bytes: usize) {
    let Some((blocks, rounded)) = of(bytes) else {
        // SAFETY: the caller's word.
        return unsafe { unmap(taken, bytes) };
    };
    let address = taken.expose_provenance();
    let keep = |kept: &AtomicUsize| {
        kept.load(Ordering::Relaxed) == 0
            && kept.compare_exchange(0, address, Ordering::Release, Ordering::Relaxed).is_ok()
    };
    if !blocks.iter().any(keep) {
        // SAFETY: as above.
        unsafe { unmap(taken, rounded) }
    }
}
