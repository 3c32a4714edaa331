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
use super::mark;
use crate::decode::{Effect, Flow, Instruction, Look, RegisterSet, Target, decode};
use scaf_team::gather::marks::Mark;
use serde::{Deserialize, Serialize};
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
const EFFECTLESS: [&str; 3] = ["__kmpc_flush", "omp_get_num_threads", "omp_get_thread_num"];
/// The same, and the client answers them: a loop that calls one yields by itself.
const YIELDS: [&str; 3] = ["pthread_yield", "sched_yield", "thrd_yield"];

/// Most loops of a module that are marked.
pub(crate) const MOST_LOOPS: usize = 64;

/// The loops in which the code of a module's regions waits by spinning on memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spins {
    /// The first one: a function, and the offset in it.
    pub place: String,
    /// The marks of all of them that don't yield by themselves ([`scaf_team::gather::marks::Mark`]), at
    /// virtual addresses; `None` if these are more than 64, or one can't be marked.
    pub marks: Option<Vec<[u64; 2]>>,
}

pub(crate) fn spins(code: &Code<'_>) -> Option<Spins> {
    if !code.elf.machine_supported {
        return None;
    }
    let mut search = Search { budget: MAX_INSTRUCTIONS, place: None, marks: Some(Vec::new()) };
    let mut met = BTreeSet::new();
    let mut next = code.regions();
    for _ in 0..=MAX_DEPTH {
        let mut callees = BTreeSet::new();
        next.iter().for_each(|function| search.look(code, *function, &mut callees));
        met.append(&mut next);
        next = callees.difference(&met).copied().collect();
    }
    let place = code.describe(search.place?);
    let marks = search.marks.filter(|marks| marks.len() <= MOST_LOOPS);
    Some(Spins { place, marks })
}

struct Search {
    budget: usize,
    /// Where the first loop begins.
    place: Option<u64>,
    /// `None` once a loop couldn't be marked.
    marks: Option<Vec<[u64; 2]>>,
}

impl Search {
    /// Finds the spinning loops of a function. Functions that it calls are added to `callees`.
    fn look(&mut self, code: &Code<'_>, function: u64, callees: &mut BTreeSet<u64>) {
        let (Some((start, end)), Some(bytes)) = (code.function_around(function), code.code_from(function))
        else {
            return;
        };
        let mut seen: Vec<Instruction> = Vec::new();
        let (mut loops, mut whole) = (Vec::new(), true);
        for instruction in decode(bytes, start).take_while(|instruction| instruction.address() < end) {
            if instruction.is_invalid() || self.budget == 0 {
                whole = false;
                break;
            }
            self.budget -= 1;
            seen.push(instruction);
            match (instruction.flow(), instruction.target()) {
                (Flow::Branch | Flow::Jump, Target::Code(target)) if waits_from(code, &seen, target) => {
                    self.place.get_or_insert(target);
                    if leads_nowhere(code, &seen, target, &[]) {
                        loops.push(seen.len() - 1);
                    }
                }
                (Flow::Call, target @ Target::Code(_)) => {
                    if let Callee::Local(callee) = code.callee(target) {
                        callees.insert(callee);
                    }
                }
                _ => {}
            }
        }
        if !loops.is_empty() {
            let marks = if whole { mark::marks(code, &seen, &loops) } else { None };
            self.marks = self.marks.take().zip(marks).map(|(mut all, marks)| {
                all.extend(marks.iter().map(Mark::words));
                all
            });
        }
    }
}

/// Whether the last of these instructions leads back to `target`, and from there a way around only reads
/// memory. The instructions are those of a function, in their order.
pub(super) fn waits_from(code: &Code<'_>, seen: &[Instruction], target: u64) -> bool {
    leads_nowhere(code, seen, target, &YIELDS)
}

/// The same, where the way may call these functions.
fn leads_nowhere(code: &Code<'_>, seen: &[Instruction], target: u64, calls: &[&str]) -> bool {
    let Some(last) = seen.last().filter(|last| target <= last.address()) else { return false };
    // Most loops compute, and most of those that don't end here are found out without following each way.
    if !is_reached(code, seen, target, calls) {
        return false;
    }
    let mut left = MAX_LOOK;
    let mut ways = vec![(target, Way::default())];
    while let Some((mut at, mut way)) = ways.pop() {
        while let Ok(place) = seen.binary_search_by_key(&at, Instruction::address)
            && let Some(rest) = left.checked_sub(1)
            && way.takes(code, &seen[place], calls)
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

/// Whether the last instruction can be reached from `target` at all by what changes nothing but registers.
fn is_reached(code: &Code<'_>, seen: &[Instruction], target: u64, calls: &[&str]) -> bool {
    let mut met = Vec::new();
    let mut next = vec![target];
    while let Some(mut at) = next.pop() {
        while let Ok(place) = seen.binary_search_by_key(&at, Instruction::address)
            && met.len() < MAX_LOOK
            && !met.contains(&place)
            && look(code, &seen[place], calls).is_some()
        {
            met.push(place);
            let instruction = &seen[place];
            if place + 1 == seen.len() {
                return true;
            }
            at = match (instruction.flow(), instruction.target()) {
                (Flow::Jump, Target::Code(target)) => target,
                (Flow::Branch, Target::Code(target)) => {
                    next.push(target);
                    instruction.next()
                }
                _ => instruction.next(),
            };
        }
    }
    false
}

/// What an instruction reads and writes, if it changes nothing but registers.
fn look(code: &Code<'_>, instruction: &Instruction, calls: &[&str]) -> Option<Look> {
    match instruction.effect() {
        Effect::Registers(look) => Some(look),
        Effect::Call(look) => match code.callee(instruction.target()) {
            Callee::Import(name) if EFFECTLESS.contains(&name) || calls.contains(&name) => Some(look),
            _ => None,
        },
        Effect::More => None,
    }
}

/// A way through some instructions that change nothing but registers.
#[derive(Clone, Default)]
struct Way {
    length: usize,
    looks: bool,
    /// For each register that was written, those whose values at the beginning went into it.
    origins: Vec<(usize, RegisterSet)>,
}

impl Way {
    /// Goes on by an instruction; `false` if that changes anything, or the way is too long.
    fn takes(&mut self, code: &Code<'_>, instruction: &Instruction, calls: &[&str]) -> bool {
        let Some(look) = look(code, instruction, calls) else { return false };
        self.length += 1;
        self.looks |= look.reads_memory;
        let mut from = RegisterSet::default();
        for register in look.reads.iter() {
            match self.origins.iter().find(|(written, _)| *written == register) {
                Some((_, origins)) => from.extend(*origins),
                None => from.insert(register),
            }
        }
        self.origins.retain(|(written, _)| !look.writes.contains(*written));
        self.origins.extend(look.writes.iter().map(|register| (register, from)));
        self.length <= MAX_LOOP
    }

    /// Whether it looks at memory, and after some rounds all registers are as in the round before: no value
    /// goes into itself.
    fn leads_nowhere(&self) -> bool {
        let mut origins = self.origins.clone();
        loop {
            let before = origins.len();
            let mut written = RegisterSet::default();
            origins.iter().for_each(|(register, _)| written.insert(*register));
            origins.retain(|(_, from)| !from.is_disjoint(&written));
            if origins.len() == before {
                return self.looks && origins.is_empty();
            }
        }
    }
}
