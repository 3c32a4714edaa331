//! Calls by which a thread gives up its processor while it waits for others. A member of a gathered team lets
//! other members run: the kernel knows nothing of them. Anybody else's call is passed on.

use super::mpi;
use crate::region::mechanisms::gather::{around, yields};
use crate::region::thread::thread;
use crate::sys::symbols::Next;
use crate::sys::thread::give_way;
use core::ffi::c_int;

macro_rules! yields {
    ($($name:ident, $symbol:literal;)*) => {
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> c_int {
                type Real = unsafe extern "C" fn() -> c_int;
                static NEXT: Next = Next::called($symbol);
                // SAFETY: that function's type; the calling thread's own state.
                unsafe {
                    match (around(thread()), NEXT.get::<Real>()) {
                        (Some(me), _) => yields::let_others(me),
                        (None, Some(_)) if mpi::is_turn() => {}
                        (None, Some(real)) => return real(),
                        // One that the C library offers to old programs only.
                        (None, None) => give_way(),
                    }
                }
                0
            }
        )*
    };
}

yields! {
    sched_yield, c"sched_yield";
    pthread_yield, c"pthread_yield";
    // It has no result, and its callers look at none.
    thrd_yield, c"thrd_yield";
}
