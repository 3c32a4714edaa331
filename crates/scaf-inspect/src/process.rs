//! The verdict about a running process: all the modules that it has mapped, taken together.

use crate::error::Error;
use crate::module::{ModuleFacts, SizeUse, module_as};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Lines of a maps file that are read; the kernel's own default limit is 65,530 mappings.
const MAX_MAPPINGS: usize = 1 << 18;
/// Bytes of one line: PATH_MAX, four-fold escaped, and the columns before it.
const MAX_LINE: u64 = 20_000;
/// Different files with code in one process; Python with scikit-learn loaded has 250.
const MAX_MODULES: usize = 4096;

/// Whether team sizes may be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "resizable", rename_all = "snake_case")]
pub enum Resizable {
    /// Nothing in the code stands against it.
    Yes,
    /// Better not.
    No {
        /// The module and what it does, as a sentence without its full stop.
        why: String,
    },
}

/// What is known about a running process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// The modules that use OpenMP, without the runtimes themselves.
    pub modules: Vec<ModuleFacts>,
    /// The verdict.
    pub resizable: Resizable,
}

/// One file with executable code, as `maps` shows it.
#[derive(Debug, PartialEq, Eq)]
struct Mapping {
    range: String,
    identity: (String, String),
    path: PathBuf,
    deleted: bool,
}

/// Inspects everything that process `pid` has mapped. `proc_root` is `/proc`, or a folder like it.
///
/// Call it again when the process has loaded further libraries.
///
/// # Errors
/// When the process is gone or may not be looked at. A module that cannot be read is no error: it counts against
/// resizing.
pub fn process(pid: u32, proc_root: &Path) -> Result<ProcessFacts, Error> {
    let folder = proc_root.join(pid.to_string());
    let mut facts = ProcessFacts { modules: Vec::new(), resizable: Resizable::Yes };
    let mappings = mappings(pid, &folder.join("maps"))?;
    if mappings.len() > MAX_MODULES {
        facts.resizable =
            Resizable::No { why: format!("process {pid} has mapped more than {MAX_MODULES} files of code") };
        return Ok(facts);
    }
    for mapping in mappings {
        let module = match inspect(&folder, &mapping) {
            Ok(module) => module,
            Err(error) => {
                facts.refuse(error.to_string());
                continue;
            }
        };
        if module.is_runtime() || !module.is_relevant() {
            continue;
        }
        if let Some(why) = objection(&module) {
            facts.refuse(format!("{}: {why}", module.path.display()));
        }
        facts.modules.push(module);
    }
    Ok(facts)
}

impl ProcessFacts {
    /// The first reason is the one that is told; one is enough.
    fn refuse(&mut self, why: String) {
        if self.resizable == Resizable::Yes {
            self.resizable = Resizable::No { why };
        }
    }
}

/// What a module has against changed team sizes.
pub(crate) fn objection(module: &ModuleFacts) -> Option<String> {
    if !module.machine_supported {
        return Some("its machine code is not x86-64, the only kind that is understood".into());
    }
    if let SizeUse::Depends { why } | SizeUse::Unknown { why } = &module.size_use {
        return Some(why.clone());
    }
    if module.thread_local && module.imports_gomp {
        return Some("it has thread-local variables, and threadprivate data must keep their team".into());
    }
    None
}

fn inspect(folder: &Path, mapping: &Mapping) -> Result<ModuleFacts, Error> {
    let link = folder.join("map_files").join(&mapping.range);
    if mapping.deleted {
        return module_as(&link, &mapping.path);
    }
    // Through the process's own root: a container's /usr/lib is not ours.
    let rooted = match mapping.path.strip_prefix("/") {
        Ok(relative) => folder.join("root").join(relative),
        Err(_) => mapping.path.clone(),
    };
    module_as(&rooted, &mapping.path)
        .or_else(|_| module_as(&link, &mapping.path))
        .or_else(|_| module_as(&mapping.path, &mapping.path))
}

fn mappings(pid: u32, maps: &Path) -> Result<Vec<Mapping>, Error> {
    let failed = |source| Error::Process { pid, path: maps.to_owned(), source };
    let mut reader = BufReader::new(std::fs::File::open(maps).map_err(failed)?);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut line = Vec::new();
    for _ in 0..MAX_MAPPINGS {
        line.clear();
        let read = std::io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok(found);
        }
        if let Some(mapping) = mapping(&line)
            && seen.insert((mapping.identity.clone(), mapping.path.clone()))
        {
            found.push(mapping);
        }
    }
    let source = std::io::Error::other("more mappings than are read");
    Err(Error::Process { pid, path: maps.to_owned(), source })
}

/// Takes one line of a maps file apart; `None` for what is not executable code from a file.
fn mapping(line: &[u8]) -> Option<Mapping> {
    use std::os::unix::ffi::OsStrExt;
    let mut rest = line.trim_ascii_end();
    let mut column = || {
        let end = rest.iter().position(|byte| *byte == b' ')?;
        let word = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = rest[end..].trim_ascii_start();
        Some(word)
    };
    let (range, access) = (column()?, column()?);
    let _offset = column()?;
    let identity = (column()?, column()?);
    if !access.contains('x') || !rest.starts_with(b"/") || rest.starts_with(b"/memfd:") {
        return None;
    }
    let (name, deleted) = match rest.strip_suffix(b" (deleted)") {
        Some(name) => (name, true),
        None => (rest, false),
    };
    Some(Mapping { range, identity, path: PathBuf::from(std::ffi::OsStr::from_bytes(name)), deleted })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_from_files_is_looked_at() {
        let code = b"7f12-7f34 r-xp 00001000 08:01 77   /usr/lib/lib a.so\n";
        let found = mapping(code).unwrap();
        assert_eq!(found.path, Path::new("/usr/lib/lib a.so"));
        assert_eq!((found.range.as_str(), found.deleted), ("7f12-7f34", false));
        assert_eq!(mapping(b"7f12-7f34 rw-p 00001000 08:01 77   /usr/lib/liba.so\n"), None);
        assert_eq!(mapping(b"7f12-7f34 r-xp 00000000 00:00 0    [vdso]\n"), None);
        assert_eq!(mapping(b"\n"), None);
    }

    #[test]
    fn a_replaced_file_is_opened_through_its_mapping() {
        let found = mapping(b"7f12-7f34 r-xp 00001000 08:01 77 /opt/a.so (deleted)\n").unwrap();
        assert_eq!((found.path.as_path(), found.deleted), (Path::new("/opt/a.so"), true));
    }

    #[test]
    fn a_process_without_openmp_may_be_resized() {
        let facts = process(std::process::id(), Path::new("/proc")).unwrap();
        assert_eq!(facts.resizable, Resizable::Yes);
        assert!(facts.modules.is_empty());
    }

    #[test]
    fn a_process_that_is_gone_is_named_in_the_error() {
        let error = process(4_194_400, Path::new("/proc")).unwrap_err();
        assert!(error.to_string().contains("4194400"), "{error}");
    }
}
