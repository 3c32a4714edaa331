//! Calls that ask for an affinity. A thread that the daemon has narrowed has, for whoever asks, the affinity
//! that it would have without scaf: libraries count their PUs by it, and programs save it to set it again. Of
//! another process the daemon knows it.

use crate::link::{affinity, question};
use crate::sys::kernel_threads;
use crate::sys::symbols::Next;
use core::ffi::{c_int, c_long};
use core::mem::size_of_val;
use libc::pthread_t;
use scaf_proto::grant::Mask;

static SCHED: Next = Next::called(c"sched_getaffinity");
static PTHREAD: Next = Next::called(c"pthread_getaffinity_np");

/// When the process is attached, so that no search is made within a call.
pub fn look() {
    [&SCHED, &PTHREAD].into_iter().for_each(Next::look);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_getaffinity(task: c_int, bytes: usize, set: *mut u8) -> c_int {
    type Real = unsafe extern "C" fn(c_int, usize, *mut u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It has filled the
    // set.
    unsafe {
        let Some(real) = SCHED.get::<Real>() else { return -1 };
        let result = real(task, bytes, set);
        if result == 0 {
            amend_of(task, set, bytes);
        }
        result
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_getaffinity_np(thread: pthread_t, bytes: usize, set: *mut u8) -> c_int {
    type Real = unsafe extern "C" fn(pthread_t, usize, *mut u8) -> c_int;
    // SAFETY: the C library's function has this type, and gets the program's arguments. It has filled the
    // set.
    unsafe {
        let Some(real) = PTHREAD.get::<Real>() else { return libc::ENOSYS };
        let result = real(thread, bytes, set);
        if result == 0 {
            amend(set, bytes);
        }
        result
    }
}

/// The same for the kernel's call, which says how many bytes it has written.
/// # Safety
/// So many were written there.
pub unsafe fn amend_written(task: c_int, written: c_long, set: *mut u8) {
    if let Ok(bytes) = usize::try_from(written) {
        // SAFETY: as the caller says.
        unsafe { amend_of(task, set, bytes) }
    }
}

/// # Safety
/// The set has so many bytes.
unsafe fn amend_of(task: c_int, set: *mut u8, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if task == 0 || kernel_threads::is_own(task) {
            amend(set, bytes);
        } else if let Some(own) = question::affinity_of(task) {
            core::ptr::copy_nonoverlapping(own.as_ptr().cast(), set, bytes.min(size_of_val(&own)));
        }
    }
}

/// # Safety
/// The set has so many bytes.
unsafe fn amend(set: *mut u8, bytes: usize) {
    if !affinity::may_be_narrow() {
        return;
    }
    let mut mask: Mask = [0; _];
    let bytes = bytes.min(size_of_val(&mask));
    // SAFETY: so many bytes are there, and in a mask, whose bytes may be any.
    unsafe {
        core::ptr::copy_nonoverlapping(set, mask.as_mut_ptr().cast(), bytes);
        if let Some(own) = affinity::behind(&mask) {
            core::ptr::copy_nonoverlapping(own.as_ptr().cast(), set, bytes);
        }
    }
}
