//! What stays the same in all iterations that a thread has, and isn't the same for all threads: what was
//! loaded where its share begins, or chosen by its number.

use super::addresses::Place;
use super::finding::Finding;
use super::function::{Function, Mode};
use super::linear::{Atom, Found, Sum};
use super::loops::Loop;
use super::ssa::{Def, Id};
use super::terms::Value;
use crate::decode::{FLAGS, Flow, Spot};
use crate::size_use::Classes;

const STAYS: &str = "uses in all iterations what isn't the same for all threads";

impl Function<'_, '_> {
    /// Whether a value may differ between threads and is none by which iterations are found.
    pub fn is_of_a_thread(&self, id: Id) -> bool {
        let value = self.value(id);
        let is_bound = value.is_index() || value.end || value.grant.is_some();
        value.varies && !is_bound && !self.junk.contains(&id)
    }

    /// Whether a step of an iteration uses what was made before all of them, and differs between threads.
    pub fn check_kept(&self, block: usize, at: usize) -> Result<(), Finding> {
        if self.mode == Mode::Once {
            return Ok(());
        }
        for its in self.loops.all.iter().filter(|its| its.has(block) && self.deals_out(its)) {
            let kept = self.ssa.uses[at].iter().any(|(_, id)| self.is_kept(*id, its));
            if (kept && !self.leaves(at, its))
                || self.is_at_begin(at, its)
                || self.is_number_of_round(at, its)
            {
                return Err(self.error(at, STAYS));
            }
        }
        Ok(())
    }

    /// Whether a loop is left by what a step compares.
    fn leaves(&self, at: usize, its: &Loop) -> bool {
        let mut exits = its.exits(&self.graph).filter_map(|(from, _)| self.last_step(from));
        exits.any(|last| last == at || self.flags_of(last) == Some(at))
    }

    fn is_kept(&self, id: Id, its: &Loop) -> bool {
        let id = self.ssa.find(id);
        let block = match &self.ssa.defs[id] {
            Def::Entry(_) => return false,
            Def::Phi { block, .. } => *block,
            Def::Result { step, .. } => self.block_of[*step],
        };
        !its.has(block) && self.is_of_a_thread(id)
    }

    /// Whether memory is accessed where the share begins, in each iteration.
    fn is_at_begin(&self, at: usize, its: &Loop) -> bool {
        let step = &self.graph.steps[at];
        let Some(memory) = step.memory else { return false };
        if step.flow != Flow::Next
            || !(step.loads || step.stores)
            || !step.operands.contains(&Spot::Memory)
            || self.frames.steps[at].place != Place::Elsewhere
        {
            return false;
        }
        let parts = [memory.base, memory.index].into_iter().flatten();
        let ids: Vec<Id> = parts.filter_map(|register| self.ssa.used(at, register)).collect();
        let is_index = |id: &Id| Value::is_index(self.value(*id));
        let begins = |id: Id| its.entries.iter().any(|entry| self.is_begin_of_all(id, *entry));
        ids.iter().any(is_index) && ids.iter().all(|id| self.is_before(*id, its) || begins(*id))
    }

    /// Whether something that goes along with the rounds and seems to be an index has lost where the share
    /// begins: the number of the round.
    fn is_number_of_round(&self, at: usize, its: &Loop) -> bool {
        let step = &self.graph.steps[at];
        let [header] = its.entries.as_slice() else { return false };
        if step.flow != Flow::Next {
            return false;
        }
        let counts = |sum: &Sum| {
            let begins = |atom: &Atom| match atom {
                Atom::Value(id) | Atom::Shifted(id, ..) => {
                    let value = self.value(*id);
                    value.is_index() || value.classes.has(Classes::THREAD.or(Classes::STEPPED))
                }
                Atom::Load(_) => true,
                Atom::Round(_) => false,
            };
            sum.has(Atom::Round(*header)) && !sum.0.keys().flatten().any(begins)
        };
        let made = self.ssa.makes[at].iter().filter(|(loc, id)| *loc != FLAGS && self.value(*id).is_index());
        let mut sums = made.filter_map(|(_, id)| self.sum_of(*id));
        let in_memory = || {
            let reaches = self.frames.steps[at].place == Place::Elsewhere && self.address(at).is_index();
            reaches.then(|| self.address_exactly(at, 0, &mut Found::of_one())).flatten()
        };
        sums.any(|sum| counts(&sum)) || in_memory().is_some_and(|sum| counts(&sum))
    }

    fn is_before(&self, id: Id, its: &Loop) -> bool {
        match &self.ssa.defs[self.ssa.find(id)] {
            Def::Entry(_) => true,
            Def::Phi { block, .. } => !its.has(*block),
            Def::Result { step, .. } => !its.has(self.block_of[*step]),
        }
    }
}
