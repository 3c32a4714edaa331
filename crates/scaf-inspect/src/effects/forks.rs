//! What branches tell of iterations.

use super::function::{Function, Mode};
use super::rounds::Rounds;
use super::runtime::{Role, role};
use super::ssa::{Def, Id};
use super::terms::{Fork, Grant, Value};
use crate::decode::abi::RESULT;
use crate::decode::{Condition, FLAGS, Flow, Kind, Spot, Step};
use crate::size_use::{Callee, Classes};
use std::collections::BTreeSet;

/// Most values that are gone through to find what one is computed from.
const MAX_BACK: usize = 40;
/// Most blocks that are gone through that do nothing but lead on.
const MAX_JUMPS: usize = 8;

impl Function<'_, '_> {
    /// The step that computed the flags that this one reads.
    pub fn flags_of(&self, at: usize) -> Option<usize> {
        match &self.ssa.defs[self.ssa.used(at, FLAGS)?] {
            Def::Result { step, loc: FLAGS } => Some(*step),
            Def::Phi { inputs, .. } => self.same_question(inputs),
            _ => None,
        }
    }

    /// Where all of some flags come from one comparison of what the runtime has answered, made at several
    /// places.
    pub fn same_question(&self, flags: &[Id]) -> Option<usize> {
        let mut all = flags.iter().map(|id| match &self.ssa.defs[*id] {
            Def::Result { step, loc: FLAGS } => {
                self.compared(*step).map(|[a, b]| (*step, a.grant, b.constant))
            }
            _ => None,
        });
        let (step, grant, constant) = all.next().flatten()?;
        let alike = all.all(|it| it.is_some_and(|it| it.1 == grant && it.2 == constant));
        (alike && grant.is_some() && constant.is_some()).then_some(step)
    }

    /// The two values that a step compares.
    pub fn compared(&self, at: usize) -> Option<[Value; 2]> {
        let step = &self.graph.steps[at];
        let of = |number: usize| step.operands.get(number).map(|spot| self.operand(at, *spot));
        match step.kind {
            Kind::Compare | Kind::Test => Some([of(0)?, of(1)?]),
            Kind::Subtract => {
                let (one, other) = step.sources()?;
                Some([of(one)?, of(other)?])
            }
            Kind::Add | Kind::And | Kind::Shift | Kind::Or | Kind::Xor => {
                let (one, other) = step.sources()?;
                let (a, b) = (of(one)?, of(other)?);
                let varies = a.varies || b.varies;
                Some([Value { varies, ..Value::SAME.with(a.classes.or(b.classes)) }, Value::constant(0)])
            }
            _ => None,
        }
    }

    pub fn fork(&self, block: usize) -> Fork {
        let Some(at) = self.last_step(block) else { return Fork::Same };
        let step = &self.graph.steps[at];
        match step.flow {
            Flow::Branch => self.branch(block, at, step),
            Flow::Jump if self.graph.blocks[block].next.len() > 1 => self.switch(at),
            _ => Fork::Same,
        }
    }

    pub fn switch(&self, at: usize) -> Fork {
        // The target is the table's address and what an index into it has chosen.
        let mut differs = false;
        let mut work: Vec<Id> = self.ssa.uses[at].iter().map(|(_, id)| *id).collect();
        let mut met = BTreeSet::new();
        while let Some(id) = work.pop() {
            if !met.insert(id) || met.len() > MAX_BACK {
                continue;
            }
            differs |= self.value(id).differs();
            let Def::Result { step, .. } = self.ssa.defs[id] else { continue };
            let its = &self.graph.steps[step];
            let index = its.memory.filter(|_| its.loads).and_then(|memory| memory.index);
            let index = index.and_then(|index| self.ssa.used(step, index));
            if index.is_some_and(|index| self.value(index).grant == Some(Grant::Section)) {
                return Fork::Sections;
            }
            if its.flow == Flow::Next {
                work.extend(self.ssa.uses[step].iter().map(|(_, id)| *id));
            }
        }
        if differs { Fork::Varies } else { Fork::Same }
    }

    pub fn branch(&self, block: usize, at: usize, step: &Step) -> Fork {
        let Some(by) = self.flags_of(at) else {
            let flags = self.ssa.used(at, FLAGS).map(|id| self.value(id));
            return if flags.is_some_and(Value::differs) { Fork::Unknown } else { Fork::Same };
        };
        let rounds = self.rounds_until(block, by);
        if rounds == Rounds::Others {
            return Fork::Unknown;
        }
        let Some([a, b]) = self.compared(by) else {
            let flags = self.ssa.used(at, FLAGS).map_or(Value::SAME, |id| self.value(id));
            return match (flags.classes.is_clean(), flags.varies) {
                (false, _) if !flags.is_index() => Fork::Unknown,
                (true, false) => Fork::Same,
                _ => Fork::Varies,
            };
        };
        let condition = step.condition.unwrap_or(Condition::Other);
        let kind = self.graph.steps[by].kind;
        // Where it goes if the first is something else than the second.
        let unequal = match condition {
            Condition::Equal => Some(0),
            Condition::NotEqual => Some(1),
            _ => None,
        };
        if let Some(grant) = a.grant {
            return granted(grant, b.constant, condition, unequal);
        }
        let thread = |value: Value| value.classes == Classes::THREAD;
        if thread(a) && b.constant == Some(0) && kind == Kind::Compare {
            return match condition {
                Condition::Equal | Condition::NotAbove => Fork::First(1),
                Condition::NotEqual | Condition::Above => Fork::First(0),
                _ => Fork::Unknown,
            };
        }
        let rest =
            |value: Value| value.classes.has(Classes::REMAINDER) && !value.classes.has(Classes::THREAD);
        if (thread(a) && rest(b)) || (thread(b) && rest(a)) {
            return Fork::Rest(match condition {
                Condition::Below if thread(a) => Some(1),
                Condition::NotBelow if thread(a) => Some(0),
                Condition::Above if thread(b) => Some(1),
                Condition::NotAbove if thread(b) => Some(0),
                _ => None,
            });
        }
        if kind == Kind::Compare
            && let Some(guard) = self.guard(block, by, [a, b], condition)
        {
            return guard;
        }
        if rounds == Rounds::All {
            return Fork::Share;
        }
        let parts = Classes::QUOTIENT.or(Classes::REMAINDER);
        let clean = |value: Value| !value.classes.is_thread() && !value.classes.is_team();
        if a.is_index() && b.is_index() {
            return if a.end != b.end { Fork::Share } else { Fork::Varies };
        }
        if (a.classes.has(parts) || b.classes.has(parts)) && clean(a) && clean(b) {
            return Fork::Share;
        }
        if a.classes.is_confined() || b.classes.is_confined() {
            return Fork::Unknown;
        }
        if a.differs() || b.differs() { Fork::Varies } else { Fork::Same }
    }

    /// Whether this compares where a thread's share begins with where it ends, and where it has iterations.
    pub fn guard(&self, block: usize, at: usize, [a, b]: [Value; 2], condition: Condition) -> Option<Fork> {
        let step = &self.graph.steps[at];
        let id = |number: usize| match self.ssa.operand(at, *step.operands.get(number)?).as_slice() {
            [only] => Some(self.root(*only)),
            _ => None,
        };
        // Where it goes on with the first one less than the second.
        let (less, more) = match condition {
            Condition::Below | Condition::NotAbove => (Some(1), Some(0)),
            Condition::Above | Condition::NotBelow => (Some(0), Some(1)),
            Condition::NotEqual => (Some(1), Some(1)),
            Condition::Equal => (Some(0), Some(0)),
            Condition::Other => (None, None),
        };
        if a.is_index() && b.is_index() {
            let (from, end, way) = if b.end { (id(0)?, id(1)?, less?) } else { (id(1)?, id(0)?, more?) };
            let is_guard = a.end != b.end && (self.ends_share_of(end, from) || self.are_handed(from, end));
            return is_guard.then_some(Fork::Guard(way));
        }
        if let Some(equal) = match condition {
            Condition::Equal => Some(1),
            Condition::NotEqual => Some(0),
            _ => None,
        } {
            let is_last = |end: usize, all: usize| {
                let shared_out = step.operands.get(all).map(|spot| self.operand(at, *spot));
                id(end).is_some_and(|end| self.ends_share(end))
                    && shared_out.is_some_and(|value| self.is_shared_out(value, id(all)))
            };
            return (is_last(0, 1) || is_last(1, 0)).then_some(Fork::Last(equal));
        }
        // Chunks by the thread's number, stepped by the team's size.
        let chunked = |value: Value, id: Option<Id>, way: usize| {
            let may = !value.classes.is_clean();
            may && id.is_some_and(|id| self.begins_chunk(id, self.rounds_later(block, way)))
        };
        if let Some(way) = less
            && b.classes.is_clean()
            && chunked(a, id(0), way)
        {
            return Some(Fork::Guard(way));
        }
        if let Some(way) = more
            && a.classes.is_clean()
            && chunked(b, id(1), way)
        {
            return Some(Fork::Guard(way));
        }
        // Whether a share is longer than nothing.
        let length = |value: Value, id: Option<Id>| value.whole && id.is_some_and(|id| self.is_length(id));
        if length(a, id(0)) && b.constant == Some(0) {
            return Some(Fork::Guard(more?));
        }
        None
    }

    /// Whether a value is where a share ends: where it begins, and its length.
    pub fn ends_share(&self, end: Id) -> bool {
        let Def::Result { step, .. } = self.ssa.defs[end] else { return false };
        let uses = &self.ssa.uses[step];
        uses.iter().any(|(_, from)| self.value(*from).is_index() && self.ends_share_of(end, self.root(*from)))
    }

    /// Whether this is the number of iterations that the team's threads share out.
    pub fn is_shared_out(&self, value: Value, id: Option<Id>) -> bool {
        let steps = self.graph.steps.iter().enumerate().filter(|(_, step)| step.kind == Kind::Divide);
        steps.into_iter().any(|(at, step)| {
            let by_team = step.operands.first().is_some_and(|spot| self.operand(at, *spot).classes.is_team());
            let all = self.ssa.used(at, crate::decode::abi::RESULT);
            by_team
                && all.is_some_and(|all| {
                    let constant = self.value(all).constant;
                    Some(self.root(all)) == id || (constant.is_some() && constant == value.constant)
                })
        })
    }

    /// Whether a value is another one and the length of a share.
    pub fn ends_share_of(&self, end: Id, from: Id) -> bool {
        let Def::Result { step, .. } = self.ssa.defs[end] else { return false };
        let its = &self.graph.steps[step];
        let parts: Vec<Id> = match its.kind {
            Kind::Add => its.operands.iter().flat_map(|spot| self.ssa.operand(step, *spot)).collect(),
            Kind::Address if its.memory.is_some_and(|it| !it.is_scaled && it.displacement == 0) => {
                self.ssa.uses[step].iter().map(|(_, id)| *id).collect()
            }
            _ => return false,
        };
        let [a, b] = parts.as_slice() else { return false };
        let is = |one: Id, other: Id| self.root(one) == from && self.value(other).whole;
        is(*a, *b) || is(*b, *a)
    }

    /// Whether these are the bounds that a task or a thread was handed.
    pub fn are_handed(&self, from: Id, end: Id) -> bool {
        if self.is_filled(from) && self.goes_back_to_filled(end, 0) {
            return true;
        }
        let is_load = |id: Id| match self.ssa.defs[id] {
            Def::Result { step, .. } => {
                self.graph.steps[step].loads && self.graph.steps[step].kind == Kind::Move
            }
            _ => false,
        };
        self.mode == Mode::TaskLoop && is_load(from) && is_load(end)
    }

    /// Whether LLVM's runtime has put a share's bound there.
    pub fn is_filled(&self, id: Id) -> bool {
        let Def::Result { step, .. } = self.ssa.defs[id] else { return false };
        matches!(self.frames.steps[step].callee, Callee::Import(name) if role(name) == Role::Share)
    }

    /// The lesser of a share's end and the loop's.
    pub fn goes_back_to_filled(&self, id: Id, depth: usize) -> bool {
        let id = self.root(id);
        match &self.ssa.defs[id] {
            _ if self.is_filled(id) => true,
            Def::Phi { inputs, .. } if depth < 2 => {
                inputs.iter().any(|input| self.goes_back_to_filled(*input, depth + 1))
            }
            Def::Result { step, .. } if depth < 2 && self.graph.steps[*step].kind == Kind::Select => {
                let operands = self.graph.steps[*step].operands.iter();
                let mut ids = operands.flat_map(|spot| self.ssa.operand(*step, *spot));
                ids.any(|input| self.goes_back_to_filled(input, depth + 1))
            }
            _ => false,
        }
    }

    /// How many rounds later what comes that way is executed: whether it leads to the beginning of a loop
    /// that this is in.
    fn rounds_later(&self, block: usize, way: usize) -> i64 {
        let mut next = self.graph.blocks[block].next.get(way).copied();
        for _ in 0..MAX_JUMPS {
            let Some(to) = next else { break };
            if self.loops.all.iter().any(|its| its.entries.contains(&to) && its.has(block)) {
                return 1;
            }
            let is_way = |step: &Step| matches!(step.kind, Kind::Move | Kind::Nothing | Kind::Widen);
            let its = &self.graph.blocks[to];
            let only = its.next.len() == 1 && its.steps().all(|at| is_way(&self.graph.steps[at]));
            next = its.next.first().copied().filter(|_| only);
        }
        0
    }

    pub fn is_quotient(&self, id: Id) -> bool {
        match self.ssa.defs[self.root(id)] {
            Def::Result { step, loc } => self.graph.steps[step].kind == Kind::Divide && loc == RESULT,
            _ => false,
        }
    }

    /// Whether a value is the length of a share: a quotient by the team's size, and perhaps one of the rest.
    pub fn is_length(&self, id: Id) -> bool {
        let is_part = |id: Id| {
            self.is_quotient(id)
                || match self.ssa.defs[self.root(id)] {
                    Def::Result { step, .. } => {
                        let its = &self.graph.steps[step];
                        let by_one = match its.kind {
                            Kind::Add => its.operands.get(1) == Some(&Spot::Constant(1)),
                            Kind::Address => {
                                its.memory.is_some_and(|it| !it.has_index && it.displacement == 1)
                            }
                            _ => false,
                        };
                        by_one && self.ssa.uses[step].iter().all(|(_, id)| self.is_quotient(*id))
                    }
                    _ => false,
                }
        };
        let id = self.root(id);
        match &self.ssa.defs[id] {
            _ if !self.value(id).whole => false,
            Def::Phi { inputs, .. } => inputs.iter().all(|input| is_part(*input)),
            Def::Result { step, .. } if self.graph.steps[*step].kind == Kind::Select => {
                let operands = self.graph.steps[*step].operands.iter();
                let mut ids = operands.flat_map(|spot| self.ssa.operand(*step, *spot));
                ids.all(is_part)
            }
            _ => false,
        }
    }
}

fn granted(grant: Grant, by: Option<i64>, condition: Condition, unequal: Option<usize>) -> Fork {
    match (grant, by, unequal) {
        // What is done then is looked at as a reduction's end.
        (Grant::Reduces, Some(_), _) => Fork::Same,
        (Grant::SingleCopy, Some(0), Some(way)) => Fork::Granted(grant, 1 - way),
        (Grant::Section, Some(0), Some(way)) => Fork::Section([way == 0, way == 1]),
        (Grant::Section, Some(_), Some(way)) => Fork::Section([way != 0, way != 1]),
        // More than some number isn't zero.
        (Grant::Section, Some(1..), None) => match condition {
            Condition::Above | Condition::NotBelow => Fork::Section([false, true]),
            Condition::NotAbove | Condition::Below => Fork::Section([true, false]),
            _ => Fork::Unknown,
        },
        (Grant::Section, _, _) => Fork::Unknown,
        (_, Some(0), Some(way)) => Fork::Granted(grant, way),
        // Fortran compares with true.
        (_, Some(1), Some(way)) => Fork::Granted(grant, 1 - way),
        _ => Fork::Unknown,
    }
}
