//! Barriers, chunks of loops, locks and waits for tasks of LLVM's runtime (see `region/mechanisms/fold`). A
//! thread that begins a chunked loop says how it is dealt out; the loop ends for the thread when no chunk is
//! left. A loop that is dealt out evenly asks for nothing in between.

use super::members;
use super::place::place;
use crate::region::frame::Frame;
use crate::region::mechanisms::{fold, gather, park};
use crate::region::task_times;
use crate::region::thread::{Thread, thread};
use crate::runtimes::entries::{Place, Runtime};
use crate::sys::futex::Futex;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance_mut};

pub unsafe extern "C" fn barrier(here: Place, number: c_int, caller: usize) {
    let this = thread();
    if let Some(me) = gather::current() {
        return gather::constructs::barrier(me);
    }
    let Some((runtime, frame)) = place(this, caller) else { return };
    let Some(real) = runtime.__kmpc_barrier else { return };
    // SAFETY: the caller called this function with these arguments.
    let real = || unsafe { real(here, number) };
    match frame.filter(|_| this.waits_since.get() == 0) {
        Some(frame) => fold::meet(this, frame, runtime, real),
        None => real(),
    }
}

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) by $how:path => $real:ident;)*) => {
        $(
            pub unsafe extern "C" fn $name(
                here: Place, number: c_int $(, $argument: $type)*, caller: usize
            ) -> *mut c_void {
                let this = thread();
                let Some((runtime, frame)) = place(this, caller) else { return null_mut() };
                let Some(real) = runtime.$real else { return null_mut() };
                // SAFETY: the caller called the runtime's function of this name with these arguments.
                let real = || unsafe { real(here, number $(, $argument)*) };
                match frame.filter(|_| this.waits_since.get() == 0) {
                    Some(frame) => $how(this, frame, real),
                    None => real(),
                }
            }
        )*
    };
}

calls! {
    other_cancel_barrier() by task_times::wait => __kmpc_cancel_barrier;
    other_taskwait() by task_times::wait => __kmpc_omp_taskwait;
    other_end_taskgroup() by task_times::wait => __kmpc_end_taskgroup;
    other_ordered() by task_times::wait => __kmpc_ordered;
    critical(lock: *mut c_void) by task_times::lock => __kmpc_critical;
    critical_with_hint(lock: *mut c_void, hint: *mut c_void) by task_times::lock => __kmpc_critical_with_hint;
}

/// A barrier at which cancellation shows.
pub unsafe extern "C" fn cancel_barrier(here: Place, number: c_int, caller: usize) -> *mut c_void {
    match gather::current() {
        Some(me) => without_provenance_mut(usize::from(gather::constructs::barrier_cancel(me))),
        // SAFETY: called as __kmpc_cancel_barrier, with its arguments.
        None => unsafe { other_cancel_barrier(here, number, caller) },
    }
}

/// A thread waits for its turn in an ordered loop.
pub unsafe extern "C" fn ordered(here: Place, number: c_int, caller: usize) -> *mut c_void {
    match gather::current() {
        Some(me) => {
            gather::llvm::ordered(me);
            null_mut()
        }
        // SAFETY: called as __kmpc_ordered, with its arguments.
        None => unsafe { other_ordered(here, number, caller) },
    }
}

/// Waits for tasks, which members have by themselves.
macro_rules! task_waits {
    ($($name:ident or $other:ident, members $gathered:path;)*) => {
        $(
            pub unsafe extern "C" fn $name(here: Place, number: c_int, caller: usize) -> *mut c_void {
                // SAFETY: called as the runtime's function that both stand for, with its arguments.
                unsafe {
                    match gather::current() {
                        Some(_) => $gathered(here, number),
                        None => $other(here, number, caller),
                    }
                }
            }
        )*
    };
}

task_waits! {
    taskwait or other_taskwait, members super::tasks::wait;
    end_taskgroup or other_end_taskgroup, members super::tasks::group_end;
}

/// LLVM's numbers for schedules, and for bits beside them.
const DYNAMIC: c_int = 35;
const GUIDED: c_int = 36;
const BY_SETTING: c_int = 37;
/// Other forms of guided loops, and loops whose threads take from each other.
const GUIDED_FORMS: [c_int; 2] = [42, 43];
const STEALING: c_int = 44;
const MODIFIERS: c_int = 3 << 29;

/// A thread begins a loop. Chunks of dynamic and guided loops may go to any thread. A static schedule deals
/// them by thread number, so others may depend on a parked thread's. Ordered loops have other numbers.
pub fn begins_loop(this: &Thread, runtime: &Runtime, frame: Option<&Frame>, schedule: c_int) {
    let deals = frame.is_some_and(|frame| frame.takes_over)
        && match schedule & !MODIFIERS {
            DYNAMIC | GUIDED | STEALING => true,
            BY_SETTING => park::deals_to_anybody(runtime),
            other => GUIDED_FORMS.contains(&other),
        };
    this.deals.set(u32::from(deals));
}

macro_rules! chunks {
    ($($find:ident, $take:ident => $field:ident, members $gathered:path;)*) => {
        $(
            pub unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                if gather::current().is_some() {
                    return $gathered as *const () as usize;
                }
                match place(this, caller) {
                    Some((_, Some(_))) if this.deals.get() != 0 => $take as *const () as usize,
                    Some((runtime, _)) => {
                        runtime.$field.map_or(none as *const () as usize, |real| real as usize)
                    }
                    None => none as *const () as usize,
                }
            }

            unsafe extern "C" fn $take(
                here: Place, number: c_int, last: *mut c_int,
                from: *mut c_void, to: *mut c_void, step: *mut c_void,
            ) -> c_int {
                let this = thread();
                let Some(frame) = this.frame() else { return 0 };
                let runtime = frame.runtime();
                let Some(real) = runtime.$field else { return 0 };
                park::before_chunk(this, frame, runtime, |_| true);
                // SAFETY: the caller called the runtime's function of this name with these arguments.
                let more = unsafe { real(here, number, last, from, to, step) };
                if more == 0 {
                    frame.gate.exhausted(this.loops.get(), &Futex);
                    this.loops.set(this.loops.get().wrapping_add(1));
                    this.deals.set(0);
                }
                more
            }
        )*
    };
}

chunks! {
    find_next_4, next_4 => __kmpc_dispatch_next_4, members members::next_4;
    find_next_4u, next_4u => __kmpc_dispatch_next_4u, members members::next_4u;
    find_next_8, next_8 => __kmpc_dispatch_next_8, members members::next_8;
    find_next_8u, next_8u => __kmpc_dispatch_next_8u, members members::next_8u;
}

extern "C" fn none() -> c_int {
    0
}
