//! Where an instruction leads to, and how operands are read and written.

use super::class::Classes;
use super::code::Callee;
use super::first::{First, SPLITS};
use super::flow::{Analysis, Finding, Frame};
use super::state::{Exact, Flags, Place, RAX, RSP, State, Value};
use iced_x86::{ConditionCode, FlowControl, Instruction, OpKind, Register};

pub(super) const STORED: &str = "stores the team size or thread number, or what it computed from them";
const INDEXED: &str = "chooses an element in memory by its thread number or the team size";
pub(super) const ESCAPES: &str = "takes the address of a function that tells about the team";

/// On the way through a block.
pub(super) struct Walk<'w, 'c, 'e> {
    pub analysis: &'w mut Analysis<'c, 'e>,
    pub frame: &'w mut Frame,
    pub state: State,
    pub block: u64,
    pub judging: bool,
}

impl<'e> Walk<'_, '_, 'e> {
    /// Steps over one instruction; returns the blocks that may follow if it ends the path.
    pub fn step(&mut self, i: &Instruction) -> Option<Vec<u64>> {
        match i.flow_control() {
            FlowControl::Next => {
                self.compute(i);
                None
            }
            FlowControl::Call | FlowControl::IndirectCall => {
                let callee = self.callee(i);
                if self.call(i, &callee) { None } else { Some(Vec::new()) }
            }
            FlowControl::Return => {
                self.give_back(i);
                Some(Vec::new())
            }
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Some(self.jump(i)),
            FlowControl::ConditionalBranch => Some(self.branch(i)),
            FlowControl::Interrupt | FlowControl::Exception => Some(Vec::new()),
            FlowControl::XbeginXabortXend => {
                self.find(i, "runs in a memory transaction", true);
                Some(Vec::new())
            }
        }
    }

    pub(super) fn find(&mut self, i: &Instruction, what: &'static str, unknown: bool) {
        if self.judging {
            self.frame.find(Finding { address: i.ip(), what, unknown });
        }
    }

    fn branch(&mut self, i: &Instruction) -> Vec<u64> {
        self.condition(i);
        if self.judging && self.state.flags == Flags::First {
            self.first(i);
        }
        let mut next = vec![i.next_ip()];
        match self.analysis.code.target(i) {
            Callee::Local(target) => next.push(target),
            callee => {
                // A conditional jump to another module's function is a call in tail position.
                self.frame.leaving.insert(self.block);
                let before = self.state.clone();
                if self.call(i, &callee) {
                    self.give_back(i);
                }
                self.state = before;
            }
        }
        next
    }

    /// Remembers a branch that asks for the first thread; the zero flag alone tells, whatever the operands' order.
    fn first(&mut self, i: &Instruction) {
        let (taken, next) = match self.analysis.code.target(i) {
            Callee::Local(target) => (target, i.next_ip()),
            _ => return self.find(i, SPLITS, false),
        };
        let (first, other) = match i.condition_code() {
            ConditionCode::e => (taken, next),
            ConditionCode::ne => (next, taken),
            // A number is never negative: not above nought is nought. Compilers put the constant last.
            ConditionCode::le | ConditionCode::be => (taken, next),
            ConditionCode::g | ConditionCode::a => (next, taken),
            _ => return self.find(i, SPLITS, false),
        };
        self.frame.firsts.push(First { at: i.ip(), block: self.block, first, other });
    }

    /// Gives back what the function leaves in the scratch registers.
    fn give_back(&mut self, i: &Instruction) {
        if self.state.registers[RAX].is_function() {
            self.find(i, ESCAPES, false);
        }
        let handed = self.state.handed();
        let returned = self.frame.returned.get_or_insert(handed);
        for (mine, theirs) in returned.iter_mut().zip(handed) {
            *mine = mine.or(theirs);
        }
    }

    fn jump(&mut self, i: &Instruction) -> Vec<u64> {
        let callee = self.callee(i);
        let tail = self.state.registers[RSP].exact == Exact::Stack { region: 0, offset: 0 };
        match callee {
            Callee::Local(target) if target == self.frame.entry => vec![target],
            Callee::Local(target) if !(tail && self.analysis.code.is_start(target)) => vec![target],
            Callee::Unknown if !i.is_ip_rel_memory_operand() => {
                let targets = self.switch(i);
                if targets.is_empty() {
                    if tail {
                        // Through a pointer, with the frame gone: a call in tail position.
                        self.call(i, &Callee::Unknown);
                        self.give_back(i);
                    } else {
                        self.find(i, "jumps to where could not be made out", true);
                    }
                }
                targets
            }
            callee => {
                if self.call(i, &callee) {
                    self.give_back(i);
                }
                Vec::new()
            }
        }
    }

    /// The cases of a switch: all entries of all tables that the function has mentioned.
    fn switch(&mut self, i: &Instruction) -> Vec<u64> {
        let code = self.analysis.code;
        let Some(range) = code.function_around(i.ip()) else { return Vec::new() };
        if i.op0_kind() == OpKind::Memory
            && i.memory_base() == Register::None
            && i.memory_index() != Register::None
        {
            return code.jump_table(i.memory_displacement64(), true, range);
        }
        let mut targets: Vec<u64> = Vec::new();
        for (table, absolute) in &self.frame.tables {
            targets.extend(code.jump_table(*table, *absolute, range));
            // Reading the table costs time as well.
            self.analysis.steps += 1 + targets.len() as u64 / 4;
        }
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// What a call or jump leads to, also where it goes through a register that was loaded with a telling function.
    fn callee(&self, i: &Instruction) -> Callee<'e> {
        let code = self.analysis.code;
        match (i.op0_kind(), Self::register(i.op0_register())) {
            (OpKind::Register, Some(register)) => match self.state.registers[register].exact {
                Exact::Slot(slot) => code.behind_slot(slot),
                _ => Callee::Unknown,
            },
            _ => code.target(i),
        }
    }

    pub(super) fn register(register: Register) -> Option<usize> {
        register.is_gpr().then(|| register.full_register().number())
    }

    /// Where a memory operand points; using an address that only this thread has is judged here.
    pub(super) fn place(&mut self, i: &Instruction) -> Place {
        let (place, classes) = self.address(i);
        if classes.is_confined() {
            self.find(i, INDEXED, false);
        }
        place
    }

    pub(super) fn address(&self, i: &Instruction) -> (Place, Classes) {
        let value = |register| Self::register(register).map_or(Value::CLEAN, |r| self.state.registers[r]);
        let (base, index) = (value(i.memory_base()), value(i.memory_index()));
        let scaled = if i.memory_index_scale() > 1 { index.classes.scaled() } else { index.classes };
        let classes = base.classes.plus(scaled);
        let place = match (base.exact, i.memory_index()) {
            (Exact::Stack { region, offset }, Register::None) => {
                Place::Own { region, offset: offset.wrapping_add(i.memory_displacement64() as i64) }
            }
            _ if base.is_stack() || index.is_stack() => Place::SomewhereOwn,
            _ => Place::Elsewhere,
        };
        (place, classes)
    }

    pub(super) fn read(&mut self, i: &Instruction, operand: u32) -> Value {
        match i.op_kind(operand) {
            OpKind::Register => {
                let register = i.op_register(operand);
                let mut value = Self::register(register).map_or(Value::CLEAN, |r| self.state.registers[r]);
                if register.size() < 4 {
                    value.classes = value.classes.shifted();
                }
                value
            }
            OpKind::Memory => {
                let place = self.place(i);
                if i.is_ip_rel_memory_operand()
                    && self.analysis.code.is_telling_slot(i.ip_rel_memory_address())
                {
                    return Value { exact: Exact::Slot(i.ip_rel_memory_address()), ..Value::CLEAN };
                }
                let size = i.memory_size().size();
                let classes = self.state.load(place, size);
                Value::of(if size < 4 { classes.shifted() } else { classes })
            }
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Value::constant(i.immediate(operand) as i64),
            _ => Value::CLEAN,
        }
    }

    pub(super) fn write(&mut self, i: &Instruction, operand: u32, value: Value) {
        match i.op_kind(operand) {
            OpKind::Register => {
                let register = i.op_register(operand);
                match Self::register(register) {
                    Some(r) if register.size() >= 4 => self.set(r, value),
                    Some(r) => {
                        let old = self.state.registers[r];
                        self.set(r, Value::of(old.classes.or(value.classes)));
                    }
                    None if value.classes.is_confined() => {
                        self.find(
                            i,
                            "copies the team size or thread number into a vector or float register",
                            false,
                        );
                    }
                    None if value.is_function() => self.find(i, ESCAPES, false),
                    None => {}
                }
            }
            OpKind::Memory => {
                let place = self.place(i);
                self.store(i, place, i.memory_size().size(), value);
            }
            _ if value.classes.is_confined() => self.find(i, STORED, false),
            _ => {}
        }
    }

    pub(super) fn store(&mut self, i: &Instruction, place: Place, size: usize, value: Value) {
        let confined = value.classes.is_confined();
        if value.is_function() {
            self.find(i, ESCAPES, false);
        }
        match place {
            Place::Own { region, offset } => {
                self.state.store(region, offset, size, value.classes);
                if confined && self.judging {
                    self.frame.kept.push((i.ip(), region, offset));
                }
            }
            _ if confined => self.find(i, STORED, false),
            _ => {}
        }
    }

    pub(super) fn set(&mut self, register: usize, value: Value) {
        self.state.registers[register] = value;
        self.state.defined |= 1 << register;
    }
}
