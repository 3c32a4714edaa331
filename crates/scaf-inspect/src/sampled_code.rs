//! The code of a process at the places where samples found its threads.

use crate::mappings::{Mapping, mappings};
use crate::process::{MAX_MODULES, open};
use crate::waiting::{AROUND, waits};
use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Places that are remembered of one process.
const MOST_PLACES: usize = 4096;
/// How often its mappings are read for a place that is in none: code may be made all the time.
const AGAIN: Duration = Duration::from_millis(500);

/// Reads the files with a process's code, as it is asked for.
pub struct SampledCode {
    pid: u32,
    folder: PathBuf,
    code: Vec<Mapping>,
    /// When `code` was read,
    read: Option<Instant>,
    /// and what has been found in it since.
    known: HashMap<u64, Option<bool>>,
}

impl SampledCode {
    /// Of process `pid`, of which the kernel tells in `folder`: `/proc/PID`.
    #[must_use]
    pub fn new(pid: u32, folder: &Path) -> SampledCode {
        SampledCode { pid, folder: folder.to_owned(), code: Vec::new(), read: None, known: HashMap::new() }
    }

    /// Whether a thread at this address waits by spinning; `None` where the code is in no file that can be
    /// read, such as a just-in-time compiler's.
    pub fn waits(&mut self, address: u64) -> Option<bool> {
        if let Some(known) = self.known.get(&address) {
            return *known;
        }
        if self.mapping(address).is_none() && self.read.is_none_or(|at| at.elapsed() >= AGAIN) {
            self.read = Some(Instant::now());
            self.known.clear();
            let found = mappings(self.pid, &self.folder.join("maps")).map(|(found, _)| found);
            self.code = found.unwrap_or_default();
            self.code.truncate(MAX_MODULES);
        }
        // It may be in a library that has been loaded since.
        let mapping = self.mapping(address)?;
        let waits = self.look(mapping, address);
        if self.known.len() >= MOST_PLACES {
            self.known.clear();
        }
        self.known.insert(address, waits);
        waits
    }

    fn mapping(&self, address: u64) -> Option<&Mapping> {
        self.code.iter().find(|it| (it.start..it.end).contains(&address))
    }

    /// Opens the file only for this: a process may have hundreds.
    fn look(&self, mapping: &Mapping, address: u64) -> Option<bool> {
        let file = open(&self.folder, mapping).ok()?.file;
        let offset = address - mapping.start + mapping.offset;
        let begin = offset.saturating_sub(AROUND as u64);
        let mut bytes = vec![0; 2 * AROUND];
        let read = file.read_at(&mut bytes, begin).ok()?;
        bytes.truncate(read);
        Some(waits(&bytes, usize::try_from(offset - begin).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_this_process_is_found_and_other_places_are_not_known() {
        let (pid, folder) = (std::process::id(), Path::new("/proc/self"));
        let mut code = SampledCode::new(pid, folder);
        let here = code_of_this_process_is_found_and_other_places_are_not_known as fn() as usize as u64;
        assert!(code.waits(here).is_some());
        assert_eq!(code.waits(4096), None);
        // Its mappings have just been read.
        assert_eq!((code.waits(8192), code.known.len()), (None, 1));
        assert_eq!(SampledCode::new(4_194_400, Path::new("/proc/4194400")).waits(here), None);
    }
}
