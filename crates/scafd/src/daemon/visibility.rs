//! What a peer may see: root and the daemon's own user everything, others all about their own programs, and
//! of other users' programs how many there are and how many contexts they have.

use crate::config::Visible;
use crate::control::Snapshot;

/// Whoever asks.
#[derive(Clone, Copy)]
pub(super) struct Viewer {
    pub uid: u32,
    /// Whether it may change what holds for all, and see all that is known.
    pub is_trusted: bool,
    pub tell: Visible,
}

impl Viewer {
    /// The user whose programs are all that it may see; `None` if it may see everyone's.
    pub fn sees_only(&self) -> Option<u32> {
        (!self.is_trusted && self.tell == Visible::Own).then_some(self.uid)
    }

    /// The part of a snapshot that it may see.
    pub fn part_of(&self, mut snapshot: Snapshot) -> Snapshot {
        if let Some(uid) = self.sees_only() {
            snapshot = snapshot.seen_by(uid);
        }
        if !self.is_trusted {
            // Where a program's code stalls tells more than its owner may want.
            let others = snapshot.programs.iter_mut().filter(|program| program.uid != self.uid);
            others.for_each(|program| program.counters = None);
            snapshot.tried.retain(|tried| tried.uid == self.uid);
            snapshot.other_versions.retain(|program| program.uid == self.uid);
        }
        snapshot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_sees_only_the_own_programs_unless_all_may_be_told() {
        let viewer = |is_trusted, tell| Viewer { uid: 7, is_trusted, tell }.sees_only();
        assert_eq!(viewer(false, Visible::Own), Some(7));
        assert_eq!([viewer(true, Visible::Own), viewer(false, Visible::All)], [None, None]);
    }
}
