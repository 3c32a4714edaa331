//! How wide numbers are. Copies and sums don't tell: elsewhere a number is the same whether it was widened by
//! its sign or with zeros.
//!
//! A number of four bytes that is computed may wrap around before it is widened. In C one with a sign
//! doesn't. One without is taken not to either, if it has nothing more than [`MOST_TIMES`].

use super::function::Function;
use super::left_to_loop::Left;
use super::linear::{Atom, Found, Sum};
use super::peeled::Twins;
use super::ssa::{Def, Id, Loc, WHOLE};
use crate::decode::{FLAGS, Flow, Kind, Spot};
use std::collections::BTreeSet;

/// Most times that something is in a sum of four bytes that is widened.
const MOST_TIMES: i64 = 1 << 12;
/// Most values that one is followed through to where it is computed.
const MOST_VALUES: usize = 32;

/// Most copies that a number goes through.
const MOST_COPIES: usize = 16;

impl Function<'_, '_> {
    /// Whether what a value that goes round a loop begins with, computed in four bytes, is the same in eight,
    /// if it goes on in eight.
    pub fn begin_is_as_wide(&self, header: usize, inputs: &[Id], depth: usize, found: &mut Found) -> bool {
        let Some(its) = self.loop_of(header) else { return true };
        let ways = || self.graph.blocks[header].before.iter().zip(inputs);
        let goes_on_wide = ways().filter(|(from, _)| its.has(**from)).any(|(_, input)| {
            match self.ssa.defs[self.ssa.find(*input)] {
                Def::Result { step, .. } => self.graph.steps[step].bytes > WHOLE,
                _ => true,
            }
        });
        let mut begins = ways().filter(|(from, _)| !its.has(**from));
        !goes_on_wide || begins.all(|(_, input)| self.is_widened_exactly(*input, depth, found))
    }

    /// In how many bytes a value is computed, as far as it is.
    pub fn computed_bytes(&self, id: Id) -> usize {
        let (mut work, mut met, mut found) = (vec![self.ssa.find(id)], BTreeSet::new(), 0);
        while let Some(id) = work.pop() {
            if !met.insert(id) || met.len() > MOST_VALUES {
                continue;
            }
            match &self.ssa.defs[id] {
                Def::Phi { inputs, .. } => work.extend(inputs.iter().map(|input| self.ssa.find(*input))),
                Def::Result { step, .. } => {
                    let its = &self.graph.steps[*step];
                    if its.kind == Kind::Move && its.bytes > WHOLE && !its.loads {
                        work.extend(self.ssa.uses[*step].iter().map(|(_, id)| self.ssa.find(*id)));
                    } else if is_arithmetic(its.kind) {
                        found = found.max(its.bytes);
                    }
                }
                Def::Entry(_) => {}
            }
        }
        found
    }

    /// Whether what a value of eight bytes is computed from in four is the same in eight.
    fn is_widened_exactly(&self, id: Id, depth: usize, found: &mut Found) -> bool {
        let (mut work, mut met) = (vec![(self.ssa.find(id), false)], BTreeSet::new());
        while let Some((id, by_sign)) = work.pop() {
            if !met.insert(id) {
                continue;
            }
            if met.len() > MOST_VALUES {
                return false;
            }
            let step = match &self.ssa.defs[id] {
                Def::Phi { inputs, .. } => {
                    work.extend(inputs.iter().map(|input| (self.ssa.find(*input), by_sign)));
                    continue;
                }
                Def::Result { step, .. } => *step,
                Def::Entry(_) => continue,
            };
            let its = &self.graph.steps[step];
            let is_copy = matches!(its.kind, Kind::Move | Kind::Widen);
            let is_computed = is_arithmetic(its.kind);
            if its.flow != Flow::Next || !(is_copy || is_computed) {
                continue;
            }
            if is_computed && its.bytes == WHOLE {
                let sum = self.exactly(id, depth + 1, found);
                if !sum.is_some_and(|sum| self.may_be_widened(&sum, by_sign)) {
                    return false;
                }
                continue;
            }
            let by_sign = its.bytes == WHOLE && (its.extends || by_sign);
            let used = self.ssa.uses[step].iter().filter(|(loc, _)| *loc != FLAGS);
            work.extend(used.map(|(_, id)| (self.ssa.find(*id), by_sign)));
        }
        true
    }

    /// How the number in a register was widened on its way to a step that takes so many bytes of it, by
    /// instructions that elsewhere count as copies.
    fn widened(&self, blocks: &[usize], mut at: usize, mut loc: Loc, bytes: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for _ in 0..MOST_COPIES {
            let Some(number) = blocks.iter().position(|block| *block == self.block_of[at]) else { break };
            let own = (self.graph.blocks[blocks[number]].first..at).rev();
            let before =
                blocks[..number].iter().rev().flat_map(|block| self.graph.blocks[*block].steps().rev());
            let mut all = own.chain(before);
            let Some(writer) = all.find(|at| self.graph.steps[*at].writes.contains(loc)) else { break };
            let step = &self.graph.steps[writer];
            if step.extends || (step.kind == Kind::Move && step.bytes < bytes) {
                found.push(step.form);
            }
            match (step.kind, step.operands.as_slice()) {
                (Kind::Move, [_, Spot::Register(from)]) => (at, loc) = (writer, *from),
                (Kind::Widen, _) => at = writer,
                _ => break,
            }
        }
        found
    }

    /// Whether two steps take the numbers in these registers in one way.
    pub fn are_widened_alike(
        &self,
        twins: &Twins<'_>,
        (one, x): (usize, Loc),
        (other, y): (usize, Loc),
    ) -> bool {
        let bytes = |at: usize, loc: Loc| {
            let step = &self.graph.steps[at];
            if step.operands.contains(&Spot::Register(loc)) { step.bytes } else { 8 }
        };
        self.widened(&twins.first, one, x, bytes(one, x))
            == self.widened(&twins.body, other, y, bytes(other, y))
    }

    /// How wide the numbers are that are added up to a value in some blocks, and how they are cut there: sums
    /// don't tell. True if one of them is near one that is left: it may have been moved in four bytes or not.
    fn widths(&self, blocks: &[usize], left: &Left, id: Id) -> (BTreeSet<u32>, bool) {
        let (mut work, mut met, mut found) = (vec![self.ssa.find(id)], BTreeSet::new(), BTreeSet::new());
        let mut is_near = false;
        let is_left = |id: Id| {
            left.pairs.iter().any(|(first, again)| self.root(*first) == id || self.root(*again) == id)
        };
        while let Some(id) = work.pop() {
            let root = self.root(id);
            if is_left(root) || !met.insert(id) {
                continue;
            }
            if left.near.contains(&root) {
                is_near = true;
                continue;
            }
            let step = match &self.ssa.defs[id] {
                // What goes round a loop is known by what was left to it.
                Def::Phi { block, inputs, .. }
                    if blocks.contains(block) && (left.pairs.is_empty() || !self.is_header(*block)) =>
                {
                    work.extend(inputs);
                    continue;
                }
                Def::Result { step, .. } if blocks.contains(&self.block_of[*step]) => *step,
                _ => continue,
            };
            let its = &self.graph.steps[step];
            match its.kind {
                kind if is_arithmetic(kind) => drop(found.insert(its.bytes as u32)),
                Kind::ShiftRight { .. } | Kind::And | Kind::Divide => drop(found.insert(its.form)),
                _ => continue,
            }
            work.extend(
                self.ssa.uses[step].iter().filter(|(loc, _)| *loc != FLAGS).map(|(_, id)| self.ssa.find(*id)),
            );
        }
        (found, is_near)
    }

    /// Whether numbers are added up with one width in both, and are widened by the same instructions.
    pub fn add_up_alike(&self, twins: &Twins<'_>, left: &Left, ones: &[Id], others: &[Id]) -> bool {
        let widths_in = |blocks: &[usize], left: &Left, ids: &[Id]| {
            let all = ids.iter().map(|id| self.widths(blocks, left, *id));
            all.fold((BTreeSet::new(), false), |(mut found, is_near), (more, near)| {
                found.extend(more);
                (found, is_near || near)
            })
        };
        let widening = |blocks: &[usize]| -> BTreeSet<u32> {
            let steps = blocks.iter().flat_map(|block| self.graph.blocks[*block].steps());
            steps.map(|at| &self.graph.steps[at]).filter(|step| step.extends).map(|step| step.form).collect()
        };
        let (mut mine, is_near) = widths_in(&twins.first, left, ones);
        let (its, _) = widths_in(&twins.its.blocks, left, others);
        if is_near && its.contains(&(WHOLE as u32)) {
            mine.insert(WHOLE as u32);
        }
        // What has been added up before the loop; on one of several ways it may be known without that.
        let is_from_before = || {
            let all: Vec<usize> = (0..self.graph.blocks.len()).collect();
            let (before, _) = widths_in(&all, &Left::default(), others);
            before.is_empty() || mine.is_subset(&before)
        };
        (mine == its || (its.is_empty() && is_from_before()))
            && widening(&twins.first) == widening(&twins.its.blocks)
    }

    /// Whether a sum of four bytes that goes by the share is the same of eight: taken to be, if it can't have
    /// wrapped around at once.
    fn may_be_widened(&self, sum: &Sum, by_sign: bool) -> bool {
        let is_of_share = |atom: &Atom| self.differs_by_share(atom);
        if !sum.0.keys().flatten().any(is_of_share) {
            return true;
        }
        let is_small = |(factors, times): (&Vec<Atom>, &i64)| {
            let least = if factors.is_empty() && !by_sign { 0 } else { -MOST_TIMES };
            (least..=MOST_TIMES).contains(times)
        };
        sum.0.iter().all(is_small)
    }
}

/// Whether what is computed is a sum of what it is computed from, of that many bytes.
fn is_arithmetic(kind: Kind) -> bool {
    use Kind::{Add, Address, Multiply, Negate, Shift, Subtract};
    matches!(kind, Add | Subtract | Multiply | Address | Shift | Negate)
}
