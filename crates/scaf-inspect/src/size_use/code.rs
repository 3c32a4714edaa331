//! The module's functions, the targets of its calls, and its queries about the team.

use crate::decode::{Flow, Target, decode, patterns};
use crate::elf::{Elf, Piece, SlotKind};
use crate::functions::{FORKS, is_outlined_by_name, is_query};
use memchr::memmem;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Most entries of one jump table; gcc makes tables for dense switches.
const MAX_TABLE: usize = 4096;
/// Most instructions between the load of a region's function and the call that it is for.
const MOST_BEFORE_CALL: usize = 32;
/// Below this address no system loads a program that can't be moved (vm.mmap_min_addr).
pub(crate) const LOWEST_FIXED: u64 = 0x10000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Callee<'c> {
    Import(&'c str),
    Local(u64),
    Unknown,
}

pub(crate) struct Mentions {
    /// Addresses of the calls, by the start of their function.
    pub calls: BTreeMap<u64, Vec<u64>>,
    /// The slots and stubs that are mentioned.
    pub met: BTreeSet<u64>,
    /// The first mention that is no call: its address and what it does.
    pub other: Option<(u64, String)>,
}

pub(crate) struct Code<'e> {
    pub elf: &'e Elf<'e>,
    starts: Vec<u64>,
    slots: HashMap<u64, &'e str>,
    stubs: HashMap<u64, &'e str>,
    function_arguments: OnceCell<Vec<(u64, u64)>>,
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
        Self { elf, starts: elf.function_starts(), slots, stubs, function_arguments: OnceCell::new() }
    }

    pub fn knows_functions(&self) -> bool {
        !self.starts.is_empty()
    }

    /// Where functions begin, as the table for exceptions says; sorted.
    pub fn starts(&self) -> &[u64] {
        &self.starts
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

    /// The slots and stubs by which functions of some names are called.
    pub fn places_of(&self, is_one: impl Fn(&str) -> bool) -> impl Iterator<Item = u64> {
        let all = self.slots.iter().chain(&self.stubs);
        all.filter(move |(_, name)| is_one(name)).map(|(address, _)| *address)
    }

    pub fn is_query_slot(&self, address: u64) -> bool {
        self.slots.get(&address).is_some_and(|name| is_query(name))
    }

    /// Calls through the PLT often lead back to the module itself.
    fn named(&self, name: &'e str) -> Callee<'e> {
        match self.elf.exports.get(name) {
            Some(address) if !is_query(name) => Callee::Local(*address),
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

    /// Finds every mention of a query about the team; the error says why they are not known.
    pub fn mentions(&self) -> Result<Mentions, String> {
        let telling = |name: &str| is_query(name);
        let all = self.slots.iter().chain(&self.stubs);
        let targets: Vec<(u64, &str)> = all.filter(|(_, n)| telling(n)).map(|(a, n)| (*a, *n)).collect();
        let mut found = Mentions { calls: BTreeMap::new(), met: BTreeSet::new(), other: None };
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
        // It may be called through an unknown kind of stub.
        let met: HashSet<&str> =
            targets.iter().filter(|(at, _)| found.met.contains(at)).map(|(_, name)| *name).collect();
        let imports = self.elf.imports.keys().map(String::as_str);
        match imports.filter(|name| telling(name)).find(|name| !met.contains(name)) {
            Some(name) if found.other.is_none() => {
                Err(format!("where it calls {name} could not be made out"))
            }
            _ => Ok(found),
        }
    }

    /// The functions that mention others of these names, and where they do.
    pub fn users(&self, are: &dyn Fn(&str) -> bool) -> (BTreeSet<u64>, BTreeSet<u64>) {
        let all = self.slots.iter().chain(&self.stubs);
        let targets = all.filter(|(_, name)| are(name)).map(|(address, _)| *address).collect();
        let spots: BTreeSet<u64> = self.spots(&targets).into_iter().collect();
        let users = spots.iter().filter_map(|spot| self.function_around(*spot)).map(|(start, _)| start);
        (users.collect(), spots)
    }

    /// Where code outside the linker's stubs may mention one of `targets`.
    fn spots(&self, targets: &BTreeSet<u64>) -> Vec<u64> {
        let pieces = self.elf.text.iter().filter(|piece| !piece.name.starts_with(".plt"));
        pieces.flat_map(|piece| patterns::mentions(piece.data, piece.address, targets)).collect()
    }

    /// Whether any far jump or branch in the code may lead to one of these addresses.
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
            let loads = instruction.loads_register() && memory.is_some_and(|slot| self.is_query_slot(slot));
            if (memory.is_some() || branch) && (calls || loads) {
                found.calls.entry(start).or_default().push(instruction.address());
                found.met.extend(memory);
                if let Target::Code(target) = instruction.target() {
                    found.met.insert(target);
                }
            } else if memory.is_some() && found.other.is_none() {
                found.other = Some((instruction.address(), "takes the address of such a function".into()));
            }
        }
        Ok(())
    }

    /// The functions that call this one; `None` if code or data have its address otherwise, so that it may be
    /// called through a pointer.
    pub fn callers(&self, target: u64) -> Option<Vec<u64>> {
        let spots = self.spots(&BTreeSet::from([target]));
        let before = |spot: &u64| self.elf.code_at(spot.checked_sub(2)?);
        let only_called = spots.iter().all(|spot| before(spot).is_some_and(patterns::is_call));
        if !only_called || self.is_in_data(target) || self.is_a_constant(target) {
            return None;
        }
        let mut callers: Vec<u64> =
            spots.iter().filter_map(|spot| self.function_around(*spot)).map(|(start, _)| start).collect();
        callers.dedup();
        Some(callers)
    }

    /// Whether a pointer to it stands in data, or in the relocations that put one there.
    fn is_in_data(&self, address: u64) -> bool {
        let words = |piece: &Piece<'e>| {
            let skip = piece.address.wrapping_neg() as usize % 8;
            piece
                .data
                .get(skip..)
                .is_some_and(|data| data.chunks_exact(8).any(|word| *word == address.to_le_bytes()))
        };
        self.elf.data.iter().any(words)
    }

    /// Whether code that can't be moved may have it as a constant.
    fn is_a_constant(&self, address: u64) -> bool {
        let (true, Ok(constant)) = (address >= LOWEST_FIXED, u32::try_from(address)) else { return false };
        self.elf.text.iter().any(|piece| memmem::find(piece.data, &constant.to_le_bytes()).is_some())
    }

    /// Whether `function` is passed to a runtime as its first argument, as gcc does with GOMP_parallel, or as
    /// its third, as clang does with __kmpc_fork_call.
    pub fn is_passed_to_runtime(&self, function: u64) -> bool {
        self.loads_of_functions().any(|(target, next)| target == function && self.calls_runtime(next))
    }

    /// Whether the next call after `address` is one of a runtime's.
    fn calls_runtime(&self, address: u64) -> bool {
        let Some(bytes) = self.elf.code_at(address) else { return false };
        let leaves = |flow: Flow| matches!(flow, Flow::Call | Flow::Jump);
        let mut next = decode(bytes, address).take(MOST_BEFORE_CALL);
        let next = next.find(|it| it.is_invalid() || leaves(it.flow()));
        match next.filter(|it| !it.is_invalid()).map(|it| self.callee(it.target())) {
            Some(Callee::Import(name)) => ["GOMP_", "__kmpc_"].iter().any(|start| name.starts_with(start)),
            _ => false,
        }
    }

    /// The functions that regions run, known as arguments of runtime calls or by their names.
    pub fn regions(&self) -> BTreeSet<u64> {
        let function_arguments = self.loads_of_functions().map(|(target, _)| target);
        let named = self.elf.functions.iter().filter(|(_, name)| is_outlined_by_name(name));
        function_arguments.chain(named.map(|(address, _)| *address)).collect()
    }

    /// Has `look` see the regions' functions, and then what these call, so many calls deep, each once. It
    /// adds to the set whom its function calls, and ends the search by an answer.
    pub fn search_regions<R>(
        &self,
        depth: usize,
        mut look: impl FnMut(u64, &mut BTreeSet<u64>) -> Option<R>,
    ) -> Option<R> {
        let mut met = BTreeSet::new();
        let mut next = self.regions();
        for _ in 0..=depth {
            let mut callees = BTreeSet::new();
            let found = next.iter().find_map(|function| look(*function, &mut callees));
            if found.is_some() {
                return found;
            }
            met.append(&mut next);
            next = callees.difference(&met).copied().collect();
        }
        None
    }

    /// Functions whose addresses are loaded into argument registers, and the address of the next instruction.
    fn loads_of_functions(&self) -> impl Iterator<Item = (u64, u64)> {
        // One search finds all of them: there may be thousands, in megabytes of code.
        let find = || {
            let llvms = self.elf.imports.keys().any(|name| name.starts_with(FORKS));
            let pieces = self.elf.text.iter();
            let loads =
                pieces.flat_map(|piece| patterns::function_arguments(piece.data, piece.address, llvms));
            loads.filter(|(target, _)| self.is_start(*target)).collect()
        };
        self.function_arguments.get_or_init(find).iter().copied()
    }

    pub fn is_exported(&self, function: u64) -> bool {
        self.elf.exports.values().any(|address| *address == function)
    }

    pub fn code_from(&self, address: u64) -> Option<&'e [u8]> {
        self.elf.code_at(address)
    }

    /// The first entry of a switch's table.
    pub fn first_case(&self, table: u64, absolute: bool) -> Option<u64> {
        self.elf.bytes_at(table)?.get(..if absolute { 8 } else { 4 }).map(|entry| case(table, entry))
    }

    /// The targets of a switch. A table ends at the first entry that isn't `inside` the function, or at the
    /// next table. The error: gcc moved cold cases out of the function, and inside ones follow.
    pub fn jump_table(
        &self,
        (table, end): (u64, Option<u64>),
        absolute: bool,
        inside: impl Fn(u64) -> bool,
    ) -> Result<Vec<u64>, ()> {
        let Some(bytes) = self.elf.bytes_at(table) else { return Ok(Vec::new()) };
        let most = end.map_or(usize::MAX, |end| usize::try_from(end - table).unwrap_or(usize::MAX));
        let bytes = bytes.get(..most).unwrap_or(bytes);
        let entry = |entry: &[u8]| case(table, entry);
        let mut entries =
            bytes.chunks_exact(if absolute { 8 } else { 4 }).take(MAX_TABLE).map(entry).peekable();
        let mut targets: Vec<u64> = Vec::new();
        while let Some(target) = entries.next_if(|target| inside(*target)) {
            targets.push(target);
        }
        let is_away = |target: &u64| !inside(*target) && self.elf.code_at(*target).is_some();
        let mut is_cut = false;
        while entries.next_if(is_away).is_some() {
            is_cut = true;
        }
        if is_cut && entries.next().is_some_and(&inside) {
            return Err(());
        }
        targets.sort_unstable();
        targets.dedup();
        Ok(targets)
    }
}

/// Where an entry of a table leads: a distance from the table, or an address.
fn case(table: u64, entry: &[u8]) -> u64 {
    match entry {
        [a, b, c, d] => table.wrapping_add_signed(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))),
        _ => entry.iter().rev().fold(0, |address, byte| address << 8 | u64::from(*byte)),
    }
}
