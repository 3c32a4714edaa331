//! Carriers: the kernel threads that run members.

use super::fibers::run_fiber;
use super::gathered_team::{CARRIERS, Carrier, MASTERS, SCHEDULER, current, has_context, reset_idle};
use super::worker_tls;
use crate::program::masters;
use crate::sys::arch::{self, Fiber};
use crate::sys::futex::Futex;
use crate::sys::helpers::{self, spawn};
use crate::sys::kernel_threads::{give_way, own_task};
use core::ffi::c_void;
use core::hint::spin_loop;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

/// What idle carriers sleep on, and how many do.
static WAKE_SEQ: AtomicU32 = AtomicU32::new(0);
static SLEEPERS: AtomicU32 = AtomicU32::new(0);

/// How long a carrier with a context of its own spins for the next region before it sleeps, in ticks (about 1
/// ms). libgomp's threads spin for 15 ms.
const BETWEEN_TICKS: u64 = 1 << 21;

/// The master's carrier, as it begins a region.
#[inline]
pub fn begin() -> &'static Carrier {
    MASTERS.task.store(worker_tls::task(0), Ordering::Relaxed);
    reset_idle();
    MASTERS
}

/// The same for a region that is gathered at a barrier.
pub fn begin_midway() -> &'static Carrier {
    MASTERS.task.store(own_task(), Ordering::Relaxed);
    reset_idle();
    MASTERS
}

/// Starts or wakes the carriers below that number; carrier 0 is the master's.
#[cold]
pub fn wake(carriers: u32) {
    // Before it is asked who is there: see [`leaves`].
    WAKE_SEQ.fetch_add(1, Ordering::SeqCst);
    for number in 1..carriers {
        let Some(carrier) = CARRIERS.get(number as usize) else { break };
        if carrier.there.load(Ordering::SeqCst) == 0 && carrier.there.swap(1, Ordering::SeqCst) == 0 {
            carrier.number.store(number, Ordering::Relaxed);
            if !spawn(run, without_provenance_mut(number as usize)) {
                // Nor are there any beyond it: sums over all carriers end at the first that is missing.
                carrier.there.store(0, Ordering::Relaxed);
                break;
            }
        }
    }
    // A carrier that isn't counted yet will see the new number.
    if SLEEPERS.load(Ordering::SeqCst) != 0 {
        Futex.wake_all(&WAKE_SEQ);
    }
}

/// The same if one is missing: the system may have refused a thread.
pub fn wake_missing(carriers: u32) {
    let is_missing = |carrier: &Carrier| carrier.there.load(Ordering::Relaxed) == 0;
    if CARRIERS.iter().take(carriers as usize).skip(1).any(is_missing) {
        wake(carriers);
    }
}

/// Waits until no carrier but the master's is in the closed region.
#[inline]
pub fn wait_for_others() {
    if !SCHEDULER.is_quiescent() {
        SCHEDULER.notify(&Futex);
        while !SCHEDULER.is_quiescent() {
            give_way();
        }
    }
}

extern "C" fn run(number: *mut c_void) -> *mut c_void {
    let number = number.addr();
    let Some(carrier) = CARRIERS.get(number) else { return null_mut() };
    let number = number as u32;
    // SAFETY: only this thread uses the carrier's own fiber, and it runs no member yet.
    unsafe { *carrier.own_fiber.get() = Fiber::with_tls(arch::tls_base()) };
    carrier.task.store(own_task(), Ordering::Relaxed);
    let mut has = None;
    loop {
        let seen = WAKE_SEQ.load(Ordering::SeqCst);
        if SCHEDULER.carrier_enters(number) {
            // Per region: a team's threads may block signals for a while.
            worker_tls::take_signals(&mut has);
            run_fibers(carrier, number);
            SCHEDULER.carrier_leaves();
        } else if !is_woken_soon(seen, number) {
            SLEEPERS.fetch_add(1, Ordering::SeqCst);
            let is_idle = Futex.sleep(&WAKE_SEQ, seen, helpers::IDLE_MS);
            SLEEPERS.fetch_sub(1, Ordering::SeqCst);
            if (is_idle || helpers::are_to_leave()) && SCHEDULER.carrier_limit() == 0 && leaves(carrier, seen)
            {
                return null_mut();
            }
        }
    }
}

/// A carrier without work ends, unless somebody has counted on it since it saw that number.
fn leaves(carrier: &Carrier, seen: u32) -> bool {
    carrier.there.store(0, Ordering::SeqCst);
    WAKE_SEQ.load(Ordering::SeqCst) == seen || carrier.there.swap(1, Ordering::SeqCst) != 0
}

/// So that those that are to leave do.
pub fn wake_idle() {
    WAKE_SEQ.fetch_add(1, Ordering::SeqCst);
    Futex.wake_all(&WAKE_SEQ);
}

/// Spins for the next region while the carrier has a context that nobody else of the program wants; returns
/// whether it came.
fn is_woken_soon(seen: u32, number: u32) -> bool {
    let since = arch::ticks();
    while has_context(number)
        && !masters::is_team_running()
        && arch::ticks().wrapping_sub(since) < BETWEEN_TICKS
    {
        if WAKE_SEQ.load(Ordering::Acquire) != seen || SCHEDULER.carrier_limit() > number {
            return true;
        }
        if SCHEDULER.carrier_limit() != 0 {
            return false;
        }
        spin_loop();
    }
    false
}

fn run_fibers(carrier: &'static Carrier, number: u32) {
    while !SCHEDULER.is_surplus(number) {
        let next = SCHEDULER.take_near(number, 0).or_else(|| SCHEDULER.take(number, 0)).or_else(|| {
            let look = || match SCHEDULER.take(number, 0) {
                None => SCHEDULER.is_surplus(number).then_some(None),
                next => Some(next),
            };
            let since = arch::ticks();
            let found = carrier.nap(look);
            carrier.was_idle(since);
            found.flatten()
        });
        if let Some(next) = next {
            // SAFETY: this carrier has taken `next`.
            unsafe { run_fiber(carrier, next) };
        }
    }
}

pub fn after_fork() {
    for carrier in &CARRIERS {
        carrier.there.store(0, Ordering::Relaxed);
        carrier.take_idle();
    }
    SLEEPERS.store(0, Ordering::Relaxed);
    SCHEDULER.after_fork(current().is_some());
}
