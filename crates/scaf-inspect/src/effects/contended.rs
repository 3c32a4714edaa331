//! What is looked at within locks: where threads add to it one after the other, each sees something else.

use super::addresses::Place;
use super::function::Function;
use super::runtime;
use crate::decode::Flow;
use crate::size_use::Callee;

impl Function<'_, '_> {
    /// Finds the loads within locks of what is stored within locks.
    pub fn find_contended(&mut self) {
        let locked = self.locked();
        let within = |at: &usize| locked[*at] && self.frames.steps[*at].place == Place::Elsewhere;
        let steps: Vec<usize> = (0..self.graph.steps.len()).filter(within).collect();
        let stored: Vec<_> = steps
            .iter()
            .filter(|at| self.graph.steps[**at].stores)
            .filter_map(|at| self.spelled(*at))
            .collect();
        let loads = steps.iter().filter(|at| self.graph.steps[**at].loads);
        let all = loads.filter(|at| self.spelled(**at).is_some_and(|it| stored.contains(&it))).copied();
        self.contended = all.collect();
    }

    /// Whether each step may be executed by who holds a lock.
    fn locked(&self) -> Vec<bool> {
        let mut locked = vec![false; self.graph.steps.len()];
        let mut ends = vec![None; self.graph.blocks.len()];
        let mut work = vec![(0, false)];
        while let Some((block, mut holds)) = work.pop() {
            if ends[block].is_some_and(|held: bool| held || !holds) {
                continue;
            }
            ends[block] = Some(holds);
            for at in self.graph.blocks[block].steps() {
                locked[at] |= holds;
                if self.graph.steps[at].flow == Flow::Call
                    && let Callee::Import(name) = self.frames.steps[at].callee
                {
                    holds = runtime::locks(name).unwrap_or(holds);
                }
            }
            work.extend(self.graph.blocks[block].next.iter().map(|next| (*next, holds)));
        }
        locked
    }
}
