//! glibc's functions by the versions that they have had since 2.17 and before: a container's image may be
//! older than the machine that built the library. In an older glibc they are libpthread's and libdl's, which
//! a container is told to load (`scaf cdi`). `tests/e2e/containers.rs` fails if a newer version is used.

use super::file::File;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::mem::zeroed;
use libc::{Dl_info, pthread_attr_t, pthread_key_t, pthread_t};

unsafe extern "C" {
    #[link_name = "pthread_create@GLIBC_2.2.5"]
    pub fn pthread_create(
        thread: *mut pthread_t,
        attributes: *const pthread_attr_t,
        run: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    #[link_name = "pthread_detach@GLIBC_2.2.5"]
    pub fn pthread_detach(thread: pthread_t) -> c_int;
    #[link_name = "pthread_key_create@GLIBC_2.2.5"]
    pub fn pthread_key_create(
        key: *mut pthread_key_t,
        ended: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    #[link_name = "pthread_key_delete@GLIBC_2.2.5"]
    pub fn pthread_key_delete(key: pthread_key_t) -> c_int;
    #[link_name = "pthread_getspecific@GLIBC_2.2.5"]
    pub fn pthread_getspecific(key: pthread_key_t) -> *mut c_void;
    #[link_name = "pthread_setspecific@GLIBC_2.2.5"]
    pub fn pthread_setspecific(key: pthread_key_t, value: *const c_void) -> c_int;
    #[link_name = "pthread_attr_getstacksize@GLIBC_2.2.5"]
    pub fn pthread_attr_getstacksize(attributes: *const pthread_attr_t, bytes: *mut usize) -> c_int;
    #[link_name = "dladdr@GLIBC_2.2.5"]
    pub fn dladdr(address: *const c_void, info: *mut Dl_info) -> c_int;
    #[link_name = "dladdr1@GLIBC_2.3.3"]
    pub fn dladdr1(
        address: *const c_void,
        info: *mut Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
    #[link_name = "dlerror@GLIBC_2.2.5"]
    pub fn dlerror() -> *mut c_char;
    #[link_name = "dlvsym@GLIBC_2.2.5"]
    pub fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// What the kernel says of an open file. glibc has had a function of that name since 2.33.
pub fn fstat(file: c_int) -> Option<libc::stat> {
    // SAFETY: on x86-64 the kernel's structure is the C library's, for which zeros are a value.
    unsafe {
        let mut status: libc::stat = zeroed();
        (libc::syscall(libc::SYS_fstat, file, &raw mut status) == 0).then_some(status)
    }
}

/// A file in memory. glibc has had a function of that name since 2.27.
pub fn memfd_create(name: &CStr, flags: c_uint) -> Option<File> {
    // SAFETY: the kernel reads a C string.
    File::from_result(unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) } as c_int)
}
