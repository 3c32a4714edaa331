//! Regions whose `if` clause is false: LLVM's compilers have the runtime open and close them, and call their
//! function in between. The runtime itself opens and closes every region of one thread by these names. So
//! both calls are a few instructions and a jump (2 ns). The runtime is looked up only where the process has
//! two copies of it, or none is known yet.

use super::place::place;
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Here, Place, Runtime};
use crate::sys::thread_state::REGION_AT;
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::{AtomicUsize, Ordering};

pub const COUNT_AT: usize = REGION_AT + offset_of!(Thread, serial);
/// The two calls of the one LLVM runtime of this process; 0 where it isn't known, or isn't the only one.
pub static BEGIN: AtomicUsize = AtomicUsize::new(0);
pub static END: AtomicUsize = AtomicUsize::new(0);

pub fn found(runtime: &Runtime, only: bool) {
    let address = |call: Option<Here>| call.filter(|_| only).map_or(0, |call| call as usize);
    BEGIN.store(address(runtime.__kmpc_serialized_parallel), Ordering::Relaxed);
    END.store(address(runtime.__kmpc_end_serialized_parallel), Ordering::Relaxed);
}

macro_rules! calls {
    ($($name:ident => $real:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(here: Place, number: c_int, caller: usize) {
                if let Some(real) = place(thread(), caller).and_then(|(runtime, _)| runtime.$real) {
                    // SAFETY: the caller called this function with these arguments.
                    unsafe { real(here, number) }
                }
            }
        )*
    };
}

calls! {
    begin => __kmpc_serialized_parallel;
    end => __kmpc_end_serialized_parallel;
}
