//! Does the code of a module's regions wait by spinning on memory, as programs do that hand work from thread
//! to thread by flags of their own?
//!
//! Such a loop looks at memory and changes nothing: no store, no call, and no register that it would carry
//! from one round to the next. Each round is like the one before until another thread writes what it looks
//! at. Loops that compute are never like that, or they wouldn't end.
//!
//! Looked at are the functions that are handed to the runtime, and those that they call directly. A loop in a
//! function behind a pointer is not seen.

use super::code::{Callee, Code};
use crate::decode::{Flow, Instruction, Target, decode};
use std::collections::BTreeSet;

/// Instructions looked at in one module, some 50 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;
/// Instructions in such a loop; gcc makes two to five.
const MAX_LOOP: usize = 24;

/// Where a region of the module spins: the function and the offset in it.
pub(crate) fn spins(code: &Code<'_>) -> Option<String> {
    if !code.elf.machine_supported {
        return None;
    }
    let mut budget = MAX_INSTRUCTIONS;
    let mut callees = BTreeSet::new();
    let regions = code.regions();
    let at = regions.iter().find_map(|function| look(code, *function, &mut budget, Some(&mut callees)));
    let at = at.or_else(|| {
        callees.difference(&regions).find_map(|function| look(code, *function, &mut budget, None))
    });
    at.map(|address| code.describe(address))
}

/// The first such loop of a function. Functions that it calls are added to `callees`.
fn look(
    code: &Code<'_>,
    function: u64,
    budget: &mut usize,
    mut callees: Option<&mut BTreeSet<u64>>,
) -> Option<u64> {
    let (start, end) = code.function_around(function)?;
    let mut seen: Vec<Instruction> = Vec::new();
    for instruction in decode(code.code_from(start)?, start) {
        if instruction.address() >= end || *budget == 0 {
            break;
        }
        *budget -= 1;
        if instruction.is_invalid() {
            return None;
        }
        seen.push(instruction);
        match (instruction.flow(), instruction.target()) {
            (Flow::Branch | Flow::Jump, Target::Code(target)) if waits_from(&seen, target) => {
                return Some(target);
            }
            (Flow::Call, target @ Target::Code(_)) => {
                if let (Some(callees), Callee::Local(callee)) = (&mut callees, code.callee(target)) {
                    callees.insert(callee);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the last of these instructions leads back to `target`, and all from there on only look at memory.
pub(super) fn waits_from(seen: &[Instruction], target: u64) -> bool {
    let near = &seen[seen.len().saturating_sub(MAX_LOOP)..];
    near.iter().position(|instruction| instruction.address() == target).is_some_and(|at| waits(&near[at..]))
}

fn waits(body: &[Instruction]) -> bool {
    let mut looks = false;
    let mut written = BTreeSet::new();
    // Read before anything in the loop has written it: what the round before left there.
    let mut carried = BTreeSet::new();
    for instruction in body {
        let Some(look) = instruction.look() else { return false };
        looks |= look.reads_memory;
        carried.extend(look.reads.into_iter().filter(|register| !written.contains(register)));
        written.extend(look.writes);
    }
    looks && carried.is_disjoint(&written)
}
