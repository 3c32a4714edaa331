//! The module's functions, what its calls lead to, and where it asks about the team.

use crate::decode::{Flow, Target, decode, patterns};
use crate::elf::{Elf, SlotKind};
use crate::functions::{FORKS, Role, is_outlined_by_name, role};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most entries of one jump table; gcc makes tables for dense switches.
const MAX_TABLE: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee<'c> {
    Import(&'c str),
    Local(u64),
    Unknown,
}

pub(crate) struct Mentions {
    /// Addresses of the calls, by the start of their function.
    pub calls: BTreeMap<u64, Vec<u64>>,
    /// The first mention that is no call: its address and what it does.
    pub other: Option<(u64, String)>,
}

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
            for (slot, entries) in patterns::stubs(piece.data, piece.address) {
                let Some(name) = slots.get(&slot) else { continue };
                stubs.extend(entries.map(|entry| (entry, *name)));
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

    pub fn function_around(&self, address: u64) -> Option<(u64, u64)> {
        let next = self.starts.partition_point(|start| *start <= address);
        let start = *self.starts.get(next.checked_sub(1)?)?;
        Some((start, self.starts.get(next).copied().unwrap_or(u64::MAX)))
    }

    /// `name+0x1f`, or the bare address in a file without symbols.
    pub fn describe(&self, address: u64) -> String {
        let start = self.function_around(address).map_or(address, |(start, _)| start);
        match self.elf.functions.get(&start) {
            Some(name) => format!("{name}+0x{:x}", address.wrapping_sub(start)),
            None => format!("the function at 0x{start:x}, offset 0x{:x},", address.wrapping_sub(start)),
        }
    }

    pub fn is_telling_slot(&self, address: u64) -> bool {
        self.slots.get(&address).is_some_and(|name| role(name) != Role::Other)
    }

    /// Calls through the PLT often lead back to the module itself.
    fn named(&self, name: &'e str) -> Callee<'e> {
        match self.elf.exports.get(name) {
            Some(address) if role(name) == Role::Other => Callee::Local(*address),
            _ => Callee::Import(name),
        }
    }

    pub fn callee(&self, target: Target) -> Callee<'e> {
        match target {
            Target::Code(address) => {
                self.stubs.get(&address).map_or(Callee::Local(address), |name| self.named(name))
            }
            Target::Slot(slot) => self.slots.get(&slot).map_or(Callee::Unknown, |name| self.named(name)),
            Target::Register(_) | Target::Unknown => Callee::Unknown,
        }
    }

    /// Finds every mention of a function whose role is not `Other`; the error says why they are not known.
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

    /// Where code outside the linker's stubs may mention one of `targets`.
    fn spots(&self, targets: &BTreeSet<u64>) -> Vec<u64> {
        let pieces = self.elf.text.iter().filter(|piece| !piece.name.starts_with(".plt"));
        pieces.flat_map(|piece| patterns::mentions(piece.data, piece.address, targets)).collect()
    }

    /// Whether any code may jump to one of these addresses from afar, as branches from other functions do.
    pub fn is_jumped_to(&self, targets: &BTreeSet<u64>) -> bool {
        self.elf.text.iter().any(|piece| patterns::jumps_to(piece.data, piece.address, targets))
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
        let mut rest = spots;
        for instruction in decode(bytes, start).take_while(|instruction| instruction.address() <= last) {
            if instruction.is_invalid() {
                return Err(format!("{} cannot be decoded", self.describe(instruction.address())));
            }
            let passed = rest.partition_point(|spot| *spot < instruction.next());
            rest = &rest[passed..];
            if passed == 0 {
                continue;
            }
            let memory = instruction.fixed_address().filter(|address| targets.contains(address));
            let branch = matches!(instruction.target(), Target::Code(target) if targets.contains(&target));
            let calls = matches!(instruction.flow(), Flow::Call | Flow::Jump | Flow::Branch);
            // Loaded into a register to be called from there: the flow analysis follows the register.
            let loads = instruction.loads_register() && memory.is_some_and(|slot| self.is_telling_slot(slot));
            if (memory.is_some() || branch) && (calls || loads) {
                found.calls.entry(start).or_default().push(instruction.address());
            } else if memory.is_some() && found.other.is_none() {
                found.other = Some((instruction.address(), "takes the address of such a function".into()));
            }
        }
        Ok(())
    }

    pub fn callers(&self, target: u64) -> Vec<u64> {
        let spots = self.spots(&BTreeSet::from([target]));
        let before = |spot: &u64| self.elf.code_at(spot.checked_sub(1)?);
        let calls = spots.iter().filter(|spot| before(spot).is_some_and(patterns::is_call));
        let mut callers: Vec<u64> =
            calls.filter_map(|spot| self.function_around(*spot)).map(|(start, _)| start).collect();
        callers.dedup();
        callers
    }

    /// Whether `function` is handed to another one as its first argument, as gcc does with GOMP_parallel, or
    /// as its third, as clang does with __kmpc_fork_call.
    pub fn is_handed_on(&self, function: u64) -> bool {
        // One search finds all of them: there may be thousands, in megabytes of code.
        self.handed_on.get_or_init(|| self.find_handed_on()).contains(&function)
    }

    /// The functions that regions run: handed on, or named so by the compiler.
    pub fn regions(&self) -> BTreeSet<u64> {
        let handed_on = self.handed_on.get_or_init(|| self.find_handed_on()).iter().copied();
        let named = self.elf.functions.iter().filter(|(_, name)| is_outlined_by_name(name));
        handed_on.chain(named.map(|(address, _)| *address)).collect()
    }

    fn find_handed_on(&self) -> HashSet<u64> {
        let llvms = self.elf.imports.keys().any(|name| name.starts_with(FORKS));
        let pieces = self.elf.text.iter();
        let handed_on = pieces.flat_map(|piece| patterns::handed_on(piece.data, piece.address, llvms));
        handed_on.filter(|target| self.is_start(*target)).collect()
    }

    pub fn is_exported(&self, function: u64) -> bool {
        self.elf.exports.values().any(|address| *address == function)
    }

    pub fn code_from(&self, address: u64) -> Option<&'e [u8]> {
        self.elf.code_at(address)
    }

    pub fn jump_table(&self, table: u64, absolute: bool, range: (u64, u64)) -> Vec<u64> {
        let Some(bytes) = self.elf.bytes_at(table) else { return Vec::new() };
        let inside = |target: &u64| (range.0..range.1).contains(target);
        let entry = |entry: &[u8]| match entry {
            [a, b, c, d] => table.wrapping_add_signed(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))),
            _ => entry.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte)),
        };
        let entries = bytes.chunks_exact(if absolute { 8 } else { 4 }).take(MAX_TABLE);
        let mut targets: Vec<u64> = entries.map(entry).take_while(inside).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }
}
