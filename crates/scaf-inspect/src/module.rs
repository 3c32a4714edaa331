use crate::decode::abi;
use crate::effects;
use crate::elf::{Elf, File as ElfFile, build_id};
use crate::error::Error;
use crate::functions::{
    FORKS, GOMP_STARTS_REGIONS, PREFIXES, THREADPRIVATE, keeps_for_threads, names_no_query,
};
use crate::size_use::{self, SizeUse, Spins};
use memchr::memmem;
use object::elf::{self, FileHeader64, SectionHeader64};
use object::read::elf::{FileHeader as _, SectionHeader as _};
use object::{LittleEndian, ReadCache, ReadRef};
use scaf_functions::files;
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read, Seek};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

pub(crate) const MAX_FILE: u64 = 1 << 30;
/// Files up to this size, in bytes, are read at once: many small reads of a C library's tables are slow.
const READ_AT_ONCE: u64 = 64 << 20;

/// What is known of an ELF file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleFacts {
    /// Where it was read.
    pub path: PathBuf,
    /// The name by which programs need it, if it is a library.
    pub soname: Option<String>,
    /// Needs no dynamic linker, so that no library can be preloaded.
    pub statically_linked: bool,
    /// Setuid or setgid, so that the dynamic linker ignores LD_PRELOAD. File capabilities, which have the
    /// same effect, are not checked.
    pub setuid: bool,
    /// Whether it is code of a processor that this analysis reads.
    pub machine_supported: bool,
    /// Starts regions through libgomp's interface, which LLVM's runtime has, too.
    pub imports_gomp: bool,
    /// Starts regions through LLVM's and Intel's interface.
    pub imports_kmp: bool,
    /// Needed libraries that make teams: OpenMP runtimes, TBB, OpenBLAS.
    pub runtimes_needed: Vec<String>,
    /// Has or uses thread-local variables, among them `threadprivate` data, or POSIX's thread-specific data.
    pub thread_local: bool,
    /// What it does with team sizes.
    pub size_use: SizeUse,
    /// Where its regions wait by spinning on memory, if they do; file addresses.
    pub spins: Option<Spins>,
    /// The build-id, else a hash of the code.
    pub fingerprint: String,
    pub(crate) code_offset: Option<u64>,
}

impl ModuleFacts {
    pub(crate) fn starts_regions(&self) -> bool {
        self.imports_gomp || self.imports_kmp
    }

    pub(crate) fn is_relevant(&self) -> bool {
        self.starts_regions() || self.size_use != SizeUse::None
    }

    pub(crate) fn is_runtime(&self) -> bool {
        is_openmp_runtime(self.soname.as_deref().unwrap_or_default()) || is_runtimes_file(&self.path)
    }

    pub(crate) fn objection(&self) -> Option<String> {
        if !self.machine_supported {
            return Some(abi::NOT_UNDERSTOOD.into());
        }
        if let SizeUse::Depends { why } | SizeUse::Unknown { why } = &self.size_use {
            return Some(why.clone());
        }
        let keeps = self.thread_local && self.is_relevant();
        keeps.then(|| "what it keeps for each thread (thread-local variables, say) must keep its team".into())
    }
}

pub(crate) fn is_runtimes_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| is_openmp_runtime(&name.to_string_lossy()))
}

pub(crate) fn is_openmp_runtime(name: &str) -> bool {
    files::is_openmp_runtime(name.as_bytes()) || name == "libscaf.so"
}

/// A file that has been opened: reading it takes nothing but its descriptor.
pub(crate) struct Opened {
    pub file: File,
    pub meta: Metadata,
}

impl Opened {
    /// The regular file at `open`, called `path`.
    pub fn new(open: &Path, path: &Path) -> Result<Opened, Error> {
        let meta = std::fs::metadata(open).map_err(|e| Error::read(path, e))?;
        if !meta.is_file() {
            // Opening a FIFO could wait forever for a writer.
            return Err(Error::not_elf(path, "not a regular file"));
        }
        if meta.len() > MAX_FILE {
            return Err(Error::TooLarge { path: path.to_owned(), bytes: meta.len(), limit: MAX_FILE });
        }
        let file = File::open(open).map_err(|e| Error::read(path, e))?;
        let meta = file.metadata().map_err(|e| Error::read(path, e))?;
        Ok(Opened { file, meta })
    }

    pub fn inode(&self) -> u64 {
        std::os::unix::fs::MetadataExt::ino(&self.meta)
    }

    pub fn fingerprint(&self, path: &Path) -> Result<String, Error> {
        let length = self.meta.len();
        let cache = ReadCache::new(&self.file);
        let elf = ElfFile::parse(&cache).map_err(|e| Error::not_elf(path, e))?;
        if let Some(id) = build_id(&elf) {
            return Ok(id);
        }
        let mut hasher = DefaultHasher::new();
        cache.read_bytes_at(0, length.min(READ_AT_ONCE)).unwrap_or_default().hash(&mut hasher);
        length.hash(&mut hasher);
        Ok(format!("file-{:016x}", hasher.finish()))
    }
}

/// The facts about the ELF file at `path`, which has at most 1 GiB.
pub fn module(path: &Path) -> Result<ModuleFacts, Error> {
    read(&Opened::new(path, path)?, path)
}

/// The build-id of the ELF file at `open`, else a hash of its beginning and its length: what a program is
/// known by from one run to the next.
pub fn fingerprint(open: &Path) -> Result<String, Error> {
    Opened::new(open, open)?.fingerprint(open)
}

/// The facts about a file whose path is `path`; `None` if it names nothing of OpenMP.
pub(crate) fn relevant_module(opened: &Opened, path: &Path) -> Result<Option<ModuleFacts>, Error> {
    if names_nothing(&opened.file) {
        return Ok(None);
    }
    read(opened, path).map(Some)
}

/// Whether this ELF file can neither start a region nor call a query: it would have to name the functions
/// among its dynamic symbols or in its data. That is nearly all of a Python process's 200 libraries, so most
/// of their 150 MB isn't read.
fn names_nothing(file: &File) -> bool {
    let Some(pieces) = may_name(&ReadCache::new(file)) else { return false };
    let openmp = Openmp::new();
    let mut window = vec![0; WINDOW];
    pieces.iter().all(|piece| {
        (0..piece.size).step_by(WINDOW - LONGEST_NAME).all(|begin| {
            let read = &mut window[..WINDOW.min(usize::try_from(piece.size - begin).unwrap_or(WINDOW))];
            file.read_exact_at(read, piece.offset.saturating_add(begin)).is_ok()
                && !openmp.is_named_in(read, piece.is_symbols)
        })
    })
}

/// What is read at once, in bytes: it stays in the processor's cache.
const WINDOW: usize = 1 << 18;
/// At least as long as any prefix, and any known name that is no query.
const LONGEST_NAME: usize = 32;

/// A part of a file in which names of functions may stand.
struct Piece {
    offset: u64,
    size: u64,
    /// The names are those of its dynamic symbols.
    is_symbols: bool,
}

struct Openmp([memmem::Finder<'static>; PREFIXES.len()]);

impl Openmp {
    fn new() -> Openmp {
        Openmp(PREFIXES.map(memmem::Finder::new))
    }

    fn is_named_in(&self, data: &[u8], are_symbols: bool) -> bool {
        let tells = |begin: usize| !are_symbols || !names_no_query(&data[begin..]);
        self.0.iter().any(|prefix| prefix.find_iter(data).any(tells))
    }
}

/// Where the names of functions may stand in a file: its dynamic symbols' names, and what of it is loaded and
/// is neither code nor a table of numbers. `None` if that isn't known.
fn may_name<'a, R: ReadRef<'a>>(file: R) -> Option<Vec<Piece>> {
    let endian = LittleEndian;
    let header = FileHeader64::<LittleEndian>::parse(file).ok()?;
    let sections = header.section_headers(endian, file).ok()?;
    // Without this section the imports are unknown.
    sections.iter().find(|section| section.sh_type(endian) == elf::SHT_DYNAMIC)?;
    let symbols = sections.iter().find(|section| section.sh_type(endian) == elf::SHT_DYNSYM);
    let names = symbols.map(|section| section.sh_link(endian) as usize);
    let of_numbers = [
        elf::SHT_NOBITS,
        elf::SHT_RELA,
        elf::SHT_DYNSYM,
        elf::SHT_HASH,
        elf::SHT_GNU_HASH,
        elf::SHT_GNU_VERSYM,
    ];
    let is_data = |section: &SectionHeader64<_>| {
        let flags = section.sh_flags(endian).0;
        flags & elf::SHF_ALLOC.0 != 0
            && flags & elf::SHF_EXECINSTR.0 == 0
            && !of_numbers.contains(&section.sh_type(endian))
    };
    let all = sections.iter().enumerate();
    let read = all.filter(|(at, section)| is_data(section) || Some(*at) == names);
    let piece = |(at, section): (usize, &SectionHeader64<_>)| Piece {
        offset: section.sh_offset(endian),
        size: section.sh_size(endian),
        is_symbols: Some(at) == names,
    };
    let pieces: Vec<Piece> = read.map(piece).collect();
    let bytes = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.size));
    (bytes <= MAX_FILE).then_some(pieces)
}

fn read(opened: &Opened, path: &Path) -> Result<ModuleFacts, Error> {
    let Opened { file, meta } = opened;
    let mut file = file;
    let facts = if meta.len() <= READ_AT_ONCE {
        let mut bytes = Vec::with_capacity(meta.len() as usize);
        file.rewind().map_err(|e| Error::read(path, e))?;
        file.take(READ_AT_ONCE).read_to_end(&mut bytes).map_err(|e| Error::read(path, e))?;
        facts(bytes.as_slice(), path)?
    } else {
        facts(&ReadCache::new(file), path)?
    };
    Ok(ModuleFacts { setuid: meta.mode() & 0o6000 != 0, ..facts })
}

/// The facts about an ELF file in memory; the path is empty and `setuid` false.
pub fn module_from_bytes(bytes: &[u8]) -> Result<ModuleFacts, Error> {
    facts(bytes, Path::new(""))
}

fn names_something<'a, R: ReadRef<'a>>(file: R) -> bool {
    let openmp = Openmp::new();
    let is_named = |piece: Piece| {
        let read = file.read_bytes_at(piece.offset, piece.size);
        read.is_ok_and(|data| openmp.is_named_in(data, piece.is_symbols))
    };
    may_name(file).is_none_or(|pieces| pieces.into_iter().any(is_named))
}

fn facts<'a, R: ReadRef<'a>>(file: R, path: &Path) -> Result<ModuleFacts, Error> {
    let elf = Elf::parse(file, path)?;
    let code = size_use::Code::new(&elf);
    let starts = |prefix: &str| elf.imports.keys().any(|name| name.starts_with(prefix));
    let imports_gomp = starts(GOMP_STARTS_REGIONS);
    let imports_kmp = starts(FORKS);
    let starts_regions = imports_gomp || imports_kmp;
    let facts = ModuleFacts {
        path: path.to_owned(),
        soname: elf.soname.clone(),
        statically_linked: elf.machine_supported && !elf.has_interpreter && !elf.has_dynamic,
        setuid: false,
        machine_supported: elf.machine_supported,
        spins: starts_regions.then(|| size_use::spins(&code)).flatten(),
        imports_gomp,
        imports_kmp,
        runtimes_needed: elf
            .needed
            .iter()
            .filter(|name| files::makes_teams(name.as_bytes()))
            .cloned()
            .collect(),
        thread_local: elf.has_tls
            || starts(THREADPRIVATE)
            || elf.imports.keys().any(|name| keeps_for_threads(name)),
        size_use: size_use::analyse(&code, &|code| {
            effects::prove(code).map_err(|finding| (finding.address, finding.what))
        }),
        fingerprint: elf.fingerprint(),
        code_offset: elf.code_offset,
    };
    debug_assert!(!facts.is_relevant() || names_something(file), "{facts:?}");
    Ok(facts)
}
