//! What a first iteration that stands before its loop leaves to it, in place of what a round leaves to the
//! next one ([`super::peeled`]).
//!
//! Each value that goes round the loop is an equation: what the first iteration leaves is what a round would
//! have left. A value of the first iteration is one of a round's if that follows from these.

use super::function::Function;
use super::linear::{Atom, Sum};
use super::ssa::{Def, Id, WHOLE};
use crate::decode::abi::VECTORS;
use crate::decode::{Flow, Kind, Spot};
use std::ops::RangeInclusive;

/// Least and most that an index is away from one that is left to the loop.
const NEAR: RangeInclusive<i64> = -16..=16;

/// What the first iteration leaves to the loop, and what a round leaves there to the next one.
#[derive(Clone, Default)]
pub(super) struct Left {
    pub pairs: Vec<(Id, Id)>,
    /// Numbers of four bytes near one that is left: a compiler keeps `j` and `j + 1`, or computes one of them
    /// twice.
    pub near: Vec<Id>,
}

impl Function<'_, '_> {
    /// Those that go round a loop, but for what goes on by as much in each round: its number tells that.
    pub fn carried(&self, header: usize) -> impl Iterator<Item = (Id, &[Id])> {
        let is_counted = move |id: Id| self.sum_of(id).is_some_and(|sum| sum.has(Atom::Round(header)));
        self.met_at(header).filter(move |(id, _)| !is_counted(*id))
    }

    pub fn left_to_next(&self, header: usize, enters: usize, ends: usize, first: &[usize]) -> Left {
        let mut left = Left::default();
        for (_, inputs) in self.carried(header) {
            let from = |wanted: usize| {
                let all = self.graph.blocks[header].before.iter().zip(inputs);
                all.into_iter().find(|(from, _)| **from == wanted).map(|(_, input)| *input)
            };
            left.pairs.extend(from(enters).zip(from(ends)));
        }
        let is_narrow = |(_, again): &&(Id, Id)| self.computed_bytes(*again) <= WHOLE;
        let narrow = left.pairs.iter().filter(is_narrow);
        let sums: Vec<Sum> = narrow.filter_map(|(first, _)| self.sum_of(*first)).collect();
        let is_near = |id: &Id| {
            let mine = self.sum_of(*id);
            let away = |its: &Sum| mine.clone().and_then(|mine| mine.add(its, -1)?.as_constant());
            sums.iter().filter_map(away).any(|away| NEAR.contains(&away))
        };
        let steps = first.iter().flat_map(|block| self.graph.blocks[*block].steps());
        left.near = steps.filter_map(|at| self.may_be_index(at)).filter(is_near).collect();
        left
    }

    /// What a step makes if that may be an index of four bytes, or of fewer in more.
    fn may_be_index(&self, at: usize) -> Option<Id> {
        let step = &self.graph.steps[at];
        let by = match step.operands.as_slice() {
            [_, Spot::Constant(by)] => Some(*by),
            _ => None,
        };
        let may_be = match step.kind {
            Kind::And => step.bytes == WHOLE && by.is_some_and(|mask| (1..=0x7fff_ffff).contains(&mask)),
            Kind::ShiftRight { .. } => step.bytes == 8 && by.is_some_and(|by| (33..=62).contains(&by)),
            Kind::Add | Kind::Subtract | Kind::Address => step.bytes == WHOLE,
            _ => false,
        };
        let made = self.ssa.makes[at].iter().find(|(loc, _)| *loc < VECTORS);
        made.filter(|_| may_be && step.flow == Flow::Next && !step.stores).map(|(_, id)| self.root(*id))
    }

    /// What a round leaves behind if it has come that way.
    pub fn on_way(&self, left: &Left, meets: usize, way: usize) -> Left {
        let came = |again: Id| match &self.ssa.defs[again] {
            Def::Phi { block, inputs, .. } if *block == meets => inputs.get(way).copied().unwrap_or(again),
            _ => again,
        };
        let pairs = left.pairs.iter().map(|(first, again)| (*first, came(*again))).collect();
        Left { pairs, near: left.near.clone() }
    }
}
