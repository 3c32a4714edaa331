//! Fortran's forms of calls: each argument is passed by address, as an integer of 4 or 8 bytes.

use core::ffi::c_int;

macro_rules! fortran {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? => $call:path;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: *const $type,)* caller: usize) $(-> $result)? {
                // SAFETY: only Fortran code calls it, with the addresses of integers of these types.
                unsafe { $call($($crate::entry::fortran::int((*$argument).into()),)* caller) }
            }
        )*
    };
}
pub(super) use fortran;

/// What is out of range becomes the nearest number, as in libgomp.
pub fn int(number: i64) -> c_int {
    number.clamp(i64::from(c_int::MIN), i64::from(c_int::MAX)) as c_int
}
