//! How many threads are moved for each user: a user with thousands of them is not to keep the daemon busy.
//!
//! To move a thread takes some 3 us, and everybody waits meanwhile. Who has had more moved than is due waits
//! until that is made up for; its grants are published at once. Root and the daemon's own user never wait.

use crate::talk::Talk;
use std::collections::BTreeMap;
use std::time::Instant;

/// Threads that may be moved for a user at once, and a second.
const AT_ONCE: f64 = 8000.0;
/// See [`AT_ONCE`].
const A_SECOND: f64 = 16_000.0;

/// Threads that could be moved while one level of control groups is looked at: two files, 6 us each. Charged
/// for levels that are unusual only.
pub(super) const A_LEVEL: u32 = 4;

/// Threads that were moved for users and aren't made up for.
#[derive(Default)]
pub(super) struct Sweeps(BTreeMap<u32, Owed>);

#[derive(Clone, Copy)]
struct Owed {
    threads: f64,
    at: Instant,
}

impl Owed {
    fn left(&self, now: Instant) -> f64 {
        (self.threads - now.saturating_duration_since(self.at).as_secs_f64() * A_SECOND).max(0.0)
    }
}

impl Sweeps {
    /// Whether that user has to wait, whom `talk` may trust.
    pub fn has_to_wait(&self, talk: &Talk, uid: u32, now: Instant) -> bool {
        !talk.is_trusted(uid) && self.owes(uid, now)
    }

    fn owes(&self, uid: u32, now: Instant) -> bool {
        self.left(uid, now) > AT_ONCE
    }

    fn left(&self, uid: u32, now: Instant) -> f64 {
        self.0.get(&uid).map_or(0.0, |owed| owed.left(now))
    }

    /// So many threads of that user's were moved.
    pub fn moved(&mut self, uid: u32, threads: u32, now: Instant) {
        let threads = self.left(uid, now) + f64::from(threads);
        self.0.retain(|_, owed| owed.left(now) > 0.0);
        self.0.insert(uid, Owed { threads, at: now });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_a_user_has_had_is_made_up_for_in_time_and_is_nobody_elses() {
        let (mut sweeps, now) = (Sweeps::default(), Instant::now());
        sweeps.moved(1, 40_000, now);
        assert_eq!((sweeps.left(1, now), sweeps.left(2, now)), (40_000.0, 0.0));
        let later = now + Duration::from_secs(2);
        assert_eq!((sweeps.left(1, later), sweeps.owes(1, later)), (8000.0, false));
        sweeps.moved(1, 100, later);
        assert_eq!((sweeps.left(1, later), sweeps.owes(1, later)), (8100.0, true));
        sweeps.moved(2, 7, later + Duration::from_secs(1));
        assert_eq!(sweeps.0.len(), 1);
    }
}
