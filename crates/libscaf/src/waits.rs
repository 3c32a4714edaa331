//! Barriers, and the ends and chunks of loops and sections: where a team's threads wait for each other, and so where the
//! grant can be followed in the middle of a region.
//!
//! They are called within a region, whose runtime the thread knows; outside of one, or in a thread of a team that we
//! haven't opened, the caller's address tells. Where the region's waits are ours ([`Frame::takes_over`]), a barrier is
//! `scaf_team`'s: threads spin as long as the runtime would while all have a context, and sleep at once while the
//! program is folded. The end of a loop is the runtime's end without a wait, then such a barrier. The threads of a
//! dynamic loop are parked between chunks.
//!
//! What tasks and cancellation need of a barrier only the runtime can do, so either leaves the rest of the region to it.
//!
//! The time that a thread waits is no useful work. The end of the region itself is a wait too: it is what lies between
//! a thread's leaving the outlined function and the region's end, so nothing has to be done for it.

use crate::arch::{self, NO_INDEX, Thread, thread, ticks};
use crate::frame::Frame;
use crate::futex::Futex;
use crate::runtime::{self, Port, Runtime};
use crate::{client, masters, pages, promise, settings, tasks, virtualise};
use core::ffi::{c_int, c_void};
use scaf_proto::report::fact;
use scaf_team::barrier::Passed;

/// Rounds that a thread spins where the program itself has more threads than PUs; libgomp's number.
const SPIN_CROWDED: u32 = 100;

/// Waits at the region's barrier, which is ours or, where it is not or not any more, `real`.
#[inline(always)]
pub unsafe fn meet(this: *mut Thread, frame: &Frame, runtime: &Runtime, real: impl FnOnce()) {
    let since = ticks();
    let team = frame.team(runtime);
    frame.mark(this, since, team);
    let wait = || {
        if !frame.takes_over || frame.barrier.wait(team, &Futex, patience(team)) == Passed::HandedOver {
            real();
        }
    };
    // SAFETY: this thread's own state.
    unsafe { frame.waits(this, since, wait) }
}

/// Whether to spin for one more round, at each call.
#[inline(always)]
fn patience(team: u32) -> impl FnMut() -> bool {
    let mut left = None;
    move || {
        let first = || {
            let spin = settings::get().spin.unwrap_or(0);
            // Several masters' teams may be more threads than there are PUs, whatever this one is.
            let enough = team <= client::own_pus() && masters::one_master();
            if enough { spin } else { spin.min(SPIN_CROWDED) }
        };
        let now = left.unwrap_or_else(first);
        left = Some(now.saturating_sub(1));
        core::hint::spin_loop();
        now != 0 && !masters::is_crowded(team)
    }
}

pub unsafe extern "C" fn barrier(caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state, and the runtime's own entry point.
    unsafe {
        let Some((runtime, frame)) = place(this, caller) else { return };
        let Some(real) = runtime.barrier else { return };
        match frame {
            Some(frame) if frame.parts.are_there() => virtualise::barrier(frame),
            Some(frame) => meet(this, frame, runtime, || real()),
            None => real(),
        }
    }
}

/// Ends that are followed by a barrier.
macro_rules! ends {
    ($($name:ident, without: $nowait:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) {
                let this = thread();
                // SAFETY: this thread's own state, and the runtime's own entry points.
                unsafe {
                    let Some((runtime, frame)) = place(this, caller) else { return };
                    leaves_loops(this, frame, $loops);
                    let Some(real) = runtime.$name else { return };
                    let Some(frame) = frame else { return real() };
                    match (frame.takes_over, runtime.$nowait, runtime.barrier) {
                        (true, Some(end), Some(barrier)) => {
                            end();
                            meet(this, frame, runtime, || barrier());
                        }
                        _ => meet(this, frame, runtime, || real()),
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

/// The thread is at the end of a loop, so all of it has been dealt out: it may have got nothing of it, and then this is the
/// only sign for those who are parked.
#[inline(always)]
unsafe fn leaves_loops(this: *mut Thread, frame: Option<&Frame>, loops: u32) {
    // SAFETY: this thread's own state.
    unsafe {
        if loops != 0
            && let Some(frame) = frame
        {
            frame.gate.exhausted((*this).loops, &Futex);
            (*this).loops = (*this).loops.wrapping_add(loops);
        }
    }
}

pub unsafe extern "C" fn loop_end_nowait(caller: usize) {
    let this = thread();
    // SAFETY: this thread's own state, and the runtime's own entry point.
    unsafe {
        let Some((runtime, frame)) = place(this, caller) else { return };
        leaves_loops(this, frame, 1);
        if virtualise::is_exhausted(this) {
            return;
        }
        (*this).in_loop = 0;
        if let Some(real) = runtime.loop_end_nowait {
            real();
        }
    }
}

/// Waits that cancellation may end: always the runtime's.
macro_rules! cancellable {
    ($($name:ident, loops: $loops:literal;)*) => {
        $(
            pub unsafe extern "C" fn $name(caller: usize) -> bool {
                let this = thread();
                // SAFETY: as above.
                unsafe {
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
    barrier_cancel, loops: 0;
    loop_end_cancel, loops: 1;
    sections_end_cancel, loops: 0;
}

/// Asks for a loop's next chunk.
macro_rules! chunks {
    ($any_thread:expr; $($name:ident)*) => {
        $(
            pub unsafe extern "C" fn $name(first: *mut c_void, end: *mut c_void, caller: usize) -> bool {
                let this = thread();
                // SAFETY: this thread's own state; the program's own arguments.
                unsafe {
                    let Some((runtime, frame)) = place(this, caller) else { return false };
                    let Some(real) = runtime.$name else { return false };
                    let Some(frame) = frame.filter(|frame| frame.takes_over) else {
                        return if virtualise::is_exhausted(this) { false } else { real(first, end) };
                    };
                    let index = index(this, runtime);
                    if !frame.gate.lets_through(index, dop(), &Futex) && $any_thread(runtime) {
                        park(this, frame, index);
                    }
                    let more = real(first, end);
                    if !more {
                        frame.gate.exhausted((*this).loops, &Futex);
                    }
                    more
                }
            }
        )*
    };
}

chunks! { |_| true;
    loop_dynamic_next loop_guided_next loop_nonmonotonic_dynamic_next loop_nonmonotonic_guided_next
    loop_ull_dynamic_next loop_ull_guided_next loop_ull_nonmonotonic_dynamic_next loop_ull_nonmonotonic_guided_next
}

chunks! { deals_to_anybody;
    loop_runtime_next loop_nonmonotonic_runtime_next loop_maybe_nonmonotonic_runtime_next
    loop_ull_runtime_next loop_ull_nonmonotonic_runtime_next loop_ull_maybe_nonmonotonic_runtime_next
}

/// Whether `schedule(runtime)` is dynamic or guided now: a static one deals chunks by thread number, and others may depend
/// on those of a thread that is parked.
#[cold]
pub fn deals_to_anybody(runtime: &Runtime) -> bool {
    const MONOTONIC: c_int = c_int::MIN;
    const DYNAMIC: c_int = 2;
    const GUIDED: c_int = 3;
    let (mut kind, mut chunk) = (0, 0);
    let Some(get_schedule) = runtime.get_schedule else { return false };
    // SAFETY: omp_get_schedule fills in two integers.
    unsafe { get_schedule(&mut kind, &mut chunk) };
    matches!(kind & !MONOTONIC, DYNAMIC | GUIDED)
}

#[inline(always)]
pub fn dop() -> u32 {
    // Who does which chunk is left to chance anyway, but sums may be added up in another order.
    if settings::get().exact {
        return u32::MAX;
    }
    pages::grant().word().dop().unwrap_or(u32::MAX)
}

#[inline(always)]
pub unsafe fn index(this: *mut Thread, runtime: &Runtime) -> u32 {
    // SAFETY: this thread's own state; omp_get_thread_num takes nothing.
    unsafe {
        if (*this).index == NO_INDEX {
            (*this).index = runtime.thread_num.map_or(0, |number| number()).max(0) as u32;
        }
        (*this).index
    }
}

#[cold]
#[inline(never)]
pub unsafe fn park(this: *mut Thread, frame: &Frame, index: u32) {
    promise::note(fact::PARKED);
    // SAFETY: this thread's own state.
    unsafe { frame.waits(this, ticks(), || frame.gate.park(index, (*this).loops, &Futex, dop)) }
}

pub unsafe extern "C" fn cancel(which: c_int, really: bool, caller: usize) -> bool {
    let this = thread();
    // SAFETY: this thread's own state; the program's own arguments.
    unsafe {
        let Some((runtime, frame)) = place(this, caller) else { return false };
        if let Some(frame) = frame {
            frame.is_cancelled();
        }
        runtime.cancel.is_some_and(|real| real(which, really))
    }
}

/// Calls that may create tasks within the runtime. Each is noted, and then jumped to as it came.
macro_rules! creators {
    ($($name:ident: $find:ident => $field:ident;)*) => {
        $(
            arch::pass_on!($name, $find);

            unsafe extern "C" fn $find(caller: usize) -> usize {
                let this = thread();
                // SAFETY: this thread's own state.
                unsafe {
                    let Some((runtime, frame)) = place(this, caller) else { return nothing as *const () as usize };
                    if let Some(frame) = frame {
                        frame.has_tasks(false);
                        // Code for a device that runs here has teams of its own.
                        frame.is_cancelled();
                    }
                    runtime.$field.unwrap_or(nothing) as usize
                }
            }
        )*
    };
}

creators! {
    GOMP_target_ext: find_target => target;
    GOMP_target_update_ext: find_target_update => target_update;
    GOMP_target_enter_exit_data: find_target_enter_exit_data => target_enter_exit_data;
    GOMP_taskwait_depend_nowait: find_taskwait_depend_nowait => taskwait_depend_nowait;
    omp_target_memcpy_async: find_target_memcpy_async => target_memcpy_async;
    omp_target_memcpy_rect_async: find_target_memcpy_rect_async => target_memcpy_rect_async;
}

unsafe extern "C" fn nothing() {}

/// The runtime that a call is for, and the region around it.
#[inline(always)]
pub unsafe fn place<'a>(this: *mut Thread, caller: usize) -> Option<(&'static Runtime, Option<&'a Frame>)> {
    // SAFETY: this thread's own state; runtimes live for ever, and a frame as long as its region.
    unsafe {
        let runtime = match (*this).runtime.as_ref() {
            // Code of GCC's runtime that a region of LLVM's calls knows nothing of that region.
            Some(runtime) if runtime.is_llvms() && runtime::sole().is_none() => {
                return tasks::of_caller(this, caller);
            }
            Some(runtime) => runtime,
            // In a thread of a team that we haven't opened. Asking the dynamic linker might wait for its lock, which the master
            // holds if the region is in a library's constructor.
            None => runtime::only_of(Port::Gcc).or_else(|| runtime::of(caller).map(|code| code.runtime))?,
        };
        Some((runtime, (*this).frame.as_ref().filter(|_| (*this).serial == 0)))
    }
}
