//! What a program asks and says about its choices for regions: passed on, but for members of gathered teams.

use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::icvs::{self, Icvs};
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup;
use crate::sys::symbols;
use core::cell::Cell;
use core::ffi::c_int;

fn runtime_of(caller: usize) -> Option<&'static Runtime> {
    lookup::of(caller).map(|code| code.runtime)
}

macro_rules! questions {
    ($($name:ident => $real:ident or $symbol:literal, $field:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) -> c_int {
                // SAFETY: this thread's own state; the symbol is that function's, which takes nothing.
                unsafe {
                    if let Some(me) = gather::around(thread()) {
                        return me.icvs.get().$field;
                    }
                    let real = runtime_of(caller).and_then(|runtime| runtime.$real);
                    real.or_else(|| symbols::next($symbol)).map_or(0, |real| real())
                }
            }
        )*
    };
}

questions! {
    get_dynamic => get_dynamic or c"omp_get_dynamic", dynamic;
    get_nested => nested or c"omp_get_nested", nested;
    get_proc_bind => proc_bind or c"omp_get_proc_bind", bind;
    get_max_active_levels => max_active_levels or c"omp_get_max_active_levels", levels;
}

/// What is out of range is as large as can be, as libgomp has it.
pub fn short(number: i64) -> c_int {
    number.clamp(i64::from(c_int::MIN), i64::from(c_int::MAX)) as c_int
}

macro_rules! choices {
    ($($name:ident, $fortran:ident, $fortran_8:ident => $real:ident or $symbol:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(choice: c_int, caller: usize) {
                // SAFETY: this thread's own state; the symbol is that function's.
                unsafe {
                    if let Some(me) = gather::around(thread()) {
                        return icvs::$real(&me.icvs, choice);
                    }
                    let real = runtime_of(caller).and_then(|runtime| runtime.$name);
                    if let Some(real) = real.or_else(|| symbols::next($symbol)) {
                        real(choice);
                    }
                    // Its thread may become a member.
                    if !thread().frame.get().is_null() {
                        icvs::$real(&Cell::new(Icvs::UNKNOWN), choice);
                    }
                }
            }

            /// Fortran passes its argument by address.
            pub unsafe extern "C" fn $fortran(choice: *const i32, caller: usize) {
                // SAFETY: Fortran's calling convention.
                unsafe { $name(*choice, caller) }
            }

            /// The same with integers of 8 bytes.
            pub unsafe extern "C" fn $fortran_8(choice: *const i64, caller: usize) {
                // SAFETY: as above.
                unsafe { $name(short(*choice), caller) }
            }
        )*
    };
}

choices! {
    set_nested, set_nested_fortran, set_nested_fortran_8 => set_nested or c"omp_set_nested";
    set_max_active_levels, set_max_active_levels_fortran, set_max_active_levels_fortran_8
        => set_levels or c"omp_set_max_active_levels";
}

/// Fortran's is the same.
pub unsafe extern "C" fn get_schedule(kind: *mut c_int, chunk: *mut c_int, caller: usize) {
    // SAFETY: this thread's own state; the program's own variables.
    unsafe {
        if let Some(me) = gather::around(thread()) {
            (*kind, *chunk) = (me.icvs.get().kind, me.icvs.get().chunk);
            return;
        }
        let real = runtime_of(caller).and_then(|runtime| runtime.get_schedule);
        if let Some(real) = real.or_else(|| symbols::next(c"omp_get_schedule")) {
            real(kind, chunk);
        }
    }
}

pub unsafe extern "C" fn set_schedule(kind: c_int, chunk: c_int, caller: usize) {
    // SAFETY: this thread's own state; the symbol is that function's.
    unsafe {
        if let Some(me) = gather::around(thread()) {
            return icvs::set_schedule(&me.icvs, kind, chunk);
        }
        let real = runtime_of(caller).and_then(|runtime| runtime.set_schedule);
        if let Some(real) = real.or_else(|| symbols::next(c"omp_set_schedule")) {
            real(kind, chunk);
        }
    }
}

pub unsafe extern "C" fn set_schedule_fortran(kind: *const i32, chunk: *const i32, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_schedule(*kind, *chunk, caller) }
}

/// Here the chunk is an integer of 8 bytes.
pub unsafe extern "C" fn set_schedule_fortran_8(kind: *const i32, chunk: *const i64, caller: usize) {
    // SAFETY: as above.
    unsafe { set_schedule(*kind, short(*chunk), caller) }
}

pub unsafe extern "C" fn get_schedule_fortran_8(kind: *mut i32, chunk: *mut i64, caller: usize) {
    let mut size = 0;
    // SAFETY: as above.
    unsafe {
        get_schedule(kind, &mut size, caller);
        *chunk = size.into();
    }
}
