//! Users who connect so often that even to turn them away costs too much are kept out for a moment: the
//! kernel refuses them, and the daemon doesn't hear of it.

use crate::broker::protocol::MOST_BANNED;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long.
const PAUSE: Duration = Duration::from_millis(250);
/// Users of one owner that are kept out together; who has more is no reason to let others' in.
const OF_ONE: usize = 4;

/// Those that are kept out now. What `tell` is called with has all of them; it says whether that was done.
#[derive(Default)]
pub(super) struct Bans {
    /// Until when, and whose they are.
    users: BTreeMap<u32, (Instant, u32)>,
    /// When it is told again, because it couldn't be done.
    again: Option<Instant>,
}

impl Bans {
    /// Keeps a user of that owner's out for a moment, if there is a place.
    pub fn add(&mut self, user: u32, owner: u32, now: Instant, tell: impl FnOnce(Vec<u32>) -> bool) {
        let of_owner = self.users.values().filter(|(_, its)| *its == owner).count();
        if self.users.len() < MOST_BANNED && of_owner < OF_ONE && !self.users.contains_key(&user) {
            self.users.insert(user, (now + PAUSE, owner));
            self.apply(now, tell);
        }
    }

    /// When one of them may come again.
    pub fn until(&self) -> Option<Instant> {
        self.users.values().map(|(until, _)| *until).chain(self.again).min()
    }

    /// Lets those in again for whom it is time.
    pub fn expire(&mut self, now: Instant, tell: impl FnOnce(Vec<u32>) -> bool) {
        if self.until().is_some_and(|until| until <= now) {
            self.users.retain(|_, (until, _)| *until > now);
            self.apply(now, tell);
        }
    }

    /// Where it can't be done, because there are no access lists say, users are turned away one by one, and
    /// those that are kept out are let in later.
    pub fn apply(&mut self, now: Instant, tell: impl FnOnce(Vec<u32>) -> bool) {
        let done = tell(self.users.keys().copied().collect());
        self.again = (!done).then(|| now + PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn each_is_kept_out_once_and_nobody_for_long() {
        let (mut out, now, told) = (Bans::default(), Instant::now(), RefCell::new(Vec::new()));
        let tell = |users| {
            told.borrow_mut().push(users);
            true
        };
        out.add(1, 1, now, tell);
        out.add(1, 1, now, tell);
        let later = now + PAUSE / 2;
        out.add(2, 2, later, tell);
        out.expire(later, tell);
        assert_eq!(out.until(), Some(now + PAUSE));
        out.expire(now + PAUSE, tell);
        out.expire(later + PAUSE, tell);
        assert_eq!((told.take(), out.until()), (vec![vec![1], vec![1, 2], vec![2], vec![]], None));
    }

    #[test]
    fn who_has_many_users_takes_few_places() {
        let (mut out, now) = (Bans::default(), Instant::now());
        (100_000..100_100).for_each(|user| out.add(user, 1, now, |_| true));
        out.add(2, 2, now, |users| users == [2, 100_000, 100_001, 100_002, 100_003]);
        assert_eq!(out.again, None);
        (1000..2000).for_each(|user| out.add(user, user, now, |_| true));
        assert_eq!(out.users.len(), MOST_BANNED);
    }

    #[test]
    fn what_could_not_be_done_is_told_again() {
        let (mut out, now) = (Bans::default(), Instant::now());
        out.add(1, 1, now, |_| true);
        out.expire(now + PAUSE, |_| false);
        assert_eq!(out.until(), Some(now + 2 * PAUSE));
        out.expire(now + 2 * PAUSE, |users| users.is_empty());
        assert_eq!(out.until(), None);
    }
}
