//! The threads of a dynamic loop that have no context sleep between two chunks, which may go to any thread.

use crate::link::pages;
use crate::region::frame::Frame;
use crate::region::place::index;
use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch::ticks;
use crate::sys::futex::Futex;
use crate::sys::settings;
use core::ffi::c_int;
use scaf_team::choice::Mechanism;

/// Before the thread asks for a chunk: sleeps while it has no context, if chunks go to any thread.
#[inline(always)]
pub fn before_chunk(
    this: &Thread,
    frame: &Frame,
    runtime: &Runtime,
    may_sleep: impl FnOnce(&Runtime) -> bool,
) {
    let index = index(this, runtime);
    if !frame.gate.lets_through(index, dop(), &Futex) && may_sleep(runtime) {
        park(this, frame, index);
    }
}

#[cold]
#[inline(never)]
fn park(this: &Thread, frame: &Frame, index: u32) {
    if let Some(slot) = frame.slot {
        slot.set_mechanism(Mechanism::Park as u32);
    }
    frame.waits(this, ticks(), || frame.gate.park(index, this.loops.get(), &Futex, dop));
}

fn dop() -> u32 {
    // Who does which chunk is left to chance anyway, but sums may be added up in another order.
    if settings::exact() {
        return u32::MAX;
    }
    pages::grant().word().dop().unwrap_or(u32::MAX)
}

/// Whether the loop is dynamic or guided now: in a static one others may depend on a parked thread's chunks.
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
