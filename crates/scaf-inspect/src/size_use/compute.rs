use super::class::Classes;
use super::state::{Exact, Place, Step, Value};
use super::walk::{Callees, ESCAPES, STORED, VECTOR, Walk};
use crate::decode::abi::{FRAME_POINTER, STACK_POINTER};
use crate::decode::{Action, Effects, Fill, Operand, Operation, Pair, Register};

/// Words of a copy onto the stack that are looked at as arguments.
const MOST_COPIED: i64 = 64;

impl<C: Callees> Walk<'_, '_, C> {
    pub fn compute(&mut self, i: &Operation) {
        self.condition(i);
        let flags = if i.writes_flags { self.flags_after(i) } else { self.state.flags };
        match i.action {
            Action::Nothing => {}
            Action::Copy | Action::CopyExtended => self.copy(i),
            Action::Address => self.take(i),
            Action::Add => self.add(i),
            Action::Subtract => self.subtract(i),
            Action::Set(value) => self.write(i, value.map_or(Value::CLEAN, Value::constant)),
            Action::And | Action::Or | Action::OrSelf | Action::Xor | Action::Carry => self.combine(i),
            Action::Multiply([a, b]) => {
                let product = self.read(i, a).classes.times(self.read(i, b).classes);
                self.write(i, Value::of(product));
            }
            Action::MultiplyWide(Pair { low, high }) => {
                let other = self.read(i, 0);
                let product = self.state.registers[low].classes.times(other.classes);
                self.set_pair(Pair { low, high }, product, product);
            }
            Action::Divide(Pair { low, high }) => {
                let divisor = self.read(i, 0);
                let parts = self.state.registers[low].classes.divided_by(divisor.classes);
                self.set_pair(Pair { low, high }, parts.0, parts.1);
            }
            Action::Scale => {
                let value = self.read(i, 0);
                let count = if i.operands.len() > 1 { self.read(i, 1).classes } else { Classes::CLEAN };
                let classes =
                    if count.is_clean() { value.classes.scaled() } else { value.classes.mixed(count) };
                self.write(i, Value { step: value.step, ..Value::of(classes) });
            }
            Action::Compare => return self.compare(i),
            Action::Test => return self.test(i),
            Action::Widen(register) => self.state.registers[register].exact = Exact::Any,
            Action::Sign(Pair { low, high }) => {
                let sign = self.state.registers[low].classes.scaled();
                self.state.set(high, Value::of(sign));
            }
            Action::Push => self.push(i),
            Action::Pop => self.pop(i),
            Action::Leave => self.leave(),
            Action::Fill(fill) => self.fill(i, fill),
            Action::Choose => {
                let value = self.read(i, 0).join(self.read(i, 1));
                self.write(i, value);
            }
            Action::Flag => match i.destination() {
                Some(register) => self.state.set(register, Value::CLEAN),
                None => self.write(i, Value::CLEAN),
            },
            Action::Other(ref effects) => self.other(i, effects),
        }
        self.state.flags = flags;
    }

    fn set_pair(&mut self, Pair { low, high }: Pair, lows: Classes, highs: Classes) {
        if low == high {
            // The rest of the register stays.
            let old = self.state.registers[low].classes;
            return self.state.set(low, Value::of(old.or(lows).or(highs)));
        }
        self.state.set(low, Value::of(lows));
        self.state.set(high, Value::of(highs));
    }

    fn copy(&mut self, i: &Operation) {
        let extends = i.action == Action::CopyExtended;
        let value = self.read(i, 1);
        let to_memory = i.operands[0] == Operand::Memory;
        let plain = !extends && matches!(i.operands[0], Operand::General(_, 8));
        let constant = matches!(value.exact, Exact::Constant(_)) && !extends;
        // The frame pointer names the frame; any other register may carry its address away.
        let away = to_memory || (plain && !moves_frame(i));
        if away && value.is_stack() {
            self.take_address();
        }
        let keeps = plain || constant || to_memory;
        self.write(i, if keeps { value } else { Value { exact: Exact::Any, ..value } });
    }

    /// LEA: takes an address, or computes a sum.
    fn take(&mut self, i: &Operation) {
        let Some(memory) = i.memory else { return };
        let (place, mut classes) = self.address(i);
        if let Some(table) = memory.fixed
            && self.code.elf.data.iter().any(|piece| piece.covers(table))
        {
            self.frame.tables.insert(table);
        }
        let mut step = self.value(memory.base.or(memory.index)).step;
        if let (Some(base), Some(index)) = (memory.base, memory.index) {
            let (base, mut index) = (self.state.registers[base], self.state.registers[index]);
            if memory.is_scaled {
                index.classes = index.classes.scaled();
            }
            (classes, step) = self.stepped(i, base, index);
        }
        if memory.displacement != 0 || (memory.base.is_some() && memory.index.is_some()) {
            classes = classes.shifted();
        }
        let exact = match place {
            Place::Own { base, offset } => Exact::Stack { base, offset },
            Place::SomewhereOwn => Exact::SomeStack,
            Place::Elsewhere => Exact::Any,
        };
        let value = Value { classes, exact, step };
        if value.is_stack() && !moves_frame(i) {
            self.take_address();
        }
        self.write(i, value);
    }

    fn stepped(&mut self, i: &Operation, a: Value, b: Value) -> (Classes, Step) {
        let (sum, is_step) = a.classes.stepped(b.classes);
        if !is_step {
            return (sum, a.step.join(b.step));
        }
        if self.final_pass {
            let carried = a.classes.has(Classes::STEPPED) || b.classes.has(Classes::STEPPED);
            self.frame.steps.push((i.address, carried.then_some(self.block)));
        }
        (sum, Step::At(i.address))
    }

    fn add(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        let exact = self.moved(i, a, b, i64::wrapping_add);
        let (classes, step) = self.stepped(i, a, b);
        self.write_sum(i, b, Value { classes, exact, step });
    }

    fn subtract(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        let exact = self.moved(i, a, b, i64::wrapping_sub);
        if let (Step::At(step), true) = (a.step, b.classes.is_thread()) {
            // gcc finds the distance of two chunks this way.
            self.frame.bounded_steps.insert(step);
        }
        self.write_sum(i, b, Value { classes: a.classes.minus(b.classes), exact, step: Step::None });
    }

    fn write_sum(&mut self, i: &Operation, by: Value, sum: Value) {
        let unchanged = by.exact == Exact::Constant(0);
        let classes = if unchanged { sum.classes } else { sum.classes.shifted() };
        self.write(i, Value { classes, ..sum });
    }

    /// The exact value of `a` moved by `b`, if it is known.
    fn moved(&mut self, i: &Operation, a: Value, b: Value, moves: fn(i64, i64) -> i64) -> Exact {
        match (a.exact, b.exact) {
            (Exact::Stack { base, offset }, Exact::Constant(by)) => {
                Exact::Stack { base, offset: moves(offset, by) }
            }
            _ if i.destination() == Some(STACK_POINTER) => self.new_base(i),
            _ if a.is_stack() || b.is_stack() => Exact::SomeStack,
            _ => Exact::Any,
        }
    }

    /// The stack pointer moves by an unknown distance: places from here on have a new base.
    fn new_base(&mut self, i: &Operation) -> Exact {
        let next = u8::try_from(self.frame.bases.len() + 1).ok();
        match self.frame.bases.get(&i.address).copied().or(next) {
            Some(base) => {
                self.frame.bases.insert(i.address, base);
                Exact::Stack { base, offset: 0 }
            }
            None => Exact::SomeStack,
        }
    }

    fn combine(&mut self, i: &Operation) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        if i.action == Action::And && i.destination() == Some(STACK_POINTER) {
            let exact = self.new_base(i);
            return self.state.set(STACK_POINTER, Value { exact, ..Value::CLEAN });
        }
        match (&i.action, b.exact) {
            (Action::Or | Action::OrSelf, Exact::Constant(-1)) => return self.write(i, Value::constant(-1)),
            (Action::And, Exact::Constant(0)) => return self.write(i, Value::constant(0)),
            _ => {}
        }
        let classes = match i.action {
            Action::OrSelf => a.classes,
            Action::Carry => a.classes.plus(b.classes).shifted(),
            _ => a.classes.mixed(b.classes),
        };
        let exact = if a.is_stack() || b.is_stack() { Exact::SomeStack } else { Exact::Any };
        self.write(i, Value { classes, exact, step: a.step.join(b.step) });
    }

    fn top(&self) -> Place {
        match self.state.registers[STACK_POINTER].exact {
            Exact::Stack { base, offset } => Place::Own { base, offset },
            _ => Place::SomewhereOwn,
        }
    }

    fn move_stack(&mut self, by: i64) {
        if let Exact::Stack { offset, .. } = &mut self.state.registers[STACK_POINTER].exact {
            *offset = offset.wrapping_add(by);
        }
    }

    fn push(&mut self, i: &Operation) {
        let value = self.read(i, 0);
        self.move_stack(-8);
        self.store(i, self.top(), 8, Value::of(value.classes));
        if value.is_function() {
            // It doesn't save a callee-saved register: those never hold such a function.
            self.find(i, ESCAPES);
        }
    }

    fn pop(&mut self, i: &Operation) {
        let classes = self.state.load(self.top(), 8);
        self.move_stack(8);
        self.write(i, Value::of(classes));
    }

    fn leave(&mut self) {
        self.state.registers[STACK_POINTER] = self.state.registers[FRAME_POINTER];
        let classes = self.state.load(self.top(), 8);
        self.move_stack(8);
        self.state.set(FRAME_POINTER, Value::of(classes));
    }

    /// A memset or memcpy by one instruction; the length may be a loop's share.
    fn fill(&mut self, i: &Operation, Fill { to, from, length, value, repeats }: Fill) {
        let classes = |register: Register| self.state.registers[register].classes;
        let copies = value.is_none();
        let places = classes(to).is_confined() || (copies && classes(from).is_confined());
        let goes_along = classes(to).is_index() && (!copies || classes(from).is_index());
        let share = classes(length).is_confined() && !goes_along;
        let chosen = share || classes(length).is_thread() || classes(length).is_team();
        if places || (repeats && chosen) {
            self.find(i, "chooses memory to fill by its thread number or the team size");
        }
        // A copy out of the own frame may carry away anything in the frame.
        let held = self.state.load(Place::SomewhereOwn, 8);
        let carries = copies && self.state.registers[from].is_stack() && held.is_confined();
        if carries || self.value(value).classes.is_confined() {
            self.find(i, STORED);
        }
        if let Exact::Stack { base, offset } = self.state.registers[to].exact {
            let words = match self.state.registers[length].exact {
                _ if !repeats => 1,
                Exact::Constant(times) => times.clamp(1, MOST_COPIED),
                _ => MOST_COPIED,
            };
            self.callees.count(words.unsigned_abs() / 4);
            for at in (0..8 * words).step_by(8) {
                self.state.wrote(base, offset.wrapping_add(at), 8);
            }
        }
        if repeats {
            self.state.set(length, Value::constant(0));
        }
    }

    /// Any other instruction: the results get the classes of all inputs, and must stay in followed places.
    fn other(&mut self, i: &Operation, effects: &Effects) {
        let mut classes = Classes::CLEAN;
        for register in &effects.reads {
            classes = classes.plus(self.state.registers[*register].classes.scaled());
        }
        let place = i.memory.map(|memory| (self.place(i), memory.bytes));
        if let Some((place, bytes)) = place.filter(|_| effects.reads_memory) {
            classes = classes.plus(self.state.load(place, if bytes == 0 { 8 } else { bytes }).scaled());
        }
        if effects.reads.iter().any(|register| self.state.registers[*register].is_function()) {
            self.find(i, ESCAPES);
        }
        if effects.writes_memory {
            match place {
                Some((Place::Own { base, offset }, bytes)) if !classes.is_confined() => {
                    self.state.store(base, offset, bytes, Classes::CLEAN);
                }
                _ if classes.is_confined() => self.find(i, STORED),
                _ => {}
            }
        }
        // Into registers that the decoder doesn't name, such as the x87's.
        if classes.is_confined() && effects.writes.is_empty() && !effects.writes_memory {
            self.find(i, VECTOR);
        }
        for register in &effects.writes {
            match *register {
                Some(STACK_POINTER) => self.state.registers[STACK_POINTER].exact = Exact::SomeStack,
                Some(register) => self.state.set(register, Value::of(classes)),
                None if classes.is_confined() => self.find(i, VECTOR),
                None => {}
            }
        }
    }
}

fn moves_frame(i: &Operation) -> bool {
    matches!(i.destination(), Some(STACK_POINTER | FRAME_POINTER))
}
