use anyhow::{Context, Result};
use scafd::apply::slow::Slow;
use scafd::observe::Observer;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
#[derive(Clone)]
pub struct Seat {
    pub hands: Arc<Mutex<Slow>>,
    /// The program's contexts, the first of which it starts on; if empty, it starts beside them.
    pub contexts: Vec<u32>,
    pub managed: bool,
}

impl Seat {
    /// The file by which a new process joins its group: it writes a 0.
    pub fn door(&self) -> Result<File> {
        let door = lock(&self.hands).contexts().door(self.contexts.first().copied());
        File::options().write(true).open(&door).with_context(|| format!("can't open {}", door.display()))
    }

    /// Has the threads of a started process follow, unless the daemon moves them.
    pub fn follow(&self, pid: u32) {
        if !self.managed
            && let Ok(stat) = Observer::new(Path::new("/")).process(pid).stat()
        {
            let _ = lock(&self.hands).place(pid, stat.starttime, &self.contexts);
        }
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "contexts {:?}", self.contexts)
    }
}

pub fn lock(hands: &Mutex<Slow>) -> MutexGuard<'_, Slow> {
    hands.lock().unwrap_or_else(PoisonError::into_inner)
}
