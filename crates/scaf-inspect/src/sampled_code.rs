//! The code of a process at the places where samples found its threads.

use crate::mappings::{Mapping, mappings};
use crate::module::Opened;
use crate::process::open;
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
    code: Vec<(Mapping, Option<Opened>)>,
    read: Option<Instant>,
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
        if self.at(address).is_none() && self.read.is_none_or(|at| at.elapsed() >= AGAIN) {
            self.read = Some(Instant::now());
            let found = mappings(self.pid, &self.folder.join("maps")).map(|(found, _)| found);
            let opened = |mapping| {
                let file = open(&self.folder, &mapping).ok();
                (mapping, file)
            };
            self.code = found.unwrap_or_default().into_iter().map(opened).collect();
        }
        let waits = self.at(address).and_then(|(file, offset)| {
            let begin = offset.saturating_sub(AROUND as u64);
            let mut bytes = vec![0; 2 * AROUND];
            let read = file.file.read_at(&mut bytes, begin).ok()?;
            bytes.truncate(read);
            Some(waits(&bytes, usize::try_from(offset - begin).ok()?))
        });
        if self.known.len() >= MOST_PLACES {
            self.known.clear();
        }
        self.known.insert(address, waits);
        waits
    }

    /// The file with the code at an address, and where in it.
    fn at(&self, address: u64) -> Option<(&Opened, u64)> {
        let (mapping, file) = self.code.iter().find(|(it, _)| (it.start..it.end).contains(&address))?;
        Some((file.as_ref()?, address - mapping.start + mapping.offset))
    }
}
