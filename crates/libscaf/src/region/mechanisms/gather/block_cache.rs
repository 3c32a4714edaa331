//! A few free blocks of each size, because mapping a new one takes the kernel microseconds.

use crate::sys::memory::{block, unmap};
use core::ffi::c_void;
use core::ptr::with_exposed_provenance_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the smallest blocks, number of sizes (each twice as large), and free blocks of each.
const SMALLEST: usize = 4096;
const SIZES: usize = 9;
const KEPT: usize = 8;

static BLOCKS: [[AtomicUsize; KEPT]; SIZES] = [const { [const { AtomicUsize::new(0) }; KEPT] }; SIZES];

/// The free blocks of that size, and their bytes; `None` if it is too large.
fn of(bytes: usize) -> Option<(&'static [AtomicUsize; KEPT], usize)> {
    let rounded = bytes.max(SMALLEST).checked_next_power_of_two()?;
    let doublings = rounded.trailing_zeros().wrapping_sub(SMALLEST.trailing_zeros());
    BLOCKS.get(doublings as usize).map(|blocks| (blocks, rounded))
}

/// A zeroed block, aligned to a page.
pub fn take(bytes: usize) -> *mut c_void {
    let Some((blocks, rounded)) = of(bytes) else { return block(bytes) };
    let kept = blocks.iter().map(|kept| kept.swap(0, Ordering::Acquire)).find(|kept| *kept != 0);
    match kept {
        Some(kept) => {
            let block = with_exposed_provenance_mut::<u8>(kept);
            // SAFETY: a block has at least so many bytes, and taking it from the list made it ours alone.
            unsafe { block.write_bytes(0, bytes) }
            block.cast()
        }
        None => block(rounded),
    }
}

/// Frees a block.
/// # Safety
/// `taken` came from [`take`] with the same `bytes`, and nobody uses it.
pub unsafe fn put_back(taken: *mut c_void, bytes: usize) {
    let Some((blocks, rounded)) = of(bytes) else {
        // SAFETY: blocks of this size are mapped with just so many bytes.
        return unsafe { unmap(taken, bytes) };
    };
    let address = taken.expose_provenance();
    let keep = |kept: &AtomicUsize| {
        kept.load(Ordering::Relaxed) == 0
            && kept.compare_exchange(0, address, Ordering::Release, Ordering::Relaxed).is_ok()
    };
    if !blocks.iter().any(keep) {
        // SAFETY: blocks of this size are mapped with `rounded` bytes.
        unsafe { unmap(taken, rounded) }
    }
}
