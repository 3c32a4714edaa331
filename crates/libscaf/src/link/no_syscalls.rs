//! Under a filter of system calls (seccomp) a call that the program itself doesn't make may end it. So the
//! client leaves the daemon just before the program installs a filter, and makes no call afterwards. Under a
//! filter that was there from the start it works only if `scaf run` has tried all its calls under that
//! filter: as many filters are the same ones, because none is ever removed.

use crate::sys::futex::Futex;
use crate::sys::{helpers, seccomp_filters, settings};
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

static STATE: AtomicU32 = AtomicU32::new(UNKNOWN);
/// The filters in force aren't known.
const UNKNOWN: u32 = 0;
const FREE: u32 = 1;
const SILENT: u32 = 2;
/// A filter is in force for threads, too, that were there before it.
const FOR_ALL: u32 = 3;

/// Whether no call of our own may be made. Looks for filters once.
#[inline]
pub fn are_forbidden() -> bool {
    match STATE.load(Ordering::Acquire) {
        FREE => false,
        SILENT | FOR_ALL => true,
        _ => find_out(),
    }
}

/// The same as far as is known: never looks.
#[inline]
pub fn are_known_forbidden() -> bool {
    STATE.load(Ordering::Acquire) >= SILENT
}

#[cold]
fn find_out() -> bool {
    let harmless = |filters| filters == 0 || filters == settings::get().filters;
    let state = if seccomp_filters::in_force().is_some_and(harmless) { FREE } else { SILENT };
    // Meanwhile another thread may have put itself under a filter.
    let _ = STATE.compare_exchange(UNKNOWN, state, Ordering::AcqRel, Ordering::Acquire);
    are_known_forbidden()
}

/// Whether no thread may make any, whenever it was started.
pub fn are_forbidden_to_all() -> bool {
    STATE.load(Ordering::Acquire) == FOR_ALL
}

/// From now on.
pub fn forbid(for_all: bool) {
    STATE.fetch_max(if for_all { FOR_ALL } else { SILENT }, Ordering::AcqRel);
}

/// Where a thread of ours, that sleeps, looks and sleeps again, stays for ever if it may not do that any
/// more. To end would take calls, too, which it makes only where it keeps the process alive.
pub fn sleep_while_forbidden() {
    while are_known_forbidden() && !helpers::are_to_leave() {
        Futex.sleep(&STATE, STATE.load(Ordering::Acquire), 0);
    }
}

/// It was in vain: no filter came.
pub fn permit() {
    STATE.store(UNKNOWN, Ordering::Release);
    Futex.wake_all(&STATE);
}

/// Threads of ours that sleep so are to leave.
pub fn wake_sleepers() {
    Futex.wake_all(&STATE);
}
