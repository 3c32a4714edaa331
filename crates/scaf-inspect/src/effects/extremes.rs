//! The least and the most by comparisons: of two values one is kept, and both were compared.

use super::Function;
use super::ssa::{Def, Id};
use crate::decode::{Flow, Kind, Spot};
use std::collections::HashSet;

impl Function<'_, '_> {
    /// Whether a step compares the operand of another one with a value that goes round.
    pub fn compares(&self, by: usize, at: usize, spot: Spot, inside: &HashSet<Id>) -> bool {
        let step = &self.graph.steps[by];
        let [one, other] = step.operands.as_slice() else { return false };
        let goes_round = |spot: Spot| {
            let ids = self.ssa.operand(by, spot);
            !ids.is_empty() && ids.iter().all(|id| inside.contains(id) || inside.contains(&self.root(*id)))
        };
        let is_same = |its: Spot| self.are_same((by, its), (at, spot));
        step.kind == Kind::Compare
            && ((goes_round(*one) && is_same(*other)) || (goes_round(*other) && is_same(*one)))
    }

    /// Whether two operands are one value, or were read at one address.
    pub fn are_same(&self, (at, one): (usize, Spot), (by, other): (usize, Spot)) -> bool {
        if let (Spot::Constant(one), Spot::Constant(other)) = (one, other) {
            return one == other;
        }
        let of = |at: usize, spot: Spot| match self.ssa.operand(at, spot).as_slice() {
            [only] => Some(self.root(*only)),
            _ => None,
        };
        let (a, b) = (of(at, one), of(by, other));
        if a.is_some() && a == b {
            return true;
        }
        let read = |at: usize, spot: Spot, id: Option<Id>| match (spot, id) {
            (Spot::Memory, None) => Some(at),
            (_, Some(id)) => match self.ssa.defs[id] {
                Def::Result { step, .. } if self.graph.steps[step].kind == Kind::Move => Some(step),
                _ => None,
            },
            _ => None,
        };
        match (read(at, one, a), read(by, other, b)) {
            (Some(one), Some(other)) => self.have_one_address(one, other),
            _ => false,
        }
    }

    /// The branch by which a value from outside comes into a cycle where ways meet: one that compares both.
    pub fn chosen_by(&self, block: usize, chosen: Id, inside: &HashSet<Id>) -> Option<usize> {
        let before = &self.graph.blocks[block].before;
        let [one, other] = before.as_slice() else { return None };
        let branch = [*one, *other].into_iter().find_map(|from| {
            let its = &self.graph.blocks[from];
            if its.next.len() == 2 {
                return Some(from);
            }
            let [above] = its.before.as_slice() else { return None };
            (its.next.len() == 1 && self.graph.blocks[*above].next.len() == 2).then_some(*above)
        })?;
        // All ways behind the branch meet again at once, with nothing done between.
        let meets = self.graph.blocks[branch].next.iter().all(|next| {
            *next == block
                || (self.graph.blocks[*next].next == [block]
                    && self.graph.blocks[*next].steps().all(|at| {
                        let step = &self.graph.steps[at];
                        let own = matches!(self.frames.steps[at].place, super::frames::Place::Own { .. });
                        matches!(step.flow, Flow::Next | Flow::Jump) && (!step.stores || own)
                    }))
        });
        let by = self.flags_of(self.last_step(branch)?)?;
        let step = &self.graph.steps[by];
        let [a, b] = step.operands.as_slice() else { return None };
        let goes_round = |spot: Spot| {
            let ids = self.ssa.operand(by, spot);
            !ids.is_empty() && ids.iter().all(|id| inside.contains(id) || inside.contains(&self.root(*id)))
        };
        let is_chosen = |spot: Spot| {
            let root = self.root(chosen);
            let ids = self.ssa.operand(by, spot);
            let is_it = ids.len() == 1 && ids.iter().all(|id| self.root(*id) == root);
            let read = match self.ssa.defs[root] {
                Def::Result { step, .. } if self.graph.steps[step].kind == Kind::Move => Some(step),
                _ => None,
            };
            is_it || (spot == Spot::Memory && read.is_some_and(|read| self.have_one_address(read, by)))
        };
        let compares = step.kind == Kind::Compare
            && ((goes_round(*a) && is_chosen(*b)) || (goes_round(*b) && is_chosen(*a)));
        (meets && compares).then_some(branch)
    }
}
