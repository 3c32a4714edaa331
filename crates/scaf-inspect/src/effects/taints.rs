//! Which values depend on the iterations that a thread has had, and so on the team's size.

use super::addresses::Place;
use super::function::{Function, Mode};
use super::runtime::{Role, role};
use super::ssa::{Def, Id, Loc};
use super::terms::{Context, Fork, Goes, Op, Taint, Value};
use crate::decode::abi::{RESULT, SECOND_RESULT, VECTORS, VECTORS_END};
use crate::decode::{FLAGS, Flow, Kind, Spot};
use crate::size_use::{Callee, Classes};
use std::collections::{BTreeSet, HashSet};

const MAX_PASSES: usize = 40;

impl Function<'_, '_> {
    pub fn taint(&self, id: Id) -> Taint {
        self.taints[self.ssa.find(id)]
    }

    /// Finds the taints; `false` if that takes too long.
    pub fn find_taints(&mut self) -> bool {
        self.rests = self.rests();
        let order = self.values_in_order();
        self.taints = vec![Taint::Clean; self.ssa.defs.len()];
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for id in &order {
                let taint = self.taints[*id].worse(self.taint_of(*id));
                if taint != self.taints[*id] {
                    self.taints[*id] = taint;
                    changed = true;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    pub fn taint_of(&self, id: Id) -> Taint {
        if let Some(cycle) = self.cycle_of.get(&id) {
            return self.taint_of_cycle(*cycle);
        }
        match &self.ssa.defs[id] {
            Def::Entry(_) => Taint::Clean,
            Def::Phi { block, inputs, .. } => self.taint_of_phi(id, *block, inputs),
            Def::Result { step, loc } => self.taint_of_result(*step, *loc),
        }
    }

    /// Finds what calls have left in registers other than a result's, alone or on one of several ways: nobody
    /// looks at that, though it may seem to be an argument.
    pub fn find_junk(&mut self) {
        let mut junk: HashSet<Id> = HashSet::new();
        loop {
            let before = junk.len();
            for (id, def) in self.ssa.defs.iter().enumerate() {
                let is_junk = match def {
                    Def::Entry(_) => false,
                    Def::Phi { inputs, .. } => inputs.iter().any(|input| junk.contains(input)),
                    Def::Result { step, loc } => {
                        self.graph.steps[*step].flow == Flow::Call
                            && !super::ssa::is_in_frame(*loc)
                            && !self.may_return_in(*step, *loc)
                    }
                };
                if is_junk {
                    junk.insert(id);
                }
            }
            if junk.len() == before {
                self.junk = junk;
                return;
            }
        }
    }

    /// Whether a call's result may be in a register.
    pub fn may_return_in(&self, at: usize, loc: Loc) -> bool {
        const FLOATS: [&str; 6] = ["drand48", "erand48", "strtod", "atof", "lgamma", "lgammaf"];
        let is_known = match &self.frames.steps[at].callee {
            Callee::Import(name) => role(name) != Role::Computes && !FLOATS.contains(name),
            _ => false,
        };
        loc == RESULT || (!is_known && [SECOND_RESULT, VECTORS, VECTORS + 1].contains(&loc))
    }

    pub fn worst(&self, ids: &[Id]) -> Taint {
        ids.iter().map(|id| self.taint(*id)).fold(Taint::Clean, Taint::worse)
    }

    /// Whether these are copies of one value.
    pub fn are_one(&self, ids: &[Id]) -> bool {
        let mut roots = ids.iter().map(|id| self.root(*id));
        let first = roots.next();
        roots.all(|root| Some(root) == first)
    }

    pub fn taint_of_cycle(&self, number: usize) -> Taint {
        let cycle = &self.cycles[number];
        if cycle.is_told {
            return Taint::Bad;
        }
        if self.worst(&cycle.takes) != Taint::Clean {
            return Taint::Bad;
        }
        let begins = self.worst(&cycle.begins);
        match cycle.goes {
            Goes::Carries => Taint::Bad,
            Goes::Along if cycle.begins.iter().any(|id| self.is_of_a_thread(*id)) => Taint::Bad,
            Goes::Along => begins,
            Goes::Index if begins == Taint::Clean => Taint::Clean,
            Goes::Counts { from_zero } => match begins {
                Taint::Clean => Taint::Counter { from_zero },
                // It goes on where another loop's has ended.
                Taint::Counter { from_zero: true } | Taint::Sum(Op::Add) => Taint::Sum(Op::Add),
                _ => Taint::Bad,
            },
            Goes::Sums(_) if cycle.takes.iter().any(|id| self.value(*id).classes.is_confined()) => Taint::Bad,
            Goes::Sums(op) => {
                let fits = |id: &Id| self.continues(op, *id);
                if cycle.begins.iter().all(fits) { Taint::Sum(op) } else { Taint::Bad }
            }
            Goes::Index => Taint::Bad,
        }
    }

    /// Whether a sum may go on from a value.
    pub fn continues(&self, op: Op, id: Id) -> bool {
        match self.taint(id) {
            Taint::Sum(other) => other == op,
            Taint::Counter { from_zero } => from_zero && op == Op::Add,
            Taint::Clean => op.may_begin_with(self.value(id)) || self.is_neutral(op, id, &mut HashSet::new()),
            Taint::Bad => false,
        }
    }

    pub fn taint_of_phi(&self, id: Id, block: usize, inputs: &[Id]) -> Taint {
        if self.renewed.contains(&id) {
            return Taint::Clean;
        }
        let worst = self.worst(inputs);
        // Which way a thread has come tells what its least or most was.
        let tells = self.picks.contains_key(&block) && !self.are_one(inputs);
        if worst == Taint::Bad || tells {
            return Taint::Bad;
        }
        let values = || inputs.iter().map(|input| self.value(*input));
        if worst == Taint::Clean && self.left(inputs) == Taint::Clean {
            return Taint::Clean;
        }
        if self.share_loops.contains(&block) {
            // What the iteration before has left, unless it is the bounds of the next chunk.
            let index = Classes::START.or(Classes::STEPPED).or(Classes::THREAD).or(Classes::THREAD_PART);
            let is_index = self.values[id].is_some_and(Value::is_index);
            let begins = || (0..2).any(|later| self.begins_chunk(id, later));
            let is_index = is_index && (!self.is_next_round(inputs) || begins());
            let is_dealt = (is_index && values().all(|value| value.classes.has(index)))
                || self.values[id].is_some_and(|value| value.grant.is_some());
            let is_dealt = is_dealt || self.same_question(inputs).is_some();
            let is_dealt = is_dealt || self.is_loaded_ahead(id);
            return if is_dealt && worst == Taint::Clean { Taint::Clean } else { Taint::Bad };
        }
        let is_left = self.is_left(block);
        if self.rests.contains(&block) {
            let parts = Classes::QUOTIENT.or(Classes::REMAINDER);
            let index = Classes::START.or(Classes::SHARE);
            let is_bound = values().all(|value| value.classes.has(index) && !value.classes.is_thread());
            let has_parts = values().any(|value| value.classes.has(parts));
            return if has_parts || is_bound { worst } else { Taint::Bad };
        }
        if worst == Taint::Clean {
            let is_dealt = self.values[id].is_some_and(|value| value.grant.is_some());
            let is_one = || self.is_one_for_all(id, block, inputs);
            return if is_left && !is_dealt && !is_one() { self.left(inputs) } else { Taint::Clean };
        }
        // One sum, or nothing to add to it.
        let op = inputs.iter().find_map(|input| match self.taint(*input) {
            Taint::Sum(op) => Some(op),
            _ => None,
        });
        match op {
            Some(op) if inputs.iter().all(|input| self.continues(op, *input)) => Taint::Sum(op),
            Some(_) => Taint::Bad,
            None if inputs.iter().all(|input| self.continues(Op::Add, *input)) => Taint::Sum(Op::Add),
            None if is_left => Taint::Bad,
            None if inputs.iter().all(|input| self.taint(*input) != Taint::Clean) => worst,
            None => Taint::Bad,
        }
    }

    /// What comes from code that not all threads have gone through depends on who did, unless it is one
    /// number.
    pub fn left(&self, inputs: &[Id]) -> Taint {
        let first = inputs.first().map(|id| self.value(*id));
        let same = first.is_some_and(|first| {
            first.constant.is_some() && inputs.iter().all(|id| self.value(*id).constant == first.constant)
        });
        if same { Taint::Clean } else { Taint::Bad }
    }

    /// Whether ways from within iterations meet others here.
    pub fn is_left(&self, block: usize) -> bool {
        let before = &self.graph.blocks[block].before;
        match self.contexts[block] {
            _ if self.mode == Mode::Once => false,
            Context::Repeated | Context::Split => {
                before.iter().any(|before| self.is_within_at_end(*before, block))
            }
            // The one and the others, all of which have iterations.
            Context::Share => before.iter().any(|before| self.is_parted_at_end(*before, block)),
            Context::Once => false,
        }
    }

    fn is_guard(&self, block: usize) -> bool {
        matches!(self.forks[block], Fork::Guard(_))
    }

    pub fn is_within_at_end(&self, before: usize, block: usize) -> bool {
        let ways = self.graph.blocks[before].next.iter().enumerate();
        let context = self.contexts[before];
        let mut its = ways.filter(|(_, next)| **next == block);
        its.any(|(way, _)| {
            context != Context::Repeated
                || self.behind(before, context, self.forks[before], way) != Context::Repeated
        })
    }

    pub fn is_parted_at_end(&self, before: usize, block: usize) -> bool {
        let ways = self.graph.blocks[before].next.iter().enumerate();
        let mut its = ways.filter(|(_, next)| **next == block);
        its.any(|(way, _)| {
            let then = self.behind(before, self.contexts[before], self.forks[before], way);
            matches!(then, Context::Once | Context::Split)
        })
    }

    /// Where the ways meet again that a thread goes by whether it has one of the iterations left over. All
    /// blocks if one of them isn't of the usual form.
    pub fn rests(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for (block, fork) in self.forks.iter().enumerate() {
            if !matches!(fork, Fork::Rest(_)) {
                continue;
            }
            let next = |block: usize| self.graph.blocks[block].next.as_slice();
            let [one, other] = next(block) else { return (0..self.graph.blocks.len()).collect() };
            match (next(*one), next(*other)) {
                ([meets], _) if meets == other => drop(found.insert(*other)),
                (_, [meets]) if meets == one => drop(found.insert(*one)),
                ([meets], [again]) if meets == again => drop(found.insert(*meets)),
                // Those that have one needn't be asked whether they have any.
                (ways, [meets]) if self.is_guard(*one) && ways.contains(meets) => drop(found.insert(*meets)),
                ([meets], ways) if self.is_guard(*other) && ways.contains(meets) => {
                    found.insert(*meets);
                }
                _ => return (0..self.graph.blocks.len()).collect(),
            }
        }
        found
    }

    pub fn taint_of_result(&self, at: usize, loc: Loc) -> Taint {
        let step = &self.graph.steps[at];
        if let Some(handed) = self.handed_back(at, loc) {
            return self.taint(handed);
        }
        if step.flow != Flow::Next {
            let uses = self.passed(at).map(|(_, id)| self.taint(*id));
            let worst = uses.fold(Taint::Clean, Taint::worse);
            return if worst == Taint::Clean { Taint::Clean } else { Taint::Bad };
        }
        match self.worst(&self.sources_of(at, loc)) {
            Taint::Clean => Taint::Clean,
            _ if self.begins_next_chunk(at, loc) => Taint::Clean,
            // A store leaves the address; a load by an address is no better than that.
            worst => self.combined(at, loc, worst),
        }
    }

    pub fn sources_of(&self, at: usize, loc: Loc) -> Vec<Id> {
        let whole = !super::ssa::is_in_frame(loc) || matches!(self.frames.steps[at].place, Place::Own { .. });
        let uses = self.ssa.uses[at].iter();
        let its = uses.filter(|(used, _)| whole || !super::ssa::is_in_frame(*used) || *used == loc);
        its.map(|(_, id)| *id).collect()
    }

    /// The taint of an operand, and its value.
    pub fn tainted(&self, at: usize, spot: Spot) -> (Taint, Value) {
        let all = self.ssa.operand(at, spot);
        let mut taint = self.worst(&all);
        // Any of these may be the element that is looked at.
        if let Taint::Sum(op) = taint
            && spot == Spot::Memory
            && self.frames.steps[at].place == Place::SomewhereOwn
            && !all.iter().all(|id| self.continues(op, *id))
        {
            taint = Taint::Bad;
        }
        let place = self.frames.steps[at].place;
        if spot == Spot::Memory && place == Place::SomewhereOwn && self.tainted_address(at) != Taint::Clean {
            taint = Taint::Bad;
        }
        if spot == Spot::Memory && self.frames.steps[at].place == Place::Elsewhere {
            taint = match self.tainted_address(at) {
                Taint::Clean => Taint::Clean,
                _ => Taint::Bad,
            };
        }
        (taint, self.operand(at, spot))
    }

    /// The taint of an address: a counter of a thread's rounds beside where its share begins is an index.
    pub fn tainted_address(&self, at: usize) -> Taint {
        let Some(memory) = self.graph.steps[at].memory else { return Taint::Clean };
        let of = |register: Option<usize>| {
            let id = register.and_then(|it| self.ssa.used(at, it));
            id.map_or((Taint::Clean, Value::constant(0)), |id| (self.taint(id), self.value(id)))
        };
        let (base, index) = (of(memory.base), of(memory.index));
        if memory.has_index && memory.index.is_none() {
            // The index is a vector.
            let vectors = self.ssa.uses[at].iter().filter(|(loc, _)| (VECTORS..VECTORS_END).contains(loc));
            let worst = vectors.map(|(_, id)| self.taint(*id)).fold(base.0, Taint::worse);
            return worst;
        }
        added(base, index)
    }

    pub fn combined(&self, at: usize, loc: Loc, worst: Taint) -> Taint {
        let step = &self.graph.steps[at];
        let of = |number: usize| {
            step.operands.get(number).map_or((Taint::Clean, Value::SAME), |spot| self.tainted(at, *spot))
        };
        if loc == FLAGS && step.kind != Kind::Move {
            // Whether a counter has come to the length of a share.
            let parts = Classes::QUOTIENT.or(Classes::REMAINDER);
            let counts = matches!(worst, Taint::Counter { .. });
            let has_parts = self.compared(at).is_some_and(|both| both.iter().any(|it| it.classes.has(parts)));
            return if counts && has_parts { Taint::Clean } else { Taint::Bad };
        }
        let reads = step.loads && !step.stores && self.frames.steps[at].place == Place::Elsewhere;
        let is_clean = |spot: &Spot| self.tainted(at, *spot).0 == Taint::Clean;
        if reads
            && step.kind != Kind::Select
            && step.operands.iter().skip(1).all(is_clean)
            && is_clean(&step.operands[0])
        {
            // A counter stands beside an index in its address.
            return Taint::Clean;
        }
        let (one, other) = step.sources().unwrap_or((0, 1));
        match step.kind {
            Kind::Move if super::ssa::is_in_frame(loc) && self.ssa.used(at, loc).is_some() => Taint::Bad,
            Kind::Move => of(1).0,
            Kind::Push => of(0).0,
            Kind::Pop | Kind::Widen => worst,
            Kind::Lanes => {
                let from = if step.operands.len() > 2 { 1 } else { 0 };
                let all = (from..step.operands.len()).map(|number| (number, of(number)));
                let fits = |(number, (taint, value)): (usize, (Taint, Value))| match taint {
                    Taint::Clean => {
                        let is_choice = matches!(step.operands[number], Spot::Constant(_));
                        is_choice || value.constant == Some(0) || (number == 0 && step.operands.len() == 2)
                    }
                    taint => taint == worst,
                };
                if matches!(worst, Taint::Sum(_)) && all.into_iter().all(fits) { worst } else { Taint::Bad }
            }
            Kind::Add => match (of(one), of(other)) {
                (a, b) if matches!(worst, Taint::Sum(_)) => self.combine(Op::Add, a, b),
                (a, b) => match added(a, b) {
                    Taint::Clean if !self.counts_iterations(at, loc) => Taint::Bad,
                    taint => taint,
                },
            },
            Kind::Subtract => match (of(one), of(other)) {
                ((a, _), (Taint::Clean, value)) if value.constant == Some(0) => a,
                ((Taint::Counter { .. }, _), (Taint::Clean, value)) if !value.differs() => {
                    Taint::Counter { from_zero: false }
                }
                _ => Taint::Bad,
            },
            Kind::Address if worst != Taint::Bad => {
                let moves = step.memory.is_some_and(|memory| memory.displacement != 0);
                match self.tainted_address(at) {
                    Taint::Counter { .. } => Taint::Counter { from_zero: false },
                    Taint::Sum(_) if moves => Taint::Bad,
                    taint => taint,
                }
            }
            Kind::Address => self.tainted_address(at),
            Kind::Multiply | Kind::Shift => match (of(one), of(other)) {
                ((Taint::Sum(Op::Add), _), (Taint::Clean, value)) if !value.differs() => worst,
                ((Taint::Clean, value), (Taint::Sum(Op::Add), _)) if !value.differs() => worst,
                ((Taint::Counter { .. }, _), (Taint::Clean, value)) if !value.differs() => worst,
                ((Taint::Clean, value), (Taint::Counter { .. }, _)) if !value.differs() => worst,
                _ => Taint::Bad,
            },
            Kind::And | Kind::Or | Kind::Xor | Kind::Least(_) | Kind::Most(_) => match Op::of(step.kind) {
                Some(op) => self.combine(op, of(one), of(other)),
                None => Taint::Bad,
            },
            Kind::Select => {
                let flags = self.ssa.used(at, FLAGS).map_or(Taint::Bad, |id| self.taint(id));
                match (of(0).0, of(1).0, flags) {
                    (a, b, Taint::Clean) if a == b => a,
                    _ => Taint::Bad,
                }
            }
            _ if step.loads && worst != Taint::Bad && self.frames.steps[at].place == Place::Elsewhere => {
                // Only its address is a counter's.
                let others = step.operands.iter().filter(|spot| **spot != Spot::Memory);
                let rest = others.map(|spot| self.tainted(at, *spot).0).fold(Taint::Clean, Taint::worse);
                self.tainted_address(at).worse(rest)
            }
            _ => Taint::Bad,
        }
    }

    pub fn combine(&self, op: Op, (a, x): (Taint, Value), (b, y): (Taint, Value)) -> Taint {
        let fits = |taint: Taint, value: Value| match taint {
            Taint::Sum(other) => other == op,
            Taint::Counter { from_zero } => from_zero && op == Op::Add,
            Taint::Clean => op.may_begin_with(value),
            Taint::Bad => false,
        };
        if fits(a, x) && fits(b, y) { Taint::Sum(op) } else { Taint::Bad }
    }
}

fn added((a, x): (Taint, Value), (b, y): (Taint, Value)) -> Taint {
    match (a, b) {
        (Taint::Clean, Taint::Clean) => Taint::Clean,
        (Taint::Counter { .. }, Taint::Clean) if y.is_index() => Taint::Clean,
        (Taint::Clean, Taint::Counter { .. }) if x.is_index() => Taint::Clean,
        (Taint::Counter { from_zero }, Taint::Clean) if !y.differs() => {
            Taint::Counter { from_zero: from_zero && y.constant == Some(0) }
        }
        (Taint::Clean, Taint::Counter { from_zero }) if !x.differs() => {
            Taint::Counter { from_zero: from_zero && x.constant == Some(0) }
        }
        (Taint::Counter { from_zero: a }, Taint::Counter { from_zero: b }) => {
            Taint::Counter { from_zero: a && b }
        }
        _ => Taint::Bad,
    }
}
