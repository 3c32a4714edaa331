//! Calls by which the program sets or asks a BLAS library's number of threads. Python programs reach them by
//! dlopen and dlsym. scikit-learn sets one thread for a loop of its own, and restores the old number
//! afterwards: one of ours would become the program's own. So dlsym returns functions of ours, which keep
//! apart what the program set and what the grant leaves of it. dlsym is also where a newly loaded library is
//! noticed.

use super::table::{LIBRARIES, NEWS, library, limit, lock, table};
use super::{find, monitor};
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::Dlsym;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::Ordering;

/// Our function for this symbol; null if the call is to be passed on.
/// # Safety
/// The arguments are those of a call of dlsym, and `real` is glibc's.
pub unsafe fn instead_of(handle: *mut c_void, name: *const c_char, real: Dlsym) -> *mut c_void {
    if NEWS.load(Ordering::Relaxed) != 0 {
        keeping_errno(monitor::look);
    }
    // RTLD_NEXT and RTLD_DEFAULT mean another library for each caller.
    if handle == libc::RTLD_NEXT || handle == libc::RTLD_DEFAULT || name.is_null() || table().next().is_none()
    {
        return null_mut();
    }
    // SAFETY: what is handed to dlsym is a C string, and glibc's function has this type.
    unsafe {
        if !find::is_named(CStr::from_ptr(name)) {
            return null_mut();
        }
        ours_for(real(handle, name) as usize)
    }
}

/// Our function in place of the library's function at `address`.
fn ours_for(address: usize) -> *mut c_void {
    let find = |number: usize| {
        let library = library(number)?;
        if library.number.set.load(Ordering::Relaxed) == address {
            return SETTERS.get(number).map(|it| *it as *mut c_void);
        }
        let gets = library.number.get.load(Ordering::Relaxed) == address;
        gets.then(|| GETTERS.get(number).map(|it| *it as *mut c_void)).flatten()
    };
    let follows = |number: &usize| library(*number).is_some_and(|library| library.is_ready());
    (0..table().count()).filter(follows).find_map(find).unwrap_or(null_mut())
}

extern "C" fn setter<const NUMBER: usize>(threads: c_int) {
    keeping_errno(|| set(NUMBER, threads));
}

extern "C" fn getter<const NUMBER: usize>() -> c_int {
    let Some(library) = library(NUMBER) else { return 1 };
    let _locked = lock();
    library.number.adopt().max(1)
}

macro_rules! for_each_library {
    ($function:ident: $($number:literal)*) => { [$($function::<$number>),*] };
}

static SETTERS: [extern "C" fn(c_int); LIBRARIES] = for_each_library!(setter: 0 1 2 3 4 5 6 7);
static GETTERS: [extern "C" fn() -> c_int; LIBRARIES] = for_each_library!(getter: 0 1 2 3 4 5 6 7);

/// The program sets its number. The value that results is the program's own; the grant only limits it.
fn set(number: usize, threads: c_int) {
    let Some(library) = library(number) else { return };
    {
        let locked = lock();
        let number = &library.number;
        number.set_by_setter(threads);
        let now = number.value();
        number.user.store(now, Ordering::Relaxed);
        number.ours.store(now, Ordering::Relaxed);
        number.limit(limit(&locked));
    }
    monitor::start_if_needed();
}
