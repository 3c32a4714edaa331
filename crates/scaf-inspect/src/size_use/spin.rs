//! Does the code of a module's regions wait by spinning on memory, as programs do that hand work from thread to thread by
//! flags of their own?
//!
//! Such a loop looks at memory and changes nothing: no store, no call, and no register that it would carry from one
//! round to the next. Each round is like the one before until another thread writes what it looks at. Loops that
//! compute are never like that, or they wouldn't end.
//!
//! Looked at are the functions that are handed to the runtime, and those that they call directly. A loop that a function
//! behind a pointer does is not seen.

use super::code::{Callee, Code};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
};
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
    let bytes = code.code_from(start)?;
    let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
    let mut info = InstructionInfoFactory::new();
    let mut seen: Vec<Instruction> = Vec::new();
    while decoder.can_decode() && decoder.ip() < end && *budget > 0 {
        *budget -= 1;
        let instruction = decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        seen.push(instruction);
        match instruction.flow_control() {
            FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                let target = instruction.near_branch_target();
                if target <= instruction.ip()
                    && let Some(first) = position(&seen, target)
                    && waits(&mut info, &seen[first..])
                {
                    return Some(target);
                }
            }
            FlowControl::Call => {
                if let (Some(callees), Callee::Local(callee)) = (&mut callees, code.target(&instruction)) {
                    callees.insert(callee);
                }
            }
            _ => {}
        }
    }
    None
}

/// The loop's first instruction, if it isn't too far up.
pub(super) fn position(seen: &[Instruction], target: u64) -> Option<usize> {
    let from = seen.len().saturating_sub(MAX_LOOP);
    (from..seen.len()).find(|at| seen[*at].ip() == target)
}

/// Whether these instructions, from a loop's first to the branch that leads back to it, only look.
pub(super) fn waits(info: &mut InstructionInfoFactory, body: &[Instruction]) -> bool {
    let mut looks = false;
    let mut written: BTreeSet<Register> = BTreeSet::new();
    // Read before anything in the loop has written it: what the round before left there.
    let mut carried: BTreeSet<Register> = BTreeSet::new();
    for instruction in body {
        let branches = matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        );
        if !branches || instruction.has_rep_prefix() || instruction.has_repne_prefix() {
            // PAUSE is a NOP with a prefix.
            if instruction.mnemonic() != iced_x86::Mnemonic::Pause {
                return false;
            }
        }
        let used = info.info(instruction);
        for memory in used.used_memory() {
            match memory.access() {
                OpAccess::Read | OpAccess::CondRead => looks = true,
                OpAccess::NoMemAccess | OpAccess::None => {}
                _ => return false,
            }
        }
        let whole = |register: Register| register.full_register();
        for register in used.used_registers() {
            let reads = !matches!(register.access(), OpAccess::Write | OpAccess::CondWrite);
            if reads && !written.contains(&whole(register.register())) {
                carried.insert(whole(register.register()));
            }
        }
        for register in used.used_registers() {
            if !matches!(register.access(), OpAccess::Read | OpAccess::CondRead) {
                written.insert(whole(register.register()));
            }
        }
    }
    looks && carried.is_disjoint(&written)
}
