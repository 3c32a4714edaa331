//! Libraries that the program loads and unloads while it runs.

use super::{blas, tbb};
use crate::runtimes::{hooks, modules};
use crate::sys::arch;
use core::ffi::{c_char, c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

arch::answered! {
    /// Notes the call and passes it on so that libc sees the caller. oneTBB may get us as its manager.
    dlopen: asked, else DLOPEN
}

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

unsafe extern "C" fn asked(name: *const c_char, _flags: c_int, caller: usize) -> *mut c_void {
    modules::NEWS.store(1, Ordering::Relaxed);
    blas::NEWS.store(1, Ordering::Relaxed);
    if DLOPEN.load(Ordering::Relaxed).is_null() {
        // SAFETY: a plain search; libc has it.
        DLOPEN.store(unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) }, Ordering::Relaxed);
    }
    // SAFETY: the program's own argument.
    unsafe { tbb::manager::instead_of(name, caller) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    type Dlclose = unsafe extern "C" fn(*mut c_void) -> c_int;
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut next = NEXT.load(Ordering::Relaxed);
    if next.is_null() {
        // SAFETY: a plain search; libc has it.
        next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlclose".as_ptr()) };
        NEXT.store(next, Ordering::Relaxed);
    }
    if next.is_null() {
        return -1;
    }
    // SAFETY: libc's dlclose has this type.
    let result = unsafe { transmute::<*mut c_void, Dlclose>(next)(handle) };
    hooks::call(hooks::get().unloaded);
    result
}
