//! Reads an ELF file's tables: what it needs, what it imports, and where its code is.
//!
//! Reads only what is needed, each part up to a limit, so that a hostile file costs neither memory nor time.
//! All addresses are the file's own virtual addresses, before any load bias.

use crate::decode::object::{MACHINE, fills_slot, is_relative, is_thread_local};
use crate::error::Error;
use object::elf;
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _, Sym as _};
use object::{LittleEndian, Object as _, ObjectSection as _, ObjectSymbol as _, ReadRef};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

/// Most bytes of code in one module; scikit-learn, xgboost and lightgbm have 0.1 to 12 MB.
pub(crate) const MAX_TEXT: u64 = 256 << 20;
const MAX_DATA: u64 = 256 << 20;
/// Most bytes of a build-id; linkers write 8, 16 or 20.
const MAX_BUILD_ID: usize = 32;
/// Most symbols or relocations of one module; libLLVM has 40,000.
const MAX_ENTRIES: usize = 4_000_000;
pub(crate) type File<'a, R> = ElfFile64<'a, LittleEndian, R>;

pub(crate) struct Piece<'a> {
    pub name: String,
    pub address: u64,
    pub data: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlotKind {
    /// A GOT slot: reached by a call through the PLT, or by an instruction that names the slot.
    Got,
    Data,
}

#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub address: u64,
    pub symbol: String,
    pub kind: SlotKind,
}

#[derive(Default)]
pub(crate) struct Elf<'a> {
    pub machine_supported: bool,
    pub has_interpreter: bool,
    pub has_dynamic: bool,
    pub dynamic_is_listed: bool,
    pub has_tls: bool,
    /// Virtual address minus file offset of the code; `None` if segments differ or there is no code.
    pub code_offset: Option<u64>,
    /// In hexadecimal digits; see [`Elf::fingerprint`] for files without one.
    pub build_id: Option<String>,
    pub needed: Vec<String>,
    pub soname: Option<String>,
    /// Undefined dynamic symbols, and whether the program made their address its own (a canonical PLT entry).
    pub imports: BTreeMap<String, bool>,
    pub exports: BTreeMap<String, u64>,
    pub functions: BTreeMap<u64, String>,
    pub slots: Vec<Slot>,
    /// Places that get an address of the module's own, and that address.
    pub relative: Vec<(u64, u64)>,
    /// Where a program begins.
    pub entry: u64,
    /// Whether it can be loaded at any address.
    pub is_movable: bool,
    pub text: Vec<Piece<'a>>,
    pub data: Vec<Piece<'a>>,
}

/// The build-id, if it has a usual length.
pub(crate) fn build_id<'a, R: ReadRef<'a>>(elf_file: &File<'a, R>) -> Option<String> {
    let id = elf_file.build_id().ok()?.filter(|id| (1..=MAX_BUILD_ID).contains(&id.len()))?;
    Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl<'a> Elf<'a> {
    /// Reads the tables of the file called `path`.
    /// # Errors
    /// The file is no intact ELF file, or one of its parts exceeds the limits. A file for another machine is
    /// no error: `machine_supported` is false, and the rest is empty if it is not 64-bit little-endian.
    pub fn parse<R: ReadRef<'a>>(file: R, path: &Path) -> Result<Self, Error> {
        let bad = |e: object::Error| Error::not_elf(path, e);
        let ident =
            file.read_bytes_at(0, 16).map_err(|()| Error::not_elf(path, "shorter than an ELF header"))?;
        if !ident.starts_with(b"\x7fELF") {
            return Err(Error::not_elf(path, "no ELF magic"));
        }
        let mut facts = Self::default();
        if ident[4] != elf::ELFCLASS64.0 || ident[5] != elf::ELFDATA2LSB.0 {
            return Ok(facts);
        }
        let elf_file = File::<R>::parse(file).map_err(bad)?;
        let endian = LittleEndian;
        facts.machine_supported = elf_file.elf_header().e_machine(endian) == MACHINE;
        facts.entry = elf_file.elf_header().e_entry(endian);
        facts.is_movable = elf_file.elf_header().e_type(endian) == elf::ET_DYN;
        let mut code_offsets = BTreeSet::new();
        for header in elf_file.elf_program_headers() {
            match header.p_type(endian) {
                elf::PT_LOAD if header.p_flags(endian).0 & elf::PF_X.0 != 0 => {
                    code_offsets.insert(header.p_vaddr(endian).wrapping_sub(header.p_offset(endian)));
                }
                elf::PT_INTERP => facts.has_interpreter = true,
                elf::PT_DYNAMIC => facts.has_dynamic = true,
                elf::PT_TLS => facts.has_tls = true,
                _ => {}
            }
        }
        facts.code_offset = code_offsets.pop_first().filter(|_| code_offsets.is_empty());
        facts.build_id = build_id(&elf_file);
        facts.read_dynamic(&elf_file, file, path)?;
        facts.read_symbols(&elf_file, path)?;
        facts.read_sections(&elf_file, path)?;
        Ok(facts)
    }

    fn read_dynamic<R: ReadRef<'a>>(
        &mut self,
        elf_file: &File<'a, R>,
        file: R,
        path: &Path,
    ) -> Result<(), Error> {
        let bad = |e: object::Error| Error::not_elf(path, e);
        let endian = LittleEndian;
        let Some((entries, strings)) = elf_file.elf_section_table().dynamic(endian, file).map_err(bad)?
        else {
            return Ok(());
        };
        self.dynamic_is_listed = true;
        let strings = elf_file.elf_section_table().strings(endian, file, strings).map_err(bad)?;
        for entry in entries.iter().take(MAX_ENTRIES) {
            use object::read::elf::Dyn as _;
            let value = entry.val(endian);
            let name = || u32::try_from(value).ok().and_then(|at| strings.get(at).ok()).map(text_of);
            match entry.tag(endian) {
                elf::DT_NULL => break,
                elf::DT_NEEDED => self.needed.extend(name()),
                elf::DT_SONAME => self.soname = name(),
                _ => {}
            }
        }
        Ok(())
    }

    fn read_symbols<R: ReadRef<'a>>(&mut self, elf_file: &File<'a, R>, path: &Path) -> Result<(), Error> {
        let endian = LittleEndian;
        for symbol in elf_file.dynamic_symbols().take(MAX_ENTRIES) {
            let Ok(name) = symbol.name_bytes() else { continue };
            if name.is_empty() {
                continue;
            }
            let raw = symbol.elf_symbol();
            if raw.st_shndx(endian) == elf::SHN_UNDEF {
                self.imports.insert(text_of(name), raw.st_value(endian) != 0);
            } else if raw.st_type() == elf::STT_GNU_IFUNC {
                self.functions.insert(raw.st_value(endian), text_of(name));
            } else if raw.st_type() == elf::STT_FUNC {
                self.exports.insert(text_of(name), raw.st_value(endian));
                self.functions.insert(raw.st_value(endian), text_of(name));
            }
        }
        for symbol in elf_file.symbols().take(MAX_ENTRIES) {
            let raw = symbol.elf_symbol();
            if raw.st_type() == elf::STT_FUNC
                && raw.st_shndx(endian) != elf::SHN_UNDEF
                && let Ok(name) = symbol.name_bytes()
            {
                self.functions.insert(raw.st_value(endian), text_of(name));
            }
        }
        let Some(relocations) = elf_file.dynamic_relocations() else { return Ok(()) };
        let table = elf_file.elf_dynamic_symbol_table();
        for (count, (address, relocation)) in relocations.enumerate() {
            if count >= MAX_ENTRIES {
                return Err(Error::not_elf(path, "too many relocations"));
            }
            let object::RelocationFlags::Elf { r_type, .. } = relocation.flags() else { continue };
            if is_thread_local(r_type) {
                // Another module's thread-local variable counts as `threadprivate`, as this one's do.
                self.has_tls = true;
            }
            if is_relative(r_type) {
                self.relative.push((address, relocation.addend() as u64));
            }
            let object::RelocationTarget::Symbol(index) = relocation.target() else { continue };
            let Ok(symbol) = table.symbol(index) else { continue };
            let Ok(name) = table.symbol_name(endian, symbol) else { continue };
            let kind = if fills_slot(r_type) { SlotKind::Got } else { SlotKind::Data };
            self.slots.push(Slot { address, symbol: text_of(name), kind });
        }
        Ok(())
    }

    fn read_sections<R: ReadRef<'a>>(&mut self, elf_file: &File<'a, R>, path: &Path) -> Result<(), Error> {
        let (mut text, mut data) = (0_u64, 0_u64);
        for section in elf_file.sections() {
            let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            let name = section.name_bytes().map(text_of).unwrap_or_default();
            let allocated = sh_flags.0 & elf::SHF_ALLOC.0 != 0;
            if !allocated || section.elf_section_header().sh_type.get(LittleEndian) == elf::SHT_NOBITS {
                continue;
            }
            let executable = sh_flags.0 & elf::SHF_EXECINSTR.0 != 0;
            let (used, limit) = if executable { (&mut text, MAX_TEXT) } else { (&mut data, MAX_DATA) };
            *used = used.saturating_add(section.size());
            if *used > limit {
                return Err(Error::TooLarge { path: path.to_owned(), bytes: *used, limit });
            }
            let bytes = section.data().map_err(|e| Error::not_elf(path, e))?;
            let piece = Piece { name, address: section.address(), data: bytes };
            if executable { self.text.push(piece) } else { self.data.push(piece) }
        }
        Ok(())
    }

    /// The build-id, else a hash of the code. The standard library's hash may change with its version; what
    /// was kept under the old value is lost then.
    pub fn fingerprint(&self) -> String {
        self.build_id.clone().unwrap_or_else(|| {
            let mut hasher = DefaultHasher::new();
            self.text.iter().for_each(|piece| (piece.address, piece.data).hash(&mut hasher));
            format!("code-{:016x}", hasher.finish())
        })
    }

    /// Sorted starts of all functions with unwind information; empty if there is no sorted table. Stripped
    /// programs keep this table, which has every function that gcc emitted (LSB, ".eh_frame_hdr").
    pub fn function_starts(&self) -> Vec<u64> {
        let Some(header) = self.data.iter().find(|piece| piece.name == ".eh_frame_hdr") else {
            return Vec::new();
        };
        let bytes = header.data;
        // Version 1 with signed 32-bit offsets from the header: the only form that linkers write.
        if bytes.len() < 12 || bytes[0] != 1 || bytes[2] != 0x03 || bytes[3] != 0x3b {
            return Vec::new();
        }
        let count = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
        let mut starts: Vec<u64> = bytes[12..]
            .chunks_exact(8)
            .take(count)
            .map(|entry| {
                let offset = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                header.address.wrapping_add_signed(i64::from(offset))
            })
            .collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    pub fn bytes_at(&self, address: u64) -> Option<&'a [u8]> {
        self.text.iter().chain(&self.data).find_map(|piece| piece.from(address))
    }

    pub fn code_at(&self, address: u64) -> Option<&'a [u8]> {
        self.text.iter().find_map(|piece| piece.from(address))
    }
}

impl<'a> Piece<'a> {
    pub fn covers(&self, address: u64) -> bool {
        self.from(address).is_some()
    }

    fn from(&self, address: u64) -> Option<&'a [u8]> {
        let offset = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.data.get(offset..).filter(|rest| !rest.is_empty())
    }
}
