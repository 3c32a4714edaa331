//! Narrowed programs that have detached lately: their processes may attach again as other programs.

use super::per_user::PerUser;
use crate::registry::Program;
use scaf_policy::PuSet;

#[derive(PartialEq)]
struct Detached {
    pid: u32,
    starttime: u64,
    own: PuSet,
    masks: Vec<PuSet>,
}

#[derive(Default)]
pub(super) struct RecentlyDetached(PerUser<Detached>);

impl RecentlyDetached {
    pub fn add(&mut self, program: &Program) {
        let (who, own, masks) = (&program.identity, program.reach.own.clone(), program.grant.masks.clone());
        if !masks.is_empty() {
            self.0.add(who.uid, Detached { pid: who.pid, starttime: who.starttime, own, masks });
        }
    }

    /// The own affinity of the latest program of this process, if `mask` was one that we set for it.
    pub fn own(&self, pid: u32, starttime: u64, mask: &PuSet) -> Option<&PuSet> {
        let latest = self.0.all().rev().find(|known| known.pid == pid && known.starttime == starttime)?;
        latest.masks.contains(mask).then_some(&latest.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::program;

    #[test]
    fn a_process_that_attaches_again_has_the_affinity_that_it_had_before_it_was_narrowed() {
        let (mut detached, mut p) = (RecentlyDetached::default(), program(1));
        detached.add(&p);
        let narrow: PuSet = "0-1".parse().unwrap();
        assert_eq!(detached.own(p.identity.pid, 0, &narrow), None, "it was never narrowed");
        p.grant.remember(&narrow);
        detached.add(&p);
        assert_eq!(detached.own(p.identity.pid, 0, &narrow), Some(&p.reach.own));
        assert_eq!(detached.own(p.identity.pid, 1, &narrow), None, "another process of that number");
        assert_eq!(detached.own(p.identity.pid, 0, &p.reach.own), None, "its user has changed it");
    }
}
