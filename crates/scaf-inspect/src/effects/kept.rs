//! Arrays and the like in the own frame that each iteration uses anew.
//!
//! What other code may reach in the frame isn't followed byte by byte, so it seems to go from one iteration
//! to the next. It doesn't if nothing was put there before the loop, and each iteration puts something there
//! before it looks: any iteration may be its thread's first, which must not look at what nobody has written.

use super::addresses::Place;
use super::function::Function;
use super::loops::Loop;
use super::ssa::{Def, Id};
use crate::decode::Flow;
use crate::functions::overwrites;
use crate::size_use::Callee;
use std::collections::{BTreeSet, HashSet};

impl Function<'_, '_> {
    /// Finds the places that are used anew in each iteration: what would come along from the one before.
    pub fn find_renewed(&mut self) {
        self.renewed = HashSet::new();
        let mut loops: Vec<&Loop> = self.built.loops.all.iter().collect();
        loops.retain(|its| its.entries.iter().any(|entry| self.share_loops.contains(entry)));
        // Outer ones first: what they don't hand on, inner ones don't get.
        loops.sort_by_key(|its| std::cmp::Reverse(its.blocks.len()));
        let mut found = HashSet::new();
        for its in loops {
            if !self.writes_first(its) {
                continue;
            }
            for (id, def) in self.ssa.defs.iter().enumerate() {
                let Def::Phi { block, loc, inputs } = def else { continue };
                if !its.entries.contains(block) || !self.ssa.is_exposed(*loc) {
                    continue;
                }
                let before = self.graph.blocks[*block].before.iter().zip(inputs);
                let mut begins = before.filter(|(before, _)| !its.has(**before));
                if begins.all(|(_, input)| self.was_never_written(*input, &mut found.clone())) {
                    found.insert(id);
                }
            }
        }
        self.renewed = found;
    }

    /// Whether a call writes into the frame, and looks nowhere in it.
    fn overwrites(&self, at: usize) -> bool {
        let spotted = &self.frames.steps[at];
        let is_frame = |number: usize| spotted.arguments[number].is_frame();
        let name = if let Callee::Import(name) = spotted.callee { name } else { "" };
        overwrites(name) && is_frame(0) && !(1..spotted.arguments.len()).any(is_frame)
    }

    pub fn was_never_written(&self, id: Id, met: &mut HashSet<Id>) -> bool {
        match &self.ssa.defs[id] {
            _ if !met.insert(id) => true,
            Def::Entry(_) => true,
            Def::Phi { inputs, .. } => inputs.iter().all(|input| self.was_never_written(*input, met)),
            Def::Result { .. } => false,
        }
    }

    /// Whether on all ways from a loop's beginning something is put into the exposed part of the frame before
    /// anything there is looked at.
    pub fn writes_first(&self, its: &Loop) -> bool {
        let mut work = its.entries.clone();
        let mut met: BTreeSet<usize> = work.iter().copied().collect();
        while let Some(block) = work.pop() {
            let mut written = false;
            for at in self.graph.blocks[block].steps() {
                let (step, spotted) = (&self.graph.steps[at], &self.frames.steps[at]);
                if step.flow == Flow::Call && self.overwrites(at) {
                    written = true;
                    break;
                }
                let named = || self.ssa.uses[at].iter().any(|(loc, _)| self.ssa.is_exposed(*loc));
                let looks = spotted.reaches
                    || (step.loads && spotted.place == Place::SomewhereOwn)
                    || (step.loads && named());
                let makes = || self.ssa.makes[at].iter().any(|(loc, _)| self.ssa.is_exposed(*loc));
                if looks {
                    return false;
                }
                if step.flow == Flow::Next && step.stores && makes() {
                    written = true;
                    break;
                }
            }
            if !written {
                let next = self.graph.blocks[block].next.iter().filter(|next| its.has(**next));
                work.extend(next.copied().filter(|next| met.insert(*next)));
            }
        }
        true
    }
}
