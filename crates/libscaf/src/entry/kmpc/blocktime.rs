//! How long LLVM's threads spin, as the program sets it. A program that asks is told its own value.

use crate::region::mechanisms::fold::blocking;
use crate::region::thread::thread;
use crate::runtimes::lookup;
use core::ffi::c_int;

pub unsafe extern "C" fn set_blocktime(milliseconds: c_int, caller: usize) {
    let set = lookup::of_llvms(caller).and_then(|code| code.runtime.set_blocktime);
    // SAFETY: this thread's own state; the program's own argument.
    unsafe {
        blocking::is_chosen(thread());
        if let Some(set) = set {
            set(milliseconds);
        }
    }
}

pub unsafe extern "C" fn set_blocktime_fortran(milliseconds: *const c_int, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_blocktime(*milliseconds, caller) }
}

pub unsafe extern "C" fn get_blocktime(caller: usize) -> c_int {
    let get = lookup::of_llvms(caller).and_then(|code| code.runtime.get_blocktime);
    // SAFETY: this thread's own state.
    unsafe {
        match (thread().blocktime.get(), get) {
            (0, Some(get)) => get(),
            (0, None) => 0,
            (own, _) => own.wrapping_sub(1) as c_int,
        }
    }
}
