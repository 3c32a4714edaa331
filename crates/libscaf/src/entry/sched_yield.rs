//! Calls by which a thread gives up its processor while it waits for others. A member of a gathered team
//! lets other members run: the kernel knows nothing of them. Anybody else's call is passed on, and that of
//! a handler of signals on a stack of its own, which the next member's handler would need, and in a fork.

use super::mpi;
use crate::link::affinity;
use crate::region::mechanisms::gather::{current, member_signals, yielding_loops};
use crate::runtimes::module_tables;
use crate::sys::kernel_threads::give_way;
use crate::sys::symbols::function;
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

type Real = unsafe extern "C" fn() -> c_int;

fn may_switch() -> bool {
    !member_signals::is_on_handlers_stack() && !affinity::is_forking()
}

macro_rules! yields {
    ($($name:ident, $next:ident = $symbol:literal;)*) => {
        $(
            static $next: AtomicUsize = AtomicUsize::new(0);

            /// `thrd_yield` has no result, and its callers look at none.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() -> c_int {
                // SAFETY: these functions take nothing and return a number; a member that calls is running.
                unsafe {
                    match (current(), function::<Real>($next.load(Ordering::Relaxed))) {
                        (Some(me), _) if may_switch() => yielding_loops::yield_in_spin_loop(me),
                        (None, _) if mpi::is_turn() => {}
                        (_, Some(real)) => return real(),
                        (_, None) => give_way(),
                    }
                }
                0
            }
        )*

        /// So that no search is made within a call, which may be anywhere.
        pub fn at_load() {
            $($next.store(module_tables::next($symbol), Ordering::Relaxed);)*
        }
    };
}

yields! {
    sched_yield, SCHED_YIELD = c"sched_yield";
    // The C library offers it to old programs only.
    pthread_yield, PTHREAD_YIELD = c"pthread_yield";
    thrd_yield, THRD_YIELD = c"thrd_yield";
}
