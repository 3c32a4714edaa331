//! Does the code of a module's regions wait by spinning on memory, as in programs that pass work by flags?
//!
//! A spinning loop has a way around that reads memory and changes nothing: no store, no register carried from
//! one round to the next, and calls only of functions that have no effect ([`EFFECTLESS`]). Whoever has gone
//! that way once goes it for ever, unless another thread changes the memory. So loops that compute have none.
//! Fences change nothing, whatever they are made of.
//!
//! Examined are the functions that are handed to the runtime, those that they call directly, and those that
//! these call. A loop in a function behind a pointer is not seen.

use super::code::{Callee, Code};
use crate::decode::{Effect, Flow, Instruction, Target, decode};
use std::collections::BTreeSet;

/// Most instructions examined in one module, about 50 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;
/// Most instructions around a spinning loop. Compilers make two to five where they optimise, else up to 20.
const MAX_LOOP: usize = 40;
/// Most instructions looked at for one branch back.
const MAX_LOOK: usize = 200;
/// Calls between a region and a function that is examined.
const MAX_DEPTH: usize = 2;
/// Library functions that change nothing that the loop could see. Clang calls one for a flush.
const EFFECTLESS: [&str; 6] = [
    "__kmpc_flush",
    "omp_get_num_threads",
    "omp_get_thread_num",
    "pthread_yield",
    "sched_yield",
    "thrd_yield",
];

pub(crate) fn spins(code: &Code<'_>) -> Option<String> {
    if !code.elf.machine_supported {
        return None;
    }
    let mut budget = MAX_INSTRUCTIONS;
    let mut met = BTreeSet::new();
    let mut next = code.regions();
    for _ in 0..=MAX_DEPTH {
        let mut callees = BTreeSet::new();
        if let Some(at) = next.iter().find_map(|function| look(code, *function, &mut budget, &mut callees)) {
            return Some(code.describe(at));
        }
        met.append(&mut next);
        next = callees.difference(&met).copied().collect();
    }
    None
}

/// The first spinning loop of a function. Functions that it calls are added to `callees`.
fn look(code: &Code<'_>, function: u64, budget: &mut usize, callees: &mut BTreeSet<u64>) -> Option<u64> {
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
            (Flow::Branch | Flow::Jump, Target::Code(target)) if waits_from(code, &seen, target) => {
                return Some(target);
            }
            (Flow::Call, target @ Target::Code(_)) => {
                if let Callee::Local(callee) = code.callee(target) {
                    callees.insert(callee);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the last of these instructions leads back to `target`, and from there a way around only reads
/// memory. The instructions are those of a function, in their order.
pub(super) fn waits_from(code: &Code<'_>, seen: &[Instruction], target: u64) -> bool {
    let Some(last) = seen.last().filter(|last| target <= last.address()) else { return false };
    let mut left = MAX_LOOK;
    let mut ways = vec![(target, Way::default())];
    while let Some((mut at, mut way)) = ways.pop() {
        while let Ok(place) = seen.binary_search_by_key(&at, Instruction::address)
            && let Some(rest) = left.checked_sub(1)
            && way.takes(code, &seen[place])
        {
            left = rest;
            let instruction = &seen[place];
            if instruction.address() == last.address() {
                if way.leads_nowhere() {
                    return true;
                }
                break;
            }
            at = match (instruction.flow(), instruction.target()) {
                (Flow::Jump, Target::Code(target)) => target,
                (Flow::Branch, Target::Code(target)) => {
                    ways.push((target, way.clone()));
                    instruction.next()
                }
                _ => instruction.next(),
            };
        }
    }
    false
}

/// A way through some instructions that change nothing but registers.
#[derive(Clone, Default)]
struct Way {
    length: usize,
    looks: bool,
    /// Registers that hold the previous round's values where they are read, and those that are written.
    carried: BTreeSet<usize>,
    written: BTreeSet<usize>,
}

impl Way {
    /// Goes on by an instruction; `false` if that changes anything, or the way is too long.
    fn takes(&mut self, code: &Code<'_>, instruction: &Instruction) -> bool {
        let calls = instruction.flow() == Flow::Call;
        let effectless = || matches!(code.callee(instruction.target()), Callee::Import(name) if EFFECTLESS.contains(&name));
        let look = match instruction.effect() {
            Effect::Registers(look) => look,
            Effect::Call(look) if calls && effectless() => look,
            _ => return false,
        };
        self.length += 1;
        self.looks |= look.reads_memory;
        self.carried.extend(look.reads.into_iter().filter(|register| !self.written.contains(register)));
        self.written.extend(look.writes);
        self.length <= MAX_LOOP
    }

    fn leads_nowhere(&self) -> bool {
        self.looks && self.carried.is_disjoint(&self.written)
    }
}
