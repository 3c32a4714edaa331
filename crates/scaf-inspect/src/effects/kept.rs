//! Arrays and the like in the own frame that each iteration uses anew.
//!
//! What other code may reach in the frame isn't followed byte by byte, so it seems to go from one iteration
//! to the next. It doesn't if nothing was put there before the loop, and each iteration puts something there
//! before it looks. A variable has to be set itself; an array or the like is known by where it begins.

use super::addresses::Place;
use super::function::Function;
use super::loops::Loop;
use super::ssa::{Def, Id, Loc};
use crate::decode::Flow;
use crate::functions::overwrites;
use crate::size_use::Callee;
use std::collections::{BTreeSet, HashSet};

/// What is looked at: a variable in the frame, or what begins at some place there.
#[derive(Clone, Copy)]
enum Object {
    Variable(Loc, (u64, i64)),
    From((u64, i64)),
}

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
            let objects = self.looked_at(its);
            let is_new = |from: &(u64, i64)| self.writes_first(its, Object::From(*from));
            let all_new = objects.as_ref().is_some_and(|objects| objects.iter().all(is_new));
            for (id, def) in self.ssa.defs.iter().enumerate() {
                let Def::Phi { block, loc, inputs } = def else { continue };
                if !its.entries.contains(block) || !self.ssa.is_exposed(*loc) {
                    continue;
                }
                let is_new = match self.ssa.part(*loc) {
                    Some(part) if self.looks_exactly(its, *loc) => {
                        self.writes_first(its, Object::Variable(*loc, part))
                    }
                    Some(_) => all_new,
                    None => all_new,
                };
                let before = self.graph.blocks[*block].before.iter().zip(inputs);
                let mut begins = before.filter(|(before, _)| !its.has(**before));
                if is_new && begins.all(|(_, input)| self.was_never_written(*input, &mut found.clone())) {
                    found.insert(id);
                }
            }
        }
        self.renewed = found;
    }

    /// Whether a loop looks at a variable itself.
    fn looks_exactly(&self, its: &Loop, loc: Loc) -> bool {
        its.blocks.iter().flat_map(|block| self.graph.blocks[*block].steps()).any(|at| {
            let is_exact = matches!(self.frames.steps[at].place, Place::Own { .. });
            is_exact && self.graph.steps[at].loads && self.ssa.uses[at].iter().any(|(used, _)| *used == loc)
        })
    }

    /// Where all begins that a loop looks at somewhere in the frame; `None` if that isn't known.
    fn looked_at(&self, its: &Loop) -> Option<BTreeSet<(u64, i64)>> {
        let mut all = BTreeSet::new();
        for at in its.blocks.iter().flat_map(|block| self.graph.blocks[*block].steps()) {
            all.extend(self.looks_at(at)?);
        }
        Some(all)
    }

    /// The same of a step.
    fn looks_at(&self, at: usize) -> Option<Vec<(u64, i64)>> {
        let (step, spotted) = (&self.graph.steps[at], &self.frames.steps[at]);
        if step.flow == Flow::Call && spotted.reaches && !self.overwrites(at) {
            let all = spotted.arguments.iter().filter(|known| known.is_frame());
            return all.map(|known| known.beginning()).collect();
        }
        if step.loads && spotted.place == Place::SomewhereOwn {
            return spotted.from.map(|from| vec![from]);
        }
        Some(Vec::new())
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

    /// Whether on all ways from a loop's beginning an object is written before it is looked at.
    fn writes_first(&self, its: &Loop, object: Object) -> bool {
        let mut work = its.entries.clone();
        let mut met: BTreeSet<usize> = work.iter().copied().collect();
        while let Some(block) = work.pop() {
            let mut written = false;
            for at in self.graph.blocks[block].steps() {
                if self.may_look_at(at, object) {
                    return false;
                }
                if self.writes(at, object) {
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

    fn may_look_at(&self, at: usize, object: Object) -> bool {
        let Some(all) = self.looks_at(at) else { return true };
        match object {
            Object::From(from) => all.contains(&from),
            Object::Variable(loc, (base, offset)) => {
                let step = &self.graph.steps[at];
                let named = || self.ssa.uses[at].iter().any(|(used, _)| *used == loc);
                let is_exact = matches!(self.frames.steps[at].place, Place::Own { .. });
                (step.loads && is_exact && named())
                    || all.iter().any(|(its, from)| *its == base && *from <= offset)
            }
        }
    }

    fn writes(&self, at: usize, object: Object) -> bool {
        let (step, spotted) = (&self.graph.steps[at], &self.frames.steps[at]);
        let begins = match spotted.place {
            _ if step.flow == Flow::Call && self.overwrites(at) => spotted.arguments[0].beginning(),
            Place::Own { base, offset } if step.flow == Flow::Next && step.stores => Some((base, offset)),
            Place::SomewhereOwn if step.flow == Flow::Next && step.stores => spotted.from,
            _ => None,
        };
        match object {
            Object::From(from) => begins == Some(from),
            Object::Variable(loc, part) => {
                let is_exact = matches!(spotted.place, Place::Own { .. }) || step.flow == Flow::Call;
                let made = || self.ssa.makes[at].iter().any(|(made, _)| *made == loc);
                let stores = step.flow == Flow::Next && step.stores;
                (stores && is_exact && made()) || (step.flow == Flow::Call && begins == Some(part))
            }
        }
    }
}
