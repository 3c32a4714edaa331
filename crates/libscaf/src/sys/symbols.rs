//! Functions of other libraries, by name.

use super::errno::keeping_errno;
use core::ffi::{CStr, c_void};

/// The function of this name that would have been called without scaf.
#[cold]
pub unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    keeping_errno(|| {
        // SAFETY: a plain search; the caller's F is a function pointer of that function's type.
        unsafe { function(libc::dlsym(libc::RTLD_NEXT, name.as_ptr()).addr()) }
    })
}

/// A function by its address; `None` for 0.
/// # Safety
/// `F` is the type of a pointer to that function.
pub unsafe fn function<F: Copy>(address: usize) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let address = core::ptr::with_exposed_provenance::<c_void>(address);
    // SAFETY: the caller's word.
    (!address.is_null()).then(|| unsafe { core::mem::transmute_copy(&address) })
}
