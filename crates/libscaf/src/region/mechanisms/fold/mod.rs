//! A team keeps its size and its CPU affinity shrinks, which the daemon does. Here threads are made to wait
//! accordingly. Where the region's waits are ours ([`Frame::takes_over`]), a barrier is `scaf_team`'s:
//! threads spin as long as the runtime would while all have a context, and sleep at once while the program is
//! folded. Other waits stay libgomp's ([`spins`]) or LLVM's ([`blocking`]). Tasks and cancellation need the
//! runtime's barrier, so either leaves the rest of the region to it.

pub mod blocking;
mod spins;

use crate::link::affinity::own_pus;
use crate::program::masters;
use crate::region::frame::Frame;
use crate::region::mechanisms::gather::midway;
use crate::region::thread::Thread;
use crate::runtimes::entries::Runtime;
use crate::sys::arch::ticks;
use crate::sys::futex::Futex;
use crate::sys::settings;
use scaf_team::barrier::Passed;

/// A region is entered, at tick `at`: waits that aren't ours follow the fold, too.
#[inline(always)]
pub fn enter(this: &Thread, runtime: &Runtime, team: u32, at: u64) {
    if runtime.is_llvms() {
        blocking::follow(this, runtime, team);
    } else {
        spins::enter(runtime, team, at);
    }
}

/// A thread is about to wait within the runtime, for tasks mostly: that wait, too, follows the fold, which
/// may have changed since the region was entered.
#[inline(always)]
pub fn follow_midway(frame: &Frame) {
    spins::follow(frame);
}

/// Whether the waits of this runtime's regions are ours. A choice of how LLVM's threads wait is respected.
pub fn takes_over(runtime: &Runtime) -> bool {
    let settings = settings::get();
    settings.spin.is_some() && runtime.is_complete() && !(runtime.is_llvms() && settings.own_blocking)
}

/// Rounds that a thread spins where the program itself has more threads than PUs; libgomp's number.
const SPIN_OVERSUBSCRIBED: u32 = 100;

/// Waits at the region's barrier: ours, or `real` where it isn't ours, or not any more.
#[inline(always)]
pub fn meet(this: &Thread, frame: &Frame, runtime: &Runtime, real: impl FnOnce()) {
    let since = ticks();
    let team = frame.team(runtime);
    frame.mark(since, team);
    let gathers = || midway::gathers(frame, team);
    let wait = || {
        if !frame.takes_over {
            follow_midway(frame);
            real();
            return false;
        }
        let passed = frame.barrier.wait_or_gather(team, &Futex, patience(team, since), gathers);
        if passed == Passed::HandedOver {
            follow_midway(frame);
            real();
        }
        passed == Passed::Gathered
    };
    if frame.waits(this, since, wait) {
        // SAFETY: the barrier has gathered the team, of which this thread is one.
        unsafe { midway::join(this, frame) };
    }
}

/// Whether to spin for one more round, at each call, in a wait that began at tick `since`.
#[inline(always)]
fn patience(team: u32, since: u64) -> impl FnMut() -> bool {
    let mut left = None;
    move || {
        let first = || {
            let spin = settings::get().spin.unwrap_or(0);
            let spin = spins::at_start(since).map_or(spin, |most| spin.min(most));
            // Several masters' teams may be more threads than there are PUs, whatever this one is.
            let enough = team <= own_pus() && masters::one_master();
            if enough { spin } else { spin.min(SPIN_OVERSUBSCRIBED) }
        };
        let now = left.unwrap_or_else(first);
        left = Some(now.saturating_sub(1));
        core::hint::spin_loop();
        now != 0 && !masters::is_oversubscribed(team)
    }
}
