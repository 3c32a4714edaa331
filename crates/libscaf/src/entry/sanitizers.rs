//! AddressSanitizer, as a library of its own, ends a program in which another library is loaded before it,
//! for that might be one that hides the calls it watches. We are loaded first, and pass such calls on to it.

use core::ffi::c_char;

/// Asked by the sanitizer, where the program has no function of this name.
#[unsafe(no_mangle)]
pub extern "C" fn __asan_default_options() -> *const c_char {
    c"verify_asan_link_order=0".as_ptr()
}
