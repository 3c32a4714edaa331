//! The dynamic symbols of all modules: who exports what, who imports from whom.

use super::candidate::Candidate;
use super::library_files::{Kind, kind};
use crate::elf::File as ElfFile;
use crate::error::Error;
use crate::functions::starts_region;
use object::read::elf::{Dyn as _, Sym as _};
use object::{LittleEndian, ReadCache, ReadRef, elf};
use scaf_functions::calls;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;

/// Most symbols of one module.
const MAX_SYMBOLS: usize = 1_000_000;
const LOOK_UP: [&str; 2] = ["dlsym", "dlvsym"];
/// By these functions modules of Python's hand pointers to others.
const TAKE_POINTERS: [&str; 2] = ["PyCapsule_GetPointer", "PyCapsule_Import"];
const GIVES_POINTER: &str = "PyCapsule_New";

pub(super) struct Names<'c> {
    exports: HashMap<&'c [u8], Vec<(usize, u64)>>,
    imports: Vec<Vec<&'c [u8]>>,
    /// Variables that modules share, tables of virtual functions among them.
    data: HashMap<&'c [u8], Vec<usize>>,
    kinds: Vec<Kind>,
    relations: OnceCell<Vec<Relations>>,
    /// Modules that were loaded later than the program.
    later: HashSet<usize>,
}

/// How a module is related to others.
#[derive(Default)]
struct Relations {
    /// It imports from these,
    uses: BTreeSet<usize>,
    /// these import from it,
    users: BTreeSet<usize>,
    /// of these it calls functions of C++, which may make it objects with virtual functions,
    makers: BTreeSet<usize>,
    /// and from these it may get pointers to functions: it shares data with them, or a registry.
    hand_over: BTreeSet<usize>,
}

impl<'c> Names<'c> {
    pub fn of(candidates: &[Candidate<'_>], caches: &'c [ReadCache<&File>]) -> Result<Names<'c>, Error> {
        let mut names = Names {
            exports: HashMap::new(),
            imports: Vec::new(),
            data: HashMap::new(),
            kinds: Vec::new(),
            relations: OnceCell::new(),
            later: HashSet::new(),
        };
        let mut linked = Vec::new();
        for (module, (candidate, cache)) in candidates.iter().zip(caches).enumerate() {
            let file = candidate.path.file_name().unwrap_or_default().to_string_lossy();
            names.kinds.push(kind(&file, candidate.is_executable));
            let elf = ElfFile::parse(cache).map_err(|e| Error::not_elf(candidate.path, e))?;
            linked.push(Linked::of(&elf, cache, &file));
            let mut imports = Vec::new();
            let table = elf.elf_dynamic_symbol_table();
            for symbol in table.iter().take(MAX_SYMBOLS) {
                let Ok(name) = table.symbol_name(LittleEndian, symbol) else { continue };
                let kind = symbol.st_type();
                if name.is_empty() {
                    continue;
                }
                if symbol.st_shndx(LittleEndian) == elf::SHN_UNDEF {
                    imports.push(name);
                } else if kind == elf::STT_OBJECT {
                    names.data.entry(name).or_default().push(module);
                } else if kind == elf::STT_FUNC || kind == elf::STT_GNU_IFUNC || kind == elf::STT_NOTYPE {
                    let address = symbol.st_value(LittleEndian);
                    names.exports.entry(name).or_default().push((module, address));
                }
            }
            names.imports.push(imports);
        }
        names.later = later(candidates, &linked);
        Ok(names)
    }

    pub fn exporting(&self, name: &str) -> &[(usize, u64)] {
        self.exports.get(name.as_bytes()).map_or(&[], Vec::as_slice)
    }

    pub fn kind(&self, module: usize) -> Kind {
        self.kinds.get(module).copied().unwrap_or(Kind::Followed)
    }

    /// The modules that start regions.
    pub fn with_regions(&self) -> Vec<usize> {
        let starts = |name: &&[u8]| starts_region(name);
        let all = self.imports.iter().enumerate();
        let found = all
            .filter(|(module, imports)| self.kind(*module) == Kind::Followed && imports.iter().any(starts));
        found.map(|(module, _)| module).collect()
    }

    /// Whether the module has an import of one of these names.
    fn imports_any(&self, module: usize, names: &[&str]) -> bool {
        let mut imports = self.imports.get(module).into_iter().flatten();
        imports.any(|import| names.iter().any(|name| name.as_bytes() == *import))
    }

    /// The function by which a module acts on other threads, whoever calls it.
    pub fn acts_on_threads(&self, module: usize) -> Option<String> {
        let mut imports = self.imports.get(module).into_iter().flatten();
        let found = imports.find(|import| calls::acts_on_threads(import));
        found.map(|import| String::from_utf8_lossy(import).into_owned())
    }

    fn relations(&self) -> &[Relations] {
        self.relations.get_or_init(|| {
            let mut all: Vec<Relations> = self.kinds.iter().map(|_| Relations::default()).collect();
            for (importer, names) in self.imports.iter().enumerate() {
                let functions = names.iter().filter_map(|name| self.exports.get(name)).flatten();
                let functions: BTreeSet<usize> = functions.map(|(by, _)| *by).collect();
                let data: BTreeSet<usize> =
                    names.iter().filter_map(|name| self.data.get(name)).flatten().copied().collect();
                for exporter in functions.union(&data) {
                    all[*exporter].users.insert(importer);
                }
                let mangled = names.iter().filter(|name| name.starts_with(b"_Z"));
                let makers = mangled.filter_map(|name| self.exports.get(name)).flatten();
                all[importer].makers = makers.map(|(by, _)| *by).collect();
                all[importer].uses = functions.union(&data).copied().collect();
                all[importer].hand_over = data;
            }
            let giving: Vec<usize> =
                (0..self.kinds.len()).filter(|module| self.imports_any(*module, &[GIVES_POINTER])).collect();
            for (taker, relations) in all.iter_mut().enumerate() {
                if self.imports_any(taker, &TAKE_POINTERS) {
                    relations.hand_over.extend(&giving);
                }
            }
            all
        })
    }

    fn followed(&self, modules: impl IntoIterator<Item = usize>) -> Vec<usize> {
        modules.into_iter().filter(|module| self.kind(*module) == Kind::Followed).collect()
    }

    /// The modules that have given this one pointers to functions of theirs by calls, data or a registry.
    pub fn handing_over(&self, module: usize) -> Vec<usize> {
        self.followed(self.relations().get(module).iter().flat_map(|it| it.hand_over.iter().copied()))
    }

    /// The modules whose functions may have made this one objects or tables with pointers to functions: what
    /// C++ calls, and libraries that use no others. Larger ones of C have tables for their own use.
    pub fn making(&self, module: usize) -> Vec<usize> {
        let makers = self.relations().get(module).map(|it| it.makers.clone()).unwrap_or_default();
        let mut used = self.used_by(module);
        used.retain(|used| makers.contains(used) || self.used_by(*used).is_empty());
        used
    }

    /// The modules that call this one, and may hand it pointers to functions.
    pub fn users(&self, module: usize) -> Vec<usize> {
        self.followed(self.relations().get(module).iter().flat_map(|it| it.users.iter().copied()))
    }

    /// The same, and their users, and so on.
    pub fn all_users(&self, module: usize) -> Vec<usize> {
        let (mut all, mut work) = (BTreeSet::new(), vec![module]);
        while let Some(module) = work.pop() {
            work.extend(self.users(module).into_iter().filter(|user| all.insert(*user)));
        }
        all.into_iter().collect()
    }

    /// The modules that this one calls.
    pub fn used_by(&self, module: usize) -> Vec<usize> {
        self.followed(self.relations().get(module).iter().flat_map(|it| it.uses.iter().copied()))
    }

    /// Whether the module looks functions up by their names.
    pub fn looks_up(&self, module: usize) -> bool {
        self.imports_any(module, &LOOK_UP)
    }

    /// The functions of this name of modules that the program wasn't linked with.
    pub fn exporting_later(&self, name: &[u8]) -> impl Iterator<Item = (usize, u64)> {
        let all = self.exports.get(name).into_iter().flatten().copied();
        all.filter(|(by, _)| self.later.contains(by) && self.kind(*by) == Kind::Followed)
    }
}

/// What a file says of the libraries that it was linked with.
struct Linked {
    name: String,
    needed: Vec<String>,
}

impl Linked {
    fn of<'a, R: ReadRef<'a>>(elf: &ElfFile<'a, R>, file: R, name: &str) -> Linked {
        let mut linked = Linked { name: name.to_owned(), needed: Vec::new() };
        let sections = elf.elf_section_table();
        let Ok(Some((entries, strings))) = sections.dynamic(LittleEndian, file) else { return linked };
        let Ok(strings) = sections.strings(LittleEndian, file, strings) else { return linked };
        for entry in entries.iter().take(MAX_SYMBOLS) {
            let text = || {
                let at = u32::try_from(entry.val(LittleEndian)).ok()?;
                Some(String::from_utf8_lossy(strings.get(at).ok()?).into_owned())
            };
            match entry.tag(LittleEndian) {
                elf::DT_NEEDED => linked.needed.extend(text()),
                elf::DT_SONAME => linked.name = text().unwrap_or(linked.name),
                _ => {}
            }
        }
        linked
    }
}

/// The modules that neither the program nor its libraries were linked with.
fn later(candidates: &[Candidate<'_>], linked: &[Linked]) -> HashSet<usize> {
    let mut work: Vec<usize> = (0..candidates.len()).filter(|at| candidates[*at].is_executable).collect();
    let mut first: BTreeSet<usize> = work.iter().copied().collect();
    while let Some(at) = work.pop() {
        let needed = |other: &usize| linked[at].needed.contains(&linked[*other].name);
        for other in (0..linked.len()).filter(needed) {
            if first.insert(other) {
                work.push(other);
            }
        }
    }
    (0..candidates.len()).filter(|at| !first.contains(at)).collect()
}
