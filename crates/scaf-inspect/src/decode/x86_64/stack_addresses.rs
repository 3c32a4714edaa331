//! Does code compare an address in its stack with one that is kept elsewhere? Script engines note once for
//! each thread where its stack ends, and look whether they have come near it. A member of a gathered team is
//! on another stack than its thread.
//!
//! A function's instructions are met in their order, and what its registers and its frame have is followed
//! from one to the next and along branches ahead. Whether two addresses are equal is no such question:
//! strings of C++ ask that of their own buffers. Neither is a comparison with an address at which the
//! function reads or writes: compilers make those, to see whether arrays overlap.

use super::abi::{ARGUMENTS, RESULT, SCRATCH};
use super::instruction::{INFO, Instruction, general, is_immediate, is_written};
use crate::decode::operation::{Flow, Target};
use iced_x86::{ConditionCode as Code, Mnemonic as M, OpKind, Register as Name};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// An address in the stack.
    Stack,
    /// What this instruction loaded from memory that isn't the function's frame, an argument, or where a call
    /// said that the thread's own storage is.
    Kept(u64),
    /// How far these are from each other.
    Distance(u64),
}

type Registers = [Option<What>; 16];

/// What is known before the next instruction.
#[derive(Default)]
struct StackAddresses {
    registers: Registers,
    /// The same where branches ahead lead.
    ahead: BTreeMap<u64, Registers>,
    /// What was written relative to the frame's pointer, which code that isn't optimised does.
    frame: HashMap<u64, What>,
    /// Whether RBP is the frame's pointer.
    framed: bool,
    /// Instructions that leave the address of something of the thread's own: `mov %fs:0,%rax`, and calls.
    of_thread: HashSet<u64>,
    /// What an address was compared with, if the flags tell which is the larger one.
    compared: Option<u64>,
    /// What decided by such comparisons, by what the address was compared with,
    decided: Vec<(u64, u64)>,
    /// and what the function uses as addresses itself.
    used: HashSet<u64>,
    /// Whether it has used a register with an address in its frame to get at what is there.
    looks: bool,
    met: usize,
}

/// Most instructions of a function that does nothing but return an address in its frame.
const SMALL: usize = 12;

/// Where a function of these instructions looks where it is in the stack, if it does; `own` are its calls
/// that return the address of something of the thread's own.
pub(crate) fn looks_at_stack(function: &[Instruction], own: &[u64]) -> Option<u64> {
    if !may_look(function) {
        return None;
    }
    let of_thread = own.iter().copied().collect();
    let mut addresses = StackAddresses { of_thread, ..StackAddresses::default() };
    // No instruction is at such addresses.
    let arguments = ARGUMENTS.into_iter().zip((0..u64::MAX).rev());
    arguments.for_each(|(register, at)| addresses.set(register, Some(What::Kept(at))));
    function.iter().for_each(|instruction| addresses.meet(instruction));
    addresses.found()
}

/// Whether it decides by an order of long values of which one may be an address in its frame, or returns such
/// an address and is small: most functions don't, and needn't be followed. What registers may have is added
/// up in the order of the instructions, as [`StackAddresses`] follows them, and nothing is taken away.
fn may_look(function: &[Instruction]) -> bool {
    let mut has = MayHave::default();
    let mut compared = false;
    for Instruction(i) in function {
        match i.mnemonic() {
            M::Mov => has.follow(i),
            M::Lea => has.follow_address(i),
            M::Sar | M::Shr if is_shifted(i) && has.address(i.op0_register()) => return true,
            mnemonic @ (M::Cmp | M::Sub | M::Test | M::Neg | M::Sar | M::Shr | M::Inc | M::Dec) => {
                // With a constant only where it may be a distance.
                let of_two = matches!(mnemonic, M::Cmp | M::Sub) && !is_immediate(i.op1_kind());
                let of_address = of_two && (has.operand(i, 0) || has.operand(i, 1));
                has.distance |= of_address && mnemonic == M::Sub;
                compared = (of_address || has.distance) && compares_long(i);
            }
            _ if !compared => {}
            _ if decides_by_order(i) => return true,
            _ => compared = i.rflags_modified() == 0,
        }
    }
    has.any && function.iter().take(SMALL).any(|instruction| instruction.flow() == Flow::Return)
}

/// Which registers may have an address in the frame, RSP has one, and whether anything else may.
#[derive(Default)]
struct MayHave {
    registers: u16,
    /// Something in memory relative to the frame's pointer,
    kept: bool,
    /// the distance of two addresses,
    distance: bool,
    /// or anything.
    any: bool,
}

impl MayHave {
    fn address(&self, register: Name) -> bool {
        register == Name::RSP
            || (register.is_gpr64() && self.registers & (1 << (register as u32 - Name::RAX as u32)) != 0)
    }

    fn operand(&self, i: &iced_x86::Instruction, number: u32) -> bool {
        match i.op_kind(number) {
            OpKind::Register => self.address(i.op_register(number)),
            OpKind::Memory => self.kept && i.memory_base() == Name::RBP,
            _ => false,
        }
    }

    /// Takes a copy into the first operand.
    fn follow(&mut self, i: &iced_x86::Instruction) {
        if self.operand(i, 1) {
            self.leave_in(i.op0_register(), i);
        }
    }

    /// Takes the address that it makes.
    fn follow_address(&mut self, i: &iced_x86::Instruction) {
        if self.address(i.memory_base()) {
            self.leave_in(i.op0_register(), i);
        }
    }

    fn leave_in(&mut self, register: Name, i: &iced_x86::Instruction) {
        if register.is_gpr64() {
            self.registers |= 1 << (register as u32 - Name::RAX as u32);
        } else {
            self.kept |= i.memory_base() == Name::RBP;
        }
        self.any |= !matches!(register, Name::RSP | Name::RBP);
    }
}

/// Whether it drops so many bits of a long value that an address becomes the number of a page, or of more.
/// Half an address, as for `makecontext`, is none.
fn is_shifted(i: &iced_x86::Instruction) -> bool {
    let drops = || is_immediate(i.op1_kind()) && (12..32).contains(&(i.immediate(1) & 63));
    matches!(i.mnemonic(), M::Sar | M::Shr) && i.op0_register().size() == 8 && drops()
}

/// Whether it may leave in the flags how two addresses compare.
fn compares_long(i: &iced_x86::Instruction) -> bool {
    let compares =
        matches!(i.mnemonic(), M::Cmp | M::Test | M::Sub | M::Neg | M::Sar | M::Shr | M::Inc | M::Dec);
    let bytes = match i.op0_kind() {
        OpKind::Register => i.op0_register().size(),
        _ => i.memory_size().size(),
    };
    compares && bytes == 8
}

/// Whether it is one of the most frequent instructions, which write no register but their first operand: to
/// ask what all others write takes longer than to decode them.
fn writes_first_only(i: &iced_x86::Instruction) -> bool {
    let is_one = matches!(
        i.mnemonic(),
        M::Mov
            | M::Lea
            | M::Add
            | M::Sub
            | M::And
            | M::Or
            | M::Xor
            | M::Movzx
            | M::Movsxd
            | M::Shl
            | M::Shr
            | M::Sar
    );
    let finds = matches!(i.mnemonic(), M::Pcmpestri | M::Pcmpistri | M::Vpcmpestri | M::Vpcmpistri);
    is_one || (i.op0_register().is_vector_register() && !finds)
}

impl StackAddresses {
    /// Takes the function's next instruction.
    fn meet(&mut self, instruction: &Instruction) {
        let (i, address) = (&instruction.0, instruction.address());
        self.met += 1;
        if i.segment_prefix() == Name::FS && i.mnemonic() == M::Mov {
            self.of_thread.insert(address);
        }
        // Instructions come in their order, so nothing before this one is of use any more.
        while let Some(next) = self.ahead.first_entry().filter(|next| *next.key() <= address) {
            let (target, others) = next.remove_entry();
            if target == address {
                add(&mut self.registers, &others);
            }
        }
        if is_shifted(i) && self.of(i.op0_register()) == Some(What::Stack) {
            // Which piece of memory the stack is in tells which thread this is.
            self.decided.push((address, address));
        }
        if decides_by_order(i) {
            self.decided.extend(self.compared.map(|with| (with, address)));
        }
        if i.rflags_modified() != 0 {
            self.compared = None;
        }
        for register in [i.memory_base(), i.memory_index()] {
            match self.of(register) {
                // To count on from there is no use of what is there.
                Some(What::Kept(with)) if i.mnemonic() == M::Lea && self.of_thread.contains(&with) => {}
                Some(What::Kept(with)) => drop(self.used.insert(with)),
                Some(What::Stack) if ![Name::RSP, Name::RBP].contains(&register) => self.looks = true,
                _ => {}
            }
        }
        if matches!(instruction.flow(), Flow::Branch | Flow::Jump)
            && self.registers.iter().any(Option::is_some)
            && let Target::Code(target) = instruction.target()
            && target > address
        {
            add(self.ahead.entry(target).or_default(), &self.registers);
        }
        match instruction.flow() {
            Flow::Next | Flow::Branch => self.follow(i),
            Flow::Call => {
                SCRATCH.iter().for_each(|register| self.set(*register, None));
                if self.of_thread.contains(&address) {
                    self.set(RESULT, Some(What::Kept(address)));
                }
            }
            flow => {
                let returns = flow == Flow::Return && self.of(Name::RAX) == Some(What::Stack);
                if returns && self.met <= SMALL && !self.looks {
                    self.decided.push((address, address));
                }
                self.registers = Registers::default();
            }
        }
    }

    /// Whether the function looks where it is in the stack, and where.
    fn found(&self) -> Option<u64> {
        self.decided.iter().find(|(with, _)| !self.used.contains(with)).map(|(_, place)| *place)
    }

    fn follow(&mut self, i: &iced_x86::Instruction) {
        let (into, from) = (self.operand(i, 0), self.operand(i, 1));
        let is_register = i.op0_kind() == OpKind::Register;
        let by_constant = is_immediate(i.op1_kind());
        let result = match i.mnemonic() {
            M::Cmp => {
                self.compared = apart(into, from).or(distance(into)).or(distance(from));
                return;
            }
            M::Test => {
                self.compared = distance(into);
                return;
            }
            M::Mov if (i.op0_register(), i.op1_register()) == (Name::RBP, Name::RSP) => {
                self.framed = true;
                return;
            }
            M::Mov if is_register => from,
            M::Mov => {
                if self.framed && i.memory_base() == Name::RBP {
                    let place = i.memory_displacement64();
                    match from {
                        Some(what) => drop(self.frame.insert(place, what)),
                        None => drop(self.frame.remove(&place)),
                    }
                }
                return;
            }
            M::Lea if i.memory_index() == Name::None => {
                // Something of the thread's own lies so far from where that begins.
                self.of(i.memory_base()).filter(|what| match what {
                    What::Stack => true,
                    What::Kept(at) => self.of_thread.contains(at),
                    What::Distance(_) => false,
                })
            }
            M::Sub if let Some(with) = apart(into, from) => {
                self.compared = Some(with);
                Some(What::Distance(with))
            }
            M::Add | M::Sub | M::And if by_constant => into,
            M::Neg | M::Sar | M::Shr | M::Inc | M::Dec => {
                self.compared = distance(into);
                into.filter(|_| self.compared.is_some())
            }
            _ => None,
        };
        if self.registers.iter().all(Option::is_none) && result.is_none() {
            return;
        }
        if writes_first_only(i) {
            if is_register {
                general(i.op0_register()).into_iter().for_each(|register| self.set(register, None));
            }
        } else {
            INFO.with_borrow_mut(|info| {
                let written = info.info(i).used_registers().iter().filter(|used| is_written(used.access()));
                let written = written.filter_map(|used| general(used.register()));
                written.for_each(|register| self.set(register, None));
            });
        }
        if is_register && i.op0_register().size() == 8 {
            general(i.op0_register()).into_iter().for_each(|register| self.set(register, result));
        }
    }

    fn set(&mut self, register: usize, what: Option<What>) {
        if let Some(place) = self.registers.get_mut(register) {
            *place = what;
        }
    }

    fn of(&self, register: Name) -> Option<What> {
        let is_pointer = register == Name::RSP || (register == Name::RBP && self.framed);
        let known = || *self.registers.get(general(register)?)?;
        if is_pointer { Some(What::Stack) } else { known() }
    }

    fn is_frame(&self, i: &iced_x86::Instruction) -> bool {
        self.of(i.memory_base()) == Some(What::Stack) && i.segment_prefix() == Name::None
    }

    fn operand(&self, i: &iced_x86::Instruction, number: u32) -> Option<What> {
        if number >= i.op_count() {
            return None;
        }
        match i.op_kind(number) {
            OpKind::Register if i.op_register(number).size() == 8 => self.of(i.op_register(number)),
            OpKind::Memory if i.memory_size().size() != 8 => None,
            OpKind::Memory if !self.is_frame(i) => Some(What::Kept(i.ip())),
            OpKind::Memory if i.memory_base() == Name::RBP => {
                self.frame.get(&i.memory_displacement64()).copied()
            }
            _ => None,
        }
    }
}

/// What registers may have that come from two places.
fn add(registers: &mut Registers, others: &Registers) {
    for (register, other) in registers.iter_mut().zip(others) {
        *register = register.or(*other);
    }
}

/// What an address in the stack is compared with, if these are such.
fn apart(one: Option<What>, other: Option<What>) -> Option<u64> {
    match (one, other) {
        (Some(What::Stack), Some(What::Kept(with))) | (Some(What::Kept(with)), Some(What::Stack)) => {
            Some(with)
        }
        _ => None,
    }
}

fn distance(what: Option<What>) -> Option<u64> {
    match what {
        Some(What::Distance(with)) => Some(with),
        _ => None,
    }
}

fn decides_by_order(i: &iced_x86::Instruction) -> bool {
    let by_order = matches!(
        i.condition_code(),
        Code::a
            | Code::ae
            | Code::b
            | Code::be
            | Code::g
            | Code::ge
            | Code::l
            | Code::le
            | Code::s
            | Code::ns
    );
    by_order || matches!(i.mnemonic(), M::Adc | M::Sbb)
}
