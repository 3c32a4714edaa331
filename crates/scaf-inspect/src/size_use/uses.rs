//! All uses of a stretch of a module's memory, found in its code and data.
//!
//! Code names memory by its distance, so a search for all values that may be such a distance misses none.
//! Addresses kept in data stand there as they are, in tables of relocations, in the table of exported
//! symbols, or ready to be used; all these are aligned to eight bytes.

use super::code::Code;
use crate::decode::{Flow, Instruction, Target, decode, patterns};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Largest variable whose uses are looked for, in bytes.
const LARGEST: u64 = 8;

pub(crate) struct Use {
    pub function: u64,
    pub at: u64,
}

impl Code<'_> {
    /// The variable of `bytes` bytes at `address`, if the symbol table has it, alone and of this size.
    pub fn variable(&self, address: u64, bytes: u64) -> Option<Range<u64>> {
        let end = address.checked_add(bytes).filter(|_| (1..=LARGEST).contains(&bytes))?;
        let near = |(start, size): &&(u64, u64)| {
            *size > 0 && *start < end && start.checked_add(*size).is_none_or(|end| end > address)
        };
        let mut all = self.elf.variables.iter().filter(near);
        (all.next()? == &(address, bytes) && all.all(|same| *same == (address, bytes)))
            .then_some(address..end)
    }

    /// All instructions that name an address in there; `None` if there may be others.
    pub fn uses(&self, range: &Range<u64>) -> Option<Vec<Use>> {
        let targets: BTreeSet<u64> = range.clone().collect();
        let is_kept = self.elf.data.iter().any(|piece| {
            let skipped = usize::try_from(piece.address.wrapping_neg() % 8).unwrap_or(0);
            let words = piece.data.get(skipped..).unwrap_or(&[]).as_chunks::<8>().0;
            words.iter().any(|word| range.contains(&u64::from_le_bytes(*word)))
        });
        let is_named =
            self.elf.is_fixed && self.elf.text.iter().any(|piece| patterns::names(piece.data, range));
        if is_kept || is_named {
            return None;
        }
        let mut spots: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for spot in self.spots(&targets) {
            spots.entry(self.function_around(spot)?.0).or_default().push(spot);
        }
        let mut uses = Vec::new();
        for (function, spots) in spots {
            let last = *spots.last()?;
            let code = decode(self.code_from(function)?, function);
            for instruction in code.take_while(|instruction| instruction.address() <= last) {
                if instruction.is_invalid() {
                    return None;
                }
                if names(&instruction, range) {
                    uses.push(Use { function, at: instruction.address() });
                }
            }
        }
        Some(uses)
    }

    /// The instructions that take the address of a function, if no other mentions it.
    pub fn takers(&self, function: u64) -> Option<Vec<Use>> {
        let uses = self.uses(&(function..function.checked_add(1)?)).filter(|uses| !uses.is_empty())?;
        let takes = |found: &Use| {
            let code = self.code_from(found.at).and_then(|code| decode(code, found.at).next());
            code.is_some_and(|code| code.flow() == Flow::Next)
        };
        (!self.is_exported(function) && uses.iter().all(takes)).then_some(uses)
    }
}

fn names(instruction: &Instruction, range: &Range<u64>) -> bool {
    let memory = instruction.fixed_address().is_some_and(|address| range.contains(&address));
    memory || matches!(instruction.target(), Target::Code(target) if range.contains(&target))
}
