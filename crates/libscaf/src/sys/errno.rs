//! `errno` stays the program's.

/// Runs `work` and restores `errno`: a program may look at it after a region.
pub fn keeping_errno<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: libc's errno of this thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let result = work();
        *errno = before;
        result
    }
}
