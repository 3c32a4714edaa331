//! Which contexts programs get: by the daemon's placement, or arbitrary ones.

use super::Simulation;
use rand::Rng;
use scaf_policy::place::{Style, Want, place_allocation, scatter};
use scaf_policy::{Allocation, PuSet};

impl Simulation<'_> {
    pub(super) fn places(&mut self, dops: &[Option<u32>], allocation: &Allocation) -> Vec<Vec<usize>> {
        let all = self.topology.all();
        let os =
            |positions: &[usize]| -> PuSet { positions.iter().map(|i| self.topology.pus[*i].os).collect() };
        let mut wants = Vec::new();
        for program in &self.running {
            let Some(contexts) = allocation.contexts(program.id) else { continue };
            let previous = if program.dop.is_some() { os(&program.pus) } else { PuSet::new() };
            wants.push(Want {
                id: program.id,
                dop: contexts,
                allowed: all.clone(),
                previous,
                weight: program.spec.weight,
            });
        }
        if self.scenario.daemon.any_contexts {
            return self.any(dops);
        }
        let sets = match self.policy.scatter() {
            Some(seed) => scatter(self.topology, &wants, seed),
            None => place_allocation(self.topology, &wants, allocation, Style::Compact),
        };
        let mut sets = sets.into_iter();
        let positions = |set: PuSet| -> Vec<usize> {
            (0..self.topology.pus.len()).filter(|i| set.contains(self.topology.pus[*i].os)).collect()
        };
        dops.iter()
            .map(|dop| match dop {
                Some(_) => sets.next().map_or_else(Vec::new, positions),
                None => (0..self.topology.pus.len()).collect(),
            })
            .collect()
    }

    /// Arbitrary contexts: programs keep as many of theirs as they may, drawn by lot, and take free ones.
    fn any(&mut self, dops: &[Option<u32>]) -> Vec<Vec<usize>> {
        let mut free: Vec<usize> = (0..self.topology.pus.len()).collect();
        let mut sets: Vec<Vec<usize>> = Vec::new();
        for (program, dop) in self.running.iter().zip(dops) {
            let mut kept: Vec<usize> = program.pus.iter().copied().filter(|pu| free.contains(pu)).collect();
            while kept.len() > dop.unwrap_or(program.natural) as usize {
                kept.swap_remove(self.random.random_range(0..kept.len()));
            }
            free.retain(|pu| !kept.contains(pu));
            sets.push(kept);
        }
        for (set, dop) in sets.iter_mut().zip(dops) {
            while set.len() < dop.unwrap_or(1) as usize && !free.is_empty() {
                set.push(free.swap_remove(self.random.random_range(0..free.len())));
            }
            if set.is_empty() {
                set.push(self.random.random_range(0..self.topology.pus.len()));
            }
            set.sort_unstable();
        }
        sets
    }
}
