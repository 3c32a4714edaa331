//! One module: where its functions begin, and which of them have their addresses taken.

use super::candidate::file_name;
use crate::decode::{RelativeLoad, patterns};
use crate::elf::{Elf, SlotKind};
use crate::size_use::{Code, LOWEST_FIXED};
use scaf_functions::calls::{self, Use};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Data in which addresses of functions stand for other reasons than to be called by them, or that only the
/// dynamic linker calls.
const NO_POINTERS: [&str; 14] = [
    ".dynsym",
    ".dynstr",
    ".eh_frame",
    ".eh_frame_hdr",
    ".fini_array",
    ".gcc_except_table",
    ".gnu.hash",
    ".got.plt",
    ".hash",
    ".init_array",
    ".interp",
    ".preinit_array",
    ".rela.dyn",
    ".rela.plt",
];
const LONGEST_NAME: usize = 256;

pub(super) struct Binary<'e> {
    pub elf: &'e Elf<'e>,
    pub code: Code<'e>,
    path: &'e Path,
    starts: Vec<u64>,
    pointers: OnceCell<(Vec<u64>, Vec<&'e str>)>,
    /// What members may do with the functions that were asked about: looking it up in the tables took a sixth
    /// of all.
    uses: RefCell<HashMap<&'e str, Use>>,
}

impl<'e> Binary<'e> {
    pub fn new(elf: &'e Elf<'e>, path: &'e Path) -> Self {
        let code = Code::new(elf);
        let known = elf.functions.keys().chain(elf.exports.values());
        let mut starts: Vec<u64> = code.starts().iter().chain(known).copied().collect();
        starts.sort_unstable();
        starts.dedup();
        Self { elf, code, path, starts, pointers: OnceCell::new(), uses: RefCell::default() }
    }

    /// The file's name.
    pub fn file(&self) -> &'e str {
        file_name(self.path)
    }

    /// What a member of a gathered team may do with the imported function of this name.
    pub fn member(&self, name: &'e str) -> Use {
        let mut uses = self.uses.borrow_mut();
        *uses.entry(name).or_insert_with(|| calls::member(name.as_bytes()))
    }

    /// For people: a function of a file.
    pub fn place(&self, address: u64) -> String {
        let function = self.code.describe(address);
        format!("{}: {}", self.file(), function.trim_end_matches(','))
    }

    /// The text at an address, which ends with a zero.
    pub fn text_at(&self, address: u64) -> Option<&'e str> {
        let bytes = self.elf.bytes_at(address)?;
        let end = bytes.iter().take(LONGEST_NAME).position(|byte| *byte == 0)?;
        std::str::from_utf8(&bytes[..end]).ok()
    }

    /// All constants that may be texts.
    pub fn texts(&self) -> impl Iterator<Item = &'e [u8]> {
        let pieces = self.elf.data.iter().filter(|piece| !NO_POINTERS.contains(&piece.name.as_str()));
        let texts = pieces.flat_map(|piece| piece.data.split(|byte| *byte == 0));
        texts.filter(|text| (1..LONGEST_NAME).contains(&text.len()))
    }

    pub fn is_start(&self, address: u64) -> bool {
        let (Some(first), Some(last)) = (self.starts.first(), self.starts.last()) else { return false };
        (*first..=*last).contains(&address) && self.starts.binary_search(&address).is_ok()
    }

    /// Where the function around an address begins.
    pub fn start_of(&self, address: u64) -> u64 {
        let next = self.starts.partition_point(|start| *start <= address);
        next.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(address)
    }

    /// The code from `address` to the next function.
    pub fn body(&self, address: u64) -> Option<(&'e [u8], u64)> {
        let code = self.elf.code_at(address)?;
        let next = self.starts.partition_point(|start| *start <= address);
        let end = self.starts.get(next).copied().unwrap_or(u64::MAX);
        Some((code, end.min(address.saturating_add(code.len() as u64))))
    }

    /// Functions that may be called through a pointer.
    pub fn taken(&self) -> &[u64] {
        &self.pointers().0
    }

    /// Functions of other modules to which there may be pointers.
    pub fn taken_imports(&self) -> &[&'e str] {
        &self.pointers().1
    }

    fn pointers(&self) -> &(Vec<u64>, Vec<&'e str>) {
        self.pointers.get_or_init(|| {
            let mut taken: BTreeSet<u64> = BTreeSet::new();
            let mut imports: BTreeSet<&'e str> = BTreeSet::new();
            let got = self.elf.slots.iter().filter(|slot| slot.kind == SlotKind::Got);
            let got: HashMap<u64, &'e str> = got.map(|slot| (slot.address, slot.symbol.as_str())).collect();
            let add = |name: &'e str, taken: &mut BTreeSet<u64>, imports: &mut BTreeSet<&'e str>| match self
                .elf
                .exports
                .get(name)
            {
                Some(address) => drop(taken.insert(*address)),
                None => drop(imports.insert(name)),
            };
            // The program's first code passes `main` to the C library.
            let (_, end) = self.body(self.elf.entry).unwrap_or_default();
            let is_first = |place: u64| (self.elf.entry..end).contains(&place);
            for piece in self.elf.text.iter().filter(|piece| !piece.name.starts_with(".plt")) {
                for (place, load) in patterns::relative_loads(piece.data, piece.address) {
                    match load {
                        _ if is_first(place) => {}
                        RelativeLoad::Address(address) if self.is_start(address) => {
                            taken.insert(address);
                        }
                        RelativeLoad::Slot(slot) => {
                            if let Some(name) = got.get(&slot) {
                                add(name, &mut taken, &mut imports);
                            }
                        }
                        RelativeLoad::Address(_) => {}
                    }
                }
                if self.is_fixed() {
                    let words = piece.data.windows(4).enumerate().filter_map(|(at, word)| {
                        let place = piece.address.wrapping_add(at as u64);
                        let word = u64::from(u32::from_le_bytes(word.try_into().ok()?));
                        (self.is_start(word) && !is_first(place)).then_some(word)
                    });
                    taken.extend(words);
                }
            }
            let lists = |address: u64| {
                let list = |name: &str| [".init_array", ".fini_array", ".preinit_array"].contains(&name);
                self.elf.data.iter().any(|piece| list(&piece.name) && piece.covers(address))
            };
            let relative = self.elf.relative.iter().filter(|(place, _)| !lists(*place));
            taken.extend(relative.map(|(_, target)| *target).filter(|target| self.is_start(*target)));
            for slot in self.elf.slots.iter().filter(|slot| slot.kind == SlotKind::Data) {
                add(&slot.symbol, &mut taken, &mut imports);
            }
            let pieces = self.elf.data.iter().filter(|piece| !NO_POINTERS.contains(&piece.name.as_str()));
            for piece in pieces {
                let skip = piece.address.wrapping_neg() as usize % 8;
                let words = piece.data.get(skip..).unwrap_or_default().chunks_exact(8);
                let words = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
                taken.extend(words.filter(|word| self.is_start(*word)));
            }
            (taken.into_iter().collect(), imports.into_iter().collect())
        })
    }

    /// Whether it can't be moved, so that code may have addresses as constants.
    fn is_fixed(&self) -> bool {
        self.starts.first().is_some_and(|first| *first >= LOWEST_FIXED)
            && self.starts.last().is_some_and(|last| u32::try_from(*last).is_ok())
            && !self.elf.is_movable
    }
}
