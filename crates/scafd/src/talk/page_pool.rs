//! A pool of pages of programs that have gone. Such a program may keep its pages mapped, and then they go on
//! counting as the daemon's memory (the kernel charges who touched them first). So pages are reused by the
//! same user's next program, and a user never costs more than the programs that it had at once.

use super::Peer;
use super::pages::Pages;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

/// How long pages rest before they are reused. A forked child reads its own affinity from its parent's pages,
/// and a detached program reads its pages until it notices, within a second of running.
const REST: Duration = Duration::from_secs(5);
/// Pairs of pages that a user may have beyond those of attached programs: as many as rest while its programs
/// attach as often as they may ([`super::budget`]).
const BEYOND: usize = 512;
/// Pairs in the whole pool; beyond it, the absent user with the fewest loses them.
const MOST: usize = 2048;
/// A dropped pair still counts for its user, since somebody may have it mapped. One is forgotten in this
/// time.
const FORGIVEN: Duration = Duration::from_secs(10);

pub(super) struct PagePool {
    most_of_user: usize,
    most: usize,
    resting: usize,
    users: BTreeMap<u32, OfUser>,
}

struct OfUser {
    attached: usize,
    /// The oldest first.
    resting: VecDeque<Resting>,
    dropped: usize,
    forgiven: Instant,
}

struct Resting {
    uid: u32,
    since: Instant,
    pages: Pages,
}

impl OfUser {
    fn new(now: Instant) -> OfUser {
        OfUser { attached: 0, resting: VecDeque::new(), dropped: 0, forgiven: now }
    }

    fn pairs(&self) -> usize {
        self.attached + self.resting.len() + self.dropped
    }

    fn forgive(&mut self, now: Instant) {
        if self.dropped == 0 {
            self.forgiven = now;
        }
        while self.dropped > 0 && now.saturating_duration_since(self.forgiven) >= FORGIVEN {
            self.forgiven += FORGIVEN;
            self.dropped -= 1;
        }
    }
}

impl PagePool {
    /// For users with so many programs each, and `room` pairs at most in the pool.
    pub(super) fn new(programs_of_user: usize, room: usize) -> PagePool {
        let most_of_user = programs_of_user + BEYOND.min(room / 2);
        PagePool { most_of_user, most: MOST.min(room), resting: 0, users: BTreeMap::new() }
    }

    /// Pages for a program; fails also if the user has too many in the pool.
    pub(super) fn get(&mut self, peer: &Peer, now: Instant) -> io::Result<Pages> {
        let of_user = self.users.entry(peer.owner).or_insert_with(|| OfUser::new(now));
        of_user.forgive(now);
        // An owner's users don't share pages.
        let is_ready = |it: &Resting| it.uid == peer.uid && now.saturating_duration_since(it.since) >= REST;
        let ready = of_user.resting.iter().position(is_ready);
        if let Some(resting) = ready.and_then(|at| of_user.resting.remove(at)) {
            self.resting -= 1;
            of_user.attached += 1;
            resting.pages.clean();
            return Ok(resting.pages);
        }
        if of_user.pairs() >= self.most_of_user {
            return Err(io::Error::other("too many programs of its user have come and gone lately"));
        }
        let pages = Pages::create()?;
        of_user.attached += 1;
        Ok(pages)
    }

    /// Puts the pages of a program that has gone into the pool.
    pub(super) fn put_back(&mut self, peer: &Peer, pages: Pages, now: Instant) {
        if self.resting >= self.most {
            self.make_room();
        }
        let of_user = self.users.entry(peer.owner).or_insert_with(|| OfUser::new(now));
        of_user.attached = of_user.attached.saturating_sub(1);
        if self.resting >= self.most {
            of_user.dropped += 1;
            return;
        }
        of_user.resting.push_back(Resting { uid: peer.uid, since: now, pages });
        self.resting += 1;
    }

    /// Drops the pairs of the user with the fewest among those without programs; forgets users with nothing.
    fn make_room(&mut self) {
        self.users.retain(|_, of_user| of_user.pairs() > 0);
        let absent = self.users.values_mut().filter(|it| it.attached == 0 && !it.resting.is_empty());
        if let Some(fewest) = absent.min_by_key(|it| it.pairs()) {
            self.resting -= fewest.resting.len();
            fewest.dropped += fewest.resting.len();
            fewest.resting.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(uid: u32, owner: u32) -> Peer {
        Peer { pid: 1, uid, owner, gid: 1, accepted: 0 }
    }

    fn inodes(pages: &Pages) -> Vec<u64> {
        pages.files().iter().map(|file| rustix::fs::fstat(file).unwrap().st_ino).collect()
    }

    #[test]
    fn pages_are_the_same_users_again_after_a_rest_and_clean() {
        let (mut spares, start) = (PagePool::new(8, 100), Instant::now());
        let pages = spares.get(&peer(1, 1), start).unwrap();
        let first = inodes(&pages);
        let seen_by_client = pages.mapped_as_a_client().unwrap();
        seen_by_client.fill_report(7);
        pages.renew(9);
        spares.put_back(&peer(1, 1), pages, start);
        let early = spares.get(&peer(1, 1), start + REST / 2).unwrap();
        let others = spares.get(&peer(2, 2), start + REST).unwrap();
        let same_owners = spares.get(&peer(3, 1), start + REST).unwrap();
        for pages in [&early, &others, &same_owners] {
            assert!(inodes(pages).iter().all(|inode| !first.contains(inode)));
        }
        seen_by_client.fill_report(7);
        let again = spares.get(&peer(1, 1), start + REST).unwrap();
        assert_eq!(inodes(&again), first);
        assert!(again.read().is_none() && seen_by_client.is_stamped_and_else_empty());
    }

    #[test]
    fn nobody_has_more_than_so_many_and_everybody_else_has_some() {
        let (mut spares, mut now) = (PagePool::new(8, usize::MAX), Instant::now());
        assert_eq!(spares.most_of_user, 8 + BEYOND);
        spares.most_of_user = 20;
        for _ in 0..20 {
            let pages = spares.get(&peer(1, 1), now).unwrap();
            spares.put_back(&peer(1, 1), pages, now);
        }
        assert!(spares.get(&peer(1, 1), now).is_err() && spares.get(&peer(2, 2), now).is_ok());
        now += REST;
        for _ in 0..100 {
            let pages = spares.get(&peer(1, 1), now).unwrap();
            spares.put_back(&peer(1, 1), pages, now);
            now += REST / 16;
        }
        assert_eq!(spares.users[&1].pairs(), 20);
    }

    fn rest(spares: &mut PagePool, user: u32, pairs: usize, now: Instant) {
        let taken: Vec<Pages> = (0..pairs).map(|_| spares.get(&peer(user, user), now).unwrap()).collect();
        taken.into_iter().for_each(|pages| spares.put_back(&peer(user, user), pages, now));
    }

    #[test]
    fn where_too_many_rest_those_lose_theirs_who_had_few_and_left_and_owe_them() {
        let (mut spares, now) = (PagePool::new(8, 10), Instant::now());
        spares.most_of_user = 8;
        let here = spares.get(&peer(3, 3), now).unwrap();
        rest(&mut spares, 1, 8, now);
        rest(&mut spares, 2, 2, now);
        rest(&mut spares, 3, 1, now);
        let has = |spares: &PagePool, user: u32| {
            let of_user = &spares.users[&user];
            (of_user.attached, of_user.resting.len(), of_user.dropped)
        };
        assert_eq!([1, 2, 3].map(|user| has(&spares, user)), [(0, 8, 0), (0, 0, 2), (1, 1, 0)]);
        spares.put_back(&peer(3, 3), here, now);
        assert_eq!((has(&spares, 3), spares.resting), ((0, 2, 0), 10));
        rest(&mut spares, 2, 6, now);
        assert!(spares.get(&peer(2, 2), now).is_err());
        let owes = spares.users.get_mut(&2).unwrap();
        owes.forgive(now + FORGIVEN);
        assert_eq!(owes.dropped, 1);
    }

    #[test]
    fn where_there_is_no_room_none_rest_and_all_count() {
        let (mut spares, now) = (PagePool::new(8, 0), Instant::now());
        rest(&mut spares, 1, 8, now);
        assert!(spares.get(&peer(1, 1), now).is_err() && spares.resting == 0);
    }
}
