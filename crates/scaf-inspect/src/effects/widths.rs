//! How wide numbers are. Copies and sums don't tell: elsewhere a number is the same whether it was widened by
//! its sign or with zeros.

use super::function::Function;
use super::left_to_loop::Left;
use super::peeled::Twins;
use super::ssa::{Def, Id, Loc, WHOLE};
use crate::decode::{FLAGS, Kind, Spot};
use std::collections::BTreeSet;

/// Most copies that a number goes through.
const MOST_COPIES: usize = 16;

impl Function<'_, '_> {
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
                Def::Phi { block, inputs, .. } if blocks.contains(block) && !self.is_header(*block) => {
                    work.extend(inputs);
                    continue;
                }
                Def::Result { step, .. } if blocks.contains(&self.block_of[*step]) => *step,
                _ => continue,
            };
            let its = &self.graph.steps[step];
            match its.kind {
                Kind::Add | Kind::Subtract | Kind::Multiply | Kind::Address | Kind::Shift | Kind::Negate => {
                    found.insert(its.bytes as u32);
                }
                Kind::ShiftRight | Kind::And | Kind::Divide => drop(found.insert(its.form)),
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
        let widths = |blocks: &[usize], ids: &[Id]| {
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
        let ((mut mine, is_near), (its, _)) = (widths(&twins.first, ones), widths(&twins.its.blocks, others));
        if is_near && its.contains(&(WHOLE as u32)) {
            mine.insert(WHOLE as u32);
        }
        // On one of several ways it may be known without adding anything up.
        (mine == its || its.is_empty()) && widening(&twins.first) == widening(&twins.its.blocks)
    }
}
