//! Loops in which threads wait for each other.

use super::addresses::Place;
use super::finding::Finding;
use super::function::Function;
use super::loops::Loop;
use super::runtime::{Role, role};
use super::ssa::{Def, Id};
use crate::decode::abi::{RESULT, SECOND_RESULT};
use crate::decode::{Flow, Kind, Spot};
use crate::size_use::Callee;
use std::collections::BTreeSet;

impl Function<'_, '_> {
    /// Loops that end by what others store: threads that wait for each other.
    pub fn check_waits(&self) -> Result<(), Finding> {
        for its in &self.loops.all {
            let fatal = |block: usize| {
                let block = &self.graph.blocks[block];
                block.next.is_empty() && !block.returns
            };
            // Another way out, by what changes, may only be for the case that nobody does it.
            for (block, next) in its.exits(&self.graph) {
                let Some(at) = self.last_step(block).filter(|_| !fatal(next)) else { continue };
                if self.looks(its, at) == (true, false) {
                    return Err(self.error(at, "waits for what other threads do"));
                }
            }
        }
        Ok(())
    }

    /// Whether a branch out of a loop depends on memory, and on anything that changes from round to round.
    pub fn looks(&self, its: &Loop, at: usize) -> (bool, bool) {
        let (mut looks, mut changes) = (false, false);
        let mut met = BTreeSet::new();
        let mut work: Vec<Id> = self.ssa.uses[at].iter().map(|(_, id)| *id).collect();
        while let Some(id) = work.pop() {
            if !met.insert(id) {
                continue;
            }
            match &self.ssa.defs[id] {
                Def::Phi { block, .. } => changes |= its.has(*block),
                Def::Result { step, .. } if its.has(self.block_of[*step]) => {
                    let spotted = &self.frames.steps[*step];
                    let flow = self.graph.steps[*step].flow;
                    let deals = matches!(&spotted.callee, Callee::Import(name)
                        if matches!(role(name), Role::Chunk | Role::Section));
                    changes |= flow == Flow::Call && deals;
                    looks |= flow == Flow::Call
                        || (self.graph.steps[*step].loads && spotted.place == Place::Elsewhere);
                    work.extend(self.moves_on_by(its, *step));
                }
                _ => {}
            }
        }
        (looks, changes)
    }

    /// What may change from round to round what a step makes. It isn't where it loads, if that comes back to
    /// where it was: so does who looks at one flag after the other until one of them is set.
    fn moves_on_by(&self, its: &Loop, at: usize) -> Vec<Id> {
        let step = &self.graph.steps[at];
        let is_in_address = |loc: usize| {
            let parts = step.memory.map(|memory| [memory.base, memory.index]);
            parts.is_some_and(|parts| parts.contains(&Some(loc)))
        };
        let looks = step.loads && self.frames.steps[at].place == Place::Elsewhere;
        let (by_address, others): (Vec<_>, Vec<_>) =
            self.ssa.uses[at].iter().partition(|(loc, _)| looks && is_in_address(*loc));
        let ids = |uses: Vec<&(usize, Id)>| uses.into_iter().map(|(_, id)| *id).collect::<Vec<Id>>();
        let (by_address, mut others) = (ids(by_address), ids(others));
        if !self.comes_back(its, &by_address) {
            others.extend(by_address);
        }
        others
    }

    /// Whether values are set back within a loop: divided, masked, or chosen from what stays the same. The
    /// state of a random number generator isn't: it ends by itself.
    fn comes_back(&self, its: &Loop, ids: &[Id]) -> bool {
        let stays = |id: &Id| self.is_outside(*id, its) || self.value(*id).constant.is_some();
        let mut work = ids.to_vec();
        let (mut met, mut is_set_back) = (BTreeSet::new(), false);
        while let Some(id) = work.pop() {
            if self.is_outside(id, its) || !met.insert(id) {
                continue;
            }
            match &self.ssa.defs[id] {
                Def::Phi { block, inputs, .. } => {
                    let before = self.graph.blocks[*block].before.iter().zip(inputs);
                    let mut rounds = before.filter(|(from, _)| its.has(**from));
                    is_set_back |= rounds.any(|(_, input)| stays(input));
                    work.extend(inputs);
                }
                Def::Result { step: at, .. } => {
                    let step = &self.graph.steps[*at];
                    let some_stay = step.operands.iter().any(|spot| {
                        let used = self.ssa.operand(*at, *spot);
                        matches!(spot, Spot::Constant(_)) || used.iter().any(stays)
                    });
                    // A quotient, by the product with a reciprocal.
                    if let Some(factors) = self.factors(*at) {
                        is_set_back = true;
                        work.extend(factors);
                        continue;
                    }
                    is_set_back |= match step.kind {
                        Kind::Divide => true,
                        Kind::And | Kind::Xor | Kind::Select => some_stay,
                        Kind::Other => {
                            [RESULT, SECOND_RESULT].iter().all(|register| step.writes.contains(*register))
                        }
                        Kind::Multiply if self.multiplies_by_much(*at) => return false,
                        _ => false,
                    };
                    // A list or a tree is walked through.
                    let walks = step.loads && self.frames.steps[*at].place == Place::Elsewhere;
                    if step.flow == Flow::Next && !walks {
                        work.extend(self.ssa.uses[*at].iter().map(|(_, id)| *id));
                    }
                }
                Def::Entry(_) => {}
            }
        }
        is_set_back
    }

    fn multiplies_by_much(&self, at: usize) -> bool {
        let by = |spot: &Spot| self.operand(at, *spot).constant;
        let mut operands = self.graph.steps[at].operands.iter();
        operands.any(|spot| by(spot).is_some_and(|by| by.unsigned_abs() > 0xffff))
    }

    /// What is multiplied before a step shifts it, if that is by much.
    fn factors(&self, at: usize) -> Option<Vec<Id>> {
        let shift = &self.graph.steps[at];
        let spot = *shift.operands.first().filter(|_| matches!(shift.kind, Kind::ShiftRight { .. }))?;
        let [only] = *self.ssa.operand(at, spot) else { return None };
        let Def::Result { step, .. } = self.ssa.defs[self.root(only)] else { return None };
        let fits = self.graph.steps[step].kind == Kind::Multiply && self.multiplies_by_much(step);
        fits.then(|| self.ssa.uses[step].iter().map(|(_, id)| *id).collect())
    }
}
