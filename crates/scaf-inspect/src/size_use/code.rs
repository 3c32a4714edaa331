//! Where the code is, what its calls lead to, and where it asks about the team.

use super::names::{Role, role};
use crate::elf::{Elf, SlotKind};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What a call or jump leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee<'c> {
    Import(&'c str),
    Local(u64),
    Unknown,
}

/// Calls and other mentions of the functions that tell about the team.
pub(crate) struct Mentions {
    /// Addresses of the calls, by the start of their function.
    pub calls: BTreeMap<u64, Vec<u64>>,
    /// The first mention that is no call, and its address.
    pub other: Option<(u64, String)>,
}

/// A module's code with its tables of functions and imports.
pub(crate) struct Code<'e> {
    pub elf: &'e Elf<'e>,
    starts: Vec<u64>,
    slots: HashMap<u64, &'e str>,
    stubs: HashMap<u64, &'e str>,
    handed_on: OnceCell<HashSet<u64>>,
}

impl<'e> Code<'e> {
    pub fn new(elf: &'e Elf<'e>) -> Self {
        let got = elf.slots.iter().filter(|slot| slot.kind == SlotKind::Got);
        let slots: HashMap<u64, &str> = got.map(|slot| (slot.address, slot.symbol.as_str())).collect();
        let mut stubs = HashMap::new();
        for piece in elf.text.iter().filter(|piece| piece.name.starts_with(".plt")) {
            for (at, bytes) in piece.data.windows(6).enumerate() {
                if bytes[..2] != [0xff, 0x25] {
                    continue;
                }
                let address = piece.address.wrapping_add(at as u64);
                let Some(name) = slots.get(&relative(address.wrapping_add(6), &bytes[2..])) else { continue };
                // A stub may begin with `bnd`, with endbr64, or with both.
                let before = &piece.data[at.saturating_sub(5)..at];
                let bnd = u64::from(before.ends_with(&[0xf2]));
                let landing =
                    before.strip_suffix(&[0xf2]).unwrap_or(before).ends_with(&[0xf3, 0x0f, 0x1e, 0xfa]);
                stubs.insert(address, *name);
                stubs.insert(address.wrapping_sub(bnd), *name);
                if landing {
                    stubs.insert(address.wrapping_sub(bnd + 4), *name);
                }
            }
        }
        Self { elf, starts: elf.function_starts(), slots, stubs, handed_on: OnceCell::new() }
    }

    pub fn knows_functions(&self) -> bool {
        !self.starts.is_empty()
    }

    pub fn is_start(&self, address: u64) -> bool {
        self.starts.binary_search(&address).is_ok()
    }

    /// The start of the function at `address`, and the start of the next one.
    pub fn function_around(&self, address: u64) -> Option<(u64, u64)> {
        let next = self.starts.partition_point(|start| *start <= address);
        let start = *self.starts.get(next.checked_sub(1)?)?;
        Some((start, self.starts.get(next).copied().unwrap_or(u64::MAX)))
    }

    /// Whether `address` lies in the same piece of code as the function that begins at `start`.
    pub fn is_code_of(&self, start: u64, address: u64) -> bool {
        self.elf.code_at(start).is_some_and(|code| address.wrapping_sub(start) < code.len() as u64)
    }

    /// `name+0x1f`, or the bare address in a file without symbols.
    pub fn describe(&self, address: u64) -> String {
        let start = self.function_around(address).map_or(address, |(start, _)| start);
        match self.elf.functions.get(&start) {
            Some(name) => format!("{name}+0x{:x}", address.wrapping_sub(start)),
            None => format!("the function at 0x{start:x}, offset 0x{:x},", address.wrapping_sub(start)),
        }
    }

    /// The function's name, or its address in a file without symbols.
    pub fn name(&self, function: u64) -> String {
        let known = self.elf.functions.get(&function).cloned();
        known.unwrap_or_else(|| format!("the function at 0x{function:x}"))
    }

    /// Whether the GOT slot at `address` holds a function that tells about the team.
    pub fn is_telling_slot(&self, address: u64) -> bool {
        self.slots.get(&address).is_some_and(|name| role(name) != Role::Other)
    }

    /// The function behind a GOT slot.
    pub fn behind_slot(&self, slot: u64) -> Callee<'e> {
        self.slots.get(&slot).map_or(Callee::Unknown, |name| self.named(name))
    }

    /// The function that a direct call of `address` reaches.
    pub fn called(&self, address: u64) -> Callee<'e> {
        self.stubs.get(&address).map_or(Callee::Local(address), |name| self.named(name))
    }

    /// Calls through the PLT often come back to the module itself.
    fn named(&self, name: &'e str) -> Callee<'e> {
        match self.elf.exports.get(name) {
            Some(address) if role(name) == Role::Other => Callee::Local(*address),
            _ => Callee::Import(name),
        }
    }

    /// The callee of a call or jump whose target the instruction itself names.
    pub fn target(&self, instruction: &Instruction) -> Callee<'e> {
        match instruction.op0_kind() {
            OpKind::NearBranch64 => self.called(instruction.near_branch_target()),
            OpKind::Memory if instruction.is_ip_rel_memory_operand() => {
                self.behind_slot(instruction.ip_rel_memory_address())
            }
            _ => Callee::Unknown,
        }
    }

    /// Finds every mention of a function whose role is not `Other`.
    ///
    /// # Errors
    /// With what stands in the way, where a mention cannot be attributed to a function.
    pub fn mentions(&self) -> Result<Mentions, String> {
        let telling = |name: &str| role(name) != Role::Other;
        let all = self.slots.iter().chain(&self.stubs);
        let targets: Vec<(u64, &str)> = all.filter(|(_, n)| telling(n)).map(|(a, n)| (*a, *n)).collect();
        let mut found = Mentions { calls: BTreeMap::new(), other: None };
        let addresses: BTreeSet<u64> = targets.iter().map(|(address, _)| *address).collect();
        let mut spots: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for spot in self.spots(&addresses) {
            let (start, _) = self.function_around(spot).ok_or_else(|| {
                format!("the code at 0x{spot:x} asks about the team and belongs to no function")
            })?;
            spots.entry(start).or_default().push(spot);
        }
        for (start, spots) in spots {
            self.mentions_in(start, &spots, &addresses, &mut found)?;
        }
        Ok(found)
    }

    /// Positions of four bytes that, taken as a relative address, may lead to one of `targets`.
    fn spots(&self, targets: &BTreeSet<u64>) -> Vec<u64> {
        let (Some(low), Some(high)) = (targets.first(), targets.last()) else { return Vec::new() };
        let span = (high - low).saturating_add(5);
        let mut spots = Vec::new();
        for piece in self.elf.text.iter().filter(|piece| !piece.name.starts_with(".plt")) {
            for (at, bytes) in piece.data.windows(4).enumerate() {
                let address = piece.address.wrapping_add(at as u64);
                let target = relative(address.wrapping_add(4), bytes);
                // Up to four bytes of an immediate operand may follow.
                if target.wrapping_sub(*low).wrapping_add(4) > span {
                    continue;
                }
                if (0..=4).any(|behind| targets.contains(&target.wrapping_add(behind))) {
                    spots.push(address);
                }
            }
        }
        spots
    }

    fn mentions_in(
        &self,
        start: u64,
        spots: &[u64],
        targets: &BTreeSet<u64>,
        found: &mut Mentions,
    ) -> Result<(), String> {
        let (Some(&last), Some(bytes)) = (spots.last(), self.code_from(start)) else {
            return Err(format!("the function at 0x{start:x} has no code"));
        };
        let mut decoder = Decoder::with_ip(64, bytes, start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        let mut rest = spots;
        while decoder.can_decode() && decoder.ip() <= last {
            decoder.decode_out(&mut instruction);
            if instruction.is_invalid() {
                return Err(format!("{} cannot be decoded", self.describe(instruction.ip())));
            }
            let passed = rest.partition_point(|spot| *spot < instruction.next_ip());
            rest = &rest[passed..];
            if passed == 0 {
                continue;
            }
            let memory = instruction.is_ip_rel_memory_operand()
                && targets.contains(&instruction.ip_rel_memory_address());
            let branch = instruction.op0_kind() == OpKind::NearBranch64
                && targets.contains(&instruction.near_branch_target());
            let calls = matches!(
                instruction.flow_control(),
                FlowControl::Call
                    | FlowControl::IndirectCall
                    | FlowControl::UnconditionalBranch
                    | FlowControl::IndirectBranch
                    | FlowControl::ConditionalBranch
            );
            // Loaded into a register to be called from there: the flow analysis follows it.
            let loads = instruction.mnemonic() == iced_x86::Mnemonic::Mov
                && instruction.op0_kind() == OpKind::Register
                && self.is_telling_slot(instruction.memory_displacement64());
            if (memory || branch) && (calls || loads) {
                found.calls.entry(start).or_default().push(instruction.ip());
            } else if memory && found.other.is_none() {
                found.other = Some((instruction.ip(), "takes the address of such a function".into()));
            }
        }
        Ok(())
    }

    /// Functions that call `target` directly.
    pub fn callers(&self, target: u64) -> Vec<u64> {
        let spots = self.spots(&BTreeSet::from([target]));
        let is_call = |spot: &u64| {
            spot.checked_sub(1)
                .and_then(|at| self.elf.code_at(at))
                .is_some_and(|code| matches!(code[0], 0xe8 | 0xe9))
        };
        let mut callers: Vec<u64> = spots
            .iter()
            .filter(|spot| is_call(spot))
            .filter_map(|spot| self.function_around(*spot))
            .map(|(s, _)| s)
            .collect();
        callers.dedup();
        callers
    }

    /// Whether `function` is handed to another one as its first argument, as gcc hands outlined functions to GOMP_parallel, or as
    /// its third, as clang hands them to __kmpc_fork_call.
    pub fn is_handed_on(&self, function: u64) -> bool {
        // One search for all of them: there may be thousands, in megabytes of code.
        self.handed_on.get_or_init(|| self.find_handed_on()).contains(&function)
    }

    /// The functions that regions run, as far as they are known: those handed on, and those that the compiler named so.
    pub fn regions(&self) -> BTreeSet<u64> {
        let handed_on = self.handed_on.get_or_init(|| self.find_handed_on()).iter().copied();
        let named = self.elf.functions.iter().filter(|(_, name)| super::is_outlined_by_name(name));
        handed_on.chain(named.map(|(address, _)| *address)).collect()
    }

    fn find_handed_on(&self) -> HashSet<u64> {
        const LEA_RDI: [u8; 3] = [0x48, 0x8d, 0x3d];
        const LEA_RDX: [u8; 3] = [0x48, 0x8d, 0x15];
        let llvms = self.elf.imports.keys().any(|name| name.starts_with("__kmpc_fork_"));
        let hands = |bytes: &[u8]| bytes.starts_with(&LEA_RDI) || (llvms && bytes.starts_with(&LEA_RDX));
        let mut found = HashSet::new();
        for piece in &self.elf.text {
            for (at, bytes) in piece.data.windows(7).enumerate().filter(|(_, bytes)| hands(bytes)) {
                let target = relative(piece.address.wrapping_add(at as u64 + 7), &bytes[3..]);
                if self.is_start(target) {
                    found.insert(target);
                }
            }
        }
        found
    }

    pub fn is_exported(&self, function: u64) -> bool {
        self.elf.exports.values().any(|address| *address == function)
    }

    pub fn code_from(&self, address: u64) -> Option<&'e [u8]> {
        self.elf.code_at(address)
    }

    /// Where the entries of a switch's jump table at `table` lead to, as far as they stay within `range`.
    pub fn jump_table(&self, table: u64, absolute: bool, range: (u64, u64)) -> Vec<u64> {
        let Some(bytes) = self.elf.bytes_at(table) else { return Vec::new() };
        let inside = |target: &u64| (range.0..range.1).contains(target);
        let mut targets: Vec<u64> = if absolute {
            let words = bytes.as_chunks::<8>().0.iter().take(MAX_TABLE);
            words.map(|word| u64::from_le_bytes(*word)).take_while(inside).collect()
        } else {
            let words = bytes.as_chunks::<4>().0.iter().take(MAX_TABLE);
            words
                .map(|word| table.wrapping_add_signed(i64::from(i32::from_le_bytes(*word))))
                .take_while(inside)
                .collect()
        };
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}

/// Entries of one jump table; gcc makes them for dense switches, which programmers write by hand.
const MAX_TABLE: usize = 4096;

fn relative(next: u64, offset: &[u8]) -> u64 {
    let offset = i32::from_le_bytes([offset[0], offset[1], offset[2], offset[3]]);
    next.wrapping_add_signed(i64::from(offset))
}
