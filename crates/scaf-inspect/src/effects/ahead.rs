//! Values that a compiler loads for the next iteration already, and those that are the same for all threads
//! though their ways have parted.

use super::addresses::Place;
use super::function::Function;
use super::linear::{Atom, Found, Sum};
use super::ssa::{Def, Id};
use crate::decode::{Flow, Kind};
use std::collections::BTreeSet;
use std::ops::Range;

impl Function<'_, '_> {
    /// Whether what goes round a loop was loaded in the round before where this round would load it, and in
    /// the first one just before the loop: a compiler loads a neighbour only once. A thread that has the
    /// iteration before may not store there unless they wait for each other in between, which would be seen.
    pub fn is_loaded_ahead(&self, id: Id) -> bool {
        let Some(header) = self.header_of(id) else { return false };
        let Some(its) = self.loop_of(header) else { return false };
        let mut found = Found::of_one();
        let mut loads = Vec::new();
        if self.loads_exactly(id, 0, &mut found, &mut loads).is_none() {
            return false;
        }
        let quiet = |steps: Range<usize>| steps.into_iter().all(|at| self.is_quiet(at));
        if !its.blocks.iter().all(|block| quiet(self.graph.blocks[*block].steps())) {
            return false;
        }
        loads.into_iter().filter(|load| !its.has(self.block_of[*load])).all(|load| {
            let from = self.block_of[load];
            let before = self.graph.blocks[header].before.iter();
            let mut work: Vec<usize> = before.filter(|before| !its.has(**before)).copied().collect();
            let mut met = BTreeSet::new();
            while let Some(block) = work.pop() {
                let steps = self.graph.blocks[block].steps();
                if block == from {
                    if !quiet(load..steps.end) {
                        return false;
                    }
                } else if met.insert(block) {
                    if !quiet(steps) || block == 0 {
                        return false;
                    }
                    work.extend(&self.graph.blocks[block].before);
                }
            }
            true
        })
    }

    /// Whether a step can't be one by which threads wait for each other.
    fn is_quiet(&self, at: usize) -> bool {
        let step = &self.graph.steps[at];
        step.flow != Flow::Call && !step.locked
    }

    fn header_of(&self, id: Id) -> Option<usize> {
        match &self.ssa.defs[id] {
            Def::Phi { block, .. } if self.is_header(*block) => Some(*block),
            _ => None,
        }
    }

    /// Whether the same comes along on all ways that meet, or goes on by the same on all ways round a loop.
    pub fn is_one_for_all(&self, id: Id, block: usize, inputs: &[Id]) -> bool {
        let is_header = self.header_of(id).is_some();
        let is_known = |sum: &Sum| {
            sum.0.keys().flatten().all(|atom| match atom {
                Atom::Value(id) | Atom::Shifted(id, ..) => !self.value(*id).differs(),
                Atom::Load(_) => false,
                Atom::Round(header) => is_header && *header == block && !self.share_loops.contains(header),
            })
        };
        let mut found = Found::of_one();
        if is_header {
            return self.goes_exactly(id, block, inputs, 0, &mut found).is_some_and(|sum| is_known(&sum));
        }
        let mut sums = inputs.iter().map(|input| self.exactly(*input, 0, &mut found));
        let Some(first) = sums.next().flatten() else { return false };
        is_known(&first) && sums.all(|sum| sum.as_ref() == Some(&first))
    }

    /// Where a value was loaded from, and how many bytes of it.
    fn loads_exactly(
        &self,
        id: Id,
        depth: usize,
        found: &mut Found,
        loads: &mut Vec<usize>,
    ) -> Option<(Sum, usize)> {
        let id = self.root(id);
        match &self.ssa.defs[id] {
            Def::Result { step, .. } => {
                let its = &self.graph.steps[*step];
                let is_load = its.kind == Kind::Move
                    && its.loads
                    && !its.stores
                    && !its.locked
                    && self.frames.steps[*step].place == Place::Elsewhere;
                is_load.then_some(())?;
                loads.push(*step);
                Some((self.address_exactly(*step, 0, found)?, its.memory?.bytes))
            }
            Def::Phi { block, inputs, .. } if depth < 4 && self.is_header(*block) => {
                let around = self.loop_of(*block)?;
                let (mut begin, mut round) = (None, None);
                for (before, input) in self.graph.blocks[*block].before.iter().zip(inputs) {
                    let known = if around.has(*before) { &mut round } else { &mut begin };
                    if known.is_some() {
                        return None;
                    }
                    *known = Some(self.loads_exactly(*input, depth + 1, found, loads)?);
                }
                let ((begin, bytes), (round, its)) = (begin?, round?);
                let atom = Atom::Round(*block);
                let (step, first) = round.add(&begin, -1)?.split(atom)?;
                let fits = bytes == its && step == first && !begin.has(atom);
                (fits && self.is_same_within(&step, around)).then_some(())?;
                Some((begin.add(&step.multiply(&Sum::atom(atom))?, 1)?, bytes))
            }
            _ => None,
        }
    }
}
