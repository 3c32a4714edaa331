//! Which files are oneTBB's.

use crate::sys::glibc;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::zeroed;
use core::ptr::{null, null_mut, with_exposed_provenance};

/// Where the library around `address` is loaded, and its file; an empty name if there is none.
pub fn about(address: usize) -> (usize, &'static CStr) {
    // SAFETY: dladdr fills our zeroed memory; a library that is in use keeps its name.
    unsafe {
        let mut info: libc::Dl_info = zeroed();
        if glibc::dladdr(with_exposed_provenance(address), &mut info) == 0 || info.dli_fname.is_null() {
            return (0, c"");
        }
        (info.dli_fbase.addr(), CStr::from_ptr(info.dli_fname))
    }
}

pub fn is_tbb(address: usize) -> bool {
    is_name_of_tbb(about(address).1)
}

fn is_name_of_tbb(file: &CStr) -> bool {
    let name = file.to_bytes().rsplit(|byte| *byte == b'/').next();
    // Wheels have copies with a hash in their names.
    let starts: [&[u8]; 3] = [b"libtbb.so", b"libtbb_debug.so", b"libtbb-"];
    name.is_some_and(|name| starts.iter().any(|start| name.starts_with(start)))
}

pub fn own_handle() -> *mut c_void {
    let (_, file) = about(own_handle as *const () as usize);
    // SAFETY: dlopen reads a C string, and with RTLD_NOLOAD runs no constructor.
    unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// The function in the first loaded oneTBB, for a call that was a jump and so doesn't tell its caller.
pub fn loaded(name: &CStr) -> *mut c_void {
    unsafe extern "C" fn look(about: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr hands in a library's name and the `file` below.
        unsafe {
            let name = (*about).dlpi_name;
            if name.is_null() || !is_name_of_tbb(CStr::from_ptr(name)) {
                return 0;
            }
            *found.cast::<*const c_char>() = name;
        }
        1
    }
    let mut file: *const c_char = null();
    // SAFETY: `look` has the type that is wanted; the library isn't unloaded meanwhile, for the program is
    // calling into it.
    unsafe {
        libc::dl_iterate_phdr(Some(look), (&raw mut file).cast());
        if file.is_null() {
            return null_mut();
        }
        let library = libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        found
    }
}
