//! The grant as it is now, and sleeping until it changes.

use super::{affinity, pages, state};
use crate::sys::futex;
use scaf_proto::grant::Word;

/// Contexts that the process may use now, at least 1; while unmanaged, as many as it has PUs of its own.
#[inline]
pub fn dop() -> u32 {
    pages::grant().word().dop().unwrap_or_else(affinity::own_pus)
}

/// The DoP of a team now: one that is larger than the grant is folded onto it.
#[inline(always)]
pub fn dop_of(team: u32) -> u32 {
    pages::grant().word().dop().map_or(team, |dop| dop.min(team))
}

/// Between two looks for an answer that is late, in milliseconds.
const LATE_MS: u32 = 20;

/// Sleeps until the grant isn't `word` any more, for at most so many milliseconds. May return for no reason;
/// while there is no daemon it does so only then, or sooner while its answer is late.
pub fn sleep(word: Word, limit_ms: u32) {
    let limit_ms = if state::is_waiting() { limit_ms.min(LATE_MS) } else { limit_ms };
    // SAFETY: the page is there for ever.
    unsafe { futex::sleep_shared(pages::grant().bell(), word.epoch(), limit_ms) }
}

/// Wakes whoever sleeps there in this process, and in vain the daemon's other clients: none has this page.
pub fn wake() {
    // SAFETY: as above.
    unsafe { futex::wake_shared(pages::grant().bell()) }
}
