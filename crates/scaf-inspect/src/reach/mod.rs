//! Can the code of a process's regions reach what belongs to the kernel thread?
//!
//! From each function that a region or a task runs, calls are followed: within its module, by imports into
//! the modules that export them, and through pointers to every function that has its address taken, in the
//! module of the call and in those from which such pointers may come. A function that binds itself to the
//! kernel thread, makes a system call of its own or isn't known is the answer ([`Reach::No`]). Whatever isn't
//! understood is a *no*.
//!
//! Not followed are the C and C++ libraries, whose functions are known (`scaf_functions`), OpenMP runtimes,
//! and Python's interpreter: what it offers is up to the script.

mod binary;
mod body;
mod candidate;
mod closure;
mod judge;
mod library_files;
mod names;

use crate::elf::Elf;
use crate::error::Error;
use crate::module::Opened;
use binary::Binary;
use body::{Bodies, Step};
pub(crate) use candidate::Candidate;
pub(crate) use closure::Closure;
use judge::Verdict;
use names::Names;
use object::ReadCache;
use scaf_functions::calls::{self, Use};
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::path::Path;

/// Most instructions that are followed in one process, about 100 ns each.
const MAX_INSTRUCTIONS: usize = 40_000_000;

/// Whether the code of a process's regions may run on fewer kernel threads than its team has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// Nothing that it can reach belongs to the kernel thread.
    Free,
    /// What it reaches, after "it": `calls tgkill (libgc.so.1, GC_stop_world+0x1f)`.
    No(String),
}

/// Letters of a reason.
const MOST_LETTERS: usize = 512;

impl Reach {
    /// Limits an untrusted sender's text.
    pub(crate) fn cut(&mut self) {
        if let Reach::No(why) = self {
            *why = why.chars().take(MOST_LETTERS).collect();
        }
    }
}

/// Looks at one file only, as far as its own code goes.
/// # Errors
/// It can't be read.
pub fn reach_of(path: &Path) -> Result<Reach, Error> {
    let opened = Opened::new(path, path)?;
    let candidate = Candidate { path, file: &opened.file, is_executable: true };
    Ok(reach(&[candidate], vec![None], &mut |_, _| {}))
}

/// Looks at all modules of a process. `closures` has what is known of each; what is found out more is told.
pub(crate) fn reach(
    candidates: &[Candidate<'_>],
    closures: Vec<Option<Closure>>,
    tell: &mut dyn FnMut(usize, &Closure),
) -> Reach {
    let caches: Vec<ReadCache<&File>> = candidates.iter().map(|it| ReadCache::new(it.file)).collect();
    let elfs: Vec<OnceCell<Result<Elf<'_>, Error>>> = candidates.iter().map(|_| OnceCell::new()).collect();
    let binaries: Vec<OnceCell<Option<Binary<'_>>>> = candidates.iter().map(|_| OnceCell::new()).collect();
    let modules = Modules { candidates, caches: &caches, elfs: &elfs, binaries: &binaries };
    let names = match Names::of(candidates, &caches) {
        Ok(names) => names,
        Err(error) => return Reach::No(format!("has code that can't be analysed: {error}")),
    };
    let mut search = Search {
        modules: &modules,
        names: &names,
        bodies: Bodies::new(MAX_INSTRUCTIONS),
        closures,
        tell,
        closed: HashSet::new(),
        seen: HashSet::new(),
        work: Vec::new(),
        hardly: false,
        with_regions: names.with_regions(),
        touched: HashSet::new(),
        calling: BTreeSet::new(),
        called: HashSet::new(),
        taken: HashSet::new(),
    };
    match search.run() {
        Ok(()) => Reach::Free,
        Err(why) => Reach::No(why),
    }
}

/// The modules, each read when it is first reached.
struct Modules<'f, 'c, 'e> {
    candidates: &'e [Candidate<'f>],
    caches: &'c [ReadCache<&'f File>],
    elfs: &'e [OnceCell<Result<Elf<'c>, Error>>],
    binaries: &'e [OnceCell<Option<Binary<'e>>>],
}

impl<'c: 'e, 'e> Modules<'_, 'c, 'e> {
    /// The name of a module's file.
    fn file(&self, module: usize) -> &'e str {
        self.candidates.get(module).map_or("", |candidate| candidate::file_name(candidate.path))
    }

    fn get(&self, module: usize) -> Result<&'e Binary<'e>, String> {
        let unread = |why: &dyn std::fmt::Display| format!("has code that can't be analysed: {why}");
        let at = |list: usize| format!("module {list}");
        let (Some(candidate), Some(cache)) = (self.candidates.get(module), self.caches.get(module)) else {
            return Err(unread(&at(module)));
        };
        let (Some(elf), Some(binary)) = (self.elfs.get(module), self.binaries.get(module)) else {
            return Err(unread(&at(module)));
        };
        let elf = elf.get_or_init(|| Elf::parse(cache, candidate.path)).as_ref().map_err(|e| unread(e))?;
        let binary = binary.get_or_init(|| elf.machine_supported.then(|| Binary::new(elf, candidate.path)));
        binary.as_ref().ok_or_else(|| unread(&candidate.path.display()))
    }
}

struct Search<'s, 'f, 'c, 'e> {
    modules: &'s Modules<'f, 'c, 'e>,
    names: &'s Names<'c>,
    bodies: Bodies,
    /// What is known of the modules.
    closures: Vec<Option<Closure>>,
    tell: &'s mut dyn FnMut(usize, &Closure),
    /// Functions of modules whose closures were followed.
    closed: HashSet<(usize, u64)>,
    seen: HashSet<(usize, u64)>,
    work: Vec<(usize, u64)>,
    /// Whether what is followed now is called at most by a pointer.
    hardly: bool,
    /// Modules with regions.
    with_regions: Vec<usize>,
    /// Modules of which anything is reached,
    touched: HashSet<usize>,
    /// modules that surely call by pointers,
    calling: BTreeSet<usize>,
    /// that may,
    called: HashSet<usize>,
    /// and whose functions may be called so.
    taken: HashSet<usize>,
}

impl<'c: 'e, 'e> Search<'_, '_, 'c, 'e> {
    fn run(&mut self) -> Result<(), String> {
        for module in self.with_regions.clone() {
            let binary = self.modules.get(module)?;
            if let Some(name) = self.names.acts_on_threads(module) {
                return Err(format!("calls {name}, maybe between regions ({})", binary.file()));
            }
            let (roots, all_known) = self.bodies.roots(binary)?;
            for root in roots {
                self.add(module, root);
            }
            if !all_known {
                self.calling.insert(module);
            }
        }
        self.follow_all()?;
        self.hardly = true;
        for module in self.calling.clone() {
            self.call_by_pointer(module)?;
        }
        self.follow_all()
    }

    fn follow_all(&mut self) -> Result<(), String> {
        while let Some((module, function)) = self.work.pop() {
            self.follow(module, function)?;
        }
        Ok(())
    }

    fn add(&mut self, module: usize, function: u64) {
        if !self.closed.contains(&(module, function)) && self.seen.insert((module, function)) {
            self.work.push((module, function));
        }
    }

    fn follow(&mut self, module: usize, function: u64) -> Result<(), String> {
        self.touch(module)?;
        let binary = self.modules.get(module)?;
        for (address, step) in self.bodies.steps(binary, function)? {
            let place = || binary.place(address);
            match step {
                // What it loads it hands to somebody who calls it, as `qsort` does.
                Step::Local(callee) | Step::Loads(callee) => self.add(module, callee),
                Step::Import(name, known) => self.call(module, (name, binary.member(name)), known, &place)?,
                Step::Indirect => self.call_by_pointer(module)?,
                Step::Bound(what) => return Err(format!("{what} ({})", place())),
            }
        }
        Ok(())
    }

    /// The module calls a function by its name.
    fn call(
        &mut self,
        module: usize,
        (name, its_use): (&str, Use),
        known: Option<judge::Arguments>,
        place: &dyn Fn() -> String,
    ) -> Result<(), String> {
        match judge::import(self.modules.file(module), name, its_use, known) {
            Verdict::May => Ok(()),
            Verdict::Hardly(_) if self.hardly => Ok(()),
            Verdict::MayNot(what) | Verdict::Hardly(what) => Err(format!("{what} ({})", place())),
            Verdict::Unlisted => self.import(module, name, place),
            Verdict::CallsBack => self.call_by_pointer(module),
            Verdict::Named(address) => {
                let binary = self.modules.get(module)?;
                let named = address.and_then(|address| binary.text_at(address));
                match named.map(|name| (name, binary.member(name))) {
                    Some(called) if called.1 != Use::ByName => self.call(module, called, None, place),
                    _ if self.hardly => self.call_by_pointer(module),
                    _ => Err(format!("looks up a function whose name isn't known ({})", place())),
                }
            }
        }
    }

    /// A call of a function that no table has.
    fn import(&mut self, module: usize, name: &str, place: &dyn Fn() -> String) -> Result<(), String> {
        let mut is_known = false;
        let mut calls_back = false;
        // Code of C++ is in many modules; each uses its own copy, or one that does the same.
        let all = self.names.exporting(name);
        let own = all.iter().find(|(by, _)| *by == module);
        for (by, address) in own.map_or(all, std::slice::from_ref) {
            match self.names.kind(*by) {
                library_files::Kind::Followed => self.add(*by, *address),
                library_files::Kind::CallsBack => calls_back = true,
                library_files::Kind::Closed => {}
                // The C library's functions are known by their names.
                library_files::Kind::C => continue,
            }
            is_known = true;
        }
        if calls_back {
            self.call_by_pointer(module)?;
        }
        // What nobody exports isn't there to be called.
        if is_known || all.is_empty() { Ok(()) } else { Err(format!("calls {name} ({})", place())) }
    }

    /// Something of the module is reached: it may have handed pointers to those that it uses.
    fn touch(&mut self, module: usize) -> Result<(), String> {
        if self.touched.insert(module)
            && self.names.used_by(module).iter().any(|used| self.called.contains(used))
            && self.hardly
        {
            return self.take(module);
        }
        Ok(())
    }

    /// The module makes a call whose target isn't known.
    fn call_by_pointer(&mut self, module: usize) -> Result<(), String> {
        if !self.hardly {
            self.calling.insert(module);
            return Ok(());
        }
        if !self.called.insert(module) {
            return Ok(());
        }
        self.take(module)?;
        let making = self.names.making(module);
        for other in self.names.handing_over(module).into_iter().chain(making) {
            self.take(other)?;
        }
        let has_regions = self.with_regions.contains(&module);
        let users = if has_regions { self.names.all_users(module) } else { self.names.users(module) };
        for user in users {
            if has_regions || self.touched.contains(&user) {
                self.take(user)?;
            }
        }
        if self.names.looks_up(module) {
            // The names that it looks up are among its constants.
            let binary = self.modules.get(module)?;
            let bound = |text: &&[u8]| calls::member(text) == Use::MayNot;
            // In libraries without regions, such a name is mostly some other word.
            if has_regions && let Some(name) = binary.texts().find(bound) {
                let name = String::from_utf8_lossy(name);
                return Err(format!("may look up {name}, whose name it has ({})", binary.file()));
            }
            let found = binary.texts().flat_map(|text| self.names.exporting_later(text));
            for (later, function) in found.collect::<BTreeSet<_>>() {
                self.add(later, function);
            }
        }
        Ok(())
    }

    /// Functions of the module may be called by pointers.
    fn take(&mut self, module: usize) -> Result<(), String> {
        if !self.taken.insert(module) {
            return Ok(());
        }
        let Some(slot) = self.closures.get_mut(module) else {
            return Err("has modules that aren't known".into());
        };
        let closure = match slot.take() {
            Some(known) => known,
            None => {
                let found = Closure::of(&mut self.bodies, self.modules.get(module)?)?;
                (self.tell)(module, &found);
                found
            }
        };
        if let Some(what) = closure.bound() {
            return Err(what.clone());
        }
        self.closed.extend(closure.functions().map(|function| (module, function)));
        if closure.functions().next().is_some() {
            self.touch(module)?;
        }
        if closure.calls_by_pointer() {
            self.call_by_pointer(module)?;
        }
        let modules = self.modules;
        for import in closure.imports() {
            let place = || modules.get(module).map_or_else(|why| why, |it| it.place(import.at));
            let called = (import.name.as_str(), calls::member(import.name.as_bytes()));
            self.call(module, called, import.known, &place)?;
        }
        let file = self.modules.file(module);
        for name in closure.pointers() {
            let called = (name.as_str(), calls::member(name.as_bytes()));
            self.call(module, called, None, &|| format!("{file}, as a pointer"))?;
        }
        Ok(())
    }
}
