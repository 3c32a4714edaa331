//! Carriers: the kernel threads that run members.

use super::fibers::carry;
use super::gathered_team::{CARRIERS, CREW, Carrier, MASTERS, has_context, reset_idle};
use super::worker_tls;
use crate::program::masters;
use crate::sys::arch::{self, Context};
use crate::sys::futex::Futex;
use crate::sys::thread::{give_way, own_task, spawn};
use core::ffi::c_void;
use core::hint::spin_loop;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

/// What carriers without work sleep on, and how many do.
static BELL: AtomicU32 = AtomicU32::new(0);
static SLEEPERS: AtomicU32 = AtomicU32::new(0);

/// Ticks that a carrier with a context of its own waits for the next region before it sleeps (about 1 ms).
/// The runtime's own threads spin for 15.
const BETWEEN_TICKS: u64 = 1 << 21;

/// The master begins a region; its own carrier.
#[inline]
pub fn begin() -> &'static Carrier {
    MASTERS.task.store(worker_tls::task(0), Ordering::Relaxed);
    reset_idle();
    MASTERS
}

/// The master of a region that was gathered at a barrier, behind that; its own carrier.
pub fn gathered() -> &'static Carrier {
    MASTERS.task.store(own_task(), Ordering::Relaxed);
    reset_idle();
    MASTERS
}

/// Calls carriers up to that number, the master's included.
#[cold]
pub fn call(carriers: u32) {
    for number in 1..carriers {
        let Some(carrier) = CARRIERS.get(number as usize) else { break };
        if carrier.there.load(Ordering::Relaxed) == 0 && carrier.there.swap(1, Ordering::Relaxed) == 0 {
            carrier.number.store(number, Ordering::Relaxed);
            if !spawn(run, without_provenance_mut(number as usize)) {
                // Nor are those beyond: who adds up over all looks no further than the first that is missing.
                carrier.there.store(0, Ordering::Relaxed);
                break;
            }
        }
    }
    BELL.fetch_add(1, Ordering::SeqCst);
    // Who isn't counted yet will find the bell rung.
    if SLEEPERS.load(Ordering::SeqCst) != 0 {
        Futex.wake_all(&BELL);
    }
}

/// The same where one is missing: the system may have refused a thread.
pub fn call_missing(carriers: u32) {
    let is_missing = |carrier: &Carrier| carrier.there.load(Ordering::Relaxed) == 0;
    if CARRIERS.iter().take(carriers as usize).skip(1).any(is_missing) {
        call(carriers);
    }
}

/// Waits until no carrier but the master's is in the region that was closed.
#[inline]
pub fn dismiss() {
    if !CREW.is_empty() {
        CREW.tell(&Futex);
        while !CREW.is_empty() {
            give_way();
        }
    }
}

/// What a carrier but the master's runs.
extern "C" fn run(number: *mut c_void) -> *mut c_void {
    let number = number.addr();
    let Some(carrier) = CARRIERS.get(number) else { return null_mut() };
    let number = number as u32;
    // SAFETY: its own home, before it has any work.
    unsafe { *carrier.home.get() = Context::with_storage(arch::storage()) };
    carrier.task.store(own_task(), Ordering::Relaxed);
    let mut has = None;
    loop {
        let bell = BELL.load(Ordering::SeqCst);
        if CREW.board(number) {
            // Of each team anew: a team's threads may block some for a while.
            worker_tls::take_signals(&mut has);
            serve(carrier, number);
            CREW.unboard();
        } else if !rings_soon(bell, number) {
            SLEEPERS.fetch_add(1, Ordering::SeqCst);
            Futex.sleep(&BELL, bell, 0);
            SLEEPERS.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Waits a moment for the bell, where the carrier has a context that nobody else of the program wants.
fn rings_soon(bell: u32, number: u32) -> bool {
    let since = arch::ticks();
    while has_context(number)
        && !masters::is_team_running()
        && arch::ticks().wrapping_sub(since) < BETWEEN_TICKS
    {
        if BELL.load(Ordering::Acquire) != bell || CREW.open() > number {
            return true;
        }
        if CREW.open() != 0 {
            return false;
        }
        spin_loop();
    }
    false
}

/// Runs members until the carrier isn't wanted any more.
fn serve(carrier: &'static Carrier, number: u32) {
    while !CREW.is_surplus(number) {
        let next = CREW.take_near(number, 0).or_else(|| CREW.take(number, 0)).or_else(|| {
            let look = || match CREW.take(number, 0) {
                None => CREW.is_surplus(number).then_some(None),
                next => Some(next),
            };
            let since = arch::ticks();
            let found = carrier.nap(look);
            carrier.was_idle(since);
            found.flatten()
        });
        if let Some(next) = next {
            // SAFETY: it was taken.
            unsafe { carry(carrier, next) };
        }
    }
}

/// After a fork, in the child: no carrier is there.
pub fn after_fork() {
    for carrier in &CARRIERS {
        carrier.there.store(0, Ordering::Relaxed);
        carrier.take_idle();
    }
    SLEEPERS.store(0, Ordering::Relaxed);
    CREW.after_fork();
}
