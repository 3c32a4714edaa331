//! Does the code of regions take tickets? Whoever adds to a shared counter and looks at what was there before
//! (`#pragma omp atomic capture`, `fetch_add`) may have made itself a number, without asking for one.

use super::code::{Callee, Code};
use crate::decode::{Flow, decode};
use std::collections::BTreeSet;

/// Most instructions that are looked at in one module, some 10 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;
/// Most calls from a region's function to another of the module.
const MAX_DEPTH: usize = 8;

/// The first such instruction, or where the code is too much.
pub(super) fn ticket(code: &Code<'_>) -> Option<u64> {
    let mut left = MAX_INSTRUCTIONS;
    code.search_regions(MAX_DEPTH, |function, callees| look(code, function, &mut left, callees))
}

/// Looks at one function, and adds those that it calls to `callees`.
fn look(code: &Code<'_>, function: u64, left: &mut usize, callees: &mut BTreeSet<u64>) -> Option<u64> {
    let (start, end) = code.function_around(function)?;
    for instruction in decode(code.code_from(start)?, start) {
        if instruction.is_invalid() || instruction.address() >= end {
            return None;
        }
        let Some(rest) = left.checked_sub(1) else { return Some(function) };
        *left = rest;
        if instruction.gives_what_was_there() {
            return Some(instruction.address());
        }
        if matches!(instruction.flow(), Flow::Call | Flow::Jump)
            && let Callee::Local(callee) = code.callee(instruction.target())
            && code.is_start(callee)
        {
            callees.insert(callee);
        }
    }
    None
}
