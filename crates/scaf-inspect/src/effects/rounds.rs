//! How many rounds a loop through a thread's iterations has, where that is known exactly: as many as the
//! share or chunk has iterations, whatever is counted (`from + 3 * begin` up to `from + 3 * end`). A program
//! that shares out by hand may leave out the first or the last one.

use super::function::Function;
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::{Def, Id};
use crate::decode::{Condition, FLAGS, Flow, Kind, Spot};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Most blocks that are followed from one that ends a loop to the loop's beginning.
const MOST_BLOCKS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounds {
    /// One for each iteration.
    All,
    /// Some other number that goes with the share.
    Others,
    Unknown,
}

impl Function<'_, '_> {
    /// After how many rounds a block's comparison ends the innermost loop that it leads out of.
    pub fn rounds_until(&self, block: usize, by: usize) -> Rounds {
        let ends = |its: &&Loop| its.exits(&self.graph).any(|(from, _)| from == block);
        let its = self.loops.all.iter().filter(ends).min_by_key(|its| its.blocks.len());
        let Some((its, [header])) = its.map(|its| (its, its.entries.as_slice())) else {
            return Rounds::Unknown;
        };
        // A multiple of the rounds, and what it is compared with.
        let parts = self.difference(by, &mut Found::of_one()).and_then(|sum| sum.split(Atom::Round(*header)));
        let Some((by_round, left)) = parts else { return Rounds::Unknown };
        let is_length = |factors: &Vec<Atom>| matches!(factors[..], [Atom::Value(id)] if self.is_length(id));
        if by_round.as_constant().is_none() && left.0.keys().any(is_length) {
            // More than one iteration, or none, are done in a round.
            return Rounds::Others;
        }
        let by_round = by_round.as_constant().filter(|by_round| *by_round != 0);
        let (Some(by_round), Some(done)) = (by_round, self.rounds_before(its, *header, block)) else {
            return Rounds::Unknown;
        };
        let exits: BTreeSet<usize> = its.exits(&self.graph).map(|(from, _)| from).collect();
        let done = done + i64::from(self.peeled.contains_key(header));
        let Some(slack) = self.slack_of(block, *header, by_round) else { return Rounds::Unknown };
        match self.beyond_share(&left, by_round, exits.len()) {
            None => Rounds::Unknown,
            Some(beyond) => {
                let beyond = beyond.wrapping_sub(by_round.wrapping_mul(done)).wrapping_mul(by_round.signum());
                if slack.contains(&beyond) { Rounds::All } else { Rounds::Others }
            }
        }
    }

    /// Whether a step compares fewer bytes than what it compares is computed in.
    pub fn compares_in_part(&self, by: usize) -> bool {
        let step = &self.graph.steps[by];
        let mut compared = step.operands.iter().flat_map(|spot| self.ssa.operand(by, *spot));
        step.kind == Kind::Compare && compared.any(|id| self.computed_bytes(id) > step.bytes)
    }

    /// What the first of two compared values is more than the second.
    pub fn difference(&self, by: usize, found: &mut Found) -> Option<Sum> {
        let step = &self.graph.steps[by];
        let mut of = |spot: Spot| match (spot, self.ssa.operand(by, spot).as_slice()) {
            (Spot::Constant(number), _) => Some(Sum::constant(number)),
            (_, [only]) => self.exactly(*only, 0, found),
            _ => None,
        };
        match (step.kind, step.operands.as_slice()) {
            (Kind::Compare, [one, other]) => of(*one)?.add(&of(*other)?, -1),
            // Whether it has come to nothing.
            (Kind::Add | Kind::Subtract, _) => {
                let (_, made) = self.ssa.makes[by].iter().find(|(loc, _)| *loc != FLAGS)?;
                self.exactly(*made, 0, found)
            }
            _ => None,
        }
    }

    /// By how much what a block compares may have come beyond its end when the loop is left.
    fn slack_of(&self, block: usize, header: usize, by_round: i64) -> Option<RangeInclusive<i64>> {
        let step = &self.graph.steps[self.last_step(block)?];
        let goes_on = self.loop_of(header)?.has(*self.graph.blocks[block].next.get(1)?);
        slack(step.condition?, goes_on, by_round)
    }

    /// What `by_round` times the share's iterations and `left` come to, if that is a number.
    pub fn beyond_share(&self, left: &Sum, by_round: i64, exits: usize) -> Option<i64> {
        let constant = left.0.get(&Vec::new()).copied().unwrap_or(0);
        let mut terms = left.0.iter().filter(|(factors, _)| !factors.is_empty());
        let (times, last, is_chunk) = match (terms.next(), terms.next(), terms.next()) {
            (Some((factors, times)), None, _) => match factors.as_slice() {
                [Atom::Value(id)] if self.is_length(*id) => (*times, 0, false),
                _ => return None,
            },
            (Some((one, x)), Some((other, y)), None) if *x == y.wrapping_neg() => {
                let ([Atom::Value(one)], [Atom::Value(other)]) = (one.as_slice(), other.as_slice()) else {
                    return None;
                };
                // LLVM's runtime says which iteration is the last one.
                let last = i64::from(self.is_filled(*one));
                match (self.are_bounds(*one, *other), self.are_bounds(*other, *one)) {
                    (true, _) => (*y, last, true),
                    (_, true) => (*x, last, true),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let is_by_round = times == by_round.wrapping_neg();
        // A compiler may have put several iterations into a round, and asks behind each.
        let in_round = by_round.checked_div(times).map(i64::unsigned_abs);
        let is_unrolled =
            by_round.checked_rem(times) == Some(0) && in_round.is_some_and(|many| many <= exits as u64);
        match (is_by_round, is_chunk || is_unrolled) {
            (true, _) => Some(constant.wrapping_add(by_round.wrapping_mul(last))),
            // The runtime counts by a number that it was given.
            (false, true) => None,
            (false, false) => Some(i64::MAX),
        }
    }

    /// How many rounds have been done where a block asks whether there is another one, beyond the number of
    /// the round: none at its beginning, this one at its end.
    fn rounds_before(&self, its: &Loop, header: usize, block: usize) -> Option<i64> {
        let is_way = |block: usize| {
            let steps = self.graph.blocks[block].steps();
            steps.into_iter().all(|at| {
                let step = &self.graph.steps[at];
                step.flow != Flow::Call && matches!(step.kind, Kind::Move | Kind::Nothing | Kind::Widen)
            })
        };
        let mut back = self.graph.blocks[block].next.iter().copied().find(|next| its.has(*next))?;
        for _ in 0..MOST_BLOCKS {
            if back == header {
                return Some(1);
            }
            match self.graph.blocks[back].next.as_slice() {
                [next] if is_way(back) => back = *next,
                _ => break,
            }
        }
        let mut at = header;
        for _ in 0..MOST_BLOCKS {
            if at == block {
                return Some(0);
            }
            let has_effect = self.graph.blocks[at].steps().any(|at| {
                let step = &self.graph.steps[at];
                step.stores || step.flow == Flow::Call || self.adds_up(its, header, at)
            });
            match self.graph.blocks[at].next.as_slice() {
                [next] if !has_effect => at = *next,
                _ => return None,
            }
        }
        None
    }

    /// Whether a step makes something for the next round of the loop with that header.
    fn adds_up(&self, its: &Loop, header: usize, at: usize) -> bool {
        let made: Vec<Id> = self.ssa.makes[at].iter().map(|(_, id)| self.ssa.find(*id)).collect();
        let is_used = |id: Id| self.ssa.uses.iter().flatten().any(|(_, used)| self.ssa.find(*used) == id);
        self.ssa.defs.iter().enumerate().any(|(id, def)| match def {
            Def::Phi { block, inputs, .. } if *block == header && self.ssa.find(id) == id => {
                let ways = self.graph.blocks[header].before.iter().zip(inputs);
                let mut again = ways.filter(|(from, _)| its.has(**from));
                again.any(|(_, input)| made.contains(&self.ssa.find(*input))) && is_used(id)
            }
            _ => false,
        })
    }
}

/// The same for a branch that goes on on that condition, or doesn't.
pub(super) fn slack(condition: Condition, goes_on: bool, by_round: i64) -> Option<RangeInclusive<i64>> {
    let condition = match (condition, goes_on) {
        (condition, true) => condition,
        (Condition::Below, _) => Condition::NotBelow,
        (Condition::NotBelow, _) => Condition::Below,
        (Condition::Above, _) => Condition::NotAbove,
        (Condition::NotAbove, _) => Condition::Above,
        (Condition::Equal, _) => Condition::NotEqual,
        (Condition::NotEqual, _) => Condition::Equal,
        (Condition::Other, _) => return None,
    };
    let bytes = by_round.wrapping_abs();
    match (condition, by_round > 0) {
        (Condition::NotEqual, _) => Some(0..=0),
        (Condition::Below, true) | (Condition::Above, false) => Some(0..=bytes - 1),
        (Condition::NotAbove, true) | (Condition::NotBelow, false) => Some(1..=bytes),
        _ => None,
    }
}
