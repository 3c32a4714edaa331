//! The programs that are attached, and their grants. Pure state. A program's *own* affinity is what it has
//! without us; its *usable* PUs are those of them that may be allocated. A program is *left alone*,
//! unmanaged whatever the policy, when touching it could do harm. A grant is *in effect* once the affinity is
//! set and, where teams are resized, one of that size runs.

mod code;
mod evidence;
mod fill;
mod grant;
mod identity;
mod kept_team;
mod mechanism;
mod phase;
mod program;
mod steps;
mod stuck;

pub use code::Code;
#[cfg(test)]
pub use code::Teams;
pub use evidence::Evidence;
pub use grant::Grant;
pub use identity::{Binding, Identity, Limits, Reach, no_pus, usable};
pub use phase::Phase;
pub use program::Program;

use scaf_policy::{ProgramId, PuSet};

/// All programs, in order of their ids.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    programs: Vec<Program>,
}

impl Registry {
    /// Adds a program. Ids are those of connections, which may attach in another order.
    pub fn attach(&mut self, program: Program) {
        let at = self.programs.partition_point(|other| other.identity.id < program.identity.id);
        self.programs.insert(at, program);
    }

    pub fn detach(&mut self, id: ProgramId) -> Option<Program> {
        Some(self.programs.remove(self.at(id)?))
    }

    pub fn get(&self, id: ProgramId) -> Option<&Program> {
        self.programs.get(self.at(id)?)
    }

    pub fn get_mut(&mut self, id: ProgramId) -> Option<&mut Program> {
        let at = self.at(id)?;
        self.programs.get_mut(at)
    }

    fn at(&self, id: ProgramId) -> Option<usize> {
        self.programs.binary_search_by_key(&id, |program| program.identity.id).ok()
    }

    pub fn by_pid(&self, pid: u32) -> Option<&Program> {
        self.programs.iter().find(|p| p.identity.pid == pid)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter()
    }

    /// The first number that no program of that user and name has. Other users' don't count, because their
    /// numbers would reveal what they run.
    pub fn number_for(&self, uid: u32, name: &str) -> u32 {
        let same = self.iter().map(|program| &program.identity);
        let taken: Vec<u32> =
            same.filter(|it| it.uid == uid && it.name == name).map(|it| it.number).collect();
        (1..).find(|number| !taken.contains(number)).unwrap_or(1)
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.programs.iter_mut()
    }

    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// Own and set affinity of the nearest of `ancestors` that was narrowed to exactly `mask`: a child born
    /// with that mask has inherited it.
    pub fn inherited(
        &self,
        mut ancestors: impl Iterator<Item = u32>,
        mask: &PuSet,
    ) -> Option<(PuSet, PuSet)> {
        // Faster than looking for ancestors.
        if !self.iter().any(|program| program.grant.masks.contains(mask)) {
            return None;
        }
        ancestors.find_map(|pid| {
            let parent = self.by_pid(pid)?;
            let set = parent.grant.masks.iter().find(|set| *set == mask)?;
            Some((parent.reach.own.clone(), set.clone()))
        })
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
pub(crate) mod tests;
