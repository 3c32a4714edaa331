//! Functions of other libraries, by name.

use super::errno::keeping_errno;
use super::glibc;
use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

/// A C string from a text that ends with a zero.
pub const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

pub type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// Searches for a symbol, as `dlsym`. `dlerror` won't speak of a search without success: it wasn't the
/// program's.
/// # Safety
/// `handle` is one of dlopen's, or `RTLD_NEXT` or `RTLD_DEFAULT`.
pub unsafe fn search(handle: *mut c_void, name: &CStr) -> *mut c_void {
    // SAFETY: dlsym gets a handle and a C string. dlerror returns a text that isn't looked at.
    unsafe {
        let found = libc::dlsym(handle, name.as_ptr());
        if found.is_null() {
            glibc::dlerror();
        }
        found
    }
}

/// The function of this name that would have been called without scaf.
#[cold]
pub unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    keeping_errno(|| {
        // SAFETY: F is a function pointer of that function's type, as the caller says.
        unsafe { function(search(libc::RTLD_NEXT, name).addr()) }
    })
}

/// A function by its address; `None` for 0.
/// # Safety
/// `F` is the type of a pointer to that function.
pub unsafe fn function<F: Copy>(address: usize) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let address = core::ptr::with_exposed_provenance::<c_void>(address);
    // SAFETY: as large as an address; the caller says that it is a pointer of that type.
    (!address.is_null()).then(|| unsafe { core::mem::transmute_copy(&address) })
}

/// A function that would have been called without scaf, looked for once.
pub struct Next(AtomicUsize, &'static CStr);

impl Next {
    pub const fn called(name: &'static CStr) -> Next {
        Next(AtomicUsize::new(0), name)
    }

    /// # Safety
    /// `F` is the type of a pointer to that function.
    #[inline(always)]
    pub unsafe fn get<F: Copy>(&self) -> Option<F> {
        let known = self.0.load(Ordering::Relaxed);
        // SAFETY: F is that function's type, as the caller says, and `known` was found for it.
        unsafe { if known == 0 { self.find() } else { function(known) } }
    }

    /// Looks for it now, for calls that may be made anywhere: a search takes the dynamic linker's lock, which
    /// another thread may hold while it waits for the caller's.
    pub fn look(&self) {
        // SAFETY: an address may be any number, and isn't called.
        let _ = unsafe { self.get::<usize>() };
    }

    #[cold]
    unsafe fn find<F: Copy>(&self) -> Option<F> {
        // SAFETY: `next` is asked for a number; F is the function's type, as the caller says.
        unsafe {
            let found: usize = next(self.1)?;
            self.0.store(found, Ordering::Relaxed);
            function(found)
        }
    }
}
