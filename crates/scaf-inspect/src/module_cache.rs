//! Keeps facts about files between inspections: a Python process maps 250 files, and loads more as it runs.

use crate::error::Error;
use crate::module::{ModuleFacts, Opened, relevant_module};
use crate::reach::{Closure, Reach};
use crate::size_use::{MOST_LOOPS, Spins};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a file means for a process that maps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// Why teams may not be resized because of it, if so: a sentence without its full stop.
    pub objection: Option<String>,
    /// Where the regions wait by spinning, if they do; file addresses.
    pub spins: Option<Spins>,
    /// The build-id, else a hash of the code.
    pub fingerprint: String,
    /// Address in the file minus offset in it, of the code; `None` if it has none.
    pub code_offset: Option<u64>,
}

impl Module {
    fn of(facts: &ModuleFacts) -> Module {
        Module {
            objection: facts.objection(),
            spins: facts.spins.clone(),
            fingerprint: facts.fingerprint.clone(),
            code_offset: facts.code_offset,
        }
    }
}

/// Known files by identity; `None` for files that don't matter for a process's teams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModuleCache {
    files: BTreeMap<String, Option<Module>>,
    /// What the code of regions reaches, by all modules of a process.
    #[serde(default)]
    reaches: BTreeMap<String, Reach>,
    /// What a file's functions do that are called through pointers.
    #[serde(default)]
    closures: BTreeMap<String, Closure>,
}

impl ModuleCache {
    /// The facts about a file called `path`; `None` if it doesn't matter. Errors aren't cached.
    pub(crate) fn module(&mut self, opened: &Opened, path: &Path) -> Result<Option<Module>, Error> {
        let identity = identity(opened, path);
        if let Some(known) = self.files.get(&identity) {
            return Ok(known.clone());
        }
        let facts = relevant_module(opened, path)?;
        let says = |facts: &ModuleFacts| !facts.is_runtime() && facts.is_relevant();
        let module = facts.filter(says).map(|facts| Module::of(&facts));
        self.files.insert(identity, module.clone());
        Ok(module)
    }

    /// What the code of regions reaches in a process of these modules, if that is kept.
    pub(crate) fn known_reach(&self, files: &[(&Opened, &Path)]) -> Option<Reach> {
        self.reaches.get(&all_of(files)).cloned()
    }

    /// The same, else the result of `look`, which is kept.
    pub(crate) fn reach(
        &mut self,
        files: &[(&Opened, &Path)],
        tell: &mut dyn FnMut(&ModuleCache),
        look: impl FnOnce(Vec<Option<Closure>>, &mut dyn FnMut(usize, &Closure)) -> Reach,
    ) -> Reach {
        let all = all_of(files);
        if let Some(known) = self.reaches.get(&all) {
            return known.clone();
        }
        let identities: Vec<String> = files.iter().map(|(opened, path)| identity(opened, path)).collect();
        let known = identities.iter().map(|identity| self.closures.get(identity).cloned()).collect();
        let mut learn = |module: usize, closure: &Closure| {
            let closures = identities.get(module).map(|identity| (identity.clone(), closure.clone()));
            let news = ModuleCache { closures: closures.into_iter().collect(), ..ModuleCache::default() };
            tell(&news);
            self.closures.extend(news.closures);
        };
        let reach = look(known, &mut learn);
        self.reaches.insert(all, reach.clone());
        reach
    }

    /// Without what only [`crate::process::Opened::reach`] asks for.
    #[must_use]
    pub fn of_files(&self) -> ModuleCache {
        let (files, reaches) = (self.files.clone(), self.reaches.clone());
        ModuleCache { files, reaches, closures: BTreeMap::new() }
    }

    /// Adds what another one knows.
    pub fn extend(&mut self, other: ModuleCache) {
        self.files.extend(other.files);
        self.reaches.extend(other.reaches);
        self.closures.extend(other.closures);
    }

    /// Limits the lists of an untrusted sender's entries.
    pub fn cut(&mut self) {
        for module in self.files.values_mut().flatten() {
            if let Some(spins) = &mut module.spins {
                spins.marks.take_if(|marks| marks.len() > MOST_LOOPS);
            }
        }
        self.reaches.values_mut().for_each(Reach::cut);
        self.closures.values_mut().for_each(Closure::cut);
    }

    /// Files that are known, and lists of modules.
    pub fn len(&self) -> usize {
        self.files.len() + self.reaches.len() + self.closures.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it knows of files that `other` doesn't.
    pub fn beyond(mut self, other: &ModuleCache) -> ModuleCache {
        self.files.retain(|identity, _| !other.files.contains_key(identity));
        self.reaches.retain(|modules, _| !other.reaches.contains_key(modules));
        self.closures.retain(|identity, _| !other.closures.contains_key(identity));
        self
    }
}

/// Changes when any of the files does.
fn all_of(files: &[(&Opened, &Path)]) -> String {
    let mut all: Vec<String> = files.iter().map(|(opened, path)| identity(opened, path)).collect();
    all.sort_unstable();
    let mut hasher = DefaultHasher::new();
    all.hash(&mut hasher);
    format!("{:016x} {}", hasher.finish(), all.len())
}

/// Changes when the file does. The path is part of it, because reasons name the file.
fn identity(opened: &Opened, path: &Path) -> String {
    let about = &opened.meta;
    let (device, inode, length) = (about.dev(), about.ino(), about.len());
    let changed = [(about.mtime(), about.mtime_nsec()), (about.ctime(), about.ctime_nsec())];
    let [modified, changed] = changed.map(|(s, ns)| format!("{s}.{ns}"));
    format!("{device}:{inode}:{length}:{modified}:{changed}:{}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_again_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.so");
        std::fs::write(&file, b"\x7fELF, but not for long").unwrap();
        let mut cache = ModuleCache::default();
        let opened = || Opened::new(&file, &file).unwrap();
        assert_eq!(cache.module(&opened(), &file).unwrap(), None);
        assert_eq!(cache.len(), 1);
        cache.module(&opened(), &file).unwrap();
        assert_eq!(cache.len(), 1);
        std::fs::write(&file, b"no ELF file at all").unwrap();
        assert!(cache.module(&opened(), &file).is_err());
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn what_is_known_beyond_another_is_told_and_taken_in() {
        let of = |files: &[&str]| ModuleCache {
            files: files.iter().map(|file| ((*file).into(), None)).collect(),
            reaches: files.iter().map(|file| ((*file).into(), Reach::Free)).collect(),
            closures: files.iter().map(|file| ((*file).into(), Closure::default())).collect(),
        };
        let (one, two) = (of(&["a"]), of(&["a", "b"]));
        let more = two.clone().beyond(&one);
        assert_eq!(more.files.keys().collect::<Vec<_>>(), ["b"]);
        let mut sum = one;
        sum.extend(more);
        assert_eq!(sum, two);
    }
}
