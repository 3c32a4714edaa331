//! Checks that static loops are distributed by the runtime as we think. LLVM's runtime distributes them by
//! thread number, and a member gets its share from us ([`scaf_team::static_schedule`]). At first the
//! runtime's answers to teams on threads are compared with ours. If one differs, because of `KMP_SCHEDULE` or
//! in an unknown runtime, LLVM's regions aren't gathered.

use crate::sys::settings;
use core::sync::atomic::{AtomicU32, Ordering};

/// Number of answers that are compared, among those that another schedule would change.
const LOOKS: u32 = 64;
/// Value of [`SEEN`] once an answer differed.
const OFF: u32 = u32::MAX;
/// Number of such answers that were equal.
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

/// Records whether an answer was the `same` as ours; `tells` if another schedule would have changed it.
pub fn saw(same: bool, tells: bool) {
    if !same {
        SEEN.store(OFF, Ordering::Relaxed);
    } else if tells {
        let one_more = |seen: u32| (seen < LOOKS).then_some(seen + 1);
        let _ = SEEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
    }
}
