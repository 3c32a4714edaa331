//! `errno` stays the program's.

/// Runs `work` and restores `errno`: a program may look at it after a region.
pub fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: `errno` is the calling thread's, and is there as long as the thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = work();
        *errno = before;
        result
    }
}
