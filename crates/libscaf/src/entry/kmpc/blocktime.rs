//! How long LLVM's threads spin: the program sets it, and a program that asks gets its own value.

use crate::entry::fortran::fortran;
use crate::region::mechanisms::fold::blocking;
use crate::region::thread::thread;
use crate::runtimes::lookup;
use core::ffi::c_int;

pub unsafe extern "C" fn set_blocktime(milliseconds: c_int, caller: usize) {
    let set = lookup::of_llvms(caller).and_then(|code| code.runtime.kmp_set_blocktime);
    blocking::is_chosen(thread());
    if let Some(set) = set {
        // SAFETY: kmp_set_blocktime takes any number.
        unsafe { set(milliseconds) }
    }
}

fortran! {
    set_blocktime_fortran(milliseconds: c_int) => set_blocktime;
}

pub unsafe extern "C" fn get_blocktime(caller: usize) -> c_int {
    let get = lookup::of_llvms(caller).and_then(|code| code.runtime.kmp_get_blocktime);
    match (thread().blocktime.get(), get) {
        // SAFETY: kmp_get_blocktime takes nothing.
        (0, Some(get)) => unsafe { get() },
        (0, None) => 0,
        (own, _) => own.wrapping_sub(1) as c_int,
    }
}
