//! What an instruction does, as far as the analysis follows it.

pub(crate) type Register = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    Next,
    Call,
    Return,
    Jump,
    Branch,
    /// The program ends here. Linkers fill gaps with such instructions.
    Stop,
    Interrupt,
    /// Begins or ends a memory transaction.
    Transaction,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Code(u64),
    Slot(u64),
    Register(Register),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Condition {
    Equal,
    NotEqual,
    Above,
    NotAbove,
    Below,
    NotBelow,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operand {
    /// A general register, and how many of its bytes.
    General(Register, usize),
    Special,
    /// The instruction's one memory operand.
    Memory,
    Constant(i64),
    Other,
}

/// What an instruction leaves in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Definition {
    /// What was there.
    Not,
    Constant(u64),
    /// What another register had.
    Copy(Register),
    Unknown,
}

/// A load into a register, relative to the instruction pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RelativeLoad {
    /// This address.
    Address(u64),
    /// What stands at this address.
    Slot(u64),
}

/// An address: base + index * scale + displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryOperand {
    pub base: Option<Register>,
    pub index: Option<Register>,
    /// There is an index, possibly a vector register.
    pub has_index: bool,
    pub is_scaled: bool,
    /// By what an index is multiplied.
    pub scale: usize,
    pub displacement: u64,
    /// The address, if it is relative to the instruction pointer.
    pub fixed: Option<u64>,
    pub bytes: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Action {
    Nothing,
    Copy,
    CopyExtended,
    Address,
    Add,
    Subtract,
    /// A result independent of the operands, with its value if that is known.
    Set(Option<i64>),
    And,
    Or,
    OrSelf,
    Xor,
    Carry,
    Multiply([usize; 2]),
    /// low * operand 0 into the pair.
    MultiplyWide(Pair),
    /// low / operand 0: the quotient into low, the remainder into high.
    Divide(Pair),
    /// A shift, rotation or negation of operand 0, by operand 1 if there is one.
    Scale,
    Compare,
    Test,
    Widen(Register),
    Sign(Pair),
    Push,
    Pop,
    /// Copies the frame pointer to the stack pointer, and pops the frame pointer.
    Leave,
    Fill(Fill),
    Choose,
    Flag,
    Other(Effects),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pair {
    pub low: Register,
    pub high: Register,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fill {
    pub to: Register,
    pub from: Register,
    pub length: Register,
    pub value: Option<Register>,
    pub repeats: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Effects {
    /// General registers whose value is used other than in an address.
    pub reads: Vec<Register>,
    /// Changed registers; `None` is a special one.
    pub writes: Vec<Option<Register>>,
    pub reads_memory: bool,
    pub writes_memory: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub address: u64,
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
    pub fn destination(&self) -> Option<Register> {
        match self.operands.first() {
            Some(Operand::General(register, _)) => Some(*register),
            _ => None,
        }
    }
}
