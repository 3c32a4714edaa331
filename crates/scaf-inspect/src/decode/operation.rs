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
    /// A general register, and how many of its bytes.
    General(Register, usize),
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
    pub index: Option<Register>,
    /// There is an index, be it a vector register.
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
    /// Operand 1 into operand 0.
    Copy,
    /// The same, extended by its sign or by zeros.
    CopyExtended,
    /// The address of the memory operand, which is not read.
    Address,
    /// Operand 1 to operand 0.
    Add,
    Subtract,
    /// What the operands have no part in, and its value if it has one.
    Set(Option<i64>),
    And,
    Or,
    /// A register with itself, which only sets the flags.
    OrSelf,
    Xor,
    /// Addition or subtraction with the carry.
    Carry,
    /// The product of two operands.
    Multiply([usize; 2]),
    /// The lower register times operand 0, into both.
    MultiplyWide(Pair),
    /// The lower register by operand 0: the quotient replaces it, the remainder goes into the upper one.
    Divide(Pair),
    /// A shift, rotation or negation: operand 0, by operand 1 if there is one.
    Scale,
    /// Sets the flags by comparing operands 0 and 1.
    Compare,
    /// Sets the flags by the bits that both operands have.
    Test,
    /// Extends a register in place.
    Widen(Register),
    /// Fills the upper register with the sign of the lower one.
    Sign(Pair),
    Push,
    Pop,
    /// Takes down the frame: the stack pointer becomes the frame pointer, which is popped.
    Leave,
    Fill(Fill),
    /// Operand 1 or what operand 0 was, by a condition.
    Choose,
    /// A condition as nought or one.
    Flag,
    Other(Effects),
}

/// Registers of a number that is too long for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub low: Register,
    pub high: Register,
}

/// Sets a stretch of memory to a value, or copies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fill {
    pub to: Register,
    pub from: Register,
    pub length: Register,
    /// `None` for a copy.
    pub value: Option<Register>,
    pub repeats: bool,
}

/// Anything else: what is read decides what is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Effects {
    /// General registers whose value is used other than in an address.
    pub reads: Vec<Register>,
    /// Registers that are changed; `None` is a special one.
    pub writes: Vec<Option<Register>>,
    pub reads_memory: bool,
    pub writes_memory: bool,
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
            Some(Operand::General(register, _)) => Some(*register),
            _ => None,
        }
    }
}
