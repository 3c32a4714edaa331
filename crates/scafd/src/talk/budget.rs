//! How much of the daemon one user may take up, so that nobody else goes without. Root and the daemon's own
//! user may take all.

use std::collections::BTreeMap;
use std::time::Instant;

/// Connections of one user that have said nothing so far, or haven't taken their answer.
pub const PENDING: usize = 32;
/// Connections that are kept for root and the daemon's own user.
pub const RESERVE: usize = 32;
/// Bytes of answers that wait to be taken: of one user, and of all. Whoever has none waiting may have a
/// larger one.
pub const UNTAKEN: usize = 4 << 20;
/// See [`UNTAKEN`].
pub const ALL_UNTAKEN: usize = 16 << 20;
/// Users of whom it is known what they have used up; of any more nothing is.
const MOST_USERS: usize = 1024;

/// What a user may have again and again: so much at once, and so much a second.
struct Allowance {
    most: f64,
    a_second: f64,
}

/// Connections. To take one in, hear it and answer costs some 7 us.
const CONNECTIONS: Allowance = Allowance { most: 512.0, a_second: 256.0 };
/// More of them, that are turned away one by one: 4 us each. Only who connects in a loop uses them up.
const REFUSALS: Allowance = Allowance { most: 512.0, a_second: 512.0 };
/// Programs that attach. Each costs a decision, some 0.1 to 0.4 ms.
const ATTACHMENTS: Allowance = Allowance { most: 128.0, a_second: 64.0 };
/// What is left of them for those that have come to a region, by whoever only starts: he may never have one,
/// and asks again at the first.
const KEPT_FROM_STARTS: f64 = ATTACHMENTS.most / 2.0;
/// Threads of one that count as a further one: each is looked at, moved and given back, some 5 us.
const THREADS: f64 = 64.0;
/// Packets of programs that are attached; those that one sent meanwhile count once. One costs some 20 to 50
/// us, for all that is looked at then.
const PACKETS: Allowance = Allowance { most: 4000.0, a_second: 1000.0 };
/// The same for each PU, a second, where that is more: a rank that waits in MPI has a few hundred.
const PACKETS_OF_A_PU: f64 = 250.0;
/// Bytes of answers. A megabyte takes some 2 to 4 ms to write.
const ANSWERS: Allowance = Allowance { most: 16e6, a_second: 8e6 };
/// What a request costs besides, in bytes of its answer.
const REQUEST: f64 = 20e3;

/// What is left of an [`Allowance`].
#[derive(Clone, Copy)]
struct Left {
    amount: f64,
    at: Instant,
}

impl Left {
    fn new(of: &Allowance, now: Instant) -> Left {
        Left { amount: of.most, at: now }
    }

    fn refill(&mut self, of: &Allowance, now: Instant) {
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * of.a_second;
        *self = Left { amount: (self.amount + grown).min(of.most), at: now };
    }

    /// One of it, if there is one.
    fn take(&mut self) -> bool {
        let is_there = self.amount >= 1.0;
        if is_there {
            self.amount -= 1.0;
        }
        is_there
    }

    fn is_full(&self, of: &Allowance) -> bool {
        self.amount >= of.most
    }
}

struct User {
    connections: Left,
    refusals: Left,
    attachments: Left,
    packets: Left,
    answers: Left,
}

/// What each user has left.
pub struct Budget {
    own: u32,
    packets: Allowance,
    users: BTreeMap<u32, User>,
}

impl Budget {
    /// For a daemon that runs as the user `own`, on so many PUs.
    pub fn new(own: u32, pus: usize) -> Budget {
        let a_second = PACKETS.a_second.max(PACKETS_OF_A_PU * pus as f64);
        Budget { own, packets: Allowance { a_second, ..PACKETS }, users: BTreeMap::new() }
    }

    /// Whether the user may take all.
    pub fn is_trusted(&self, uid: u32) -> bool {
        uid == 0 || uid == self.own
    }

    /// Whether one more connection of the user is taken in now.
    pub fn may_connect(&mut self, uid: u32, now: Instant) -> bool {
        let Some(user) = self.user(uid, now) else { return self.is_trusted(uid) };
        user.connections.take()
    }

    /// Whether one who may not connect now is turned away at no great cost.
    pub fn may_be_refused(&mut self, uid: u32, now: Instant) -> bool {
        self.user(uid, now).is_none_or(|user| user.refusals.take())
    }

    /// Whether one more program of the user may attach now, at a region or as it starts.
    pub fn may_attach(&mut self, uid: u32, starts: bool, now: Instant) -> bool {
        let Some(user) = self.user(uid, now) else { return self.is_trusted(uid) };
        let kept = if starts { KEPT_FROM_STARTS } else { 0.0 };
        user.attachments.amount > kept && user.attachments.take()
    }

    /// One has so many threads.
    pub fn attached(&mut self, uid: u32, threads: u32, now: Instant) {
        if let Some(user) = self.user(uid, now) {
            user.attachments.amount -= f64::from(threads) / THREADS;
        }
    }

    /// Whether one more packet of the user's programs is heard now.
    pub fn may_talk(&mut self, uid: u32, now: Instant) -> bool {
        let Some(user) = self.user(uid, now) else { return self.is_trusted(uid) };
        user.packets.take()
    }

    /// Whether the user may ask for one thing more now. That counts, whether the answer is waited for or not.
    pub fn may_ask(&mut self, uid: u32, now: Instant) -> bool {
        let Some(user) = self.user(uid, now) else { return self.is_trusted(uid) };
        let may = user.answers.amount > 0.0;
        user.answers.amount -= if may { REQUEST } else { 0.0 };
        may
    }

    /// An answer of so many bytes was given.
    pub fn answered(&mut self, uid: u32, bytes: usize, now: Instant) {
        if let Some(user) = self.user(uid, now) {
            user.answers.amount -= bytes as f64;
        }
    }

    /// What the user has left; `None` of who may take all, and where too many have used something up.
    fn user(&mut self, uid: u32, now: Instant) -> Option<&mut User> {
        if self.is_trusted(uid) {
            return None;
        }
        if self.users.len() >= MOST_USERS && !self.users.contains_key(&uid) {
            self.users.retain(|_, user| {
                user.refill(&self.packets, now);
                !user.has_all(&self.packets)
            });
            if self.users.len() >= MOST_USERS {
                return None;
            }
        }
        let fresh = || User {
            connections: Left::new(&CONNECTIONS, now),
            refusals: Left::new(&REFUSALS, now),
            attachments: Left::new(&ATTACHMENTS, now),
            packets: Left::new(&self.packets, now),
            answers: Left::new(&ANSWERS, now),
        };
        let user = self.users.entry(uid).or_insert_with(fresh);
        user.refill(&self.packets, now);
        Some(user)
    }
}

impl User {
    fn refill(&mut self, packets: &Allowance, now: Instant) {
        self.connections.refill(&CONNECTIONS, now);
        self.refusals.refill(&REFUSALS, now);
        self.attachments.refill(&ATTACHMENTS, now);
        self.packets.refill(packets, now);
        self.answers.refill(&ANSWERS, now);
    }

    fn has_all(&self, packets: &Allowance) -> bool {
        self.connections.is_full(&CONNECTIONS)
            && self.refusals.is_full(&REFUSALS)
            && self.attachments.is_full(&ATTACHMENTS)
            && self.packets.is_full(packets)
            && self.answers.is_full(&ANSWERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_attaches_too_often_has_to_wait_and_nobody_else_has() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        let attached = (0..1000).filter(|_| budget.may_attach(1, false, now)).count();
        assert_eq!(attached, 128);
        assert!(budget.may_attach(2, false, now));
        assert!((0..1000).all(|_| budget.may_attach(0, false, now) && budget.may_attach(7, false, now)));
        let later = now + Duration::from_secs(1);
        assert_eq!((0..1000).filter(|_| budget.may_attach(1, false, later)).count(), 64);
        assert_eq!((0..1000).filter(|_| budget.may_connect(1, later)).count(), 512);
        assert!((0..1000).all(|_| budget.may_connect(0, now)));
    }

    #[test]
    fn who_only_starts_leaves_half_of_it_for_those_who_have_a_region() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        let mut come = |starts, now| (0..1000).filter(|_| budget.may_attach(1, starts, now)).count();
        assert_eq!((come(true, now), come(false, now)), (64, 64));
        let later = now + Duration::from_secs(1);
        assert_eq!((come(true, later), come(false, later)), (0, 64));
    }

    #[test]
    fn only_who_connects_in_a_loop_is_not_even_turned_away() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        let mut come = |user, times: u32, now| {
            (0..times).filter(|_| !budget.may_connect(user, now) && !budget.may_be_refused(user, now)).count()
        };
        assert_eq!((come(1, 1024, now), come(1, 9, now), come(2, 9, now)), (0, 9, 0));
        // Three times as often as is allowed, for a minute.
        let each_second = (1..=60).map(|second| come(1, 768, now + Duration::from_secs(second)));
        assert_eq!(each_second.sum::<usize>(), 0);
    }

    #[test]
    fn who_has_many_threads_has_to_wait_longer() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        assert!(budget.may_attach(1, false, now));
        budget.attached(1, 12_800, now);
        assert!(
            !budget.may_attach(1, false, now + Duration::from_secs(1)) && budget.may_attach(2, false, now)
        );
        assert!(budget.may_attach(1, false, now + Duration::from_secs(2)));
    }

    #[test]
    fn who_talks_much_has_to_wait() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        assert_eq!((0..9000).filter(|_| budget.may_talk(1, now)).count(), 4000);
        assert!(budget.may_talk(2, now) && budget.may_talk(7, now));
        let later = now + Duration::from_secs(1);
        assert_eq!((0..9000).filter(|_| budget.may_talk(1, later)).count(), 1000);
    }

    #[test]
    fn on_a_large_machine_more_is_heard() {
        let (mut budget, now) = (Budget::new(7, 16), Instant::now());
        assert_eq!((0..9000).filter(|_| budget.may_talk(1, now)).count(), 4000);
        assert_eq!((0..9000).filter(|_| budget.may_talk(1, now + Duration::from_millis(500))).count(), 2000);
    }

    #[test]
    fn who_asks_for_much_has_to_wait() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        assert!(budget.may_ask(1, now));
        budget.answered(1, 20_000_000, now);
        assert!(!budget.may_ask(1, now) && budget.may_ask(2, now));
        assert!(budget.may_ask(1, now + Duration::from_secs(1)));
        let often = (0..10_000).take_while(|_| budget.may_ask(3, now));
        assert!(often.count() < 1000);
    }

    #[test]
    fn what_is_known_of_users_is_bounded() {
        let (mut budget, now) = (Budget::new(7, 2), Instant::now());
        let attached = (0..3000).filter(|uid| budget.may_attach(100 + uid, false, now)).count();
        assert_eq!((attached, budget.users.len()), (MOST_USERS, MOST_USERS));
        // All have again what they had at first.
        assert!(budget.may_attach(9000, false, now + Duration::from_secs(60)));
        assert_eq!(budget.users.len(), 1);
    }
}
