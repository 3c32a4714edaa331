//! Which job starts where. Jobs that fit nowhere wait in order of arrival. For each of the first ones a node
//! is *kept*: the one that can take it soonest, where no other job starts. Later jobs that fit elsewhere may
//! start before (backfilling). A job goes to the node with the fewest contexts left over (best fit); nodes
//! are oversubscribed only if it fits on none.

use std::collections::{BTreeSet, VecDeque};

/// Jobs at the head of the queue for which a node is kept.
const KEPT: usize = 32;
/// Jobs after these that may start before them (as Slurm's bf_max_job_test).
const WINDOW: usize = 500;

/// The nodes that may take jobs, by the contexts that their jobs ask for.
pub(super) struct Rooms {
    by_asked: Vec<BTreeSet<u32>>,
    contexts: u32,
    limit: u32,
}

/// What is asked for on a node, and by how many jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Taken {
    pub asked: u32,
    pub jobs: u32,
}

impl Rooms {
    /// All nodes, of which each takes jobs that ask together for `limit` contexts of its `contexts`.
    pub fn new(nodes: u32, contexts: u32, limit: u32) -> Rooms {
        let mut by_asked = vec![BTreeSet::new(); limit as usize + 1];
        by_asked[0] = (0..nodes).collect();
        Rooms { by_asked, contexts, limit }
    }

    pub fn add(&mut self, node: u32, taken: Taken) {
        self.by_asked[taken.asked as usize].insert(node);
    }

    pub fn remove(&mut self, node: u32, taken: Taken) {
        self.by_asked[taken.asked as usize].remove(&node);
    }

    /// Whether a job that asks for so many fits beside those.
    pub fn fits(&self, asks: u32, taken: Taken) -> bool {
        // A policy gives each job one context at least.
        taken.asked + asks <= self.limit && taken.jobs < self.contexts
    }

    /// The node for a job.
    pub fn find(&self, asks: u32, taken: impl Fn(u32) -> Taken) -> Option<u32> {
        let within = self.contexts.min(self.limit).checked_sub(asks);
        let snug = within.map_or(0..0, |most| 0..most + 1).rev();
        let from = within.map_or(0, |most| most + 1);
        let crowded = from..(self.limit + 1).saturating_sub(asks);
        snug.chain(crowded).find_map(|asked| {
            let nodes = self.by_asked[asked as usize].iter();
            nodes.copied().find(|node| self.fits(asks, taken(*node)))
        })
    }
}

/// The jobs that wait, first come first.
#[derive(Default)]
pub(super) struct Queue {
    /// A job and the node that is kept for it.
    kept: Vec<(u32, u32)>,
    pub others: VecDeque<u32>,
}

impl Queue {
    pub fn is_full(&self) -> bool {
        self.others.len() >= WINDOW
    }

    /// The next job for which a node has to be kept.
    pub fn unkept(&self) -> Option<u32> {
        if self.kept.len() < KEPT { self.others.front().copied() } else { None }
    }

    /// The node that is kept for the next job.
    pub fn keep(&mut self, node: u32) {
        if let Some(job) = self.others.pop_front() {
            self.kept.push((job, node));
        }
    }

    /// Takes out the first job for which a node was kept that `fits` says yes to, and gives back its node.
    pub fn take_kept(&mut self, fits: impl Fn(u32, u32) -> bool) -> Option<(u32, u32)> {
        let at = self.kept.iter().position(|(job, node)| fits(*job, *node))?;
        Some(self.kept.remove(at))
    }

    /// Takes out the first of the others.
    pub fn take_other(&mut self, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let at = self.others.iter().take(WINDOW).position(|job| fits(*job))?;
        self.others.remove(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_goes_where_the_fewest_contexts_are_left_and_crowds_last() {
        let mut rooms = Rooms::new(3, 8, 16);
        let mut taken = [Taken::default(); 3];
        for (node, asked) in [(0, 3), (1, 6)] {
            rooms.remove(node, Taken::default());
            taken[node as usize] = Taken { asked, jobs: 1 };
            rooms.add(node, taken[node as usize]);
        }
        let find = |rooms: &Rooms, asks| rooms.find(asks, |node| taken[node as usize]);
        assert_eq!([2, 3, 8].map(|asks| find(&rooms, asks)), [Some(1), Some(0), Some(2)]);
        rooms.remove(2, Taken::default());
        assert_eq!(find(&rooms, 8), Some(0));
        rooms.remove(0, taken[0]);
        assert_eq!([8, 10, 11].map(|asks| find(&rooms, asks)), [Some(1), Some(1), None]);
    }

    #[test]
    fn the_first_come_first_and_a_few_may_overtake() {
        let mut queue = Queue::default();
        queue.others.extend(0..1_000);
        assert_eq!(queue.take_other(|job| job == 99), Some(99));
        assert_eq!(queue.take_other(|job| job == 550), None);
        assert_eq!(queue.unkept(), Some(0));
        queue.keep(7);
        assert_eq!((queue.take_kept(|job, _| job == 0), queue.others.len()), (Some((0, 7)), 998));
        assert!(queue.is_full());
    }
}
