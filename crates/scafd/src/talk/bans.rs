//! Short bans of users who connect so often that refusing them costs too much. The kernel enforces a ban, by
//! the socket's access list (`broker_process::socket_acl`), so the daemon spends nothing on banned users.

use crate::broker::protocol::MOST_BANNED;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Length of a ban.
const PAUSE: Duration = Duration::from_millis(250);
/// Bans of one owner's users at a time, so that an owner of many users leaves places for others.
const OF_ONE: usize = 4;

/// The banned users. `set` is called with all of them, and returns whether the ban is in force.
#[derive(Default)]
pub(super) struct Bans {
    /// User: end of the ban, owner.
    users: BTreeMap<u32, (Instant, u32)>,
    /// When to try again, after a failure.
    again: Option<Instant>,
}

impl Bans {
    /// Bans a user of that owner, if there is a place.
    pub fn add(&mut self, user: u32, owner: u32, now: Instant, set: impl FnOnce(Vec<u32>) -> bool) {
        let of_owner = self.users.values().filter(|(_, its)| *its == owner).count();
        if self.users.len() < MOST_BANNED && of_owner < OF_ONE && !self.users.contains_key(&user) {
            self.users.insert(user, (now + PAUSE, owner));
            self.apply(now, set);
        }
    }

    /// When the first ban ends, or a failed change is tried again.
    pub fn until(&self) -> Option<Instant> {
        self.users.values().map(|(until, _)| *until).chain(self.again).min()
    }

    /// Ends the bans whose time is over.
    pub fn expire(&mut self, now: Instant, set: impl FnOnce(Vec<u32>) -> bool) {
        if self.until().is_some_and(|until| until <= now) {
            self.users.retain(|_, (until, _)| *until > now);
            self.apply(now, set);
        }
    }

    /// Puts the bans into force. Where that fails (a file system without access lists), connections are
    /// refused one by one, and ended bans are lifted later.
    pub fn apply(&mut self, now: Instant, set: impl FnOnce(Vec<u32>) -> bool) {
        let done = set(self.users.keys().copied().collect());
        self.again = (!done).then(|| now + PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn each_user_is_banned_once_and_nobody_for_long() {
        let (mut bans, now, calls) = (Bans::default(), Instant::now(), RefCell::new(Vec::new()));
        let set = |users| {
            calls.borrow_mut().push(users);
            true
        };
        bans.add(1, 1, now, set);
        bans.add(1, 1, now, set);
        let later = now + PAUSE / 2;
        bans.add(2, 2, later, set);
        bans.expire(later, set);
        assert_eq!(bans.until(), Some(now + PAUSE));
        bans.expire(now + PAUSE, set);
        bans.expire(later + PAUSE, set);
        assert_eq!((calls.take(), bans.until()), (vec![vec![1], vec![1, 2], vec![2], vec![]], None));
    }

    #[test]
    fn who_has_many_users_takes_few_places() {
        let (mut bans, now) = (Bans::default(), Instant::now());
        (100_000..100_100).for_each(|user| bans.add(user, 1, now, |_| true));
        bans.add(2, 2, now, |users| users == [2, 100_000, 100_001, 100_002, 100_003]);
        assert_eq!(bans.again, None);
        (1000..2000).for_each(|user| bans.add(user, user, now, |_| true));
        assert_eq!(bans.users.len(), MOST_BANNED);
    }

    #[test]
    fn a_change_that_failed_is_tried_again() {
        let (mut bans, now) = (Bans::default(), Instant::now());
        bans.add(1, 1, now, |_| true);
        bans.expire(now + PAUSE, |_| false);
        assert_eq!(bans.until(), Some(now + 2 * PAUSE));
        bans.expire(now + 2 * PAUSE, |users| users.is_empty());
        assert_eq!(bans.until(), None);
    }
}
