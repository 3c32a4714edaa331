//! Calls that ask for or set internal control variables. A member of a gathered team has its own
//! (`gather/icvs.rs`); anybody else's call is passed on.

use crate::entry::fortran::fortran;
use crate::region::mechanisms::gather;
use crate::region::mechanisms::gather::icvs::{self, Icvs};
use crate::region::thread::thread;
use crate::runtimes::entries::name_of;
use crate::runtimes::lookup;
use crate::sys::symbols;
use core::cell::Cell;
use core::ffi::c_int;

/// The function of the caller's runtime; without one, the next library's. Its type is the same in all.
macro_rules! real {
    ($caller:ident, $name:ident) => {
        lookup::of($caller).and_then(|code| code.runtime.$name).or_else(|| symbols::next(name_of!($name)))
    };
}

macro_rules! getters {
    ($($name:ident => $real:ident, $field:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) -> c_int {
                if let Some(me) = gather::current() {
                    return me.icvs.get().$field;
                }
                // SAFETY: in every OpenMP runtime it takes nothing and returns a number.
                unsafe { real!(caller, $real).map_or(0, |real| real()) }
            }
        )*
    };
}

getters! {
    get_dynamic => omp_get_dynamic, dynamic;
    get_nested => omp_get_nested, nested;
    get_proc_bind => omp_get_proc_bind, bind;
    get_max_active_levels => omp_get_max_active_levels, levels;
}

macro_rules! setters {
    ($($name:ident, $fortran:ident, $fortran_8:ident => $real:ident, $set:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(value: c_int, caller: usize) {
                if let Some(me) = gather::current() {
                    return icvs::$set(&me.icvs, value);
                }
                // SAFETY: in every OpenMP runtime it takes any number.
                unsafe {
                    if let Some(real) = real!(caller, $real) {
                        real(value);
                    }
                }
                // Its thread may become a member.
                if !thread().frame.get().is_null() {
                    icvs::$set(&Cell::new(Icvs::UNKNOWN), value);
                }
            }

            fortran! {
                $fortran(value: i32) => $name;
                $fortran_8(value: i64) => $name;
            }
        )*
    };
}

setters! {
    set_nested, set_nested_fortran, set_nested_fortran_8 => omp_set_nested, set_nested;
    set_max_active_levels, set_max_active_levels_fortran, set_max_active_levels_fortran_8
        => omp_set_max_active_levels, set_levels;
}

/// Fortran's is the same.
pub unsafe extern "C" fn get_schedule(kind: *mut c_int, chunk: *mut c_int, caller: usize) {
    // SAFETY: both point to variables of the program's that are to be written: here, or by the runtime.
    unsafe {
        if let Some(me) = gather::current() {
            (*kind, *chunk) = (me.icvs.get().kind, me.icvs.get().chunk);
        } else if let Some(real) = real!(caller, omp_get_schedule) {
            real(kind, chunk);
        }
    }
}

pub unsafe extern "C" fn set_schedule(kind: c_int, chunk: c_int, caller: usize) {
    if let Some(me) = gather::current() {
        return icvs::set_schedule(&me.icvs, kind, chunk);
    }
    // SAFETY: in every OpenMP runtime it takes any two numbers.
    unsafe {
        if let Some(real) = real!(caller, omp_set_schedule) {
            real(kind, chunk);
        }
    }
}

fortran! {
    set_schedule_fortran(kind: i32, chunk: i32) => set_schedule;
    set_schedule_fortran_8(kind: i32, chunk: i64) => set_schedule;
}

pub unsafe extern "C" fn get_schedule_fortran_8(kind: *mut i32, chunk: *mut i64, caller: usize) {
    let mut size = 0;
    // SAFETY: both point to variables of the program's that are to be written.
    unsafe {
        get_schedule(kind, &mut size, caller);
        *chunk = size.into();
    }
}
