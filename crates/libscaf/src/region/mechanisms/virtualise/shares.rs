//! Whether we know how LLVM's runtime deals out loops with a static schedule: by each thread's own number,
//! which a thread that does the parts of others has to be told otherwise ([`scaf_team::deal`]).
//!
//! The runtime's answers to teams that are whole are compared with ours at first. If they are off, because of
//! `KMP_SCHEDULE` or in a runtime that we don't know, regions of LLVM's aren't virtualised.

use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};

/// Answers that are compared, of those that would have been others had the loop been cut another way.
const LOOKS: u32 = 64;
/// Value of [`SEEN`] once one of them was off.
const OFF: u32 = u32::MAX;
/// Such answers that were as ours.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Whether nothing speaks against our knowing how the runtime deals out loops.
pub fn are_known() -> bool {
    match SEEN.load(Ordering::Relaxed) {
        OFF => false,
        0 => !settings::get().own_shares,
        _ => true,
    }
}

/// Whether further answers are to be compared.
pub fn are_compared() -> bool {
    SEEN.load(Ordering::Relaxed) < LOOKS
}

/// An answer was as ours or not, and could have told.
pub fn saw(same: bool, tells: bool) {
    if !same {
        SEEN.store(OFF, Ordering::Relaxed);
    } else if tells {
        let one_more = |seen: u32| (seen < LOOKS).then_some(seen + 1);
        let _ = SEEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
    }
}
