//! Instructions that compute, move and compare.

use super::class::Classes;
use super::state::{Exact, Flags, Place, RAX, RBP, RCX, RDX, RSP, Step, Value};
use super::step::{ESCAPES, STORED, Walk};
use iced_x86::{
    ConditionCode, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

impl Walk<'_, '_, '_> {
    /// Carries out one instruction that neither jumps nor calls.
    pub(super) fn compute(&mut self, i: &Instruction) {
        use Mnemonic as M;
        self.condition(i);
        let flags = if i.rflags_modified() == 0 { self.state.flags } else { self.flags_after(i) };
        match i.mnemonic() {
            M::Mov | M::Movzx | M::Movsx | M::Movsxd if is_general(i) => self.copy(i),
            M::Lea => self.lea(i),
            M::Add | M::Sub | M::Inc | M::Dec => self.add(i),
            M::Xor if is_same_register(i) => self.write(i, 0, Value::constant(0)),
            M::And | M::Or | M::Xor | M::Adc | M::Sbb => self.combine(i),
            M::Imul | M::Mul => self.multiply(i),
            M::Div | M::Idiv => self.divide(i),
            M::Shl | M::Sal | M::Shr | M::Sar | M::Neg | M::Not | M::Rol | M::Ror | M::Bswap => {
                let value = self.read(i, 0);
                let count = if i.op_count() > 1 { self.read(i, 1).classes } else { Classes::CLEAN };
                let classes = value.classes.scaled();
                let classes = if count.is_clean() { classes } else { classes.plus(count.scaled()) };
                self.write(i, 0, Value { step: value.step, ..Value::of(classes) });
            }
            M::Cmp => {
                let (a, b) = (self.read(i, 0), self.read(i, 1));
                self.compare(i, a, b);
            }
            M::Test => self.test(i),
            M::Cdqe | M::Cwde | M::Cbw => self.narrow(RAX),
            M::Cdq | M::Cqo | M::Cwd => {
                let sign = self.state.registers[RAX].classes.scaled();
                self.set(RDX, Value::of(sign));
            }
            M::Push => self.push(i),
            M::Pop => self.pop(i),
            M::Leave => self.leave(),
            M::Nop | M::Endbr64 | M::Pause | M::Ud2 | M::Int3 | M::Prefetcht0 => {}
            M::Movsb | M::Movsd | M::Movsq | M::Stosb | M::Stosd | M::Stosq if i.is_string_instruction() => {
                self.fill(i)
            }
            _ if is_conditional_move(i) => {
                let value = self.read(i, 0).join(self.read(i, 1));
                self.write(i, 0, value);
            }
            _ if i.condition_code() != ConditionCode::None => self.flag(i),
            _ => self.anything(i),
        }
        if !matches!(i.mnemonic(), M::Cmp | M::Test) {
            self.state.flags = flags;
        }
    }

    /// Judges what a conditional instruction decides by.
    pub(super) fn condition(&mut self, i: &Instruction) {
        if i.rflags_read() == 0 {
            return;
        }
        let equal = matches!(i.condition_code(), ConditionCode::e | ConditionCode::ne);
        match self.state.flags {
            Flags::Bound if equal => self.find(i, "asks for one certain thread other than the first", false),
            Flags::Share if equal => self.find(i, "asks for one certain thread other than the first", false),
            Flags::Number => self.find(i, "decides by its thread number or the team size", false),
            // Branches are judged by what they skip.
            Flags::First if i.flow_control() != FlowControl::ConditionalBranch => {
                self.find(i, "computes with whether it is the first thread", false);
            }
            Flags::Free | Flags::Bound | Flags::Share | Flags::First => {}
        }
    }

    /// Arithmetic sets the flags as well, and gcc -Os compares with one by subtracting it.
    fn flags_after(&mut self, i: &Instruction) -> Flags {
        let tells = (0..i.op_count()).any(|operand| {
            let classes = match i.op_kind(operand) {
                OpKind::Register => {
                    Self::register(i.op_register(operand)).map(|r| self.state.registers[r].classes)
                }
                OpKind::Memory => {
                    let (place, _) = self.address(i);
                    Some(self.state.load(place, i.memory_size().size()))
                }
                _ => None,
            };
            classes.is_some_and(|classes| classes.is_thread() || classes.is_team())
        });
        if tells { Flags::Number } else { Flags::Free }
    }

    fn copy(&mut self, i: &Instruction) {
        let value = self.read(i, 1);
        let to = (i.op0_kind() == OpKind::Register).then(|| Self::register(i.op0_register())).flatten();
        let plain = i.mnemonic() == Mnemonic::Mov && i.op0_register().size() == 8;
        let constant = matches!(value.exact, Exact::Constant(_)) && i.mnemonic() == Mnemonic::Mov;
        // The frame pointer names the frame, any other register may carry its address away.
        if plain && value.is_stack() && !matches!(to, Some(RBP | RSP)) {
            self.take_address(value);
        }
        if i.op0_kind() == OpKind::Memory && value.is_stack() {
            self.take_address(value);
        }
        let keeps = plain || constant || i.op0_kind() == OpKind::Memory;
        self.write(i, 0, if keeps { value } else { Value { exact: Exact::Any, ..value } });
    }

    fn take_address(&mut self, value: Value) {
        if self.judging {
            self.frame.taken.push(match value.exact {
                Exact::Stack { region, offset } => (region, offset),
                _ => (0, i64::MIN),
            });
        }
    }

    fn lea(&mut self, i: &Instruction) {
        let (place, mut classes) = self.address(i);
        if i.is_ip_rel_memory_operand() {
            let table = i.ip_rel_memory_address();
            if self.analysis.code.elf.data.iter().any(|piece| piece.covers(table)) {
                self.frame.tables.insert((table, false));
            }
        }
        let base = Self::register(i.memory_base()).map(|r| self.state.registers[r]);
        let index = Self::register(i.memory_index()).map(|r| self.state.registers[r]);
        let mut step = base.or(index).map_or(Step::None, |value| value.step);
        if let (Some(base), Some(mut index)) = (base, index) {
            if i.memory_index_scale() > 1 {
                index.classes = index.classes.scaled();
            }
            (classes, step) = self.stepped(i, base, index);
        }
        if i.memory_displacement64() != 0 || (base.is_some() && index.is_some()) {
            classes = classes.shifted();
        }
        let exact = match place {
            Place::Own { region, offset } => Exact::Stack { region, offset },
            Place::SomewhereOwn => Exact::SomeStack,
            Place::Elsewhere => Exact::Any,
        };
        let value = Value { classes, exact, step };
        let adjusts = matches!(Self::register(i.op0_register()), Some(RSP | RBP));
        if value.is_stack() && !adjusts {
            self.take_address(value);
        }
        self.write(i, 0, value);
    }

    /// Adds, and remembers where a thread's multiple takes a step of the team's.
    fn stepped(&mut self, i: &Instruction, a: Value, b: Value) -> (Classes, Step) {
        let (sum, is_step) = a.classes.stepped(b.classes);
        if !is_step {
            return (sum, a.step.join(b.step));
        }
        if self.judging {
            let carried = a.classes.has(Classes::STEPPED) || b.classes.has(Classes::STEPPED);
            self.frame.steps.push((i.ip(), carried.then_some(self.block)));
        }
        (sum, Step::At(i.ip()))
    }

    fn add(&mut self, i: &Instruction) {
        if i.mnemonic() == Mnemonic::Sub && is_same_register(i) {
            return self.write(i, 0, Value::constant(0));
        }
        let a = self.read(i, 0);
        let b = if i.op_count() > 1 { self.read(i, 1) } else { Value::constant(1) };
        let minus = matches!(i.mnemonic(), Mnemonic::Sub | Mnemonic::Dec);
        let exact = match (a.exact, b.exact) {
            (Exact::Stack { region, offset }, Exact::Constant(by)) => {
                let offset = if minus { offset.wrapping_sub(by) } else { offset.wrapping_add(by) };
                Exact::Stack { region, offset }
            }
            _ if Self::register(i.op0_register()) == Some(RSP) => self.new_region(i),
            _ if a.is_stack() || b.is_stack() => Exact::SomeStack,
            _ => Exact::Any,
        };
        let (classes, step) = if minus {
            if let (Step::At(step), true) = (a.step, b.classes.is_thread()) {
                // gcc finds the distance of two chunks this way.
                self.frame.bounded_steps.insert(step);
            }
            (a.classes.minus(b.classes), Step::None)
        } else {
            self.stepped(i, a, b)
        };
        let unchanged = b.exact == Exact::Constant(0);
        let classes = if unchanged { classes } else { classes.shifted() };
        self.write(i, 0, Value { classes, exact, step });
    }

    /// The stack pointer moves by an unknown distance: what follows is a frame of its own.
    fn new_region(&mut self, i: &Instruction) -> Exact {
        let next = u8::try_from(self.frame.regions.len() + 1).ok();
        match self.frame.regions.get(&i.ip()).copied().or(next) {
            Some(region) => {
                self.frame.regions.insert(i.ip(), region);
                Exact::Stack { region, offset: 0 }
            }
            None => Exact::SomeStack,
        }
    }

    fn combine(&mut self, i: &Instruction) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        if i.mnemonic() == Mnemonic::And && Self::register(i.op0_register()) == Some(RSP) {
            let exact = self.new_region(i);
            return self.set(RSP, Value { exact, ..Value::CLEAN });
        }
        let fixed = match (i.mnemonic(), b.exact) {
            (Mnemonic::Or, Exact::Constant(-1)) => Some(-1),
            (Mnemonic::And, Exact::Constant(0)) => Some(0),
            // All bits of the borrow: says nothing about the register's own value.
            (Mnemonic::Sbb, _) if is_same_register(i) => return self.write(i, 0, Value::CLEAN),
            _ => None,
        };
        if let Some(value) = fixed {
            return self.write(i, 0, Value::constant(value));
        }
        let classes = match i.mnemonic() {
            Mnemonic::Or if is_same_register(i) => a.classes,
            Mnemonic::Adc | Mnemonic::Sbb => a.classes.plus(b.classes).shifted(),
            _ => a.classes.scaled().plus(b.classes.scaled()),
        };
        let exact = if a.is_stack() || b.is_stack() { Exact::SomeStack } else { Exact::Any };
        self.write(i, 0, Value { classes, exact, step: a.step.join(b.step) });
    }

    fn multiply(&mut self, i: &Instruction) {
        let product = match i.op_count() {
            1 => {
                let other = self.read(i, 0);
                let product = self.state.registers[RAX].classes.times(other.classes);
                self.set(RDX, Value::of(product));
                return self.set(RAX, Value::of(product));
            }
            2 => self.read(i, 0).classes.times(self.read(i, 1).classes),
            _ => self.read(i, 1).classes.times(self.read(i, 2).classes),
        };
        self.write(i, 0, Value::of(product));
    }

    fn divide(&mut self, i: &Instruction) {
        let divisor = self.read(i, 0);
        let (quotient, remainder) = self.state.registers[RAX].classes.divided_by(divisor.classes);
        self.set(RAX, Value::of(quotient));
        self.set(RDX, Value::of(remainder));
    }

    fn test(&mut self, i: &Instruction) {
        let (a, b) = (self.read(i, 0), self.read(i, 1));
        if is_same_register(i) {
            return self.compare(i, a, Value::constant(0));
        }
        self.state.flags = Flags::Free;
        if [a, b].iter().any(|v| v.classes.is_thread() || v.classes.is_team()) {
            self.find(i, "tests bits of its thread number or of the team size", false);
        }
    }

    /// A thread may ask whether it is the first, or compare itself with the loop's remainder.
    ///
    /// Not whether it is the last one, nor for the team's size: of a team of one, the first is the last.
    fn compare(&mut self, i: &Instruction, a: Value, b: Value) {
        self.state.flags = Flags::Free;
        for (x, y) in [(a, b), (b, a)] {
            if x.is_function() {
                self.find(i, ESCAPES, false);
            }
            if x.classes.has(Classes::STEPPED) && y.classes.is_clean() && self.judging {
                self.frame.bounds.insert(self.block);
                if let Step::At(step) = x.step {
                    self.frame.bounded_steps.insert(step);
                }
            }
            if x.classes.is_thread() && !y.classes.is_clean() {
                let remainder = y.classes.has(Classes::REMAINDER) && !y.classes.is_team();
                if remainder && !y.classes.is_thread() {
                    self.state.flags = Flags::Share;
                } else {
                    self.find(i, "compares its thread number with the team size or the like", false);
                }
            } else if x.classes.is_thread() {
                // A thread number less one may be nought as well.
                let itself = !x.classes.has(Classes::THREAD_PART.or(Classes::SHIFTED));
                if itself && y.exact == Exact::Constant(0) {
                    self.state.flags = Flags::First;
                } else {
                    self.state.flags = Flags::Bound;
                    if self.judging {
                        self.frame.bounded.push(i.ip());
                    }
                }
            }
            if x.classes.is_team() {
                self.find(i, "compares the team size", false);
            }
        }
    }

    fn narrow(&mut self, register: usize) {
        self.state.registers[register].exact = Exact::Any;
    }

    fn moved_stack(&mut self, by: i64) -> Place {
        match self.state.registers[RSP].exact {
            Exact::Stack { region, offset } => {
                let offset = offset.wrapping_add(by);
                self.state.registers[RSP].exact = Exact::Stack { region, offset };
                Place::Own { region, offset }
            }
            _ => Place::SomewhereOwn,
        }
    }

    fn push(&mut self, i: &Instruction) {
        let value = self.read(i, 0);
        let place = self.moved_stack(-8);
        self.store(i, place, 8, Value::of(value.classes));
        if value.is_function() {
            // A callee-saved register of ours never holds one on entry, so this is no mere saving.
            self.find(i, ESCAPES, false);
        }
    }

    fn pop(&mut self, i: &Instruction) {
        let place = match self.state.registers[RSP].exact {
            Exact::Stack { region, offset } => Place::Own { region, offset },
            _ => Place::SomewhereOwn,
        };
        let classes = self.state.load(place, 8);
        self.moved_stack(8);
        self.write(i, 0, Value::of(classes));
    }

    fn leave(&mut self) {
        self.state.registers[RSP] = self.state.registers[RBP];
        let place = self.moved_stack(8);
        let saved = match place {
            Place::Own { region, offset } => Place::Own { region, offset: offset.wrapping_sub(8) },
            other => other,
        };
        let classes = self.state.load(saved, 8);
        self.set(RBP, Value::of(classes));
    }

    /// `rep stos` and `rep movs`: a memset or memcpy in place, whose length may be a loop's share.
    fn fill(&mut self, i: &Instruction) {
        const RSI: usize = 6;
        const RDI: usize = 7;
        let stores = matches!(i.mnemonic(), Mnemonic::Stosb | Mnemonic::Stosd | Mnemonic::Stosq);
        let classes = |register: usize| self.state.registers[register].classes;
        let length = classes(RCX);
        if classes(RDI).is_confined()
            || (!stores && classes(RSI).is_confined())
            || length.is_thread()
            || length.is_team()
        {
            self.find(i, "chooses memory to fill by its thread number or the team size", false);
        }
        if stores && self.state.registers[RAX].classes.is_confined() {
            self.find(i, STORED, false);
        }
        if !stores {
            // A copy out of the own frame may carry away anything that lies there.
            let held = self.state.load(Place::SomewhereOwn, 8);
            if self.state.registers[RSI].is_stack() && held.is_confined() {
                self.find(i, STORED, false);
            }
        }
        if i.has_rep_prefix() || i.has_repne_prefix() {
            self.set(RCX, Value::constant(0));
        }
    }

    /// A flag as a value: nought or one, whatever was compared.
    fn flag(&mut self, i: &Instruction) {
        match (i.op0_kind(), Self::register(i.op0_register())) {
            (OpKind::Register, Some(register)) => self.set(register, Value::CLEAN),
            _ => self.write(i, 0, Value::CLEAN),
        }
    }

    /// Everything else: what goes in comes out, and must not come out where it is not followed.
    fn anything(&mut self, i: &Instruction) {
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(i);
        let mut classes = Classes::CLEAN;
        let mut escapes = false;
        for used in info.used_registers() {
            let reads = !matches!(
                used.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess
            );
            let addresses = [i.memory_base(), i.memory_index()].contains(&used.register());
            if let Some(register) = Self::register(used.register())
                && reads
                && !addresses
            {
                let value = self.state.registers[register];
                classes = classes.plus(value.classes.scaled());
                escapes |= value.is_function();
            }
        }
        let (mut reads, mut writes) = (false, false);
        for used in info.used_memory() {
            reads |= !matches!(
                used.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess
            );
            writes |= matches!(
                used.access(),
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            );
        }
        let place = (0..i.op_count()).any(|o| i.op_kind(o) == OpKind::Memory).then(|| self.place(i));
        let size = i.memory_size().size().max(8);
        if reads && let Some(place) = place {
            classes = classes.plus(self.state.load(place, size).scaled());
        }
        if escapes {
            self.find(i, ESCAPES, false);
        }
        if writes {
            match place {
                Some(Place::Own { region, offset }) if !classes.is_confined() => {
                    self.state.store(region, offset, i.memory_size().size(), Classes::CLEAN);
                }
                _ if classes.is_confined() => self.find(i, STORED, false),
                _ => {}
            }
        }
        for used in info.used_registers() {
            let written = !matches!(
                used.access(),
                OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess
            );
            if !written {
                continue;
            }
            match Self::register(used.register()) {
                Some(RSP) => self.state.registers[RSP].exact = Exact::SomeStack,
                Some(register) => self.set(register, Value::of(classes)),
                None if classes.is_confined() => {
                    self.find(
                        i,
                        "copies the team size or thread number into a vector or float register",
                        false,
                    );
                }
                None => {}
            }
        }
    }
}

/// Both sides are general registers, memory or constants: no vector, segment or control register.
fn is_general(i: &Instruction) -> bool {
    let plain = |operand: u32| i.op_kind(operand) != OpKind::Register || i.op_register(operand).is_gpr();
    plain(0) && plain(1)
}

fn is_same_register(i: &Instruction) -> bool {
    i.op_count() == 2
        && i.op0_kind() == OpKind::Register
        && i.op1_kind() == OpKind::Register
        && i.op0_register() == i.op1_register()
        && i.op0_register() != Register::None
}

fn is_conditional_move(i: &Instruction) -> bool {
    i.condition_code() != ConditionCode::None && i.op_count() == 2 && is_general(i)
}
