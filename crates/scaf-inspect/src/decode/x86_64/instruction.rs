use super::abi::{SCRATCH, VECTORS, VECTORS_END};
use crate::decode::RegisterSet;
use crate::decode::operation::{Flow, Register, Target};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, InstructionInfo, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register as Name,
};
use std::cell::RefCell;

#[derive(Clone, Copy)]
pub(crate) struct Instruction(pub(super) iced_x86::Instruction);

/// Instructions whose result changes by itself.
const CHANGING: [Mnemonic; 7] = [
    Mnemonic::In,
    Mnemonic::Rdpmc,
    Mnemonic::Rdrand,
    Mnemonic::Rdseed,
    Mnemonic::Rdtsc,
    Mnemonic::Rdtscp,
    Mnemonic::Umwait,
];
thread_local! {
    pub(super) static INFO: RefCell<InstructionInfoFactory> = RefCell::new(InstructionInfoFactory::new());
}

/// The numbers of all registers that are neither general nor vector nor mask registers, and of the flags.
pub(super) const OTHERS: usize = 56;
pub(super) use crate::decode::step::FLAGS;

/// What an instruction does, if that is little.
pub(crate) enum Effect {
    /// It reads, and changes at most registers and flags.
    Registers(Look),
    /// It calls a function, which may change registers.
    Call(Look),
    More,
}

#[derive(Default)]
pub(crate) struct Look {
    pub reads_memory: bool,
    pub reads: RegisterSet,
    pub writes: RegisterSet,
}

pub(crate) fn decode(code: &[u8], address: u64) -> impl Iterator<Item = Instruction> {
    Decoder::with_ip(64, code, address, DecoderOptions::NONE).into_iter().map(Instruction)
}

/// Decodes the code from `address` up to `end` into `all`, at most so many instructions; `false` if there are
/// more, or other bytes. Each is written to its place, for copies take as long as decoding.
pub(crate) fn decode_into(
    all: &mut Vec<Instruction>,
    code: &[u8],
    (address, end): (u64, u64),
    most: usize,
) -> bool {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    all.clear();
    while decoder.can_decode() && decoder.ip() < end {
        if all.len() == most {
            return false;
        }
        all.push(Instruction(iced_x86::Instruction::default()));
        let Some(Instruction(place)) = all.last_mut() else { return false };
        decoder.decode_out(place);
        if place.is_invalid() {
            all.pop();
            return false;
        }
    }
    true
}

impl Instruction {
    pub fn address(&self) -> u64 {
        self.0.ip()
    }

    pub fn next(&self) -> u64 {
        self.0.next_ip()
    }

    pub fn is_invalid(&self) -> bool {
        self.0.is_invalid()
    }

    /// Whether its purpose is that time passes.
    pub fn pauses(&self) -> bool {
        use Mnemonic::{Monitorx, Mwaitx, Pause, Tpause, Umonitor, Umwait};
        matches!(self.0.mnemonic(), Monitorx | Mwaitx | Pause | Tpause | Umonitor | Umwait)
    }

    /// Whether it only fills the room up to what begins behind it.
    pub fn is_padding(&self) -> bool {
        matches!(self.0.mnemonic(), Mnemonic::Nop | Mnemonic::Int3)
    }

    pub fn flow(&self) -> Flow {
        match self.0.flow_control() {
            FlowControl::Next => Flow::Next,
            FlowControl::Call if self.0.mnemonic() != Mnemonic::Call => Flow::Interrupt,
            FlowControl::Call | FlowControl::IndirectCall => Flow::Call,
            FlowControl::Return => Flow::Return,
            FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => Flow::Jump,
            FlowControl::ConditionalBranch => Flow::Branch,
            FlowControl::Exception => Flow::Stop,
            FlowControl::Interrupt if self.0.mnemonic() == Mnemonic::Int3 => Flow::Stop,
            FlowControl::Interrupt => Flow::Interrupt,
            FlowControl::XbeginXabortXend => Flow::Transaction,
        }
    }

    pub fn target(&self) -> Target {
        match self.0.op0_kind() {
            OpKind::NearBranch64 => Target::Code(self.0.near_branch_target()),
            OpKind::Memory => self.fixed_address().map_or(Target::Unknown, Target::Slot),
            OpKind::Register => general(self.0.op0_register()).map_or(Target::Unknown, Target::Register),
            _ => Target::Unknown,
        }
    }

    pub fn fixed_address(&self) -> Option<u64> {
        self.0.is_ip_rel_memory_operand().then(|| self.0.ip_rel_memory_address())
    }

    /// Where in the instruction, which this code begins with, the distance to [`Self::fixed_address`] stands,
    /// if that has four bytes.
    pub fn displacement_offset(&self, code: &[u8]) -> Option<u64> {
        let mut decoder = Decoder::with_ip(64, code, self.address(), DecoderOptions::NONE);
        let again = decoder.decode();
        let places = decoder.get_constant_offsets(&again);
        (again == self.0 && places.displacement_size() == 4).then_some(places.displacement_offset() as u64)
    }

    pub fn loads_register(&self) -> bool {
        self.0.mnemonic() == Mnemonic::Mov && self.0.op0_kind() == OpKind::Register
    }

    pub fn effect(&self) -> Effect {
        let i = &self.0;
        // A fast path for most writes to memory.
        if i.mnemonic() == Mnemonic::Mov && i.op0_kind() == OpKind::Memory {
            return Effect::More;
        }
        let calls = matches!(i.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        if calls && matches!(i.mnemonic(), Mnemonic::Call) {
            let mut writes = RegisterSet::default();
            SCRATCH.iter().for_each(|register| writes.insert(*register));
            return Effect::Call(Look { writes, ..Look::default() });
        }
        let goes_on = matches!(
            i.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        // PAUSE is a NOP with a prefix.
        let repeats = (i.has_rep_prefix() || i.has_repne_prefix()) && i.mnemonic() != Mnemonic::Pause;
        if !goes_on || repeats || CHANGING.contains(&i.mnemonic()) {
            return Effect::More;
        }
        let is_fence = self.writes_back_what_was_there() || self.exchanges_with_stack();
        INFO.with_borrow_mut(|info| Self::look_at(info.info(i), is_fence, i))
    }

    fn look_at(used: &InstructionInfo, is_fence: bool, i: &iced_x86::Instruction) -> Effect {
        let mut look = Look::default();
        for memory in used.used_memory() {
            match memory.access() {
                OpAccess::NoMemAccess | OpAccess::None => {}
                _ if is_fence => {}
                OpAccess::Read | OpAccess::CondRead => look.reads_memory = true,
                _ => return Effect::More,
            }
        }
        for register in used.used_registers() {
            let whole = number(register.register());
            // What is written on a condition else keeps its value, and so may one of several.
            if whole == OTHERS || !matches!(register.access(), OpAccess::Write) {
                look.reads.insert(whole);
            }
            if !matches!(register.access(), OpAccess::Read | OpAccess::CondRead) {
                look.writes.insert(whole);
            }
        }
        // Flags count as one more register.
        if i.rflags_read() != 0 {
            look.reads.insert(FLAGS);
        }
        if i.rflags_modified() != 0 {
            look.writes.insert(FLAGS);
        }
        Effect::Registers(look)
    }

    /// `lock or $0,(%rsp)` and the like, by which compilers make fences.
    fn writes_back_what_was_there(&self) -> bool {
        let is_constant = is_immediate(self.0.op1_kind());
        let neutral = match self.0.mnemonic() {
            Mnemonic::Or | Mnemonic::Add | Mnemonic::Sub | Mnemonic::Xor => Some(0),
            _ => None,
        };
        self.0.op0_kind() == OpKind::Memory && is_constant && neutral == Some(self.0.immediate(1))
    }

    /// `xchg` with a place at the stack pointer, another fence.
    fn exchanges_with_stack(&self) -> bool {
        self.0.mnemonic() == Mnemonic::Xchg
            && [self.0.op0_kind(), self.0.op1_kind()].contains(&OpKind::Memory)
            && self.0.memory_base() == Name::RSP
            && self.0.memory_index() == Name::None
    }
}

pub(super) fn is_immediate(kind: OpKind) -> bool {
    use OpKind as K;
    matches!(kind, K::Immediate8 | K::Immediate16 | K::Immediate32 | K::Immediate64)
        || matches!(kind, K::Immediate8to16 | K::Immediate8to32 | K::Immediate8to64 | K::Immediate32to64)
}

pub(super) fn is_read(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::None | OpAccess::NoMemAccess)
}

pub(super) fn is_written(access: OpAccess) -> bool {
    !matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::None | OpAccess::NoMemAccess)
}

pub(super) fn general(name: Name) -> Option<Register> {
    name.is_gpr().then(|| name.full_register().number())
}

/// Parts of a register have the number of the whole.
pub(super) fn number(name: Name) -> usize {
    let whole = name.full_register();
    match whole.number() {
        number if whole.is_gpr() => number,
        number if whole.is_zmm() => VECTORS + number,
        number if whole.is_k() => VECTORS_END + number,
        _ => OTHERS,
    }
}
