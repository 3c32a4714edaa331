//! Sums in tables of the own frame: reductions of arrays.
//!
//! Elements aren't told apart. So each store into the table has to add to the element that it stores,
//! whatever that is, and all that stands in the table has to be sums by one operation.

use super::addresses::{Known, Place};
use super::function::Function;
use super::ssa::{Def, Id, Loc, is_in_frame};
use super::terms::{Op, Value};
use crate::decode::abi::{ARGUMENTS, REGISTERS, RESULT, SCRATCH, SOURCE, STACK_POINTER};
use crate::decode::{Flow, Kind, Spot};
use std::collections::HashSet;

/// A store that adds to an element.
pub(super) struct Added {
    pub op: Op,
    /// What is added, and where.
    pub takes: Vec<Id>,
    /// The steps that have loaded the element and added to it.
    pub through: Vec<usize>,
}

impl Function<'_, '_> {
    /// If a step adds to an element of a table that is in one of these places: what.
    pub fn adds_to_element(&self, at: usize, loc: Loc, inside: &HashSet<Id>) -> Option<Added> {
        let (step, spotted) = (&self.graph.steps[at], &self.frames.steps[at]);
        let is_table = spotted.place == Place::SomewhereOwn && !spotted.unsure && step.flow == Flow::Next;
        if !step.stores || !is_table || !is_in_frame(loc) {
            return None;
        }
        let [Spot::Memory, from] = *step.operands.as_slice() else { return None };
        let (op, other, through) = if step.kind == Kind::Move {
            let [sum] = *self.ssa.operand(at, from).as_slice() else { return None };
            let Def::Result { step: by, .. } = self.ssa.defs[self.root(sum)] else { return None };
            let its = &self.graph.steps[by];
            let (one, other) = its.sources()?;
            let old = |number: usize| self.loads_element(by, its.operands[number], at, loc);
            let (number, loaded) = match (old(one), old(other)) {
                (Some(loaded), None) => (other, loaded),
                (None, Some(loaded)) if its.kind != Kind::Subtract => (one, loaded),
                _ => return None,
            };
            let added = self.with_address(by, self.ssa.operand(by, its.operands[number]));
            (Op::of(its.kind)?, added, vec![by, loaded])
        } else {
            step.loads.then_some((Op::of(step.kind)?, self.ssa.operand(at, from), Vec::new()))?
        };
        let takes = self.with_address(at, other);
        let is_free = takes.iter().all(|id| !inside.contains(&self.ssa.find(*id)));
        (is_free && !step.locked).then_some(Added { op, takes, through })
    }

    /// The step that has loaded an operand, if that is the element that `at` stores, as it is then.
    fn loads_element(&self, by: usize, spot: Spot, at: usize, loc: Loc) -> Option<usize> {
        let loaded = match (spot, self.ssa.operand(by, spot).as_slice()) {
            (Spot::Memory, _) => by,
            (Spot::Register(_), [only]) => match self.ssa.defs[self.root(*only)] {
                Def::Result { step, .. } => step,
                _ => return None,
            },
            _ => return None,
        };
        let (its, last) = (&self.graph.steps[loaded], &self.graph.steps[at]);
        let is_load = its.loads && !its.stores && self.frames.steps[loaded].place == Place::SomewhereOwn;
        let (one, other) = (its.memory?, last.memory?);
        let same = |a: Option<usize>, b: Option<usize>| match (a, b) {
            (Some(a), Some(b)) if a == STACK_POINTER && a == b => {
                let stack = |at: usize| self.frames.steps[at].stack;
                matches!(stack(at), Known::Frame { .. }) && stack(loaded) == stack(at)
            }
            (Some(a), Some(b)) => {
                let ids = self.ssa.used(loaded, a).zip(self.ssa.used(at, b));
                ids.is_some_and(|(a, b)| self.root(a) == self.root(b))
            }
            (None, None) => true,
            _ => false,
        };
        let fits = is_load
            && (loaded == by || its.kind == Kind::Move)
            && same(one.base, other.base)
            && same(one.index, other.index)
            && one.has_index == other.has_index
            && one.scale == other.scale
            && one.displacement == other.displacement
            && one.bytes == other.bytes
            && self.ssa.used(loaded, loc) == self.ssa.used(at, loc);
        fits.then_some(loaded)
    }

    /// Whether all that was ever put into a place of the frame is what an operation ignores.
    pub fn is_neutral(&self, op: Op, id: Id, met: &mut HashSet<Id>) -> bool {
        let id = self.ssa.find(id);
        if !met.insert(id) {
            return true;
        }
        match &self.ssa.defs[id] {
            // Nobody may look at what was never written, nor at what callers have in registers.
            Def::Entry(loc) => is_in_frame(*loc) || (*loc < REGISTERS && !SCRATCH.contains(loc)),
            Def::Phi { inputs, .. } => inputs.iter().all(|input| self.is_neutral(op, *input, met)),
            Def::Result { step, loc } if is_in_frame(*loc) => {
                let old = self.ssa.used(*step, *loc);
                self.puts_neutral(op, *step) && old.is_none_or(|old| self.is_neutral(op, old, met))
            }
            Def::Result { .. } => false,
        }
    }

    fn puts_neutral(&self, op: Op, at: usize) -> bool {
        let step = &self.graph.steps[at];
        let fits = |register: usize| {
            let id = self.ssa.used(at, register);
            id.is_some_and(|id| op.may_begin_with(self.value(id)))
        };
        match (step.flow, step.kind, step.operands.as_slice()) {
            (Flow::Next, Kind::Fill, _) => !step.reads.contains(SOURCE) && fits(RESULT),
            (Flow::Next, Kind::Move, [Spot::Memory, spot]) => op.may_begin_with(self.operand(at, *spot)),
            (Flow::Next, Kind::Constant(value), _) => op.may_begin_with(Value::constant(value)),
            (Flow::Call, ..) if self.allocates_own(at) => op.may_begin_with(Value::constant(0)),
            (Flow::Call, ..) => self.is_value_to_set(at) && fits(ARGUMENTS[1]),
            _ => false,
        }
    }
}
