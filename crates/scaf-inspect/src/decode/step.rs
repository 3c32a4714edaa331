//! An instruction as the analysis of effects sees it.

use super::operation::{Condition, Flow, MemoryOperand, Target};
use super::register_set::RegisterSet;

/// The flags, as a register's number.
pub(crate) const FLAGS: usize = 63;

/// As what numbers are compared, and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Order {
    Signed(usize),
    Unsigned(usize),
    Floats,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Nothing,
    /// Copies a value, extended or not.
    Move,
    /// Moves a vector's lanes about.
    Lanes,
    /// A result that doesn't depend on the operands.
    Constant(i64),
    Address,
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    Least(Order),
    Most(Order),
    /// A product, and a sum with the operand of this number.
    Fused {
        addend: usize,
    },
    /// To the left.
    Shift,
    /// With zeros, or as often the sign.
    ShiftRight {
        by_sign: bool,
    },
    Negate,
    Divide,
    Compare,
    Test,
    /// The second operand on a condition, else the first.
    Select,
    Flag,
    Widen,
    Push,
    Pop,
    Leave,
    Fill,
    Exchange,
    ExchangeAdd,
    CompareExchange,
    /// Tells about the thread or processor, or changes how the thread computes.
    Forbidden,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spot {
    /// A register, of vectors and masks too.
    Register(usize),
    /// The instruction's one memory operand.
    Memory,
    Constant(i64),
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub address: u64,
    pub next: u64,
    pub flow: Flow,
    pub target: Target,
    pub condition: Option<Condition>,
    /// The condition is one of numbers without a sign.
    pub is_unsigned: bool,
    pub kind: Kind,
    /// Which instruction it is, its operands' forms and how it rounds included; 0 if it names the second byte
    /// of a register.
    pub form: u32,
    /// It widens a number, with zeros or by its sign.
    pub extends: bool,
    pub operands: Vec<Spot>,
    pub memory: Option<MemoryOperand>,
    /// Registers whose value is used other than in the address.
    pub reads: RegisterSet,
    pub writes: RegisterSet,
    pub loads: bool,
    pub stores: bool,
    pub locked: bool,
    /// Of the general registers and memory among its operands, and of what it widens, the fewest bytes; at
    /// most 8.
    pub bytes: usize,
    /// It reads or writes what each thread has of its own.
    pub thread_local: bool,
}

impl Step {
    /// The places among the operands of the two that an operation combines.
    pub fn sources(&self) -> Option<(usize, usize)> {
        match self.operands.len() {
            2 => Some((0, 1)),
            3 => Some((1, 2)),
            _ => None,
        }
    }
}
