//! What is known before an instruction: about registers, flags and the function's own stack frame.

use super::class::Classes;
use crate::decode::Register;
use crate::decode::abi::{ARGUMENTS, REGISTERS, SCRATCH, STACK_POINTER};
use std::collections::BTreeMap;

/// Most stack places that are followed in one function; with more, it counts as not understood.
const MAX_SLOTS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    Any,
    Constant(i64),
    /// A place in the own frame. Distances between bases are unknown: aligning the stack pointer makes a new
    /// base.
    Stack {
        base: u8,
        offset: i64,
    },
    SomeStack,
    /// A place in the data that a region was started with.
    Data {
        offset: i64,
    },
    /// A region's function that keeps values in its data, on its way to be started.
    Region(u64),
    /// The function behind a GOT slot, loaded in order to be called.
    Slot(u64),
    SomeSlot,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    pub classes: Classes,
    pub exact: Exact,
    pub step: Step,
}

/// The instruction that stepped a thread's multiple by the team's, if this value comes from one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    None,
    At(u64),
    Several,
}

impl Step {
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, step) | (step, Self::None) => step,
            (a, b) if a == b => a,
            _ => Self::Several,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flags {
    Free,
    /// The thread number against a possible loop bound: less and greater are fine, equal is not.
    Bound,
    First,
    /// A value against zero that depends on whether the thread is the first.
    Whether {
        /// "Not zero" is the first thread's result.
        set: bool,
        /// All others have zero.
        alone: bool,
    },
    /// The thread number against the remainder of a division by the team size.
    Share,
    Number,
    /// The team size, or what was computed from it, against what has nothing to do with the team.
    Size,
}

impl Flags {
    /// After a comparison with zero, if the value has to do with the first thread and nothing else.
    pub fn of(classes: Classes) -> Option<Self> {
        classes.first_if().map(|set| Self::Whether { set, alone: classes.is_firsts_alone() })
    }

    /// Whether all threads but the first get the same result.
    pub fn is_firsts_alone(self) -> bool {
        matches!(self, Self::First | Self::Whether { alone: true, .. })
    }

    /// The flags if either comparison may have been the last.
    pub fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Free, flags) | (flags, Self::Free) => flags,
            (a, b) if a == b => a,
            _ => Self::Number,
        }
    }
}

impl Value {
    pub const CLEAN: Self = Self { classes: Classes::CLEAN, exact: Exact::Any, step: Step::None };

    pub fn of(classes: Classes) -> Self {
        Self { classes, exact: Exact::Any, step: Step::None }
    }

    pub fn constant(value: i64) -> Self {
        Self { exact: Exact::Constant(value), ..Self::CLEAN }
    }

    pub fn is_stack(self) -> bool {
        matches!(self.exact, Exact::Stack { .. } | Exact::SomeStack)
    }

    pub fn is_function(self) -> bool {
        matches!(self.exact, Exact::Slot(_) | Exact::SomeSlot | Exact::Region(_))
    }

    /// The value if either may have come along.
    pub fn join(self, other: Self) -> Self {
        let exact = if self.exact == other.exact {
            self.exact
        } else if self.is_stack() || other.is_stack() {
            Exact::SomeStack
        } else if self.is_function() || other.is_function() {
            Exact::SomeSlot
        } else {
            Exact::Any
        };
        let none = |value: Self| value.exact == Exact::Constant(0);
        let classes = match (self.classes, other.classes) {
            (first, _) if none(other) && first.is_firsts_alone() => first,
            (_, first) if none(self) && first.is_firsts_alone() => first,
            (a, b) => a.or(b),
        };
        Self { classes, exact, step: self.step.join(other.step) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Own {
        base: u8,
        offset: i64,
    },
    SomewhereOwn,
    /// In the data that the region was started with.
    Data {
        offset: i64,
    },
    SomewhereInData,
    Elsewhere,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub registers: [Value; REGISTERS],
    /// Registers written on all paths since the last call: only these can be its arguments.
    defined: u32,
    pub flags: Flags,
    /// Vector registers that hold what was computed from the team's size.
    pub vectors: u32,
    /// Four bytes each, by base and offset / 4; absent ones are clean.
    slots: BTreeMap<(u8, i64), Classes>,
    /// Places where addresses in the data of the region lie, with the offsets in the data.
    pub spilled: BTreeMap<(u8, i64), i64>,
}

/// Most arguments on the stack that are followed; benchmarks hand their results on in a dozen.
const STACKED: usize = 16;

/// Where arguments on the stack begin in the called function's frame: above the return address.
pub(super) const FIRST_ARGUMENT: i64 = 8;

/// What one function hands to another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Handed {
    /// Classes of the scratch registers, in the order of `SCRATCH`.
    pub registers: [Classes; SCRATCH.len()],
    /// Classes of the arguments on the stack, eight bytes each; clean if not confined.
    pub stack: [Classes; STACKED],
    pub vectors: u32,
    /// The first argument is the data of a region, and who starts it looks after what is stored there.
    pub data: bool,
}

pub(super) const NOTHING: Handed = Handed {
    registers: [Classes::CLEAN; SCRATCH.len()],
    stack: [Classes::CLEAN; STACKED],
    vectors: 0,
    data: false,
};
pub(super) const DATA: Handed = Handed { data: true, ..NOTHING };

impl Handed {
    pub fn tells(&self) -> bool {
        let mut all = self.registers.iter().chain(&self.stack);
        self.vectors != 0 || all.any(|classes| classes.is_confined())
    }

    /// Where in the called function's frame arguments lie that tell about the team.
    pub fn stack_places(&self) -> impl Iterator<Item = i64> {
        let all = stacked(FIRST_ARGUMENT).zip(self.stack);
        all.filter(|(_, classes)| classes.is_confined()).map(|(at, _)| at)
    }

    /// What is left by either of two ways.
    pub fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.registers.iter_mut().zip(other.registers) {
            *mine = mine.or(theirs);
        }
        self.vectors |= other.vectors;
    }
}

impl State {
    pub fn at_entry(handed: &Handed) -> Self {
        let mut registers = [Value::CLEAN; REGISTERS];
        for (register, classes) in SCRATCH.iter().zip(handed.registers) {
            registers[*register] = Value::of(classes);
        }
        if handed.data {
            let classes = Classes::CLEAN.or(Classes::DATA);
            registers[ARGUMENTS[0]] = Value { exact: Exact::Data { offset: 0 }, ..Value::of(classes) };
        }
        registers[STACK_POINTER].exact = Exact::Stack { base: 0, offset: 0 };
        let (flags, vectors) = (Flags::Free, handed.vectors);
        let mut state = Self {
            registers,
            defined: u32::MAX,
            flags,
            vectors,
            slots: BTreeMap::new(),
            spilled: BTreeMap::new(),
        };
        for (at, classes) in stacked(FIRST_ARGUMENT).zip(handed.stack) {
            state.store(0, at, 8, classes);
        }
        state
    }

    /// What a function is handed by a call when the stack pointer is at `top`, or what it leaves behind.
    pub fn handed(&self, top: Option<(u8, i64)>) -> Handed {
        let registers = SCRATCH.map(|register| self.registers[register].classes);
        let mut handed = Handed { registers, vectors: self.vectors, ..NOTHING };
        let Some((base, offset)) = top.filter(|_| !self.slots.is_empty()) else { return handed };
        for (at, classes) in stacked(offset).zip(&mut handed.stack) {
            let chunks = chunks(at, 8);
            let here = self.slots.range((base, *chunks.start())..=(base, *chunks.end()));
            let sum = here.fold(Classes::CLEAN, |sum, (_, classes)| sum.or(*classes));
            *classes = if sum.is_confined() { sum } else { Classes::CLEAN };
        }
        handed
    }

    /// Merges another path's state; true if that changed anything.
    pub fn absorb(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = mine.join(*theirs);
        }
        self.defined &= other.defined;
        self.flags = self.flags.join(other.flags);
        self.vectors |= other.vectors;
        self.spilled.retain(|place, offset| other.spilled.get(place) == Some(offset));
        for (slot, classes) in &mut self.slots {
            *classes = classes.or(other.slots.get(slot).copied().unwrap_or(Classes::CLEAN));
        }
        for (slot, classes) in &other.slots {
            self.slots.entry(*slot).or_insert(classes.or(Classes::CLEAN));
        }
        *self != before
    }

    /// Treats values as stepped that will turn out to be so.
    pub fn expect(&mut self, hint: &Self) {
        for (mine, theirs) in self.registers.iter_mut().zip(&hint.registers) {
            if mine.classes.is_thread() && theirs.classes.has(Classes::STEPPED) {
                mine.classes = mine.classes.or(Classes::STEPPED);
            }
        }
    }

    pub fn is_too_large(&self) -> bool {
        self.slots.len() > MAX_SLOTS
    }

    pub fn set(&mut self, register: Register, value: Value) {
        self.registers[register] = value;
        self.define(register);
    }

    pub fn define(&mut self, register: Register) {
        self.defined |= 1 << register;
    }

    /// Clears a register, which then can't be an argument.
    pub fn forget(&mut self, register: Register) {
        self.registers[register] = Value::CLEAN;
        self.defined &= !(1 << register);
    }

    pub fn is_defined(&self, register: Register) -> bool {
        self.defined & 1 << register != 0
    }

    /// The cost of a copy of this state, in instructions stepped over.
    pub fn weight(&self) -> u64 {
        self.slots.len() as u64 / 4
    }

    pub fn load(&self, place: Place, size: usize) -> Classes {
        let all = || self.slots.iter().map(|((base, _), classes)| (*base, *classes));
        match place {
            Place::Data { .. } | Place::SomewhereInData | Place::Elsewhere => Classes::CLEAN,
            Place::SomewhereOwn => all().fold(Classes::CLEAN, |sum, (_, classes)| sum.or(classes)),
            Place::Own { base, offset } => {
                let chunks = chunks(offset, size);
                let here = self.slots.range((base, *chunks.start())..=(base, *chunks.end()));
                let here = here.map(|(_, classes)| *classes).reduce(Classes::or).unwrap_or(Classes::CLEAN);
                // In a realigned frame one place may have two names that cannot be matched, so all other
                // bases count.
                let others = all().filter(|(other, _)| *other != base);
                others.fold(here, |sum, (_, classes)| sum.or(classes))
            }
        }
    }

    /// What a place may hold that is chosen in the own frame. Confined values lie below all such places, or
    /// are found at the end; not so sizes that a region has kept.
    pub fn load_indexed(&self) -> Classes {
        let seen = self.slots.values().filter(|classes| !classes.is_confined() || classes.has(Classes::KEPT));
        seen.fold(Classes::CLEAN, |sum, classes| sum.or(*classes))
    }

    pub fn store(&mut self, base: u8, offset: i64, size: usize, classes: Classes) {
        if !self.spilled.is_empty() {
            let end = offset.saturating_add(size as i64);
            self.spilled
                .retain(|(other, at), _| *other == base && (*at >= end || at.saturating_add(8) <= offset));
        }
        for chunk in chunks(offset, size) {
            let whole = size >= 4;
            let old = self.slots.get(&(base, chunk)).copied();
            if !whole && classes.is_first() && old.is_none_or(|old| !old.is_confined()) {
                self.slots.insert((base, chunk), classes.or(Classes::SHIFTED));
                continue;
            }
            match (classes.is_clean(), old) {
                (true, None) => {}
                (true, Some(_)) if whole => drop(self.slots.remove(&(base, chunk))),
                (_, Some(old)) if !whole => drop(self.slots.insert((base, chunk), old.or(classes))),
                _ => drop(self.slots.insert((base, chunk), classes)),
            }
        }
    }

    /// What lies on the stack at `offset`, as a seventh argument would.
    pub fn lies_at(&self, base: u8, offset: i64) -> Classes {
        self.slots.get(&(base, offset.div_euclid(4))).copied().unwrap_or(Classes::CLEAN)
    }
}

/// Where arguments on the stack are.
fn stacked(top: i64) -> impl Iterator<Item = i64> {
    (0..STACKED as i64).map(move |count| top.wrapping_add(count * 8))
}

fn chunks(offset: i64, size: usize) -> std::ops::RangeInclusive<i64> {
    let last = offset.saturating_add(size.clamp(1, 64) as i64 - 1);
    offset.div_euclid(4)..=last.div_euclid(4)
}
