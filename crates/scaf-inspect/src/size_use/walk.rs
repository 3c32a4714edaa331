//! How operands are read and written on the way through a block.

use super::class::Classes;
use super::code::Code;
use super::frame::{Finding, Frame, Summary};
use super::state::{Exact, PassedClasses, Place, State, Value};
use crate::decode::{Operand, Operation, Register};

pub(super) const STORED: &str = "stores the team size or thread number, or what it computed from them";
const INDEXED: &str = "chooses an element in memory by its thread number or the team size";
pub(super) const ESCAPES: &str = "takes the address of a function that tells about the team";
pub(super) const VECTOR: &str = "copies the team size or thread number into a vector or float register";

/// What a walk through one function needs of the others.
pub(super) trait Callees {
    /// Follows a call of `function`; `None` if nothing about the team goes in or comes out.
    fn follow_call(&mut self, function: u64, passed: &PassedClasses) -> Option<Summary>;

    /// Counts work against the module's budget, in instructions stepped over.
    fn count(&mut self, steps: u64);
}

pub(super) struct Walk<'w, 'e, C> {
    pub code: &'w Code<'e>,
    pub callees: &'w mut C,
    pub frame: &'w mut Frame,
    pub state: State,
    pub block: u64,
    pub final_pass: bool,
}

impl<C: Callees> Walk<'_, '_, C> {
    pub fn find(&mut self, i: &Operation, what: &'static str) {
        if self.final_pass {
            self.frame.find(Finding::depends(i.address, what));
        }
    }

    pub fn give_up(&mut self, i: &Operation, what: &'static str) {
        if self.final_pass {
            self.frame.find(Finding::unknown(i.address, what));
        }
    }

    pub fn value(&self, register: Option<Register>) -> Value {
        register.map_or(Value::CLEAN, |register| self.state.registers[register])
    }

    /// Where the memory operand points; an address that depends on the thread is a finding.
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
            _ if base.is_stack() || index.is_stack() => Place::SomewhereOwn,
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
                    && self.code.is_query_slot(slot)
                {
                    return Value { exact: Exact::Slot(slot), ..Value::CLEAN };
                }
                let bytes = memory.map_or(0, |memory| memory.bytes);
                let classes = self.state.load(place, bytes);
                Value::of(if bytes < 4 { classes.shifted() } else { classes })
            }
            Operand::Constant(value) => Value::constant(value),
            Operand::Special | Operand::Other => Value::CLEAN,
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
        if matches!(place, Place::Own { base: 0, offset: -7..8 }) {
            // Thunks do that, to jump to an unknown place.
            self.give_up(i, "changes where it returns to");
        }
        match place {
            Place::Own { base, offset } => {
                self.state.store(base, offset, size, value.classes);
                if confined && self.final_pass {
                    self.frame.kept.push(i.address);
                }
            }
            _ if confined => self.find(i, STORED),
            _ => {}
        }
    }

    /// Records that other code may get the address of a place in the own frame.
    pub fn take_address(&mut self) {
        self.frame.taken |= self.final_pass;
    }
}
