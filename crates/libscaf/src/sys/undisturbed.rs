//! Work on a thread of the program's that must come to its end. The program doesn't know of it: where it has
//! its thread cancelled, or leaves a handler by `siglongjmp`, that happens before or after, as without us.

use super::errno::keeping_errno;
use super::raw_syscalls::set_blocked;
use super::signals::block_signals;
use core::ffi::c_int;
use core::ptr::null_mut;

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// glibc's PTHREAD_CANCEL_DISABLE; musl has the same number.
const DISABLED: c_int = 1;

/// Runs `work` with signals blocked and cancellation disabled, and restores these and `errno`.
pub fn undisturbed<R>(work: impl FnOnce() -> R) -> R {
    let mut state = 0;
    // SAFETY: the C library writes one number; the state is the calling thread's.
    let known = unsafe { pthread_setcancelstate(DISABLED, &mut state) } == 0;
    let mask = block_signals();
    let result = keeping_errno(work);
    set_blocked(mask);
    if known {
        // SAFETY: the state is the one that it had before; the old one isn't asked for.
        unsafe { pthread_setcancelstate(state, null_mut()) };
    }
    result
}
