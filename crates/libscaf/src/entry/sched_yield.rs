//! Calls by which a thread gives up its processor while it waits for others. A member of a gathered team
//! lets other members run: the kernel knows nothing of them. Anybody else's call is passed on, and that of
//! a handler of signals on a stack of its own, which the next member's handler would need.

use super::mpi;
use crate::region::mechanisms::gather::{current, member_signals, yielding_loops};
use crate::sys::kernel_threads::give_way;
use crate::sys::symbols::Next;
use core::ffi::c_int;

/// The C library's one function behind these names, of which it offers `pthread_yield` to old programs only.
static SCHED_YIELD: Next = Next::called(c"sched_yield");

macro_rules! yields {
    ($($name:ident)*) => {$(
        /// `thrd_yield` has no result, and its callers look at none.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> c_int {
            type Real = unsafe extern "C" fn() -> c_int;
            // SAFETY: the function takes nothing and returns a number; a member that calls is running.
            unsafe {
                match (current(), SCHED_YIELD.get::<Real>()) {
                    (Some(me), _) if !member_signals::is_on_handlers_stack() => {
                        yielding_loops::yield_in_spin_loop(me);
                    }
                    (None, Some(_)) if mpi::is_turn() => {}
                    (_, Some(real)) => return real(),
                    (_, None) => give_way(),
                }
            }
            0
        }
    )*};
}

yields! { sched_yield pthread_yield thrd_yield }

/// So that no search is made within a call, which may be anywhere.
pub fn at_load() {
    SCHED_YIELD.look();
}
