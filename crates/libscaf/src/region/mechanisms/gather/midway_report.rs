//! What the carrier monitor needs for a team that was gathered midway: where its waits are reported, and
//! whether it is to stay gathered.

use super::eligibility::is_wanted;
use super::gathered_team::{SCHEDULER, take_idle};
use crate::program::masters::{is_oversubscribed, is_too_large};
use crate::runtimes::lookup::Code;
use crate::sys::arch::ticks;
use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use scaf_proto::report::Slot;
use scaf_team::choice::Mechanism;

/// The region's slot in the report page.
static SLOT: AtomicPtr<Slot> = AtomicPtr::new(null_mut());
/// The tick up to which its waits are reported; 0 while no team is gathered midway.
static REPORTED: AtomicU64 = AtomicU64::new(0);
/// When it was last asked how often the team meets, and the barriers passed by then.
static SINCE: AtomicU64 = AtomicU64::new(0);
static BARRIERS: AtomicU32 = AtomicU32::new(0);
/// Ticks between two such questions (10 to 20 ms).
const WHILE: u64 = 1 << 25;
/// Ticks between two barriers (1 to 2 ms) above which the kernel shares fewer PUs out better: below that, all
/// happens within a time slice.
const SELDOM: u64 = 1 << 22;

/// Set before a team is gathered.
pub fn reports_at(slot: Option<&'static Slot>) {
    SLOT.store(slot.map_or(null_mut(), |slot| from_ref(slot).cast_mut()), Ordering::Relaxed);
}

/// The master became a member at tick `now`.
pub fn begins(now: u64) {
    BARRIERS.store(SCHEDULER.passed(), Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
    REPORTED.store(now.max(1), Ordering::Relaxed);
    is_by(Mechanism::Gather);
}

/// The team is on threads again.
pub fn ends(now: u64) {
    report(REPORTED.swap(0, Ordering::Relaxed), now);
    is_by(Mechanism::Fold);
}

/// Reports by which mechanism the region follows the grant.
fn is_by(mechanism: Mechanism) {
    // SAFETY: slots live in the report page, which is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Relaxed).as_ref() } {
        slot.set_mechanism(mechanism as u32);
    }
}

/// Called by the monitor: reports the waits of a team that was gathered midway, and decides whether it
/// returns to threads.
pub fn look(code: Option<Code>) {
    let (since, now) = (REPORTED.load(Ordering::Relaxed), ticks());
    if since != 0 {
        if REPORTED.compare_exchange(since, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            report(since, now);
        }
        let lacks_contexts =
            is_oversubscribed(SCHEDULER.size()) || is_too_large(SCHEDULER.size()) && met_often(now);
        if !lacks_contexts || !code.is_some_and(is_wanted) {
            SCHEDULER.request_return();
        }
    }
}

/// Whether a team with more threads than PUs meets often enough, by barriers in a time.
pub fn is_often(ticks: u64, barriers: u32) -> bool {
    ticks < SELDOM * u64::from(barriers)
}

/// Whether there was a barrier at least every [`SELDOM`] ticks since the last question; true if that is
/// recent.
fn met_often(now: u64) -> bool {
    let (passed, barriers) = (now.wrapping_sub(SINCE.load(Ordering::Relaxed)), SCHEDULER.passed());
    if passed < WHILE {
        return true;
    }
    SINCE.store(now, Ordering::Relaxed);
    let met = barriers.wrapping_sub(BARRIERS.swap(barriers, Ordering::Relaxed));
    is_often(passed, met)
}

/// Reports the members' waits since tick `since`: all time in which no carrier worked for them.
fn report(since: u64, now: u64) {
    // SAFETY: slots live in the report page, which is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Relaxed).as_ref() } {
        let (size, carriers) = (SCHEDULER.size(), SCHEDULER.carrier_limit().max(1));
        let without = u64::from(size.saturating_sub(carriers));
        let passed = if since == 0 { 0 } else { now.wrapping_sub(since) };
        slot.add_wait(passed.saturating_mul(without).saturating_add(take_idle()));
    }
}

pub fn after_fork() {
    REPORTED.store(0, Ordering::Relaxed);
}
