//! Which regions have threads that are *independent*: each could run after the one before has ended, all on one thread, and
//! nobody could tell.
//!
//! That takes code that can be seen to its end: the outlined function, and whatever it calls, calls only functions of the
//! module and library functions that are known not to wait for another thread. It must not use thread-local variables (two
//! threads would find one copy), wait by spinning on memory, or call through a pointer, for that may lead
//! anywhere. Chunks of dynamic loops may be asked for: they go to whoever asks.

use super::code::{Callee, Code};
use super::names::ties_nobody;
use super::spin::{position, waits};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, Register,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Instructions looked at in one module, some 100 ns each.
const MAX_INSTRUCTIONS: usize = 4_000_000;

/// Where gcc's stack protector finds its canary, relative to the thread pointer: the same for all threads.
const CANARY: u64 = 0x28;

/// Instructions that set how a thread rounds, say: the next part on that thread would find it so.
const CONTROL: [Mnemonic; 4] = [Mnemonic::Ldmxcsr, Mnemonic::Vldmxcsr, Mnemonic::Fldcw, Mnemonic::Fldenv];

/// A parallel region's code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Where its outlined function begins: the file's own virtual address.
    pub address: u64,
    /// The function's name, or its address in a file without symbols.
    pub function: String,
    /// What ties its threads together, as a sentence without its full stop; `None` if they are independent.
    pub tie: Option<String>,
}

/// What one function does by itself.
#[derive(Default)]
struct Seen {
    tie: Option<String>,
    calls: BTreeSet<u64>,
}

/// The module's regions, in the order of their addresses.
pub(crate) fn regions(code: &Code<'_>) -> Vec<Region> {
    if !code.elf.machine_supported {
        return Vec::new();
    }
    let mut search = Search { code, seen: BTreeMap::new(), left: MAX_INSTRUCTIONS };
    let regions = code.regions().into_iter();
    regions
        .map(|address| Region { address, function: code.name(address), tie: search.tie(address) })
        .collect()
}

struct Search<'c, 'e> {
    code: &'c Code<'e>,
    seen: BTreeMap<u64, Seen>,
    left: usize,
}

impl Search<'_, '_> {
    /// The first tie in a function or in what it calls.
    fn tie(&mut self, function: u64) -> Option<String> {
        let mut met = BTreeSet::from([function]);
        let mut next = vec![function];
        while let Some(function) = next.pop() {
            if !self.seen.contains_key(&function) {
                let seen = self.look(function);
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

    fn look(&mut self, function: u64) -> Seen {
        let mut seen = Seen::default();
        seen.tie = self.read(function, &mut seen.calls).err();
        seen
    }

    /// Reads a function; the error is what ties threads together in it.
    fn read(&mut self, function: u64, calls: &mut BTreeSet<u64>) -> Result<(), String> {
        let code = self.code;
        let found = code.function_around(function).filter(|(start, _)| *start == function);
        let (Some((start, end)), Some(bytes)) = (found, code.code_from(function)) else {
            return Err(format!("the code at 0x{function:x} is not known as a function"));
        };
        let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let mut info = InstructionInfoFactory::new();
        let mut read: Vec<Instruction> = Vec::new();
        while decoder.can_decode() && decoder.ip() < end {
            let Some(left) = self.left.checked_sub(1) else {
                return Err("its module is too large to be read to the end".into());
            };
            self.left = left;
            let instruction = decoder.decode();
            let at = |what: &str| Err(format!("{} {what}", code.describe(instruction.ip())));
            if instruction.is_invalid() {
                return at("cannot be decoded");
            }
            if is_thread_local(&instruction) {
                return at("uses thread-local variables");
            }
            if CONTROL.contains(&instruction.mnemonic()) {
                return at("changes how its thread computes");
            }
            read.push(instruction);
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::Return | FlowControl::Exception => continue,
                // Between functions, some linkers put traps.
                FlowControl::Interrupt if instruction.mnemonic() == Mnemonic::Int3 => continue,
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
                    if (start..end).contains(&instruction.near_branch_target()) =>
                {
                    let target = instruction.near_branch_target();
                    if target <= instruction.ip()
                        && let Some(first) = position(&read, target)
                        && waits(&mut info, &read[first..])
                    {
                        return at("waits by spinning on memory");
                    }
                    continue;
                }
                _ => {}
            }
            match code.target(&instruction) {
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

/// Whether an instruction reads or writes what each thread has a copy of, or finds out where it lies.
fn is_thread_local(instruction: &Instruction) -> bool {
    let canary = instruction.memory_base() == Register::None
        && instruction.memory_index() == Register::None
        && instruction.memory_displacement64() == CANARY;
    match instruction.segment_prefix() {
        Register::FS => !canary,
        Register::GS => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Instruction {
        Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode()
    }

    #[test]
    fn the_stack_protector_is_no_thread_local_variable() {
        // mov rax, fs:[0x28]; mov rax, fs:[0]; mov rax, gs:[0x28]; mov rax, [rax]
        assert!(!is_thread_local(&decode(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0])));
        assert!(is_thread_local(&decode(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0])));
        assert!(is_thread_local(&decode(&[0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0])));
        assert!(!is_thread_local(&decode(&[0x48, 0x8b, 0x00])));
    }
}
