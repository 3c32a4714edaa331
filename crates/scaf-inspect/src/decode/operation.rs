//! What an instruction does, as far as the analysis follows it.

/// The number of a general register.
pub(crate) type Register = usize;

/// Where the path goes on after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// To the next instruction.
    Next,
    Call,
    Return,
    /// Always to the target.
    Jump,
    /// To the target or to the next instruction.
    Branch,
    /// Nowhere: the program is ended. Linkers fill gaps with such instructions.
    Stop,
    /// Nowhere: another kind of interrupt.
    Interrupt,
    /// Into or out of a memory transaction.
    Transaction,
}

/// What a call, jump or branch names as its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Code(u64),
    /// The address in a memory cell that the instruction names.
    Slot(u64),
    Register(Register),
    /// Anything else, an entry of a table for instance.
    Unknown,
}

/// The comparison that a conditional instruction asks about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Above,
    NotAbove,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// A general register, or its lowest bytes.
    General {
        register: Register,
        bytes: usize,
    },
    /// A vector, segment or control register.
    Special,
    /// The instruction's memory operand.
    Memory,
    Constant(i64),
    Other,
}

/// An address, computed as base + index * scale + displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryOperand {
    pub base: Option<Register>,
    /// A general register; `has_index` also counts a vector register.
    pub index: Option<Register>,
    pub has_index: bool,
    /// The scale is larger than one.
    pub is_scaled: bool,
    pub displacement: u64,
    /// The address, where it is relative to the code.
    pub fixed: Option<u64>,
    /// Bytes that are read or written.
    pub bytes: usize,
}

/// What an instruction computes. Operand 0 is where the result goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Nothing,
    /// Operand 1 into operand 0. An extended value is no longer known exactly.
    Copy {
        extends: bool,
    },
    /// The address of the memory operand, which is not read.
    Address,
    /// Operand 1 to operand 0.
    Add,
    Subtract,
    /// Nought, whatever the operands are.
    Zero,
    /// All bits of the borrow: says nothing about the operands.
    Borrow,
    And,
    Or,
    /// A register with itself, which only sets the flags.
    OrSelf,
    Xor,
    /// Addition or subtraction with the carry.
    Carry,
    /// The product of two operands.
    Multiply {
        factors: [usize; 2],
    },
    /// Register `low` times operand 0, into both registers.
    MultiplyWide {
        low: Register,
        high: Register,
    },
    /// Register `quotient` by operand 0, into both registers.
    Divide {
        quotient: Register,
        remainder: Register,
    },
    /// A shift, rotation or negation: operand 0, by operand 1 if there is one.
    Scale,
    /// Sets the flags by comparing operands 0 and 1.
    Compare,
    /// Sets the flags by the bits that both operands have.
    Test,
    /// Extends a register in place.
    Widen(Register),
    /// Fills register `to` with the sign of register `from`.
    Sign {
        from: Register,
        to: Register,
    },
    Push,
    Pop,
    /// Takes down the frame: the stack pointer becomes the frame pointer, which is popped.
    Leave,
    /// Sets a stretch of memory to `value`, or copies it.
    Fill {
        to: Register,
        from: Register,
        length: Register,
        value: Option<Register>,
        repeats: bool,
    },
    /// Operand 1 or what operand 0 was, by a condition.
    Choose,
    /// A condition as nought or one.
    Flag,
    /// Anything else: what it reads decides what it writes.
    Other {
        /// General registers whose value it uses other than in an address.
        reads: Vec<Register>,
        /// Registers that it changes; `None` is a special one.
        writes: Vec<Option<Register>>,
        reads_memory: bool,
        writes_memory: bool,
    },
}

/// An instruction with all that the analysis asks about it.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub address: u64,
    /// The address of the next instruction.
    pub next: u64,
    pub flow: Flow,
    pub target: Target,
    pub condition: Option<Condition>,
    pub reads_flags: bool,
    pub writes_flags: bool,
    pub action: Action,
    pub operands: Vec<Operand>,
    pub memory: Option<MemoryOperand>,
    /// Restores the stack pointer or a register that the function had saved, or does nothing.
    pub takes_down_frame: bool,
}

impl Operation {
    /// The general register of operand 0.
    pub fn destination(&self) -> Option<Register> {
        match self.operands.first() {
            Some(Operand::General { register, .. }) => Some(*register),
            _ => None,
        }
    }
}
