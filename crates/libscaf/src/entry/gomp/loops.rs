//! Loops and sections: their starts, chunks and ends. Where the region's waits are ours, a loop ends by the
//! runtime's end without a wait, and then a barrier of ours.

use crate::region::frame::Frame;
use crate::region::mechanisms::gather::{self, constructs};
use crate::region::mechanisms::{fold, park};
use crate::region::place::place;
use crate::region::thread::{Thread, thread};
use crate::sys::arch::ticks;
use crate::sys::futex::Futex;
use core::ffi::c_void;

/// Starts of chunked loops.
macro_rules! starts {
    ($($find:ident => $field:ident or $gathered:ident;)*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    if gather::around(this).is_some() {
                        return constructs::$gathered as *const () as usize;
                    }
                    match place(this, caller).and_then(|(runtime, _)| runtime.$field) {
                        Some(real) => real as *const () as usize,
                        None => no_chunk as *const () as usize,
                    }
                }
            }
        )*
    };
}

extern "C" fn no_chunk() -> bool {
    false
}

starts! {
    find_dynamic => chunks_dynamic or start_dynamic;
    find_guided => chunks_guided or start_guided;
    find_nonmonotonic_dynamic => chunks_nonmonotonic_dynamic or start_dynamic;
    find_nonmonotonic_guided => chunks_nonmonotonic_guided or start_guided;
    find_ull_dynamic => chunks_ull_dynamic or start_ull_dynamic;
    find_ull_guided => chunks_ull_guided or start_ull_guided;
    find_ull_nonmonotonic_dynamic => chunks_ull_nonmonotonic_dynamic or start_ull_dynamic;
    find_ull_nonmonotonic_guided => chunks_ull_nonmonotonic_guided or start_ull_guided;
}

macro_rules! chunks {
    ($may_sleep:expr; $($name:ident)*) => {
        $(
            pub unsafe extern "C" fn $name(first: *mut c_void, end: *mut c_void, caller: usize) -> bool {
                let this = thread();
                // SAFETY: this thread's own state; the program's own arguments.
                unsafe {
                    if let Some(me) = gather::around(this) {
                        return constructs::next(me, first, end);
                    }
                    let Some((runtime, frame)) = place(this, caller) else { return false };
                    let Some(real) = runtime.$name else { return false };
                    let Some(frame) = frame.filter(|frame| frame.takes_over) else {
                        return real(first, end);
                    };
                    park::before_chunk(this, frame, runtime, $may_sleep);
                    let more = real(first, end);
                    if !more {
                        frame.gate.exhausted(this.loops.get(), &Futex);
                    }
                    more
                }
            }
        )*
    };
}

chunks! { |_| true;
    loop_dynamic_next loop_guided_next loop_nonmonotonic_dynamic_next loop_nonmonotonic_guided_next
    loop_ull_dynamic_next loop_ull_guided_next
    loop_ull_nonmonotonic_dynamic_next loop_ull_nonmonotonic_guided_next
}

chunks! { park::deals_to_anybody;
    loop_runtime_next loop_nonmonotonic_runtime_next loop_maybe_nonmonotonic_runtime_next
    loop_ull_runtime_next loop_ull_nonmonotonic_runtime_next loop_ull_maybe_nonmonotonic_runtime_next
}

macro_rules! ends {
    ($($name:ident, without: $nowait:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) {
                let this = thread();
                // SAFETY: this thread's own state, and the runtime's own entry points.
                unsafe {
                    if let Some(me) = gather::around(this) {
                        return constructs::end(me, true);
                    }
                    let Some((runtime, frame)) = place(this, caller) else { return };
                    leaves_loops(this, frame, $loops);
                    let Some(real) = runtime.$name else { return };
                    let Some(frame) = frame else { return real() };
                    match (frame.takes_over, runtime.$nowait, runtime.barrier) {
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
    loop_end, without: loop_end_nowait, loops: 1;
    sections_end, without: sections_end_nowait, loops: 0;
}

/// At its end a loop is dealt out. If this thread got no chunk, only this tells the threads that are parked.
#[inline(always)]
unsafe fn leaves_loops(this: &Thread, frame: Option<&Frame>, loops: u32) {
    if loops != 0
        && let Some(frame) = frame
    {
        frame.gate.exhausted(this.loops.get(), &Futex);
        this.loops.set(this.loops.get().wrapping_add(loops));
    }
}

pub unsafe extern "C" fn loop_end_nowait(caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state, and the runtime's own entry point.
    unsafe {
        if let Some(me) = gather::around(this) {
            return constructs::end(me, false);
        }
        let Some((runtime, frame)) = place(this, caller) else { return };
        leaves_loops(this, frame, 1);
        if let Some(real) = runtime.loop_end_nowait {
            real();
        }
    }
}

/// Waits that cancellation may end: on threads always the runtime's.
macro_rules! cancellable {
    ($($name:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) -> bool {
                let this = thread();
                // SAFETY: as above.
                unsafe {
                    if let Some(me) = gather::around(this) {
                        return constructs::end_cancel(me);
                    }
                    let Some((runtime, frame)) = place(this, caller) else { return false };
                    leaves_loops(this, frame, $loops);
                    let Some(real) = runtime.$name else { return false };
                    let Some(frame) = frame else { return real() };
                    frame.waits(this, ticks(), || real())
                }
            }
        )*
    };
}

cancellable! {
    loop_end_cancel, loops: 1;
    sections_end_cancel, loops: 0;
}

/// Sections and singles, which only a gathered team has to know of.
macro_rules! plain {
    ($($name:ident($($argument:ident: $type:ty)?) -> $result:ty => $field:ident or $missing:expr,
        |$me:ident| $answer:expr;)*) => {
        $(
            pub unsafe extern "C" fn $name($($argument: $type,)? caller: usize) -> $result {
                let this = thread();
                // SAFETY: this thread's own state; the program's own argument.
                unsafe {
                    if let Some($me) = gather::around(this) {
                        return $answer;
                    }
                    let real = place(this, caller).and_then(|(runtime, _)| runtime.$field);
                    real.map_or($missing, |real| real($($argument)?))
                }
            }
        )*
    };
}

plain! {
    sections_start(count: u32) -> u32 => sections_begin or 0, |me| constructs::sections(me, count);
    sections_next() -> u32 => sections_next or 0, |me| constructs::next_section(me);
    sections_end_nowait() -> () => sections_end_nowait or (), |me| constructs::end(me, false);
    single_start() -> bool => single_start or false, |me| constructs::single(me);
    single_copy_end(what: *mut c_void) -> () => single_copy_end or (),
        |me| constructs::single_copied(me, what);
}
