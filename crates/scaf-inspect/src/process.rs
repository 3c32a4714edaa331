//! The verdict about a running process, from all the modules that it has mapped.

use crate::anonymous_code::AnonymousCode;
use crate::error::Error;
use crate::mappings::{Mapping, mappings};
use crate::module::{Opened as OpenedFile, is_runtimes_file};
use crate::module_cache::ModuleCache;
use crate::reach::{Candidate, Reach, reach};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Most bytes of a command line that count.
pub const MAX_ARGUMENTS: u64 = 1 << 20;
/// Most files with code in one process; Python with scikit-learn has 250.
pub(crate) const MAX_MODULES: usize = 4096;
/// Most objections; Python with scikit-learn, LightGBM and XGBoost has 20.
const MAX_OBJECTIONS: usize = 64;

/// Whether teams may be resized.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "resizable", rename_all = "snake_case")]
pub enum Resizable {
    /// They may.
    #[default]
    Yes,
    /// They may not.
    No {
        /// The module and what it does, as a sentence without its full stop.
        why: String,
    },
}

/// Why teams may not be resized.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// The build-id of the module with that code, else a hash of the code; `None` where it isn't known.
    pub module: Option<String>,
    /// Whether that is the executable.
    pub is_own: bool,
    /// The module and what it does, as a sentence without its full stop.
    pub why: String,
}

/// What is known of a running process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// The modules that use OpenMP, without the runtimes.
    pub modules: Vec<PathBuf>,
    /// Why teams may not be resized; none if they may.
    pub objections: Vec<Objection>,
    /// Where the regions wait by spinning on memory: a function, and the offset in it.
    pub spins: Option<String>,
    /// Whether that is the executable's own code.
    pub spins_itself: bool,
    /// The marks of all such loops that don't yield by themselves, at their addresses in memory
    /// ([`scaf_team::arch::spin_marks`]); `None` if one has none.
    pub marks: Option<Vec<[u64; 2]>>,
    /// Which program it is, if its executable and arguments could be read.
    pub origin: Option<Origin>,
    /// Whether the code of its regions can reach what belongs to the kernel thread; `None` while that isn't
    /// known.
    pub reach: Option<Reach>,
}

/// Which program it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The executable's build-id, else a hash.
    pub executable: String,
    /// A hash of its arguments.
    pub arguments: u64,
    /// The modules that use OpenMP.
    pub modules: Vec<Loaded>,
}

/// A module, as it is mapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// The build-id, else a hash of the code.
    pub fingerprint: String,
    /// Where its code begins,
    pub start: u64,
    /// and ends, in memory.
    pub end: u64,
    /// Address in memory minus address in the file.
    pub bias: u64,
}

/// A process's files, opened. [`Opened::facts`] opens nothing more: it may run where `open` is forbidden.
pub struct Opened {
    pid: u32,
    code: Vec<(Mapping, Result<OpenedFile, Error>)>,
    anonymous: AnonymousCode,
    too_many: bool,
    /// The executable's path, as the mappings have it.
    path: Option<PathBuf>,
    executable: Option<OpenedFile>,
    arguments: Option<u64>,
}

/// Inspects everything that process `pid` has mapped. `proc_root` is `/proc`, or a folder like it.
///
/// Call it again, with the same `cache`, when the process has loaded further libraries.
/// A module that cannot be read counts against resizing.
pub fn process(pid: u32, proc_root: &Path, cache: &mut ModuleCache) -> Result<ProcessFacts, Error> {
    let opened = Opened::new(pid, proc_root)?;
    let mut facts = opened.facts(cache);
    facts.reach.get_or_insert_with(|| opened.reach(cache, &mut |_| {}));
    Ok(facts)
}

impl Opened {
    /// Opens what process `pid` has mapped; errors are those of [`process`].
    pub fn new(pid: u32, proc_root: &Path) -> Result<Opened, Error> {
        let folder = proc_root.join(pid.to_string());
        let (mut mappings, anonymous) = mappings(pid, &folder.join("maps"))?;
        let too_many = mappings.len() > MAX_MODULES;
        mappings.truncate(if too_many { 0 } else { MAX_MODULES });
        mappings.retain(|mapping| !is_runtimes_file(&mapping.path));
        let opened = |mapping: Mapping| {
            let file = open(&folder, &mapping);
            (mapping, file)
        };
        let code = mappings.into_iter().map(opened).collect();
        let exe = folder.join("exe");
        let (path, executable) = (executable(&folder), OpenedFile::new(&exe, &exe).ok());
        let arguments = arguments(&folder).ok();
        Ok(Opened { pid, code, anonymous, too_many, path, executable, arguments })
    }

    /// What follows from the files, one by one; `cache` has what is known of them, and learns. What their
    /// regions reach is among it only if the cache has it: [`Opened::reach`] takes longer than all the rest.
    pub fn facts(&self, cache: &mut ModuleCache) -> ProcessFacts {
        let (mut facts, pid) = (ProcessFacts::default(), self.pid);
        facts.reach = self.unfollowed().or_else(|| cache.known_reach(&self.files()));
        if let Some(place) = &self.anonymous.first {
            facts.refuse(format!(
                "process {pid} runs code that is in no file and cannot be analysed, in {place}"
            ));
        }
        if self.too_many {
            facts.refuse(format!("process {pid} has mapped more than {MAX_MODULES} files of code"));
            return facts;
        }
        let (mut modules, mut marks) = (Vec::new(), Some(Vec::new()));
        for (mapping, file) in &self.code {
            let module = match file
                .as_ref()
                .map_err(Error::to_string)
                .and_then(|file| cache.module(file, &mapping.path).map_err(|error| error.to_string()))
            {
                Ok(Some(module)) => module,
                Ok(None) => continue,
                Err(error) => {
                    facts.refuse(error);
                    continue;
                }
            };
            if let Some(why) = &module.objection {
                let is_own = self.path.as_deref() == Some(mapping.path.as_path());
                let why = format!("{}: {why}", mapping.path.display());
                facts.object(Objection { module: Some(module.fingerprint.clone()), is_own, why });
            }
            facts.modules.push(mapping.path.clone());
            let at = mapping.start.wrapping_sub(mapping.offset);
            let bias = module.code_offset.map(|offset| at.wrapping_sub(offset));
            if let Some(spins) = module.spins {
                let its = spins.marks.zip(bias);
                marks = marks.zip(its).map(|(mut all, (its, bias)): (Vec<[u64; 2]>, _)| {
                    all.extend(its.iter().map(|[address, shape]| [address.wrapping_add(bias), *shape]));
                    all
                });
                if facts.spins.is_none() {
                    facts.spins_itself = self.path.as_deref() == Some(mapping.path.as_path());
                    facts.spins = Some(spins.place);
                }
            }
            if let Some(bias) = bias {
                let (start, end) = (mapping.start, mapping.end);
                modules.push(Loaded { fingerprint: module.fingerprint, start, end, bias });
            }
        }
        if facts.modules.is_empty() && facts.objections.is_empty() {
            // Without regions there is nothing from which to reach anything.
            facts.reach.get_or_insert(Reach::Free);
        }
        facts.marks = marks;
        facts.origin = origin(self.executable.as_ref(), self.arguments, modules);
        facts
    }

    /// Those files that could be opened.
    fn files(&self) -> Vec<(&OpenedFile, &Path)> {
        let opened = self.code.iter().filter_map(|(mapping, file)| Some((file.as_ref().ok()?, mapping)));
        opened.map(|(file, mapping)| (file, mapping.path.as_path())).collect()
    }

    /// What forbids all at once, before any code is followed.
    fn unfollowed(&self) -> Option<Reach> {
        let unread = self.code.iter().find_map(|(_, file)| file.as_ref().err());
        let why = if self.too_many {
            "has more modules than are followed".into()
        } else if let Some(error) = unread {
            format!("has code that can't be analysed: {error}")
        } else {
            let place = self.anonymous.unknown(&self.files())?;
            format!("runs code that is in no file, in {place}")
        };
        Some(Reach::No(why))
    }

    /// Whether the code of its regions can reach what belongs to the kernel thread. What is found out of
    /// single files is told at once, for it is worth knowing even if this is given up.
    pub fn reach(&self, cache: &mut ModuleCache, tell: &mut dyn FnMut(&ModuleCache)) -> Reach {
        if let Some(no) = self.unfollowed() {
            return no;
        }
        let files = self.files();
        cache.reach(&files, tell, |closures, tell| {
            let all = files.iter().map(|(opened, path)| {
                let is_executable = self.path.as_deref() == Some(*path);
                Candidate { path, file: &opened.file, is_executable }
            });
            reach(&all.collect::<Vec<_>>(), closures, tell)
        })
    }
}

impl ProcessFacts {
    /// Whether teams may be resized, else the first reason why not.
    pub fn resizable(&self) -> Resizable {
        let first = self.objections.first();
        first.map_or(Resizable::Yes, |first| Resizable::No { why: first.why.clone() })
    }

    /// For a reason that is in no module, so that no knowledge of modules overrules it.
    fn refuse(&mut self, why: String) {
        self.object(Objection { module: None, is_own: false, why });
    }

    fn object(&mut self, objection: Objection) {
        if self.objections.len() < MAX_OBJECTIONS {
            self.objections.push(objection);
        } else if let Some(last) = self.objections.last_mut() {
            // It stands for all that follow.
            *last = Objection { module: None, is_own: false, why: objection.why };
        }
    }
}

/// The executable's path, as the mappings have it.
fn executable(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let path = std::fs::read_link(folder.join("exe")).ok()?;
    let name = path.as_os_str().as_bytes();
    let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
    Some(std::ffi::OsString::from_vec(name.to_vec()).into())
}

fn origin(file: Option<&OpenedFile>, arguments: Option<u64>, modules: Vec<Loaded>) -> Option<Origin> {
    let executable = file?.fingerprint(Path::new("its executable")).ok()?;
    Some(Origin { executable, arguments: arguments?, modules })
}

fn arguments(folder: &Path) -> std::io::Result<u64> {
    let mut words = Vec::new();
    let file = std::fs::File::open(folder.join("cmdline"))?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_ARGUMENTS), &mut words)?;
    Ok(arguments_in(&words))
}

/// [`Origin::arguments`] of a process with this command line, of which up to [`MAX_ARGUMENTS`] bytes count.
pub fn arguments_in(line: &[u8]) -> u64 {
    // The first word is left out: the program is the same by whatever path it is started.
    let arguments = line.iter().position(|byte| *byte == 0).map_or(&[][..], |end| &line[end..]);
    let mut hasher = DefaultHasher::new();
    arguments.hash(&mut hasher);
    hasher.finish()
}

pub(crate) fn open(folder: &Path, mapping: &Mapping) -> Result<OpenedFile, Error> {
    let link = folder.join("map_files").join(&mapping.range);
    if mapping.deleted {
        return OpenedFile::new(&link, &mapping.path);
    }
    // A container has another /usr/lib than the host: look in the process's own root.
    let rooted = match mapping.path.strip_prefix("/") {
        Ok(relative) => folder.join("root").join(relative),
        Err(_) => mapping.path.clone(),
    };
    let own = OpenedFile::new(&rooted, &mapping.path);
    own.or_else(|why| {
        // The same path may be another file in this root.
        let here = || OpenedFile::new(&mapping.path, &mapping.path).ok();
        let same = |file: &OpenedFile| mapping.identity.1.parse() == Ok(file.inode());
        OpenedFile::new(&link, &mapping.path).ok().or_else(|| here().filter(same)).ok_or(why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_that_path_here_is_not_the_one_that_another_root_has() {
        let here = std::env::current_exe().unwrap();
        let nobody = Path::new("/proc/4194400");
        let mapping = |inode: u64| Mapping {
            range: "7f12-7f34".into(),
            start: 0,
            end: 0,
            offset: 0,
            identity: ("08:01".into(), inode.to_string()),
            path: here.clone(),
            deleted: false,
        };
        let inode = OpenedFile::new(&here, &here).unwrap().inode();
        assert!(open(nobody, &mapping(inode)).is_ok());
        assert!(open(nobody, &mapping(inode + 1)).is_err());
    }

    #[test]
    fn a_process_without_openmp_may_be_resized() {
        let facts = process(std::process::id(), Path::new("/proc"), &mut ModuleCache::default()).unwrap();
        assert_eq!(facts.resizable(), Resizable::Yes);
        assert!(facts.modules.is_empty());
    }

    #[test]
    fn too_many_objections_end_with_one_that_nothing_overrules() {
        let mut facts = ProcessFacts::default();
        for number in 0..MAX_OBJECTIONS + 2 {
            facts.object(Objection { module: Some(number.to_string()), is_own: true, why: "x".into() });
        }
        assert_eq!(facts.objections.len(), MAX_OBJECTIONS);
        let last = facts.objections.pop().unwrap();
        assert_eq!((last.module, last.is_own), (None, false));
        assert!(facts.objections.iter().all(|it| it.is_own && it.module.is_some()));
    }

    #[test]
    fn a_process_that_is_gone_is_named_in_the_error() {
        let error = process(4_194_400, Path::new("/proc"), &mut ModuleCache::default()).unwrap_err();
        assert!(error.to_string().contains("4194400"), "{error}");
    }
}
