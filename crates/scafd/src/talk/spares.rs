//! Pages of programs that have gone. Who had them can keep them mapped, and then what the daemon touched of
//! them goes on counting for the daemon's memory, whatever it does. So such pages aren't given up: the next
//! program of the same user has them. Nobody costs more memory than all the programs that he had at once.

use super::Peer;
use super::pages::Pages;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

/// How long pages rest. A process that was forked finds its own affinity on its parent's, which may have gone
/// by then, and a program that was let go looks at its own until it notices, within a second of running.
const REST: Duration = Duration::from_secs(10);
/// Pairs of pages that a user may have beyond those of programs that are attached: as many as rest while he
/// has programs attach as often as he may ([`super::budget`]).
const BEYOND: usize = 1024;
/// Pairs that rest altogether before those who have had the fewest lose theirs.
const MOST: usize = 2048;

/// What is kept.
pub(super) struct Spares {
    most_of_user: usize,
    most: usize,
    users: BTreeMap<u32, OfUser>,
}

#[derive(Default)]
struct OfUser {
    /// Pairs that were made and weren't given up: those attached, and those that rest.
    made: usize,
    /// The longest first.
    resting: VecDeque<Resting>,
}

struct Resting {
    uid: u32,
    since: Instant,
    pages: Pages,
}

impl OfUser {
    fn is_there(&self) -> bool {
        self.made > self.resting.len()
    }
}

impl Spares {
    /// For users with so many programs each, and so many pairs at most that rest.
    pub(super) fn new(programs_of_user: usize, room: usize) -> Spares {
        Spares { most_of_user: programs_of_user + BEYOND, most: MOST.min(room), users: BTreeMap::new() }
    }

    /// Pages for a program.
    /// # Errors
    /// No memory or no file descriptor left, or the user has too many that rest.
    pub(super) fn take(&mut self, peer: &Peer, now: Instant) -> io::Result<Pages> {
        let of_user = self.users.entry(peer.owner).or_default();
        // Where an owner has several users these are kept apart.
        let is_ready = |it: &Resting| it.uid == peer.uid && now.saturating_duration_since(it.since) >= REST;
        let ready = of_user.resting.iter().position(is_ready);
        if let Some(resting) = ready.and_then(|at| of_user.resting.remove(at)) {
            return resting.pages.clean().inspect_err(|_| of_user.made -= 1);
        }
        if of_user.made >= self.most_of_user {
            return Err(io::Error::other("too many programs of its user have come and gone lately"));
        }
        let pages = Pages::create()?;
        of_user.made += 1;
        Ok(pages)
    }

    /// That program has gone.
    pub(super) fn put_back(&mut self, peer: &Peer, pages: Pages, now: Instant) {
        let of_user = self.users.entry(peer.owner).or_default();
        pages.forget_report();
        of_user.resting.push_back(Resting { uid: peer.uid, since: now, pages });
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.users.values().map(|of_user| of_user.resting.len()).sum::<usize>() > self.most {
            // Who keeps pages to do harm has many.
            let absent = self.users.iter().filter(|(_, of_user)| !of_user.is_there());
            let Some(fewest) = absent.min_by_key(|(_, of_user)| of_user.made).map(|(owner, _)| *owner) else {
                return;
            };
            self.users.remove(&fewest);
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
        let (mut spares, start) = (Spares::new(8, 100), Instant::now());
        let pages = spares.take(&peer(1, 1), start).unwrap();
        let first = inodes(&pages);
        let seen_by_client = pages.mapped_as_a_client().unwrap();
        seen_by_client.fill_report(7);
        pages.renew(9);
        spares.put_back(&peer(1, 1), pages, start);
        let early = spares.take(&peer(1, 1), start + REST / 2).unwrap();
        let others = spares.take(&peer(2, 2), start + REST).unwrap();
        let same_owners = spares.take(&peer(3, 1), start + REST).unwrap();
        for pages in [&early, &others, &same_owners] {
            assert!(inodes(pages).iter().all(|inode| !first.contains(inode)));
        }
        seen_by_client.fill_report(7);
        let again = spares.take(&peer(1, 1), start + REST).unwrap();
        assert_eq!(inodes(&again), first);
        assert!(again.read().is_none() && seen_by_client.is_stamped_and_else_empty());
    }

    #[test]
    fn nobody_has_more_than_so_many_and_everybody_else_has_some() {
        let (mut spares, mut now) = (Spares::new(8, usize::MAX), Instant::now());
        assert_eq!(spares.most_of_user, 8 + BEYOND);
        spares.most_of_user = 20;
        for _ in 0..20 {
            let pages = spares.take(&peer(1, 1), now).unwrap();
            spares.put_back(&peer(1, 1), pages, now);
        }
        assert!(spares.take(&peer(1, 1), now).is_err() && spares.take(&peer(2, 2), now).is_ok());
        now += REST;
        for _ in 0..100 {
            let pages = spares.take(&peer(1, 1), now).unwrap();
            spares.put_back(&peer(1, 1), pages, now);
            now += REST / 16;
        }
        assert_eq!(spares.users[&1].made, 20);
    }

    #[test]
    fn where_too_many_rest_those_lose_theirs_who_had_few_and_left() {
        let (mut spares, now) = (Spares::new(8, 10), Instant::now());
        let here = spares.take(&peer(3, 3), now).unwrap();
        let rest = |spares: &mut Spares, user: u32, pairs: usize| {
            let taken: Vec<Pages> =
                (0..pairs).map(|_| spares.take(&peer(user, user), now).unwrap()).collect();
            taken.into_iter().for_each(|pages| spares.put_back(&peer(user, user), pages, now));
        };
        rest(&mut spares, 1, 8);
        rest(&mut spares, 2, 2);
        rest(&mut spares, 3, 1);
        assert_eq!(spares.users.keys().copied().collect::<Vec<_>>(), [1, 3]);
        spares.put_back(&peer(3, 3), here, now);
        assert_eq!(spares.users[&1].made, 8);
    }
}
