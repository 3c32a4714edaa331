//! Memory from the system: the program's allocator is its own.

use super::errno::keeping_errno;
use core::ffi::c_void;
use core::ptr::null_mut;

/// So many bytes, all zero; `None` if there is no memory.
pub fn map(bytes: usize) -> Option<*mut c_void> {
    keeping_errno(|| {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a fresh mapping.
        let block =
            unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        (block != libc::MAP_FAILED).then_some(block)
    })
}
