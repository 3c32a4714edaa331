//! Which programs are of one process tree: they have one share of the machine together (scaf-policy's
//! `policy_wrapper/trees.rs`). A tree begins with what `scaf run` or `scaf adopt` was asked for, else with
//! the first program of it that is met.

use super::user_processes::UserProcesses;
use crate::observe::Observer;
use crate::registry::Registry;

/// How far up a tree's first process is looked for. Builds nest make and shells.
const GENERATIONS: usize = 16;

#[derive(Default)]
pub(super) struct ProcessTrees {
    first: UserProcesses,
}

impl ProcessTrees {
    /// With this process a tree begins.
    pub fn begin(&mut self, observer: &Observer, uid: u32, pid: u32) {
        self.first.add(observer, uid, pid);
    }

    /// The tree of a process, a number that no other one has. Never 0.
    pub fn of(&self, observer: &Observer, registry: &Registry, pid: u32) -> u64 {
        let (mut at, mut own) = (pid, 0);
        for _ in 0..GENERATIONS {
            let Ok(stat) = observer.process(at).stat() else { break };
            let number = (stat.starttime << 22 | u64::from(at)).max(1);
            if at == pid {
                own = number;
            }
            if self.first.has(observer, at) {
                return number;
            }
            if let Some(program) = registry.by_pid(at).filter(|_| at != pid) {
                return program.identity.tree;
            }
            at = stat.parent;
        }
        own.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_child_is_of_its_parents_tree_if_that_is_one() {
        let observer = Observer::new(Path::new("/"));
        let (mut trees, registry) = (ProcessTrees::default(), Registry::default());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (own, its) = (std::process::id(), child.id());
        let of = |trees: &ProcessTrees, pid| trees.of(&observer, &registry, pid);
        assert_ne!(of(&trees, own), of(&trees, its));
        trees.begin(&observer, 1000, own);
        assert_eq!(of(&trees, own), of(&trees, its));
        trees.begin(&observer, 1000, its);
        assert_ne!(of(&trees, own), of(&trees, its), "one of its own");
        assert_ne!(of(&trees, u32::MAX), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
