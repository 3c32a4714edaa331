//! What is known before an instruction: about registers, flags and the function's own stack frame.

use super::class::Classes;
use crate::decode::Register;
use crate::decode::abi::{REGISTERS, SCRATCH, STACK_POINTER};
use std::collections::{BTreeMap, BTreeSet};

/// Most stack places that are followed in one function; with more, it counts as not understood.
const MAX_SLOTS: usize = 256;
/// Bytes above the stack pointer in which arguments are looked for.
const MOST_ARGUMENTS: i64 = 512;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    Any,
    Constant(i64),
    /// A place in the own frame. Aligning the stack pointer makes a new base, at an unknown distance.
    Stack {
        base: u8,
        offset: i64,
    },
    SomeStack,
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
    /// The thread number against the remainder of a division by the team size.
    Share,
    Number,
}

impl Flags {
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
        matches!(self.exact, Exact::Slot(_) | Exact::SomeSlot)
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
        Self { classes: self.classes.or(other.classes), exact, step: self.step.join(other.step) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Own { base: u8, offset: i64 },
    SomewhereOwn,
    Elsewhere,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct State {
    pub registers: [Value; REGISTERS],
    /// Registers written on all paths since the last call: only these can be its arguments.
    defined: u32,
    pub flags: Flags,
    /// Four bytes each, by base and offset / 4; absent ones are clean.
    slots: BTreeMap<(u8, i64), Classes>,
    /// Those where arguments may lie, which were written on all paths since the last call.
    written: BTreeSet<(u8, i64)>,
}

/// Classes of the scratch registers at a call or return, in the order of `SCRATCH`.
pub(super) type PassedClasses = [Classes; SCRATCH.len()];
pub(super) const NOTHING: PassedClasses = [Classes::CLEAN; SCRATCH.len()];

impl State {
    pub fn at_entry(passed: &PassedClasses) -> Self {
        let mut registers = [Value::CLEAN; REGISTERS];
        for (register, classes) in SCRATCH.iter().zip(passed) {
            registers[*register] = Value::of(*classes);
        }
        registers[STACK_POINTER].exact = Exact::Stack { base: 0, offset: 0 };
        let (slots, written) = (BTreeMap::new(), BTreeSet::new());
        Self { registers, defined: u32::MAX, flags: Flags::Free, slots, written }
    }

    pub fn passed(&self) -> PassedClasses {
        SCRATCH.map(|register| self.registers[register].classes)
    }

    /// Merges another path's state; true if that changed anything.
    pub fn absorb(&mut self, other: &Self) -> bool {
        let before = self.clone();
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            *mine = mine.join(*theirs);
        }
        self.defined &= other.defined;
        self.flags = self.flags.join(other.flags);
        self.written.retain(|slot| other.written.contains(slot));
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
        (self.slots.len() + self.written.len()) as u64 / 4
    }

    pub fn load(&self, place: Place, size: usize) -> Classes {
        let all = || self.slots.iter().map(|((base, _), classes)| (*base, *classes));
        match place {
            Place::Elsewhere => Classes::CLEAN,
            Place::SomewhereOwn => all().fold(Classes::CLEAN, |sum, (_, classes)| sum.or(classes)),
            Place::Own { base, offset } => {
                let chunks = chunks(offset, size);
                let here = self.slots.range((base, *chunks.start())..=(base, *chunks.end()));
                let here = here.map(|(_, classes)| *classes).reduce(Classes::or).unwrap_or(Classes::CLEAN);
                // In a realigned frame one place may have two names, so all other bases count.
                let others = all().filter(|(other, _)| *other != base);
                others.fold(here, |sum, (_, classes)| sum.or(classes))
            }
        }
    }

    pub fn store(&mut self, base: u8, offset: i64, size: usize, classes: Classes) {
        self.wrote(base, offset, size);
        for chunk in chunks(offset, size) {
            let whole = size >= 4;
            let old = self.slots.get(&(base, chunk)).copied();
            match (classes.is_clean(), old) {
                (true, None) => {}
                (true, Some(_)) if whole => drop(self.slots.remove(&(base, chunk))),
                (_, Some(old)) if !whole => drop(self.slots.insert((base, chunk), old.or(classes))),
                _ => drop(self.slots.insert((base, chunk), classes)),
            }
        }
    }

    /// Records written bytes, whatever their value.
    pub fn wrote(&mut self, base: u8, offset: i64, size: usize) {
        let Exact::Stack { base: top, offset: lowest } = self.registers[STACK_POINTER].exact else { return };
        let may_be_arguments = (lowest..lowest.saturating_add(MOST_ARGUMENTS)).contains(&offset);
        if base == top && may_be_arguments {
            self.written.extend(chunks(offset, size).map(|chunk| (base, chunk)));
        }
    }

    /// Whether a confined value is among the arguments that lie on the stack, the first of them `above` bytes
    /// above the stack pointer: in what was written since the last call, without a gap. Each begins with a
    /// multiple of eight bytes, and structures lie there with all that is in them.
    pub fn passes_on_stack(&self, above: i64) -> bool {
        let Exact::Stack { base, offset } = self.registers[STACK_POINTER].exact else { return false };
        let all = (offset.saturating_add(above)..offset.saturating_add(MOST_ARGUMENTS)).step_by(8);
        let mut arguments = all.take_while(|at| self.written.contains(&(base, at.div_euclid(4))));
        arguments.any(|at| {
            chunks(at, 8).any(|chunk| self.slots.get(&(base, chunk)).is_some_and(|it| it.is_confined()))
        })
    }

    /// After a call, what was written before is no argument any more.
    pub fn forget_written(&mut self) {
        self.written.clear();
    }
}

fn chunks(offset: i64, size: usize) -> std::ops::RangeInclusive<i64> {
    let last = offset.saturating_add(size.clamp(1, 64) as i64 - 1);
    offset.div_euclid(4)..=last.div_euclid(4)
}
