//! Libraries that the program loads and unloads while it runs.

use super::{blas, tbb};
use crate::region::mechanisms::gather;
use crate::runtimes::{hooks, modules};
use crate::sys::arch;
use crate::sys::symbols::Next;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

arch::answered! {
    /// Records the call and passes it on so that libc sees the caller. oneTBB may get us as its manager.
    dlopen: asked, else DLOPEN
}

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

unsafe extern "C" fn asked(name: *const c_char, _flags: c_int, caller: usize) -> *mut c_void {
    modules::NEWS.store(1, Ordering::Relaxed);
    blas::NEWS.store(1, Ordering::Relaxed);
    gather::before_load();
    if DLOPEN.load(Ordering::Relaxed).is_null() {
        // SAFETY: dlsym reads a C string.
        DLOPEN.store(unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) }, Ordering::Relaxed);
    }
    // SAFETY: what is handed to dlopen is null or a C string.
    unsafe { tbb::manager::instead_of(name, caller) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    type Dlclose = unsafe extern "C" fn(*mut c_void) -> c_int;
    static NEXT: Next = Next::called(c"dlclose");
    // SAFETY: libc's dlclose has this type, and would have been called with this handle.
    let result = unsafe {
        match NEXT.get::<Dlclose>() {
            Some(real) => real(handle),
            None => return -1,
        }
    };
    hooks::call(hooks::get().unloaded);
    result
}
