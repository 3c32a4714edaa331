//! What each value has to do with the team and with a thread's iterations.

use super::addresses::Place;
use super::function::{Function, Mode};
use super::ssa::{Def, Id, Loc, REST, is_in_frame};
use super::terms::Value;
use crate::decode::abi::{ARGUMENTS, RESULT, SECOND_RESULT, SOURCE, STACK_POINTER};
use crate::decode::{FLAGS, Flow, Kind, Spot, Step};
use crate::size_use::Classes;

/// Most passes over a function's values until they stay as they are.
const MAX_PASSES: usize = 40;
/// Most values that are gone back through to find where one comes from.
const MAX_BACK: usize = 16;

impl Function<'_, '_> {
    /// Finds the values; `false` if that takes too long.
    pub fn evaluate(&mut self) -> bool {
        let order = self.values_in_order();
        for _ in 0..MAX_PASSES {
            let mut changed = false;
            for id in &order {
                let value = self.value_of(*id);
                if value.is_some() && self.values[*id] != value {
                    self.values[*id] = value;
                    changed = true;
                }
            }
            if !changed {
                return true;
            }
        }
        false
    }

    pub fn values_in_order(&self) -> Vec<Id> {
        let mut place = vec![usize::MAX; self.graph.blocks.len()];
        self.loops.order.iter().enumerate().for_each(|(at, block)| place[*block] = at);
        let key = |id: &Id| match &self.ssa.defs[*id] {
            Def::Entry(_) => (0, 0, *id),
            Def::Phi { block, .. } => (place[*block], 0, *id),
            Def::Result { step, .. } => (place[self.block_of[*step]], step + 1, *id),
        };
        let mut order: Vec<Id> = (0..self.ssa.defs.len()).filter(|id| self.ssa.find(*id) == *id).collect();
        order.retain(|id| key(id).0 != usize::MAX);
        order.sort_by_key(key);
        order
    }

    pub fn value(&self, id: Id) -> Value {
        self.values[self.ssa.find(id)].unwrap_or(Value::SAME)
    }

    pub fn value_of(&self, id: Id) -> Option<Value> {
        match &self.ssa.defs[id] {
            Def::Entry(loc) => {
                let is_task_data = self.mode == Mode::TaskLoop && *loc == ARGUMENTS[0];
                let is_own = *loc < REST && self.own.contains(*loc);
                Some(Value { frame: is_task_data || is_own, ..Value::SAME })
            }
            Def::Phi { block, inputs, .. } => {
                let at_loop = self.is_header(*block);
                let known = inputs.iter().filter_map(|input| self.values[*input]);
                known.reduce(|a, b| a.join(b, at_loop))
            }
            Def::Result { step, loc } => {
                let its = &self.graph.steps[*step];
                Some(if its.flow == Flow::Next {
                    self.computed(*step, *loc)
                } else {
                    self.called(*step, *loc)
                })
            }
        }
    }

    /// The value of an operand.
    pub fn operand(&self, at: usize, spot: Spot) -> Value {
        let step = &self.graph.steps[at];
        match spot {
            Spot::Constant(value) => Value::constant(value),
            Spot::Register(STACK_POINTER) => Value { frame: true, ..Value::SAME },
            Spot::Register(_) => self.joined(self.ssa.operand(at, spot)),
            Spot::Memory if matches!(self.frames.steps[at].place, Place::Own { .. }) => {
                self.joined(self.ssa.operand(at, spot))
            }
            Spot::Memory if self.frames.steps[at].place == Place::SomewhereOwn => {
                let its = Value { varies: true, ..self.joined(self.ssa.operand(at, spot)) };
                if self.frames.steps[at].unsure { its.mixed(self.loaded(at, step)) } else { its }
            }
            Spot::Memory => self.loaded(at, step),
            Spot::Other => Value::SAME,
        }
    }

    pub fn joined(&self, ids: Vec<Id>) -> Value {
        let values = ids.into_iter().filter_map(|id| self.values[id]);
        values.reduce(|a, b| a.join(b, true)).unwrap_or(Value::SAME)
    }

    /// The value of a memory operand's address.
    pub fn address(&self, at: usize) -> Value {
        let Some(memory) = self.graph.steps[at].memory else { return Value::SAME };
        let known = |register: Option<usize>| {
            register.and_then(|it| self.ssa.used(at, it)).map_or(Value::constant(0), |id| self.value(id))
        };
        let (base, mut index) = (known(memory.base), known(memory.index));
        if memory.is_scaled {
            index.classes = index.classes.scaled();
            index.constant = None;
        }
        let mut sum = Value { constant: None, ..self.sum(base, index).0 };
        sum.varies |= memory.has_index && memory.index.is_none();
        sum
    }

    pub fn sum(&self, a: Value, b: Value) -> (Value, bool) {
        let (classes, is_step) = a.classes.stepped(b.classes);
        let share = |a: Value, b: Value| a.is_index() && b.whole;
        let adds = |value: Value, other: Value| value.whole && other.constant.is_some();
        let constant = a.constant.zip(b.constant).map(|(a, b)| a.wrapping_add(b));
        let sum = Value {
            classes,
            varies: a.varies || b.varies,
            end: a.end || b.end || share(a, b) || share(b, a),
            whole: adds(a, b) || adds(b, a),
            stepping: is_step,
            frame: a.frame || b.frame,
            constant,
            grant: None,
        };
        (sum, is_step)
    }

    pub fn loaded(&self, at: usize, step: &Step) -> Value {
        if let Some(value) = self.of_task_loop(at) {
            return value;
        }
        let address = self.address(at);
        let fixed = step.memory.and_then(|memory| memory.fixed);
        let constant = fixed.and_then(|address| self.constant_at(address, step.memory?.bytes));
        let classes = if address.classes.is_confined() { Classes::THREAD_PART } else { Classes::CLEAN };
        let varies = address.varies || address.is_index() || self.contended.contains(&at);
        Value { classes, varies, constant, ..Value::SAME }
    }

    /// Where a value was copied from.
    pub fn root(&self, id: Id) -> Id {
        self.root_through(id, 0)
    }

    /// The same, through copies of at least so many bytes.
    pub fn root_through(&self, id: Id, bytes: usize) -> Id {
        let mut id = self.ssa.find(id);
        for _ in 0..MAX_BACK {
            let Def::Result { step, loc } = self.ssa.defs[id] else { break };
            if let Some(handed) = self.handed_back(step, loc) {
                id = handed;
                continue;
            }
            let its = &self.graph.steps[step];
            if its.bytes < bytes {
                break;
            }
            let source = match its.kind {
                Kind::Move => its.operands.get(1).copied(),
                Kind::Widen => Some(Spot::Register(RESULT)),
                Kind::Push | Kind::Pop if loc != FLAGS => match its.kind {
                    Kind::Push => its.operands.first().copied(),
                    _ => Some(Spot::Memory),
                },
                _ => None,
            };
            let ids = source.map(|spot| self.ssa.operand(step, spot)).unwrap_or_default();
            let is_own = !its.loads || matches!(self.frames.steps[step].place, Place::Own { .. });
            match ids.as_slice() {
                [only] if is_own => id = *only,
                _ => break,
            }
        }
        id
    }

    pub fn computed(&self, at: usize, loc: Loc) -> Value {
        let step = &self.graph.steps[at];
        let of =
            |number: usize| step.operands.get(number).map_or(Value::SAME, |spot| self.operand(at, *spot));
        let (one, other) = step.sources().unwrap_or((0, 1));
        let is_main = match step.operands.first() {
            Some(Spot::Register(register)) => *register == loc,
            Some(Spot::Memory) => is_in_frame(loc),
            _ => false,
        };
        let all = || {
            let is_value = |used: Loc| used != FLAGS && (step.reads.contains(used) || is_in_frame(used));
            let used = self.ssa.uses[at].iter().filter(|(used, _)| is_value(*used));
            let mut sum = used.map(|(_, id)| self.value(*id)).fold(Value::SAME, Value::mixed);
            match self.frames.steps[at].place {
                Place::Elsewhere if step.loads => sum = sum.mixed(self.loaded(at, step)),
                Place::SomewhereOwn if step.loads => {
                    let its = if self.frames.steps[at].unsure { self.loaded(at, step) } else { Value::SAME };
                    sum = Value { varies: true, ..sum.mixed(its) };
                }
                _ => {}
            }
            if step.reads.contains(FLAGS) && !matches!(step.kind, Kind::Select | Kind::Flag) {
                // With the carry.
                sum = self.told_by_flags(at, sum);
            }
            Value { end: false, ..sum }
        };
        match step.kind {
            Kind::Constant(value) if loc != FLAGS => Value::constant(value),
            Kind::Divide if loc == RESULT || loc == SECOND_RESULT => {
                let low = self.ssa.used(at, RESULT).map_or(Value::SAME, |id| self.value(id));
                let divisor = of(0);
                let (quotient, rest) = low.classes.divided_by(divisor.classes);
                let varies = low.varies || divisor.varies;
                let by_team = low.classes.is_clean() && !low.varies && divisor.classes.is_team();
                let classes = if loc == RESULT { quotient } else { rest };
                Value { varies, whole: loc == RESULT && by_team, ..Value::of(classes) }
            }
            Kind::Widen if loc == RESULT => {
                self.ssa.used(at, RESULT).map_or(Value::SAME, |id| self.value(id))
            }
            Kind::Pop if loc != FLAGS => self.operand(at, Spot::Memory),
            Kind::Push => of(0),
            // The addresses don't get there.
            Kind::Fill if is_in_frame(loc) && !step.reads.contains(SOURCE) => {
                let ids = [RESULT, loc].map(|it| self.ssa.used(at, it));
                Value { varies: true, ..self.joined(ids.into_iter().flatten().collect()) }
            }
            _ if !is_main => all(),
            Kind::Lanes => {
                Value { constant: of(one).constant.filter(|it| of(other).constant == Some(*it)), ..all() }
            }
            Kind::Move if is_in_frame(loc) && self.ssa.used(at, loc).is_some() => all(),
            Kind::Move => of(1),
            Kind::Address => {
                let value = self.address(at);
                let own = self.frames.steps[at].place;
                let frame = value.frame || matches!(own, Place::Own { .. } | Place::SomewhereOwn);
                let fixed = step.memory.and_then(|memory| memory.fixed);
                let moves = step.memory.is_some_and(|memory| memory.displacement != 0 && fixed.is_none());
                let whole = value.whole || (moves && self.is_whole_base(at));
                Value { frame, whole, constant: fixed.map(|fixed| fixed as i64), ..value }
            }
            Kind::Add => self.sum(of(one), of(other)).0,
            Kind::Subtract => {
                let (a, b) = (of(one), of(other));
                let frame = a.frame != b.frame;
                let end = a.end && b.classes.is_clean();
                // Of two indexes without an end the difference is no length: `i % 8`.
                let index = a.is_index() && b.is_index() && !a.end && !b.end;
                let classes = if index { a.classes.or(b.classes) } else { a.classes.minus(b.classes) };
                Value {
                    varies: a.varies || b.varies,
                    end,
                    frame,
                    whole: a.whole && b.constant.is_some(),
                    ..Value::of(classes)
                }
            }
            Kind::Multiply => {
                let (a, b) = (of(one), of(other));
                Value {
                    varies: a.varies || b.varies,
                    end: a.end || b.end,
                    frame: a.frame || b.frame,
                    ..Value::of(a.classes.times(b.classes))
                }
            }
            Kind::Shift => {
                let (a, b) = (of(one), of(other));
                Value {
                    end: a.end,
                    varies: a.varies || b.varies,
                    frame: a.frame,
                    ..Value::of(a.classes.scaled())
                }
            }
            Kind::And | Kind::Or | Kind::Xor => {
                let (a, b) = (of(one), of(other));
                let zero = step.kind == Kind::And && (a.constant == Some(0) || b.constant == Some(0));
                if zero {
                    return Value::constant(0);
                }
                Value {
                    varies: a.varies || b.varies,
                    frame: a.frame || b.frame,
                    ..Value::of(a.classes.mixed(b.classes))
                }
            }
            Kind::Select => self.told_by_flags(at, of(0).join(of(1), false)),
            Kind::Flag => self.told_by_flags(at, Value::SAME),
            _ => all(),
        }
    }

    /// A value that is what it is by the flags, which may tell the thread's number.
    fn told_by_flags(&self, at: usize, value: Value) -> Value {
        let flags = self.ssa.used(at, FLAGS).map_or(Value::SAME, |id| self.value(id));
        let tells = flags.classes.is_confined() && value.classes.is_clean();
        let classes = if tells { Classes::THREAD_PART } else { value.classes };
        Value { varies: value.varies || flags.differs(), classes, ..value }
    }

    /// Whether LEA moves the length of a share by a constant.
    pub fn is_whole_base(&self, at: usize) -> bool {
        let Some(memory) = self.graph.steps[at].memory else { return false };
        let base = memory.base.and_then(|it| self.ssa.used(at, it)).map(|id| self.value(id));
        memory.index.is_none() && base.is_some_and(|base| base.whole)
    }
}
