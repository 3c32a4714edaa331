//! Does the code of a module's regions wait by spinning on memory, as in programs that pass work by flags?
//!
//! A spinning loop reads memory and changes nothing: it has no store, no call, and no register carried from
//! one round to the next. Loops that compute are never like that, or they wouldn't end.
//!
//! Examined are the functions that are handed to the runtime, and those that they call directly. A loop in a
//! function behind a pointer is not seen.

use super::code::{Callee, Code};
use crate::decode::{Flow, Instruction, Target, decode};
use std::collections::BTreeSet;

/// Most instructions examined in one module, about 50 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;
/// Most instructions in a spinning loop; gcc makes two to five.
const MAX_LOOP: usize = 24;

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

/// The first spinning loop of a function. Functions that it calls are added to `callees`.
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

/// Whether the last of these instructions leads back to `target`, and the loop from there only reads memory.
pub(super) fn waits_from(seen: &[Instruction], target: u64) -> bool {
    let near = &seen[seen.len().saturating_sub(MAX_LOOP)..];
    near.iter().position(|instruction| instruction.address() == target).is_some_and(|at| waits(&near[at..]))
}

fn waits(body: &[Instruction]) -> bool {
    let mut looks = false;
    let mut written = BTreeSet::new();
    // Registers read before the loop writes them hold the previous round's values.
    let mut carried = BTreeSet::new();
    for instruction in body {
        let Some(look) = instruction.look() else { return false };
        looks |= look.reads_memory;
        carried.extend(look.reads.into_iter().filter(|register| !written.contains(register)));
        written.extend(look.writes);
    }
    looks && carried.is_disjoint(&written)
}
