//! How operands are read and written on the way through a block.

use super::class::Classes;
use super::code::Code;
use super::frame::{Finding, Frame, InData, Summary};
use super::state::{Exact, Handed, Place, State, Value};
use crate::decode::{Operand, Operation, Register};

pub(super) const STORED: &str = "stores the team size or thread number, or what it computed from them";
const INDEXED: &str = "chooses an element in memory by its thread number or the team size";
pub(super) const ESCAPES: &str = "takes the address of a function that tells about the team";
pub(super) const VECTOR: &str = "copies the team size or thread number into a vector or float register";

/// What a walk through one function asks about the others.
pub(super) trait Callees {
    /// Follows a call of `function`; `None` if nothing about the team goes in or comes out.
    fn follow_call(&mut self, function: u64, handed: &Handed) -> Option<Summary>;

    /// What is known of a module's variable there that holds a team's size.
    fn held(&self, at: u64, bytes: usize) -> Option<Classes>;

    /// Whether all uses of the module's variable there can be followed, so that it may hold this.
    fn hold(&mut self, at: u64, bytes: usize, classes: Classes) -> bool;

    /// Whether the function is a region's that keeps values in its data, and its starts are followed.
    fn is_followed_region(&self, function: u64) -> bool;

    /// Counts work against the module's budget, in instructions stepped over.
    fn count(&mut self, steps: u64);
}

pub(super) struct Walk<'w, 'e, C> {
    pub code: &'w Code<'e>,
    pub callees: &'w mut C,
    pub frame: &'w mut Frame,
    pub state: State,
    pub block: u64,
    pub judging: bool,
}

impl<C: Callees> Walk<'_, '_, C> {
    pub fn find(&mut self, i: &Operation, what: &'static str) {
        if self.judging {
            self.frame.find(Finding::depends(i.address, what));
        }
    }

    pub fn give_up(&mut self, i: &Operation, what: &'static str) {
        if self.judging {
            self.frame.find(Finding::unknown(i.address, what));
        }
    }

    pub fn value(&self, register: Option<Register>) -> Value {
        register.map_or(Value::CLEAN, |register| self.state.registers[register])
    }

    /// Where the memory operand points; judges the use of an address that only this thread has.
    pub fn place(&mut self, i: &Operation) -> Place {
        let (place, classes) = self.address(i);
        if classes.is_confined() {
            self.find(i, INDEXED);
        }
        place
    }

    /// Where the memory operand points, and the classes of its address.
    pub fn address(&self, i: &Operation) -> (Place, Classes) {
        let Some(memory) = i.memory else { return (Place::Elsewhere, Classes::CLEAN) };
        let (base, index) = (self.value(memory.base), self.value(memory.index));
        let scaled = if memory.is_scaled { index.classes.scaled() } else { index.classes };
        let place = match base.exact {
            Exact::Stack { base, offset } if !memory.has_index => {
                Place::Own { base, offset: offset.wrapping_add(memory.displacement as i64) }
            }
            Exact::Data { offset } if !memory.has_index => {
                Place::Data { offset: offset.wrapping_add(memory.displacement as i64) }
            }
            _ if base.is_stack() || index.is_stack() => Place::SomewhereOwn,
            _ if base.classes.or(index.classes).has(Classes::DATA) => Place::SomewhereInData,
            _ => Place::Elsewhere,
        };
        (place, base.classes.plus(scaled))
    }

    pub fn read(&mut self, i: &Operation, operand: usize) -> Value {
        match i.operands[operand] {
            Operand::General(register, bytes) => {
                let mut value = self.state.registers[register];
                if bytes < 4 {
                    value.classes = value.classes.shifted();
                }
                value
            }
            Operand::Memory => {
                let (place, memory) = (self.place(i), i.memory);
                if let Some(slot) = memory.and_then(|memory| memory.fixed)
                    && self.code.is_telling_slot(slot)
                {
                    return Value { exact: Exact::Slot(slot), ..Value::CLEAN };
                }
                let bytes = memory.map_or(0, |memory| memory.bytes);
                let classes = self.load(i, place, bytes);
                if let Place::Own { base, offset } = place
                    && let Some(offset) = self.state.spilled.get(&(base, offset)).filter(|_| bytes == 8)
                {
                    return Value { exact: Exact::Data { offset: *offset }, ..Value::of(classes) };
                }
                // Around a spilled flag may lie anything.
                let part = bytes >= 4 && classes.is_first() && classes.has(Classes::SHIFTED);
                Value::of(match bytes {
                    _ if part => classes.or(Classes::CLEAN),
                    ..4 => classes.shifted(),
                    _ => classes,
                })
            }
            Operand::Constant(value) => Value::constant(value),
            Operand::Special | Operand::Other => Value::CLEAN,
        }
    }

    /// The classes of what a place holds that this instruction reads.
    pub fn load(&mut self, i: &Operation, place: Place, bytes: usize) -> Classes {
        match place {
            Place::Data { offset } if self.judging => {
                self.frame.read_of_data.push((offset, offset.saturating_add(bytes.max(1) as i64)));
            }
            Place::SomewhereInData => self.lose_data(),
            Place::SomewhereOwn => {
                self.index_frame(i);
                return self.state.load_indexed();
            }
            _ => {}
        }
        let classes = self.state.load(place, bytes);
        match i.memory.and_then(|memory| memory.fixed) {
            Some(at) => self.callees.held(at, bytes).unwrap_or(classes),
            None => classes,
        }
    }

    /// Remembers from where on an instruction chooses a place in the own frame. What is kept at or above that
    /// place is judged at the end, as if its address were taken; a pointer's was.
    fn index_frame(&mut self, i: &Operation) {
        let Some(memory) = i.memory.filter(|memory| self.judging && memory.has_index) else { return };
        for value in [self.value(memory.base), self.value(memory.index)] {
            match value.exact {
                Exact::Stack { base, offset } if !memory.is_scaled || value == self.value(memory.base) => {
                    self.frame.indexed.push((base, offset.wrapping_add(memory.displacement as i64)));
                }
                Exact::Stack { .. } => self.frame.indexed.push((0, i64::MIN)),
                _ => {}
            }
        }
    }

    /// The data that the region was started with may be read anywhere, from now on or before.
    pub fn lose_data(&mut self) {
        if self.judging {
            self.frame.read_of_data.push((i64::MIN, i64::MAX));
        }
    }

    pub fn write(&mut self, i: &Operation, value: Value) {
        match i.operands[0] {
            Operand::General(register, bytes) if bytes >= 4 => self.state.set(register, value),
            Operand::General(register, _) => {
                let old = self.state.registers[register];
                self.state.set(register, Value::of(old.classes.or(value.classes)));
            }
            Operand::Special if value.classes.is_confined() => self.find(i, VECTOR),
            Operand::Special if value.is_function() => self.find(i, ESCAPES),
            Operand::Memory => {
                let (place, bytes) = (self.place(i), i.memory.map_or(0, |memory| memory.bytes));
                self.store(i, place, bytes, value);
            }
            Operand::Constant(_) | Operand::Other if value.classes.is_confined() => self.find(i, STORED),
            Operand::Special | Operand::Constant(_) | Operand::Other => {}
        }
    }

    pub fn store(&mut self, i: &Operation, place: Place, size: usize, value: Value) {
        let confined = value.classes.is_confined();
        if value.is_function() {
            self.find(i, ESCAPES);
        }
        let is_own = matches!(place, Place::Own { .. } | Place::SomewhereOwn);
        if value.classes.has(Classes::DATA) && !is_own {
            self.lose_data();
        }
        let fixed = i.memory.and_then(|memory| memory.fixed);
        match place {
            Place::Data { offset } if confined && value.classes.is_size_itself() => {
                let kept = InData { at: i.address, offset, bytes: size, classes: value.classes };
                self.frame.kept_in_data.extend(self.judging.then_some(kept));
            }
            Place::Elsewhere
                if confined
                    && value.classes.is_size_itself()
                    && fixed.is_some_and(|at| self.callees.hold(at, size, value.classes)) => {}
            Place::Own { base, offset } => {
                self.state.store(base, offset, size, value.classes);
                if let (Exact::Data { offset: to }, 8) = (value.exact, size) {
                    self.state.spilled.insert((base, offset), to);
                }
                if confined && self.judging {
                    self.frame.kept.push((i.address, base, offset));
                }
            }
            _ if confined => self.find(i, STORED),
            Place::SomewhereOwn => self.state.spilled.clear(),
            _ => {}
        }
    }

    /// Remembers that other code may come to know a place in the own frame.
    pub fn take_address(&mut self, value: Value) {
        if self.judging {
            self.frame.taken.push(match value.exact {
                Exact::Stack { base, offset } => (base, offset),
                _ => (0, i64::MIN),
            });
        }
    }
}
