//! Loops that only a gathered team has to know of: ordered ones, statically scheduled ones, and the starts of
//! those whose schedule the runtime chooses. They are passed on as they came.

use crate::region::mechanisms::gather::{self, constructs, doacross, gomp_loop_start, loops};
use crate::region::serving_runtime::place;
use crate::region::thread::thread;
use crate::sys::symbols;

macro_rules! loops {
    ($($find:ident => $field:ident or $symbol:literal, $floor:ident::$gathered:ident;)*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state; the symbol is that function's.
                unsafe {
                    if gather::around(this).is_some() {
                        return $floor::$gathered as *const () as usize;
                    }
                    let real = place(this, caller).and_then(|(runtime, _)| runtime.$field);
                    match real.or_else(|| symbols::next($symbol)) {
                        Some(real) => real as *const () as usize,
                        None => nothing_left as *const () as usize,
                    }
                }
            }
        )*
    };
}

extern "C" fn nothing_left() -> bool {
    false
}

loops! {
    find_static => chunks_static or c"GOMP_loop_static_start", loops::start_static;
    find_runtime => chunks_runtime or c"GOMP_loop_runtime_start", loops::start_runtime;
    find_nonmonotonic_runtime =>
        chunks_nonmonotonic_runtime or c"GOMP_loop_nonmonotonic_runtime_start",
        loops::start_runtime;
    find_maybe_nonmonotonic_runtime =>
        chunks_maybe_nonmonotonic_runtime or c"GOMP_loop_maybe_nonmonotonic_runtime_start",
        loops::start_runtime;
    find_ordered_static => chunks_ordered_static or c"GOMP_loop_ordered_static_start", loops::start_static;
    find_ordered_dynamic => chunks_ordered_dynamic or c"GOMP_loop_ordered_dynamic_start",
        constructs::start_dynamic;
    find_ordered_guided => chunks_ordered_guided or c"GOMP_loop_ordered_guided_start",
        constructs::start_guided;
    find_ordered_runtime => chunks_ordered_runtime or c"GOMP_loop_ordered_runtime_start",
        loops::start_runtime;
    find_next_static => next_static or c"GOMP_loop_static_next", loops::next;
    find_next_ordered_static => next_ordered_static or c"GOMP_loop_ordered_static_next", loops::ordered_next;
    find_next_ordered_dynamic => next_ordered_dynamic or c"GOMP_loop_ordered_dynamic_next",
        loops::ordered_next;
    find_next_ordered_guided => next_ordered_guided or c"GOMP_loop_ordered_guided_next", loops::ordered_next;
    find_next_ordered_runtime => next_ordered_runtime or c"GOMP_loop_ordered_runtime_next",
        loops::ordered_next;
    find_ull_static => chunks_ull_static or c"GOMP_loop_ull_static_start", loops::start_ull_static;
    find_ull_runtime => chunks_ull_runtime or c"GOMP_loop_ull_runtime_start", loops::start_ull_runtime;
    find_ull_nonmonotonic_runtime =>
        chunks_ull_nonmonotonic_runtime or c"GOMP_loop_ull_nonmonotonic_runtime_start",
        loops::start_ull_runtime;
    find_ull_maybe_nonmonotonic_runtime =>
        chunks_ull_maybe_nonmonotonic_runtime or c"GOMP_loop_ull_maybe_nonmonotonic_runtime_start",
        loops::start_ull_runtime;
    find_ull_ordered_static => chunks_ull_ordered_static or c"GOMP_loop_ull_ordered_static_start",
        loops::start_ull_static;
    find_ull_ordered_dynamic => chunks_ull_ordered_dynamic or c"GOMP_loop_ull_ordered_dynamic_start",
        constructs::start_ull_dynamic;
    find_ull_ordered_guided => chunks_ull_ordered_guided or c"GOMP_loop_ull_ordered_guided_start",
        constructs::start_ull_guided;
    find_ull_ordered_runtime => chunks_ull_ordered_runtime or c"GOMP_loop_ull_ordered_runtime_start",
        loops::start_ull_runtime;
    find_next_ull_static => next_ull_static or c"GOMP_loop_ull_static_next", loops::next;
    find_next_ull_ordered_static => next_ull_ordered_static or c"GOMP_loop_ull_ordered_static_next",
        loops::ordered_next;
    find_next_ull_ordered_dynamic => next_ull_ordered_dynamic or c"GOMP_loop_ull_ordered_dynamic_next",
        loops::ordered_next;
    find_next_ull_ordered_guided => next_ull_ordered_guided or c"GOMP_loop_ull_ordered_guided_next",
        loops::ordered_next;
    find_next_ull_ordered_runtime => next_ull_ordered_runtime or c"GOMP_loop_ull_ordered_runtime_next",
        loops::ordered_next;
    find_given => given or c"GOMP_loop_start", gomp_loop_start::start;
    find_ordered_given => ordered_given or c"GOMP_loop_ordered_start", gomp_loop_start::start;
    find_ull_given => ull_given or c"GOMP_loop_ull_start", gomp_loop_start::start_ull;
    find_ull_ordered_given => ull_ordered_given or c"GOMP_loop_ull_ordered_start", gomp_loop_start::start_ull;
    find_sections_given => sections_given or c"GOMP_sections2_start", gomp_loop_start::sections;
    find_doacross_given => doacross_given or c"GOMP_loop_doacross_start", doacross::start;
    find_ull_doacross_given => ull_doacross_given or c"GOMP_loop_ull_doacross_start", doacross::start;
    find_unregister => workshare_unregister or c"GOMP_workshare_task_reduction_unregister",
        gomp_loop_start::unregister;
    find_doacross_static => doacross_static or c"GOMP_loop_doacross_static_start", doacross::start_static;
    find_doacross_dynamic => doacross_dynamic or c"GOMP_loop_doacross_dynamic_start", doacross::start_dynamic;
    find_doacross_guided => doacross_guided or c"GOMP_loop_doacross_guided_start", doacross::start_guided;
    find_doacross_runtime => doacross_runtime or c"GOMP_loop_doacross_runtime_start", doacross::start_runtime;
    find_ull_doacross_static => ull_doacross_static or c"GOMP_loop_ull_doacross_static_start",
        doacross::start_static;
    find_ull_doacross_dynamic => ull_doacross_dynamic or c"GOMP_loop_ull_doacross_dynamic_start",
        doacross::start_dynamic;
    find_ull_doacross_guided => ull_doacross_guided or c"GOMP_loop_ull_doacross_guided_start",
        doacross::start_guided;
    find_ull_doacross_runtime => ull_doacross_runtime or c"GOMP_loop_ull_doacross_runtime_start",
        doacross::start_runtime;
    find_doacross_post => doacross_post or c"GOMP_doacross_post", doacross::post;
    find_doacross_ull_post => doacross_ull_post or c"GOMP_doacross_ull_post", doacross::post;
    find_doacross_wait => doacross_wait or c"GOMP_doacross_wait", doacross::wait;
    find_doacross_ull_wait => doacross_ull_wait or c"GOMP_doacross_ull_wait", doacross::wait;
}
