//! Memory of our own, straight from the kernel: the program's allocator is never called.

use super::bare::give_way;
use super::errno::keeping_errno;
use core::ffi::c_void;
use core::ptr::null_mut;

/// So many bytes, all zero, from a page's beginning on; `None` if there is no memory.
pub fn map(bytes: usize) -> Option<*mut c_void> {
    keeping_errno(|| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping.
        let block =
            unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        (block != libc::MAP_FAILED).then_some(block)
    })
}

/// The same, once there is memory for it.
pub fn block(bytes: usize) -> *mut c_void {
    loop {
        match map(bytes) {
            Some(block) => return block,
            None => give_way(),
        }
    }
}

/// A block isn't used any more.
/// # Safety
/// It was mapped with so many bytes.
pub unsafe fn unmap(block: *mut c_void, bytes: usize) {
    // SAFETY: the caller's word.
    keeping_errno(|| unsafe { libc::munmap(block, bytes) });
}

/// Calls `work` with a block of so many bytes, once there is memory for it.
pub fn on_block(bytes: usize, work: impl FnOnce(*mut c_void)) {
    let block = block(bytes);
    work(block);
    // SAFETY: the mapping from above.
    unsafe { unmap(block, bytes) }
}

/// The first address from there on with that alignment.
pub fn aligned(at: *mut c_void, alignment: usize) -> *mut c_void {
    let over = at.addr() & alignment.saturating_sub(1);
    if over == 0 { at } else { at.wrapping_byte_add(alignment.wrapping_sub(over)) }
}
