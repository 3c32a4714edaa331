//! Loops and sections: their starts, chunks and ends. Where the region's waits are ours, a loop ends by the
//! runtime's end without a wait, and then a barrier of ours. Handlers have their functions' names.
#![allow(non_snake_case)]

use crate::region::frame::Frame;
use crate::region::mechanisms::gather::{self, constructs};
use crate::region::mechanisms::{fold, park};
use crate::region::serving_runtime::place;
use crate::region::thread::{Thread, thread};
use crate::sys::arch::ticks;
use crate::sys::futex::Futex;
use core::ffi::c_void;

macro_rules! chunks {
    ($may_sleep:expr; $($name:ident)*) => {
        $(
            pub unsafe extern "C" fn $name(first: *mut c_void, end: *mut c_void, caller: usize) -> bool {
                if let Some(me) = gather::current() {
                    // SAFETY: the compiler passes two variables for the bounds of this loop's chunk.
                    return unsafe { constructs::next(me, first, end) };
                }
                let this = thread();
                let Some((runtime, frame)) = place(this, caller) else { return false };
                let Some(real) = runtime.$name else { return false };
                // SAFETY: the caller called the runtime's function of this name with these arguments.
                let real = || unsafe { real(first, end) };
                let Some(frame) = frame.filter(|frame| frame.takes_over) else { return real() };
                park::before_chunk(this, frame, runtime, $may_sleep);
                let more = real();
                if !more {
                    frame.gate.exhausted(this.loops.get(), &Futex);
                }
                more
            }
        )*
    };
}

chunks! { |_| true;
    GOMP_loop_dynamic_next GOMP_loop_guided_next
    GOMP_loop_nonmonotonic_dynamic_next GOMP_loop_nonmonotonic_guided_next
    GOMP_loop_ull_dynamic_next GOMP_loop_ull_guided_next
    GOMP_loop_ull_nonmonotonic_dynamic_next GOMP_loop_ull_nonmonotonic_guided_next
}

chunks! { park::deals_to_anybody;
    GOMP_loop_runtime_next GOMP_loop_nonmonotonic_runtime_next GOMP_loop_maybe_nonmonotonic_runtime_next
    GOMP_loop_ull_runtime_next GOMP_loop_ull_nonmonotonic_runtime_next
    GOMP_loop_ull_maybe_nonmonotonic_runtime_next
}

macro_rules! ends {
    ($($name:ident, without: $nowait:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) {
                if let Some(me) = gather::current() {
                    return constructs::end(me, true);
                }
                let this = thread();
                let Some((runtime, frame)) = place(this, caller) else { return };
                leaves_loops(this, frame, $loops);
                let Some(real) = runtime.$name else { return };
                // SAFETY: the thread ends a construct of this runtime's: by the function that it called, or
                // by the two that do the same in two steps. They take nothing.
                unsafe {
                    let Some(frame) = frame else { return real() };
                    match (frame.takes_over, runtime.$nowait, runtime.GOMP_barrier) {
                        (true, Some(end), Some(barrier)) => {
                            end();
                            fold::meet(this, frame, runtime, || barrier());
                        }
                        _ => fold::meet(this, frame, runtime, || real()),
                    }
                }
            }
        )*
    };
}

ends! {
    GOMP_loop_end, without: GOMP_loop_end_nowait, loops: 1;
    GOMP_sections_end, without: GOMP_sections_end_nowait, loops: 0;
}

/// At its end a loop is dealt out. If this thread got no chunk, only this tells the threads that are parked.
#[inline(always)]
fn leaves_loops(this: &Thread, frame: Option<&Frame>, loops: u32) {
    if loops != 0
        && let Some(frame) = frame
    {
        frame.gate.exhausted(this.loops.get(), &Futex);
        this.loops.set(this.loops.get().wrapping_add(loops));
    }
}

pub unsafe extern "C" fn GOMP_loop_end_nowait(caller: usize) {
    if let Some(me) = gather::current() {
        return constructs::end(me, false);
    }
    let Some((runtime, frame)) = place(thread(), caller) else { return };
    leaves_loops(thread(), frame, 1);
    if let Some(real) = runtime.GOMP_loop_end_nowait {
        // SAFETY: the caller called this function, which takes nothing.
        unsafe { real() }
    }
}

/// Waits that cancellation may end: on threads always the runtime's.
macro_rules! cancellable {
    ($($name:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) -> bool {
                if let Some(me) = gather::current() {
                    return constructs::end_cancel(me);
                }
                let this = thread();
                let Some((runtime, frame)) = place(this, caller) else { return false };
                leaves_loops(this, frame, $loops);
                let Some(real) = runtime.$name else { return false };
                // SAFETY: the caller called this function, which takes nothing.
                let real = || unsafe { real() };
                frame.map_or_else(real, |frame| frame.waits(this, ticks(), real))
            }
        )*
    };
}

cancellable! {
    GOMP_loop_end_cancel, loops: 1;
    GOMP_sections_end_cancel, loops: 0;
}

/// Sections and singles, which only a gathered team has to know of.
macro_rules! plain {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty, or $missing:expr,
        |$me:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: $type,)? caller: usize) -> $result {
                if let Some($me) = gather::current() {
                    return $answer;
                }
                let real = place(thread(), caller).and_then(|(runtime, _)| runtime.$name);
                // SAFETY: the caller called the runtime's function of this name with this argument.
                unsafe { real.map_or($missing, |real| real($($argument)?)) }
            }
        )*
    };
}

plain! {
    GOMP_sections_start(count: u32) -> u32, or 0, |me| constructs::sections(me, count);
    GOMP_sections_next() -> u32, or 0, |me| constructs::next_section(me);
    GOMP_sections_end_nowait() -> (), or (), |me| constructs::end(me, false);
    GOMP_single_start() -> bool, or false, |me| constructs::single(me);
    GOMP_single_copy_end(what: *mut c_void) -> (), or (),
        |me| constructs::single_copied(me, what);
}
