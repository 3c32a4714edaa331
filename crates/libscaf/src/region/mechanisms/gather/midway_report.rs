//! What the watch has to know of a team that was gathered midway: where its waits are reported, and what must
//! hold for it to stay gathered.

use super::eligibility::is_wanted;
use super::gathered_team::{SCHEDULER, take_idle};
use crate::program::masters::{is_crowded, is_too_large};
use crate::runtimes::lookup::Code;
use crate::sys::arch::ticks;
use core::ptr::{from_ref, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use scaf_proto::report::Slot;
use scaf_team::choice::Mechanism;

/// Where the region is reported.
static SLOT: AtomicPtr<Slot> = AtomicPtr::new(null_mut());
/// The tick up to which its waits are reported; 0 while no team is gathered midway.
static TOLD: AtomicU64 = AtomicU64::new(0);
/// The tick at which it was last asked how often the team meets, and the barriers passed then.
static SINCE: AtomicU64 = AtomicU64::new(0);
static BARRIERS: AtomicU32 = AtomicU32::new(0);
/// Ticks between two times that it is (10 to 20 ms).
const WHILE: u64 = 1 << 25;
/// Ticks between two barriers (1 to 2 ms) from which on the kernel shares fewer PUs out better: within a time
/// slice it can't either.
const SELDOM: u64 = 1 << 22;

/// Before a team is gathered.
pub fn reports_at(slot: Option<&'static Slot>) {
    SLOT.store(slot.map_or(null_mut(), |slot| from_ref(slot).cast_mut()), Ordering::Relaxed);
}

/// Its master is a member at tick `now`.
pub fn begins(now: u64) {
    BARRIERS.store(SCHEDULER.passed(), Ordering::Relaxed);
    SINCE.store(now, Ordering::Relaxed);
    TOLD.store(now.max(1), Ordering::Relaxed);
    is_by(Mechanism::Gather);
}

/// It is a thread again.
pub fn ends(now: u64) {
    tell(TOLD.swap(0, Ordering::Relaxed), now);
    is_by(Mechanism::Fold);
}

/// The region follows the grant by that from now on.
fn is_by(mechanism: Mechanism) {
    // SAFETY: slots live in the report page, which is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Relaxed).as_ref() } {
        slot.set_mechanism(mechanism as u32);
    }
}

/// The watch looks at a region that is gathered: if that was midway, what its members waited is reported,
/// and whether they are to go home is decided.
pub fn look(code: Option<Code>) {
    let (told, now) = (TOLD.load(Ordering::Relaxed), ticks());
    if told != 0 {
        if TOLD.compare_exchange(told, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tell(told, now);
        }
        let lacks_contexts = is_crowded(SCHEDULER.size()) || is_too_large(SCHEDULER.size()) && met_often(now);
        if !lacks_contexts || !code.is_some_and(is_wanted) {
            SCHEDULER.request_return();
        }
    }
}

/// Whether so many barriers in so many ticks are enough for a team that has more threads than PUs.
pub fn is_often(ticks: u64, barriers: u32) -> bool {
    ticks < SELDOM * u64::from(barriers)
}

/// Whether there was a barrier at least every [`SELDOM`] ticks since this was last asked, if that is a while
/// ago.
fn met_often(now: u64) -> bool {
    let (passed, barriers) = (now.wrapping_sub(SINCE.load(Ordering::Relaxed)), SCHEDULER.passed());
    if passed < WHILE {
        return true;
    }
    SINCE.store(now, Ordering::Relaxed);
    let met = barriers.wrapping_sub(BARRIERS.swap(barriers, Ordering::Relaxed));
    is_often(passed, met)
}

/// Reports what members waited since the tick `told`: all time but what carriers worked.
fn tell(told: u64, now: u64) {
    // SAFETY: slots live in the report page, which is never unmapped.
    if let Some(slot) = unsafe { SLOT.load(Ordering::Relaxed).as_ref() } {
        let (size, carriers) = (SCHEDULER.size(), SCHEDULER.carrier_limit().max(1));
        let without = u64::from(size.saturating_sub(carriers));
        let passed = if told == 0 { 0 } else { now.wrapping_sub(told) };
        slot.add_wait(passed.saturating_mul(without).saturating_add(take_idle()));
    }
}

/// After a fork, in the child.
pub fn after_fork() {
    TOLD.store(0, Ordering::Relaxed);
}
