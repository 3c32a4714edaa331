//! Which regions have *independent* threads: each could run after the one before has ended, all on one
//! thread, without a visible difference.
//!
//! All code must be known: the outlined function and its callees call only functions of the module, and
//! library functions that don't wait for another thread. The code must not use thread-local variables (two
//! threads would find one copy), wait by spinning on memory, or call through a pointer. It may ask for chunks
//! of dynamic loops: any thread may get them.

use super::code::{Callee, Code};
use super::spin::waits_from;
use crate::decode::{Flow, Instruction, Target, decode};
use crate::functions::ties_nobody;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Most instructions examined in one module, about 100 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;

/// A parallel region, and whether its threads are independent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionVerdict {
    /// The outlined function's virtual address in the file.
    pub address: u64,
    /// The function's name, or its address in a file without symbols.
    pub function: String,
    /// What ties the threads together, as a sentence without its full stop; `None` if they are independent.
    pub tie: Option<String>,
}

#[derive(Default)]
struct Seen {
    tie: Option<String>,
    calls: BTreeSet<u64>,
}

pub(crate) fn regions(code: &Code<'_>) -> Vec<RegionVerdict> {
    if !code.elf.machine_supported {
        return Vec::new();
    }
    let mut search = Search { code, seen: BTreeMap::new(), left: MAX_INSTRUCTIONS };
    let regions = code.regions().into_iter();
    regions
        .map(|address| RegionVerdict { address, function: code.name(address), tie: search.tie(address) })
        .collect()
}

struct Search<'c, 'e> {
    code: &'c Code<'e>,
    seen: BTreeMap<u64, Seen>,
    left: usize,
}

impl Search<'_, '_> {
    fn tie(&mut self, function: u64) -> Option<String> {
        let mut met = BTreeSet::from([function]);
        let mut next = vec![function];
        while let Some(function) = next.pop() {
            if !self.seen.contains_key(&function) {
                let mut seen = Seen::default();
                seen.tie = self.read(function, &mut seen.calls).err();
                self.seen.insert(function, seen);
            }
            let Some(seen) = self.seen.get(&function) else { continue };
            if seen.tie.is_some() {
                return seen.tie.clone();
            }
            next.extend(seen.calls.iter().filter(|call| met.insert(**call)));
        }
        None
    }

    /// Examines a function; the error is what ties threads together.
    fn read(&mut self, function: u64, calls: &mut BTreeSet<u64>) -> Result<(), String> {
        let code = self.code;
        let found = code.function_around(function).filter(|(start, _)| *start == function);
        let (Some((start, end)), Some(bytes)) = (found, code.code_from(function)) else {
            return Err(format!("the code at 0x{function:x} is not known as a function"));
        };
        let mut read: Vec<Instruction> = Vec::new();
        for instruction in decode(bytes, start).take_while(|instruction| instruction.address() < end) {
            let Some(left) = self.left.checked_sub(1) else {
                return Err("its module is too large to be read to the end".into());
            };
            self.left = left;
            let at = |what: &str| Err(format!("{} {what}", code.describe(instruction.address())));
            if instruction.is_invalid() {
                return at("cannot be decoded");
            }
            if instruction.is_thread_local() {
                return at("uses thread-local variables");
            }
            if instruction.sets_control() {
                return at("changes how its thread computes");
            }
            read.push(instruction);
            let target = instruction.target();
            match (instruction.flow(), target) {
                (Flow::Next | Flow::Return | Flow::Stop, _) => continue,
                (Flow::Branch | Flow::Jump, Target::Code(target)) if (start..end).contains(&target) => {
                    if waits_from(code, &read, target) {
                        return at("waits by spinning on memory");
                    }
                    continue;
                }
                _ => {}
            }
            match code.callee(target) {
                Callee::Import(name) if ties_nobody(name) => {}
                Callee::Import(name) => return at(&format!("calls {name}")),
                Callee::Local(callee) => match code.function_around(callee) {
                    Some((start, _)) if code.is_code_of(start, callee) => drop(calls.insert(start)),
                    _ => return at("calls code that belongs to no function"),
                },
                Callee::Unknown => return at("calls through a pointer, or jumps by a table"),
            }
        }
        Ok(())
    }
}
