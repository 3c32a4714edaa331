//! Sleeping and waking, for `scaf-team`.

use super::errno::keeping_errno;
use core::ptr::null;
use core::sync::atomic::AtomicU32;
use scaf_team::Sleep;

pub struct Futex;

fn after(limit_ms: u32) -> libc::timespec {
    libc::timespec { tv_sec: i64::from(limit_ms / 1_000), tv_nsec: i64::from(limit_ms % 1_000 * 1_000_000) }
}

impl Sleep for Futex {
    #[cold]
    fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool {
        let limit = after(limit_ms);
        let until: *const libc::timespec = if limit_ms == 0 { null() } else { &limit };
        let how = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel reads a word and a time of ours.
        keeping_errno(|| unsafe {
            libc::syscall(libc::SYS_futex, word.as_ptr(), how, value, until) < 0
                && *libc::__errno_location() == libc::ETIMEDOUT
        })
    }

    #[cold]
    fn wake_all(&self, word: &AtomicU32) {
        let how = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
        // SAFETY: the kernel takes the address for a name.
        keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), how, i32::MAX) });
    }
}

/// Sleeps while `word`, on which another process wakes, has this value; up to `limit_ms`. May return early.
/// # Safety
/// `word` can be read for as long as this takes.
pub unsafe fn sleep_shared(word: *const u32, value: u32, limit_ms: u32) {
    let limit = after(limit_ms);
    // SAFETY: the kernel reads the word and a time of ours.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAIT, value, &limit) });
}

/// Wakes all threads of any process that sleep on a shared word.
/// # Safety
/// `word` can be read.
pub unsafe fn wake_shared(word: *const u32) {
    // SAFETY: the kernel takes the address for a name.
    keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX) });
}
