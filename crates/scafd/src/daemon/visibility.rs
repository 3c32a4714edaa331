//! Who is told what: root and the daemon's own user everything, others all about their own programs, and of
//! other users' how many there are and how many contexts they have.

use super::parts::Daemon;
use crate::config::Tell;
use crate::control::Snapshot;
use crate::registry::Program;
use crate::talk::Peer;
use scaf_policy::ProgramId;

impl Daemon {
    /// Whether it may change what holds for all, and see all that is known.
    pub(super) fn may_steer(&self, peer: Peer) -> bool {
        self.parts.talk.is_trusted(peer.uid)
    }

    /// The user whose programs are all that it is told of; `None` if it is told of everyone's.
    pub(super) fn sees_only(&self, peer: Peer) -> Option<u32> {
        (!self.may_steer(peer) && self.parts.config.tell == Tell::Own).then_some(peer.uid)
    }

    /// The program that a peer is.
    pub(super) fn program_of(&self, peer: Peer) -> Option<ProgramId> {
        let is_it = |program: &&Program| program.identity.pid == peer.pid && program.identity.uid == peer.uid;
        self.registry.iter().find(is_it).map(|program| program.identity.id)
    }

    /// What a peer is told of everything.
    pub(super) fn snapshot_for(&self, peer: Peer) -> Snapshot {
        let mut snapshot = self.snapshot();
        snapshot.asker = self.program_of(peer).map(|id| id.0);
        if let Some(uid) = self.sees_only(peer) {
            snapshot = snapshot.seen_by(uid);
        }
        if !self.may_steer(peer) {
            // Where a program's code stalls tells more than its owner may want.
            let others = snapshot.programs.iter_mut().filter(|program| program.uid != peer.uid);
            others.for_each(|program| program.counters = None);
            snapshot.tried.retain(|tried| tried.uid == peer.uid);
            snapshot.other_versions.retain(|program| program.uid == peer.uid);
        }
        snapshot
    }
}
