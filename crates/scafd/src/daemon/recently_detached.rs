//! Programs that were narrowed and have left lately: their processes may attach anew as other programs.

use super::per_user::PerUser;
use crate::registry::Program;
use scaf_policy::PuSet;

#[derive(PartialEq)]
struct Former {
    pid: u32,
    starttime: u64,
    own: PuSet,
    masks: Vec<PuSet>,
}

#[derive(Default)]
pub(super) struct Formers(PerUser<Former>);

impl Formers {
    /// Remembers a program that leaves.
    pub fn add(&mut self, program: &Program) {
        let (who, own, masks) = (&program.identity, program.reach.own.clone(), program.grant.masks.clone());
        if !masks.is_empty() {
            self.0.add(who.uid, Former { pid: who.pid, starttime: who.starttime, own, masks });
        }
    }

    /// The own affinity of the latest program of this process, if `mask` was one of ours for it.
    pub fn own(&self, pid: u32, starttime: u64, mask: &PuSet) -> Option<&PuSet> {
        let former = self.0.all().rev().find(|known| known.pid == pid && known.starttime == starttime)?;
        former.masks.contains(mask).then_some(&former.own)
    }
}
