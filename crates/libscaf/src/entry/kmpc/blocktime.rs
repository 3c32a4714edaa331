//! What a program says and asks about how long LLVM's threads spin. Where that is ours just now, it is told its own.

use crate::region::mechanisms::fold::blocking;
use crate::region::thread::thread;
use crate::runtimes::lookup;
use crate::sys::arch;
use core::ffi::c_int;

arch::with_caller! {
    kmp_set_blocktime => set_blocktime, behind 1;
    kmp_set_blocktime_ => set_blocktime_fortran, behind 1;
    kmp_get_blocktime => get_blocktime, behind 0;
    kmp_get_blocktime_ => get_blocktime, behind 0;
}

unsafe extern "C" fn set_blocktime(milliseconds: c_int, caller: usize) {
    let set = lookup::of_llvms(caller).and_then(|code| code.runtime.set_blocktime);
    // SAFETY: this thread's own state; the program's own argument.
    unsafe {
        blocking::is_chosen(thread());
        if let Some(set) = set {
            set(milliseconds);
        }
    }
}

unsafe extern "C" fn set_blocktime_fortran(milliseconds: *const c_int, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_blocktime(*milliseconds, caller) }
}

/// As the program would have it without us.
unsafe extern "C" fn get_blocktime(caller: usize) -> c_int {
    let get = lookup::of_llvms(caller).and_then(|code| code.runtime.get_blocktime);
    // SAFETY: this thread's own state.
    unsafe {
        match ((*thread()).blocktime, get) {
            (0, Some(get)) => get(),
            (0, None) => 0,
            (own, _) => own.wrapping_sub(1) as c_int,
        }
    }
}
