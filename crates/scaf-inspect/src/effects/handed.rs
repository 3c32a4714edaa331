//! Values that calls return, fill in, or are handed, and constants.

use super::function::{Function, Mode};
use super::runtime::{FLOAT_ARGUMENTS, Role, role, takes_any};
use super::ssa::{Def, Id, Loc, is_in_frame};
use super::terms::{Grant, Value};
use crate::decode::abi::{ARGUMENTS, RESULT, SECOND_RESULT, VECTORS};
use crate::decode::{FLAGS, Flow};
use crate::functions::fills_memory;
use crate::size_use::{Callee, Classes};

impl Function<'_, '_> {
    pub fn called(&self, at: usize, loc: Loc) -> Value {
        if let Some(handed) = self.handed_back(at, loc) {
            return self.value(handed);
        }
        let spotted = &self.frames.steps[at];
        let varies = self.ssa.uses[at].iter().any(|(loc, id)| *loc != FLAGS && self.value(*id).differs());
        let answer = Value { varies, ..Value::SAME };
        let name = match &spotted.callee {
            Callee::Import(name) => name,
            Callee::Local(function) => {
                // Who calls it within an iteration knows no more of what it returns.
                let varies = varies || spotted.reaches || self.may_differ(*function);
                let tells = [RESULT, SECOND_RESULT, VECTORS].contains(&loc) && self.may_tell(*function);
                let classes = if tells { Classes::THREAD_PART } else { Classes::CLEAN };
                let back = self.callees_hand_back.get(function).copied();
                let frame =
                    loc == RESULT && back.is_some_and(|back| !back.is_disjoint(self.own_registers(at)));
                return Value { varies, frame, ..Value::of(classes) };
            }
            Callee::Unknown => return Value { varies: true, ..Value::SAME },
        };
        if is_in_frame(loc) {
            let is_llvms = usize::from(name.starts_with("__kmpc_"));
            let filled = self.fill_of(at, loc);
            return match (role(name), filled.map(|filled| filled.wrapping_sub(is_llvms))) {
                (Role::Chunk | Role::Share, Some(0)) => Value::of(Classes::START),
                (Role::Chunk | Role::Share, Some(1)) => Value { end: true, ..Value::of(Classes::START) },
                (Role::Chunk | Role::Share, _) => Value { varies: true, ..Value::SAME },
                (_, Some(_)) => answer,
                _ => Value { varies: true, ..Value::SAME },
            };
        }
        match (role(name), loc) {
            (Role::TeamSize, RESULT) => Value::of(Classes::TEAM),
            (Role::ThreadNumber, RESULT) => Value::of(Classes::THREAD),
            (Role::Chunk, RESULT) => Value { grant: Some(Grant::Chunk), varies: true, ..Value::SAME },
            (Role::Section, RESULT) => Value { grant: Some(Grant::Section), varies: true, ..Value::SAME },
            (Role::Single, RESULT) => Value { grant: Some(Grant::Single), varies: true, ..Value::SAME },
            (Role::SingleCopy, RESULT) => {
                Value { grant: Some(Grant::SingleCopy), varies: true, ..Value::SAME }
            }
            (Role::Reduces, RESULT) => Value { grant: Some(Grant::Reduces), varies: true, ..Value::SAME },
            // Tables whose address each thread keeps.
            // Memory of the thread's own, which there is enough of.
            (Role::Harmless, RESULT) if self.allocates_own(at) => Value { frame: true, ..Value::SAME },
            (Role::Computes, RESULT) if name.starts_with("__ctype_") => Value { frame: true, ..answer },
            (Role::Computes, RESULT | VECTORS) => answer,
            _ => Value { varies: true, ..Value::SAME },
        }
    }

    /// What a call is passed, or may look at. Who calls a function of any number of arguments says in AL how
    /// many vectors there are.
    pub fn passed(&self, at: usize) -> impl Iterator<Item = &(Loc, Id)> {
        let count = self.ssa.used(at, RESULT).and_then(|id| self.value(id).constant);
        let is_any = matches!(&self.frames.steps[at].callee, Callee::Import(name) if takes_any(name));
        let has_vectors = !is_any || count != Some(0);
        let is_vector = |loc: Loc| (VECTORS..VECTORS + FLOAT_ARGUMENTS).contains(&loc);
        let all = self.ssa.uses[at].iter();
        all.filter(move |(loc, id)| !self.junk.contains(id) && (has_vectors || !is_vector(*loc)))
    }

    /// Which of what a function fills this is a part of.
    pub fn fill_of(&self, at: usize, loc: Loc) -> Option<usize> {
        let fills = &self.frames.steps[at].fills;
        let part = self.ssa.part(loc)?;
        let at_fill = fills.iter().position(|(base, offset, bytes)| {
            let last = offset.saturating_add((*bytes).max(1) as i64 - 1);
            part.0 == *base && (*offset..=last).contains(&part.1)
        })?;
        self.frames.steps[at].filled.get(at_fill).copied()
    }

    /// The value that a call returns of what it was passed.
    pub fn handed_back(&self, at: usize, loc: Loc) -> Option<Id> {
        let fills = matches!(&self.frames.steps[at].callee, Callee::Import(name) if fills_memory(name));
        let first = || self.ssa.used(at, ARGUMENTS[0]);
        (fills && loc == RESULT && self.graph.steps[at].flow == Flow::Call).then(first).flatten()
    }

    /// The bounds of a task's iterations, which stand first in what it is handed.
    pub fn of_task_loop(&self, at: usize) -> Option<Value> {
        let memory = self.graph.steps[at].memory.filter(|_| self.mode == Mode::TaskLoop)?;
        let base = self.root(self.ssa.used(at, memory.base?)?);
        let is_handed = self.ssa.defs[base] == Def::Entry(ARGUMENTS[0]) && !memory.has_index;
        match memory.displacement {
            0 if is_handed => Some(Value::of(Classes::START)),
            8 if is_handed => Some(Value { end: true, ..Value::of(Classes::START) }),
            _ => None,
        }
    }

    /// What stands in read-only data, if all elements of it are alike.
    pub fn constant_at(&self, address: u64, bytes: usize) -> Option<i64> {
        let piece = self.code.elf.data.iter().find(|piece| piece.covers(address))?;
        let offset = usize::try_from(address.checked_sub(piece.address)?).ok()?;
        let data = piece.data.get(offset..)?.get(..bytes.max(4))?;
        let of = |word: &[u8]| word.iter().rev().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)) as i64;
        let width = bytes.min(8);
        let first = of(data.get(..width)?);
        let alike = data.chunks(width).all(|word| of(word) == first);
        (piece.name.starts_with(".rodata") && alike).then_some(first)
    }
}
