//! Sleeping and waking. By bare system calls: neither `errno` nor anything else of the thread's storage is
//! touched, which may be lent to somebody else.

use super::arch::bare_call;
use core::ffi::c_int;
use core::sync::atomic::AtomicU32;
use scaf_team::Sleep;

pub struct Futex;

impl Sleep for Futex {
    #[cold]
    fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool {
        // SAFETY: the word is borrowed for as long as this takes.
        unsafe { wait(word.as_ptr(), libc::FUTEX_PRIVATE_FLAG, value, limit_ms) }
    }

    #[cold]
    fn wake_all(&self, word: &AtomicU32) {
        wake(word.as_ptr(), libc::FUTEX_PRIVATE_FLAG);
    }
}

/// Sleeps while `word`, on which another process wakes, has this value; up to `limit_ms`. May return early.
/// # Safety
/// `word` can be read for as long as this takes.
pub unsafe fn sleep_shared(word: *const u32, value: u32, limit_ms: u32) {
    // SAFETY: the caller's promise.
    unsafe { wait(word, 0, value, limit_ms) };
}

/// Wakes all threads of any process that sleep on a shared word.
pub fn wake_shared(word: *const u32) {
    wake(word, 0);
}

/// Whether the time was over; 0 is no limit.
unsafe fn wait(word: *const u32, flags: c_int, value: u32, limit_ms: u32) -> bool {
    let nanoseconds = i64::from(limit_ms % 1_000 * 1_000_000);
    let limit = libc::timespec { tv_sec: i64::from(limit_ms / 1_000), tv_nsec: nanoseconds };
    let until = if limit_ms == 0 { 0 } else { (&raw const limit).expose_provenance() };
    let how = (libc::FUTEX_WAIT | flags) as usize;
    // SAFETY: the kernel reads the word, which the caller says can be read, and a time of ours.
    let result =
        unsafe { bare_call(libc::SYS_futex, [word.expose_provenance(), how, value as usize, until]) };
    result == -(libc::ETIMEDOUT as isize)
}

fn wake(word: *const u32, flags: c_int) {
    let how = (libc::FUTEX_WAKE | flags) as usize;
    // SAFETY: the kernel takes the address for a name, and reads nothing there.
    unsafe { bare_call(libc::SYS_futex, [word.expose_provenance(), how, i32::MAX as usize, 0]) };
}
