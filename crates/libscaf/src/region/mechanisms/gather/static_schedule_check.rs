//! Whether we know how LLVM's runtime deals out static loops: by thread number, and a member has to be told
//! its share as its thread would be ([`scaf_team::static_schedule`]). At first the runtime's answers to teams
//! on threads are compared with ours. If one differs, because of `KMP_SCHEDULE` or in an unknown runtime,
//! LLVM's regions aren't gathered.

use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};

/// Answers that are compared, of those that would differ had the loop been cut another way.
const LOOKS: u32 = 64;
/// Value of [`SEEN`] once an answer differed.
const OFF: u32 = u32::MAX;
/// Such answers that were as ours.
static SEEN: AtomicU32 = AtomicU32::new(0);

pub fn are_known() -> bool {
    match SEEN.load(Ordering::Relaxed) {
        OFF => false,
        0 => !settings::get().own_shares,
        _ => true,
    }
}

pub fn are_compared() -> bool {
    SEEN.load(Ordering::Relaxed) < LOOKS
}

/// An answer was the `same` as ours or not; `tells` if another way of cutting would have differed.
pub fn saw(same: bool, tells: bool) {
    if !same {
        SEEN.store(OFF, Ordering::Relaxed);
    } else if tells {
        let one_more = |seen: u32| (seen < LOOKS).then_some(seen + 1);
        let _ = SEEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
    }
}
