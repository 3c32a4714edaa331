//! The grant as it is now, and sleeping until it changes.

use super::{affinity, attachment, pages};
use crate::sys::futex;
use scaf_proto::grant::Word;

/// Contexts that the process may use now, at least 1; while unmanaged, its own PUs.
#[inline]
pub fn dop() -> u32 {
    pages::grant().word().dop().unwrap_or_else(affinity::own_pus)
}

/// The DoP of a team now: a team larger than the grant is folded onto it.
#[inline(always)]
pub fn dop_of(team: u32) -> u32 {
    pages::grant().word().dop().map_or(team, |dop| dop.min(team))
}

const LATE_MS: u32 = 20;

/// Sleeps while the grant is `word`, up to `limit_ms`, or [`LATE_MS`] while an answer is late, or less.
pub fn sleep(word: Word, limit_ms: u32) {
    let limit_ms = if attachment::is_waiting() { limit_ms.min(LATE_MS) } else { limit_ms };
    // SAFETY: the grant page is in the library's own memory, whatever is mapped over it.
    unsafe { futex::sleep_shared(pages::grant().futex_word(), word.epoch(), limit_ms) }
}

/// Wakes whoever sleeps on the grant in this process. No other client has this page.
pub fn wake() {
    futex::wake_shared(pages::grant().futex_word());
}
