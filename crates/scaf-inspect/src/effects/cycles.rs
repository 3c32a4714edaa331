//! What a loop over a thread's iterations carries from one to the next: values that go round.
//!
//! Three kinds are harmless: the index and what runs along with it; counters that only count the rounds; and
//! sums, products and the like that nothing but their own operation looks at.

use super::function::Function;
use super::ssa::{Def, Id};
use super::tables::Added;
use super::terms::{Cycle, Goes, Op, Value};
use crate::decode::{FLAGS, Flow, Kind, Spot};
use crate::size_use::Classes;
use std::collections::{HashMap, HashSet};

/// Most additions that a value goes through in a round, and passes over them.
const MOST_EVEN: usize = 64;

impl Function<'_, '_> {
    /// The values that one is made of.
    pub fn sources(&self, id: Id) -> Vec<Id> {
        match &self.ssa.defs[id] {
            Def::Entry(_) => Vec::new(),
            Def::Phi { .. } if self.renewed.contains(&id) => Vec::new(),
            Def::Phi { inputs, .. } => inputs.clone(),
            Def::Result { step, loc } => {
                if let Some(handed) = self.handed_back(*step, *loc) {
                    return vec![handed];
                }
                if self.graph.steps[*step].flow != Flow::Next {
                    return self.passed(*step).map(|(_, id)| *id).collect();
                }
                let whole = !super::ssa::is_in_frame(*loc)
                    || matches!(self.frames.steps[*step].place, super::addresses::Place::Own { .. });
                let uses = self.ssa.uses[*step].iter();
                let takes = uses.filter(|(used, _)| whole || !super::ssa::is_in_frame(*used) || used == loc);
                takes.map(|(_, id)| *id).collect()
            }
        }
    }

    /// Finds all cycles that go through the header of a loop over iterations.
    pub fn find_cycles(&mut self) {
        let mut of = HashMap::new();
        let mut cycles = Vec::new();
        for members in self.components() {
            let is_carried = members.iter().any(|id| match &self.ssa.defs[*id] {
                Def::Phi { block, .. } => self.share_loops.contains(block),
                _ => false,
            });
            if is_carried {
                let number = cycles.len();
                of.extend(members.iter().map(|id| (*id, number)));
                cycles.push(self.cycle(&members));
            }
        }
        (self.cycles, self.cycle_of) = (cycles, of);
        self.find_indexes();
        self.find_picks();
    }

    /// Finds where ways meet that a least or most decided: what else is chosen there tells of it.
    fn find_picks(&mut self) {
        let mut told = HashSet::new();
        let merges = |id: &Id| match &self.ssa.defs[*id] {
            Def::Phi { block, inputs, .. } if !self.is_header(*block) && !self.are_one(inputs) => {
                Some(*block)
            }
            _ => None,
        };
        let mut picks: HashMap<usize, usize> = HashMap::new();
        let all = || self.cycle_of.iter().filter_map(|(id, number)| Some((merges(id)?, *number)));
        for (block, number) in all().filter(|(_, number)| !self.cycles[*number].chooses.is_empty()) {
            if *picks.entry(block).or_insert(number) != number {
                told.insert(number);
            }
        }
        told.extend(all().filter(|(block, it)| picks.get(block).is_some_and(|one| one != it)).map(|it| it.1));
        for number in told {
            self.cycles[number].is_told = true;
        }
        self.picks = picks;
    }

    /// Whether a way leads round a loop to its beginning.
    pub fn goes_round(&self, from: usize, to: usize) -> bool {
        self.loops.all.iter().any(|its| its.entries.contains(&to) && its.has(from))
    }

    pub fn cycle(&self, members: &[Id]) -> Cycle {
        let inside: HashSet<Id> = members.iter().copied().collect();
        let (begins, takes, chooses) = (Vec::new(), Vec::new(), Vec::new());
        let mut cycle = Cycle { goes: Goes::Carries, is_told: false, begins, takes, chooses };
        let tables: HashMap<usize, Added> = members
            .iter()
            .filter_map(|id| match self.ssa.defs[*id] {
                Def::Result { step, loc } => Some((step, self.adds_to_element(step, loc, &inside)?)),
                _ => None,
            })
            .collect();
        let is_of_table = |step: &usize| tables.values().any(|added| added.through.contains(step));
        let mut ops: Vec<Op> = Vec::new();
        let (mut by_steps, mut is_renewed, mut compares) = (true, false, false);
        for id in members {
            match &self.ssa.defs[*id] {
                Def::Entry(_) => return cycle,
                Def::Phi { block, inputs, .. } => {
                    let from_outside: Vec<Id> =
                        inputs.iter().filter(|input| !inside.contains(input)).copied().collect();
                    if self.share_loops.contains(block) {
                        // What it is set to within the loop is no beginning.
                        let before = self.graph.blocks[*block].before.iter().zip(inputs);
                        let is_set = |(from, input): (&usize, &Id)| {
                            !inside.contains(input) && self.goes_round(*from, *block)
                        };
                        is_renewed |= before.into_iter().any(is_set);
                        cycle.begins.extend(from_outside);
                        continue;
                    }
                    for chosen in from_outside {
                        if self.value(chosen).constant.is_some() || self.is_header(*block) {
                            // The same as it begins with, it may be.
                            cycle.begins.push(chosen);
                            is_renewed = true;
                            continue;
                        }
                        let from = inputs.iter().position(|input| *input == chosen).unwrap_or(0);
                        let picked = self.chosen_by((*block, from), chosen, &inside);
                        let Some((branch, op)) = picked else { return cycle };
                        ops.push(op);
                        cycle.takes.push(chosen);
                        cycle.chooses.push(branch);
                    }
                }
                Def::Result { step, loc } => {
                    let its = &self.graph.steps[*step];
                    if *loc == FLAGS {
                        compares = true;
                        continue;
                    }
                    if self.handed_back(*step, *loc).is_some() || is_of_table(step) {
                        continue;
                    }
                    if let Some(added) = tables.get(step) {
                        by_steps = false;
                        ops.push(added.op);
                        cycle.takes.extend(added.takes.iter().copied());
                        continue;
                    }
                    let Some(op) = self.goes_through(*step, &inside, &mut cycle.takes) else { return cycle };
                    by_steps &= its.kind != Kind::Select;
                    ops.extend(op);
                }
            }
        }
        ops.sort_unstable();
        ops.dedup();
        let first = cycle.begins.first().map(|id| (self.root(*id), self.value(*id).constant));
        let alike = cycle.begins.iter().all(|id| {
            let constant = self.value(*id).constant;
            first.is_some_and(|(root, its)| root == self.root(*id) || (its.is_some() && its == constant))
        });
        cycle.goes = match ops.as_slice() {
            _ if is_renewed && !(ops.is_empty() && alike) => Goes::Carries,
            // Only the least or the most decides by what goes round.
            ops if compares && !matches!(ops, [op] if op.is_extreme()) => Goes::Carries,
            // Two that change places aren't the same in each round.
            [] if !alike && self.takes_places(members) => Goes::Carries,
            [] => Goes::Along,
            [Op::Add] if by_steps && self.is_stepped(&cycle) && self.is_even(members, &inside) => {
                self.counted(&cycle, members)
            }
            [op] => Goes::Sums(*op),
            _ => Goes::Carries,
        };
        cycle
    }

    /// Whether a loop over iterations has several of these values at its beginning.
    fn takes_places(&self, members: &[Id]) -> bool {
        let headers = members.iter().filter_map(|id| match &self.ssa.defs[*id] {
            Def::Phi { block, .. } if self.share_loops.contains(block) => Some(*block),
            _ => None,
        });
        let mut met = HashSet::new();
        headers.into_iter().any(|header| !met.insert(header))
    }

    /// Whether the same is added on all ways that meet.
    pub fn is_even(&self, members: &[Id], inside: &HashSet<Id>) -> bool {
        let mut added: HashMap<Id, Vec<(usize, i64)>> = HashMap::new();
        // Each pass follows the ways by at least one value.
        for _ in 0..=members.len().min(MOST_EVEN) {
            let mut changed = false;
            for id in members {
                let sources: Vec<Id> =
                    self.sources(*id).into_iter().filter(|source| inside.contains(source)).collect();
                let mut found: Vec<Vec<(usize, i64)>> =
                    sources.iter().filter_map(|source| added.get(source)).cloned().collect();
                let sum = match &self.ssa.defs[*id] {
                    Def::Phi { block, .. } if self.share_loops.contains(block) => {
                        found.dedup();
                        if found.len() > 1 {
                            return false;
                        }
                        Some(Vec::new())
                    }
                    // A loop within may add something as often as it likes.
                    Def::Phi { block, .. } if self.is_header(*block) => found.into_iter().min(),
                    Def::Phi { .. } => {
                        found.dedup();
                        if found.len() > 1 {
                            return false;
                        }
                        found.pop()
                    }
                    Def::Result { step, .. } => found.pop().map(|mut sum| {
                        if matches!(self.graph.steps[*step].kind, Kind::Add | Kind::Subtract | Kind::Address)
                        {
                            sum.push(self.amount(*step));
                            sum.truncate(MOST_EVEN);
                        }
                        sum
                    }),
                    Def::Entry(_) => None,
                };
                if let Some(sum) = sum
                    && added.get(id) != Some(&sum)
                {
                    changed = true;
                    added.insert(*id, sum);
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    /// What a step adds, if that is a number or one value; else which step it is.
    fn amount(&self, at: usize) -> (usize, i64) {
        let step = &self.graph.steps[at];
        match (step.kind, step.operands.as_slice()) {
            (Kind::Add, [_, Spot::Constant(by)]) => (usize::MAX, *by),
            (Kind::Subtract, [_, Spot::Constant(by)]) => (usize::MAX, by.wrapping_neg()),
            (Kind::Add, [Spot::Register(_), spot @ Spot::Register(_)]) => {
                match self.ssa.operand(at, *spot).as_slice() {
                    [only] => (usize::MAX - 1, self.root(*only) as i64),
                    _ => (at, 0),
                }
            }
            _ => (at, 0),
        }
    }

    /// Whether the same is added in each round.
    pub fn is_stepped(&self, cycle: &Cycle) -> bool {
        cycle.takes.iter().all(|id| {
            let value = self.value(*id);
            !value.varies && (value.classes.is_clean() || value.classes.is_team())
        })
    }

    pub fn counted(&self, cycle: &Cycle, members: &[Id]) -> Goes {
        let values: Vec<Value> = cycle.begins.iter().map(|id| self.value(*id)).collect();
        let steps = members.iter().any(|id| self.value(*id).stepping);
        let by_team = cycle.takes.iter().any(|id| self.value(*id).classes.is_team());
        let is_chunk = |id: &Id| match self.ssa.defs[*id] {
            Def::Phi { block, .. } => {
                self.share_loops.contains(&block) && (0..2).any(|later| self.begins_chunk(*id, later))
            }
            _ => false,
        };
        if steps && by_team {
            return if members.iter().any(is_chunk) { Goes::Index } else { Goes::Carries };
        }
        let index = |value: &Value| value.is_index();
        if !values.is_empty() && values.iter().all(index) && steps == by_team {
            return Goes::Index;
        }
        let from_zero = values.iter().all(|value| value.constant == Some(0));
        let known = values.iter().all(|value| !value.varies && !value.classes.has(Classes::THREAD));
        if known && !by_team { Goes::Counts { from_zero } } else { Goes::Carries }
    }

    /// What a step does to the value that goes round; `None` if that isn't one operation with something from
    /// outside, which is added to `takes`.
    pub fn goes_through(&self, at: usize, inside: &HashSet<Id>, takes: &mut Vec<Id>) -> Option<Option<Op>> {
        let step = &self.graph.steps[at];
        if step.flow != Flow::Next || step.locked {
            return None;
        }
        let ids = |number: usize| step.operands.get(number).map(|spot| self.ssa.operand(at, *spot));
        let is_in = |number: usize| {
            let ids = ids(number).unwrap_or_default();
            let some = ids.iter().any(|id| inside.contains(id));
            (some, some && ids.len() == 1)
        };
        let op = Op::of(step.kind);
        match step.kind {
            Kind::Move if is_in(1).1 && (is_in(1).0 || !step.stores) => Some(None),
            Kind::Push if is_in(0).1 => Some(None),
            Kind::Pop | Kind::Widen => Some(None),
            Kind::Address => {
                let memory = step.memory?;
                let base = memory.base.and_then(|it| self.ssa.used(at, it));
                let index = memory.index.and_then(|it| self.ssa.used(at, it));
                let has = |id: Option<Id>| id.is_some_and(|id| inside.contains(&id));
                match (has(base), has(index)) {
                    (true, false) => takes.extend(index),
                    (false, true) if !memory.is_scaled => takes.extend(base),
                    _ => return None,
                }
                Some(Some(Op::Add))
            }
            Kind::Fused { addend } => {
                let others = (0..3).filter(|number| *number != addend);
                let (mut free, mut all) = (true, Vec::new());
                for number in others {
                    free &= !is_in(number).0;
                    all.extend(ids(number).unwrap_or_default());
                }
                (is_in(addend).1 && free).then(|| takes.extend(self.with_address(at, all)))?;
                Some(op)
            }
            Kind::Select => {
                let (kept, chosen) = (is_in(0), is_in(1));
                match (kept.0, chosen.0) {
                    (true, true) if kept.1 && chosen.1 => {
                        let flags = self.ssa.used(at, FLAGS)?;
                        (!inside.contains(&flags)).then(|| takes.push(flags))?;
                        Some(None)
                    }
                    (true, false) | (false, true) => {
                        let number = usize::from(kept.0);
                        let spot = *step.operands.get(number)?;
                        let by = self.flags_of(at)?;
                        let chosen = ids(number)?;
                        let is_first = self.compares(by, at, spot, inside)?;
                        takes.extend(self.with_address(at, chosen));
                        Some(Some(self.picked(at, by, is_first, number == 1)?))
                    }
                    _ => None,
                }
            }
            _ => {
                let (one, other) = step.sources()?;
                let (a, b) = (is_in(one), is_in(other));
                let free = match (a, b) {
                    ((true, true), (false, _)) => other,
                    ((false, _), (true, true)) if step.kind != Kind::Subtract => one,
                    _ => return None,
                };
                takes.extend(self.with_address(at, ids(free)?));
                op.map(Some)
            }
        }
    }

    /// Values of an operand, and those of which the step's address consists.
    pub fn with_address(&self, at: usize, mut ids: Vec<Id>) -> Vec<Id> {
        if let Some(memory) = self.graph.steps[at].memory {
            ids.extend(
                [memory.base, memory.index].into_iter().flatten().filter_map(|it| self.ssa.used(at, it)),
            );
        }
        ids
    }
}
