//! Programs of another version of the protocol. They run unmanaged, and `scaf ps` lists them.

use super::Peer;
use crate::control::OtherVersion;
use std::collections::VecDeque;

/// Most that are listed of one user, and of all, so that nobody's hide the others'.
const OF_ONE_USER: usize = 16;
const OF_ALL: usize = 256;

/// Each with its owner.
#[derive(Default)]
pub struct OtherVersions(VecDeque<(u32, OtherVersion)>);

impl OtherVersions {
    pub fn add(&mut self, peer: Peer, protocol: u32) {
        self.forget(peer.pid);
        if self.0.iter().filter(|known| known.0 == peer.owner).count() == OF_ONE_USER
            && let Some(oldest) = self.0.iter().position(|known| known.0 == peer.owner)
        {
            self.0.remove(oldest);
        }
        if self.0.len() == OF_ALL {
            self.0.pop_front();
        }
        self.0.push_back((peer.owner, OtherVersion { pid: peer.pid, uid: peer.uid, protocol }));
    }

    /// Removes a process that attaches: it runs another program by now.
    pub fn forget(&mut self, pid: u32) {
        self.0.retain(|known| known.1.pid != pid);
    }

    /// Those that `live`, the latest last.
    pub fn living(&self, live: impl Fn(u32) -> bool) -> Vec<OtherVersion> {
        self.0.iter().map(|known| known.1).filter(|known| live(known.pid)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(pid: u32, uid: u32) -> Peer {
        Peer { pid, uid, owner: uid, gid: uid, accepted: 0 }
    }

    fn pids(known: &OtherVersions) -> Vec<u32> {
        known.living(|_| true).iter().map(|it| it.pid).collect()
    }

    #[test]
    fn a_program_is_known_once_until_it_attaches_or_ends() {
        let mut known = OtherVersions::default();
        for (pid, version) in [(1, 7), (2, 8), (1, 8)] {
            known.add(peer(pid, 5), version);
        }
        assert_eq!(pids(&known), [2, 1]);
        assert_eq!(known.living(|pid| pid == 1), [OtherVersion { pid: 1, uid: 5, protocol: 8 }]);
        known.forget(1);
        assert_eq!(pids(&known), [2]);
    }

    #[test]
    fn nobody_hides_others_and_the_list_has_an_end() {
        let mut known = OtherVersions::default();
        known.add(peer(1, 5), 8);
        (100..200).for_each(|pid| known.add(peer(pid, 6), 8));
        assert_eq!(pids(&known).len(), 1 + OF_ONE_USER);
        assert!(pids(&known).contains(&1) && pids(&known).contains(&199));
        (1_000..2_000).for_each(|it| known.add(peer(it, it), 8));
        assert_eq!(pids(&known).len(), OF_ALL);
    }
}
