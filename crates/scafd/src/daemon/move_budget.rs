//! How many threads are moved for each user. Moving one takes some 3 us, and everybody waits meanwhile; a
//! user who has had more moved than is due waits until that is made up for. Grants are published at once all
//! the same. Other work is charged as the threads that could have been moved instead.

use std::collections::BTreeMap;
use std::time::Instant;

/// Threads that may be moved for a user at once.
const AT_ONCE: f64 = 8000.0;
/// Threads a second.
const A_SECOND: f64 = 16_000.0;

/// Looking at one level of control groups, two files: 6 us each. Charged for levels that are unusual only.
pub(super) const A_LEVEL: u32 = 4;
/// Opening a counter, which the broker does.
pub(super) const A_COUNTER: u32 = 5;

#[derive(Default)]
pub(super) struct MoveBudget(BTreeMap<u32, Spent>);

#[derive(Clone, Copy)]
struct Spent {
    threads: f64,
    at: Instant,
}

impl MoveBudget {
    /// Whether the user has to wait. Root and the daemon's own user are `trusted` and never do.
    pub fn is_spent(&self, uid: u32, trusted: bool, now: Instant) -> bool {
        !trusted && self.left(uid, now) > AT_ONCE
    }

    fn left(&self, uid: u32, now: Instant) -> f64 {
        self.0.get(&uid).map_or(0.0, |spent| spent.left(now))
    }

    /// Charges for moved threads.
    pub fn charge(&mut self, uid: u32, threads: u32, now: Instant) {
        let threads = self.left(uid, now) + f64::from(threads);
        self.0.retain(|_, spent| spent.left(now) > 0.0);
        self.0.insert(uid, Spent { threads, at: now });
    }
}

impl Spent {
    fn left(&self, now: Instant) -> f64 {
        (self.threads - now.saturating_duration_since(self.at).as_secs_f64() * A_SECOND).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_a_user_has_had_is_made_up_for_in_time_and_is_nobody_elses() {
        let (mut budget, now) = (MoveBudget::default(), Instant::now());
        budget.charge(1, 40_000, now);
        assert_eq!((budget.left(1, now), budget.left(2, now)), (40_000.0, 0.0));
        assert!(budget.is_spent(1, false, now) && !budget.is_spent(1, true, now));
        let later = now + Duration::from_secs(2);
        assert_eq!((budget.left(1, later), budget.is_spent(1, false, later)), (8000.0, false));
        budget.charge(1, 100, later);
        assert_eq!((budget.left(1, later), budget.is_spent(1, false, later)), (8100.0, true));
        budget.charge(2, 7, later + Duration::from_secs(1));
        assert_eq!(budget.0.len(), 1);
    }
}
