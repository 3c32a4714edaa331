//! The terms in which the analysis speaks of values, branches, blocks and cycles.

use super::ssa::Id;
use crate::decode::{Kind, Order};
use crate::size_use::Classes;

/// What a call has granted if it returned something else than zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Grant {
    Chunk,
    Section,
    Single,
    /// To those who get nothing.
    SingleCopy,
    /// How to combine sums.
    Reduces,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub classes: Classes,
    /// It may differ between iterations, or between threads.
    pub varies: bool,
    /// Where a thread's iterations end, or computed from that.
    pub end: bool,
    /// The length of a thread's share.
    pub whole: bool,
    /// An index that was stepped by the team's size.
    pub stepping: bool,
    /// An address in the own frame.
    pub frame: bool,
    pub constant: Option<i64>,
    pub grant: Option<Grant>,
}

impl Value {
    pub const SAME: Value = Value {
        classes: Classes::CLEAN,
        varies: false,
        end: false,
        whole: false,
        stepping: false,
        frame: false,
        constant: None,
        grant: None,
    };

    pub fn of(classes: Classes) -> Value {
        Value { classes, ..Value::SAME }
    }

    pub fn with(self, classes: Classes) -> Value {
        Value { classes, ..self }
    }

    pub fn constant(value: i64) -> Value {
        Value { constant: Some(value), ..Value::SAME }
    }

    pub fn is_index(self) -> bool {
        self.classes.is_index()
    }

    /// Whether it may differ between iterations or threads.
    pub fn differs(self) -> bool {
        self.varies || !self.classes.is_clean()
    }

    pub fn join(self, other: Value, at_loop: bool) -> Value {
        // The lesser of a chunk's end and the loop's.
        let bounded = |a: Value, b: Value| a.is_index() && b.classes.is_clean() && !b.varies;
        let is_end = !at_loop && (bounded(self, other) || bounded(other, self));
        Value {
            classes: self.classes.or(other.classes),
            varies: self.varies || other.varies,
            end: self.end || other.end || is_end,
            whole: self.whole && other.whole,
            stepping: self.stepping || other.stepping,
            frame: self.frame || other.frame,
            constant: self.constant.filter(|constant| other.constant == Some(*constant)),
            grant: self.grant.filter(|grant| other.grant == Some(*grant)),
        }
    }

    /// What any instruction may make of two.
    pub fn mixed(self, other: Value) -> Value {
        Value {
            classes: self.classes.scaled().plus(other.classes.scaled()),
            varies: self.varies || other.varies,
            end: self.end || other.end,
            frame: self.frame || other.frame,
            ..Value::SAME
        }
    }
}

/// What code is within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Context {
    /// Each thread executes it.
    Repeated,
    /// A thread's share of a loop.
    Share,
    /// Exactly one thread executes it, each time.
    Once,
    /// Those that weren't the one, or the one behind a barrier, until their ways meet again. What they have
    /// of their own is nothing that another team would have.
    Split,
}

/// What a block's last step decides by; the numbers are places among the blocks that follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fork {
    /// It is no branch, or all threads go the same way.
    Same,
    Varies,
    /// Whether there are iterations left, or something about a share's length.
    Share,
    /// Whether there are iterations at all: where they are.
    Guard(usize),
    Granted(Grant, usize),
    /// Where one of some sections begins.
    Section([bool; 2]),
    /// A switch over sections.
    Sections,
    First(usize),
    /// Whether the thread's share has the loop's last iteration.
    Last(usize),
    /// Whether the thread has one of the iterations that are left over; where it has, if that is known.
    Rest(Option<usize>),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Op {
    Add,
    Multiply,
    And,
    Or,
    Xor,
    Least(Order),
    Most(Order),
}

impl Op {
    pub fn of(kind: Kind) -> Option<Op> {
        Some(match kind {
            Kind::Add | Kind::Subtract | Kind::Fused { .. } => Op::Add,
            Kind::Multiply => Op::Multiply,
            Kind::And => Op::And,
            Kind::Or => Op::Or,
            Kind::Xor => Op::Xor,
            Kind::Least(order) => Op::Least(order),
            Kind::Most(order) => Op::Most(order),
            _ => return None,
        })
    }

    pub fn is_extreme(self) -> bool {
        matches!(self, Op::Least(_) | Op::Most(_))
    }

    /// Whether combining with the same value again changes nothing.
    pub fn is_idempotent(self) -> bool {
        matches!(self, Op::And | Op::Or) || self.is_extreme()
    }

    /// Whether each thread may begin with that value.
    pub fn may_begin_with(self, value: Value) -> bool {
        let ones = [1, 0x3f80_0000, 0x1_0000_0001, 0x3f80_0000_3f80_0000, 0x3ff0_0000_0000_0000];
        match self {
            _ if self.is_idempotent() => !value.differs() && !value.frame,
            Op::Multiply => value.constant.is_some_and(|one| ones.contains(&one)),
            _ => value.constant == Some(0),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Goes {
    /// The same in each round, whatever it begins with.
    Along,
    /// With the index.
    Index,
    Counts {
        from_zero: bool,
    },
    Sums(Op),
    Carries,
}

pub(super) struct Cycle {
    pub goes: Goes,
    /// Some of its values are chosen where another's least or most is.
    pub is_told: bool,
    /// What it begins with, and what comes along from outside.
    pub begins: Vec<Id>,
    pub takes: Vec<Id>,
    /// The branches by which the least or the most is chosen.
    pub chooses: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Taint {
    Clean,
    /// Counts a thread's rounds.
    Counter {
        from_zero: bool,
    },
    /// What a thread's iterations come to by one operation: to be combined with the other threads'.
    Sum(Op),
    Bad,
}

impl Taint {
    pub fn worse(self, other: Taint) -> Taint {
        match (self, other) {
            (a, b) if a == b => a,
            (Taint::Clean, other) | (other, Taint::Clean) => other,
            (Taint::Counter { .. }, Taint::Counter { .. }) => Taint::Counter { from_zero: false },
            (Taint::Counter { from_zero: true }, Taint::Sum(Op::Add))
            | (Taint::Sum(Op::Add), Taint::Counter { from_zero: true }) => Taint::Sum(Op::Add),
            _ => Taint::Bad,
        }
    }
}
