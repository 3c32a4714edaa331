//! Which files are oneTBB's.

use crate::runtimes::linker::{any_module, base_name, file_of, in_library};
use crate::sys::glibc;
use core::ffi::{CStr, c_void};
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
    is_name_of_tbb(base_name(about(address).1))
}

fn is_name_of_tbb(name: &[u8]) -> bool {
    // Wheels have copies with a hash in their names.
    let starts: [&[u8]; 3] = [b"libtbb.so", b"libtbb_debug.so", b"libtbb-"];
    starts.iter().any(|start| name.starts_with(start))
}

pub fn own_handle() -> *mut c_void {
    let (_, file) = about(own_handle as *const () as usize);
    // SAFETY: dlopen reads a C string, and with RTLD_NOLOAD runs no constructor.
    unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

/// The function in the first loaded oneTBB, for a call that was a jump and so doesn't tell its caller.
pub fn loaded(name: &CStr) -> *mut c_void {
    let mut file = null();
    // SAFETY: modules' names are as the dynamic linker has them. The program is calling into this one, so it
    // isn't unloaded meanwhile.
    unsafe {
        any_module(|about| {
            let is_it = is_name_of_tbb(file_of(about));
            if is_it {
                file = about.dlpi_name;
            }
            is_it
        });
        in_library(file, name).unwrap_or(null_mut())
    }
}
