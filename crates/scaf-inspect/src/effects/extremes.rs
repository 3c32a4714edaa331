//! The least and the most by comparisons: of two values one is kept, and both were compared.

use super::addresses::Place;
use super::function::Function;
use super::ssa::{Def, Id};
use super::terms::Op;
use crate::decode::abi::VECTORS;
use crate::decode::{Condition, Flow, Kind, Order, Spot};
use std::collections::HashSet;

impl Function<'_, '_> {
    /// Whether a step compares the operand of another one with a value that goes round, and whether that
    /// operand comes first there.
    pub fn compares(&self, by: usize, at: usize, spot: Spot, inside: &HashSet<Id>) -> Option<bool> {
        let step = &self.graph.steps[by];
        let [one, other] = step.operands.as_slice() else { return None };
        let goes_round = |spot: Spot| {
            let ids = self.ssa.operand(by, spot);
            !ids.is_empty() && ids.iter().all(|id| inside.contains(id) || inside.contains(&self.root(*id)))
        };
        let is_same = |its: Spot| self.are_same((by, its), (at, spot));
        match step.kind {
            Kind::Compare if goes_round(*one) && is_same(*other) => Some(false),
            Kind::Compare if goes_round(*other) && is_same(*one) => Some(true),
            _ => None,
        }
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

    /// The branch by which a value from outside comes into a cycle where ways meet, on that one of them: one
    /// that compares both.
    pub fn chosen_by(&self, place: (usize, usize), chosen: Id, inside: &HashSet<Id>) -> Option<(usize, Op)> {
        let goes_round = |by: usize, spot: Spot| {
            let ids = self.ssa.operand(by, spot);
            !ids.is_empty() && ids.iter().all(|id| inside.contains(id) || inside.contains(&self.root(*id)))
        };
        let is_chosen = |by: usize, spot: Spot| {
            let root = self.root(chosen);
            let ids = self.ssa.operand(by, spot);
            let is_it = ids.len() == 1 && ids.iter().all(|id| self.root(*id) == root);
            let read = match self.ssa.defs[root] {
                Def::Result { step, .. } if self.graph.steps[step].kind == Kind::Move => Some(step),
                _ => None,
            };
            is_it || (spot == Spot::Memory && read.is_some_and(|read| self.have_one_address(read, by)))
        };
        self.picked_by(place, &is_chosen, &goes_round)
    }

    /// The branch that compares two values and decides which of them comes along where ways meet; whether
    /// that is the lesser or the greater. The first is the one on that way.
    pub fn picked_by(
        &self,
        (block, from): (usize, usize),
        is_one: &dyn Fn(usize, Spot) -> bool,
        is_other: &dyn Fn(usize, Spot) -> bool,
    ) -> Option<(usize, Op)> {
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
        let ways = &self.graph.blocks[branch].next;
        let meets = ways.iter().all(|next| {
            *next == block
                || (self.graph.blocks[*next].next == [block]
                    && self.graph.blocks[*next].steps().all(|at| {
                        let step = &self.graph.steps[at];
                        let own = matches!(self.frames.steps[at].place, Place::Own { .. });
                        matches!(step.flow, Flow::Next | Flow::Jump) && (!step.stores || own)
                    }))
        });
        let from = *before.get(from)?;
        let way = ways.iter().position(|next| *next == if from == branch { block } else { from })?;
        let last = self.last_step(branch)?;
        let by = self.flags_of(last)?;
        let step = &self.graph.steps[by];
        let [a, b] = step.operands.as_slice() else { return None };
        let is_first = match (is_one(by, *a), is_other(by, *b)) {
            (true, true) => true,
            _ if is_one(by, *b) && is_other(by, *a) => false,
            _ => return None,
        };
        let fits = meets && step.kind == Kind::Compare && ways.first() != ways.get(1);
        let op = self.picked(last, by, is_first, way == 1)?;
        fits.then_some((branch, op))
    }

    /// Which of two compared values is taken, one of which is taken if a step's condition holds, or if it
    /// doesn't. The most of numbers with a sign isn't the most of the same bits without one, or of some bits.
    pub fn picked(&self, at: usize, by: usize, is_first: bool, if_it_holds: bool) -> Option<Op> {
        let (step, compares) = (&self.graph.steps[at], &self.graph.steps[by]);
        let order = match compares.operands.first()? {
            Spot::Register(register) if *register >= VECTORS => Order::Floats,
            _ if step.is_unsigned => Order::Unsigned(compares.bytes),
            _ => Order::Signed(compares.bytes),
        };
        let is_greater = match step.condition? {
            Condition::Above | Condition::NotBelow => true,
            Condition::Below | Condition::NotAbove => false,
            _ => return None,
        };
        Some(if is_greater ^ !is_first ^ !if_it_holds { Op::Most(order) } else { Op::Least(order) })
    }
}
