//! Which programs are of one process tree: they have one share of the machine together (scaf-policy's
//! `policy_wrapper/trees.rs`). A tree begins with what `scaf run` or `scaf adopt` was asked for, else with
//! the first program of it that is met. Who has another parent by now (a daemon) begins one, too.

use super::per_user::PerUser;
use crate::observe::Observer;
use crate::registry::Registry;
use scaf_policy::ProgramId;

/// How far up a tree's first process is looked for. Builds nest make and shells.
const GENERATIONS: usize = 16;

/// A process, and what it starts.
#[derive(Clone, Copy, PartialEq)]
struct First {
    pid: u32,
    starttime: u64,
    /// The tree's number; `None` if each program is one by itself.
    tree: Option<u64>,
}

#[derive(Default)]
pub(super) struct ProcessTrees {
    first: PerUser<First>,
    /// Trees that began with a process; programs' own numbers are even.
    begun: u64,
}

impl ProcessTrees {
    /// With this process of that owner's, which began then, a tree begins, or `each` program that it starts
    /// is one by itself.
    pub fn begin(&mut self, observer: &Observer, (owner, pid, starttime): (u32, u32, u64), each: bool) {
        let is_there = |it: &First| observer.process(it.pid).is_since(it.starttime);
        self.first.retain(owner, |it| it.pid != pid && is_there(it));
        self.begun += 1;
        let tree = (!each).then_some(2 * self.begun + 1);
        self.first.add(owner, First { pid, starttime, tree });
    }

    /// The tree of a program of that owner's, a number that no other one has. Never 0.
    pub fn of(
        &self,
        observer: &Observer,
        registry: &Registry,
        (id, owner, pid): (ProgramId, u32, u32),
    ) -> u64 {
        let own = 2 * id.0.max(1);
        let mut at = pid;
        for _ in 0..GENERATIONS {
            let Ok(stat) = observer.process(at).stat() else { break };
            let is_it = |it: &&First| it.pid == at && it.starttime == stat.starttime;
            if let Some(first) = self.first.of(owner).find(is_it) {
                return first.tree.unwrap_or(own);
            }
            if at != pid
                && let Some(identity) = registry.by_pid(at).map(|program| &program.identity)
                && (identity.owner, identity.starttime) == (owner, stat.starttime)
            {
                return identity.tree;
            }
            at = stat.parent;
        }
        own
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
        let (own, its) = ((1000, std::process::id()), (1000, child.id()));
        let since = |(owner, pid)| (owner, pid, observer.process(pid).stat().unwrap().starttime);
        let of = |trees: &ProcessTrees| {
            let of = |id, (owner, pid)| trees.of(&observer, &registry, (ProgramId(id), owner, pid));
            [of(7, own), of(8, its), of(9, (1001, child.id()))]
        };
        assert_eq!(of(&trees), [14, 16, 18]);
        trees.begin(&observer, since(own), false);
        let [first, second, others] = of(&trees);
        assert!(first == second && first % 2 == 1 && others == 18);
        trees.begin(&observer, since(its), false);
        let [first, second, _] = of(&trees);
        assert!(first != second && second % 2 == 1, "one of its own");
        trees.begin(&observer, since(its), true);
        assert_eq!(of(&trees), [first, 16, 18], "each is one by itself");
        trees.begin(&observer, since(own), true);
        assert_eq!(of(&trees), [14, 16, 18]);
        assert_ne!(trees.of(&observer, &registry, (ProgramId(0), 1000, u32::MAX)), 0);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
