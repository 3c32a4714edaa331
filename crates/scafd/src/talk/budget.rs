//! Limits of what one user may take of the daemon, as token buckets. Root and the daemon's own user have
//! none.

use std::collections::BTreeMap;
use std::time::Instant;

/// Connections of one user that have sent nothing yet, or haven't read their answer.
pub const PENDING: usize = 32;
/// Connections that are kept for root and the daemon's own user.
pub const RESERVE: usize = 32;
/// Bytes of answers that wait to be read: of one user (who may have one larger answer), and of all.
pub const UNSENT: usize = 4 << 20;
pub const ALL_UNSENT: usize = 16 << 20;
/// Users with buckets at a time; further ones get nothing until somebody's buckets are full again.
const MOST_USERS: usize = 1024;

/// A token bucket: its size, and how fast it fills.
struct Bucket {
    most: f64,
    a_second: f64,
}

/// Connections. To accept, read and answer one costs some 7 us.
const CONNECTIONS: Bucket = Bucket { most: 512.0, a_second: 256.0 };
/// Connections above that, which are refused one by one: 4 us each. Only a loop uses these up.
const REFUSALS: Bucket = Bucket { most: 512.0, a_second: 512.0 };
/// Programs that attach. Each costs a decision, some 0.1 to 0.4 ms.
const ATTACHMENTS: Bucket = Bucket { most: 128.0, a_second: 64.0 };
/// Tokens that programs which only start must leave: they may never have a region, and ask again at the
/// first.
const KEPT_FROM_STARTS: f64 = ATTACHMENTS.most / 2.0;
/// Threads that cost as much as one more program: to read, move and restore one takes some 5 us.
const THREADS: f64 = 64.0;
/// Packets of attached programs; those that wait together count once. One costs some 20 to 50 us.
const PACKETS: Bucket = Bucket { most: 4000.0, a_second: 1000.0 };
/// The same by PUs, a second, where that is more: a rank that waits in MPI sends a few hundred.
const PACKETS_OF_A_PU: f64 = 250.0;
/// Bytes of answers. A megabyte takes some 2 to 4 ms to write.
const ANSWERS: Bucket = Bucket { most: 16e6, a_second: 8e6 };
/// What a request costs besides, as bytes of an answer.
const REQUEST: f64 = 20e3;

/// The tokens in a [`Bucket`].
#[derive(Clone, Copy)]
struct Tokens {
    amount: f64,
    at: Instant,
}

impl Tokens {
    fn refill(&mut self, of: &Bucket, now: Instant) {
        let grown = now.saturating_duration_since(self.at).as_secs_f64() * of.a_second;
        *self = Tokens { amount: (self.amount + grown).min(of.most), at: now };
    }

    /// Takes one, if there is one.
    fn take(&mut self) -> bool {
        let is_there = self.amount >= 1.0;
        self.amount -= f64::from(u8::from(is_there));
        is_there
    }
}

/// What there are buckets for, as their index.
#[derive(Clone, Copy)]
enum Of {
    Connections,
    Refusals,
    Attachments,
    Packets,
    Answers,
}

type User = [Tokens; 5];

/// All users' buckets.
pub struct Budget {
    own: u32,
    /// By [`Of`].
    buckets: [Bucket; 5],
    users: BTreeMap<u32, User>,
}

impl Budget {
    /// For a daemon that runs as the user `own`, on so many PUs.
    pub fn new(own: u32, pus: usize) -> Budget {
        let a_second = PACKETS.a_second.max(PACKETS_OF_A_PU * pus as f64);
        let packets = Bucket { a_second, ..PACKETS };
        Budget {
            own,
            buckets: [CONNECTIONS, REFUSALS, ATTACHMENTS, packets, ANSWERS],
            users: BTreeMap::new(),
        }
    }

    pub fn is_trusted(&self, uid: u32) -> bool {
        uid == 0 || uid == self.own
    }

    /// Whether one more connection of the user is accepted now.
    pub fn may_connect(&mut self, uid: u32, now: Instant) -> bool {
        self.take(uid, Of::Connections, now)
    }

    /// Whether a connection above the limit is cheap enough to refuse by itself; else the user is banned.
    pub fn may_be_refused(&mut self, uid: u32, now: Instant) -> bool {
        self.tokens(uid, Of::Refusals, now).is_none_or(Tokens::take)
    }

    /// Whether one more program of the user may attach now, at a region or as it starts.
    pub fn may_attach(&mut self, uid: u32, starts: bool, now: Instant) -> bool {
        let kept = if starts { KEPT_FROM_STARTS } else { 0.0 };
        match self.tokens(uid, Of::Attachments, now) {
            Some(tokens) => tokens.amount > kept && tokens.take(),
            None => self.is_trusted(uid),
        }
    }

    pub fn attached(&mut self, uid: u32, threads: u32, now: Instant) {
        self.charge(uid, Of::Attachments, f64::from(threads) / THREADS, now);
    }

    /// Whether one more packet of the user's programs is read now.
    pub fn may_talk(&mut self, uid: u32, now: Instant) -> bool {
        self.take(uid, Of::Packets, now)
    }

    /// Whether the user may make one more request now; charged also if the answer is never read.
    pub fn may_ask(&mut self, uid: u32, now: Instant) -> bool {
        let Some(tokens) = self.tokens(uid, Of::Answers, now) else { return self.is_trusted(uid) };
        let may = tokens.amount > 0.0;
        tokens.amount -= if may { REQUEST } else { 0.0 };
        may
    }

    pub fn answered(&mut self, uid: u32, bytes: usize, now: Instant) {
        self.charge(uid, Of::Answers, bytes as f64, now);
    }

    fn take(&mut self, uid: u32, of: Of, now: Instant) -> bool {
        match self.tokens(uid, of, now) {
            Some(tokens) => tokens.take(),
            None => self.is_trusted(uid),
        }
    }

    fn charge(&mut self, uid: u32, of: Of, amount: f64, now: Instant) {
        if let Some(tokens) = self.tokens(uid, of, now) {
            tokens.amount -= amount;
        }
    }

    /// The user's tokens; `None` without limits, and where too many other users have any.
    fn tokens(&mut self, uid: u32, of: Of, now: Instant) -> Option<&mut Tokens> {
        if self.is_trusted(uid) {
            return None;
        }
        let buckets = &self.buckets;
        let refill = |user: &mut User| user.iter_mut().zip(buckets).for_each(|(it, of)| it.refill(of, now));
        if self.users.len() >= MOST_USERS && !self.users.contains_key(&uid) {
            self.users.retain(|_, user| {
                refill(user);
                !user.iter().zip(buckets).all(|(it, of)| it.amount >= of.most)
            });
            if self.users.len() >= MOST_USERS {
                return None;
            }
        }
        let full = || std::array::from_fn(|at| Tokens { amount: buckets[at].most, at: now });
        let user = self.users.entry(uid).or_insert_with(full);
        refill(user);
        Some(&mut user[of as usize])
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
    fn on_a_large_machine_more_packets_are_read() {
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
