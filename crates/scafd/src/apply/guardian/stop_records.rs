//! Whom we have stopped, in memory that the guardian shares: so that nobody stays stopped.
//!
//! The gangs' thread writes, the guardian reads. An entry is written before anything is stopped by it.

use super::guardian_process::GuardianProcess;
use super::stop_table::{PATH_BYTES, Table};
use crate::apply::stop::{Stoppable, Way};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering;

/// The writer's side.
pub struct Stops {
    table: &'static Table,
    guardian: GuardianProcess,
}

impl Stops {
    /// Writes into `table`, which the guardian shares.
    pub fn new(table: &'static Table, guardian: GuardianProcess) -> Stops {
        Stops { table, guardian }
    }

    /// Whether there is a guardian: without one nobody may be stopped.
    pub fn is_guarded(&self) -> bool {
        self.guardian.ensure()
    }

    /// Records a program before it is stopped for the first time; gives its place.
    /// # Errors
    /// No room for it, so that nobody would let it go on if we were killed.
    pub fn add(&self, pid: u32, held: &Stoppable, way: Way) -> io::Result<usize> {
        let group = held.group().map(|group| group.as_os_str().as_bytes()).unwrap_or_default();
        let free = self.table.entries.iter().position(|entry| entry.way.load(Ordering::Relaxed) == 0);
        let (Some(at), true) = (free, group.len() <= PATH_BYTES) else {
            return Err(io::Error::other("there is no room to record it for the guardian"));
        };
        let entry = &self.table.entries[at];
        entry.pid.store(pid, Ordering::Relaxed);
        entry.starttime.store(held.starttime(), Ordering::Relaxed);
        entry.stopped.store(0, Ordering::Relaxed);
        group.iter().zip(&entry.group).for_each(|(byte, cell)| cell.store(*byte, Ordering::Relaxed));
        entry.length.store(group.len() as u32, Ordering::Relaxed);
        entry.way.store(way.code(), Ordering::Release);
        Ok(at)
    }

    /// Records that it is about to be stopped, or runs again.
    pub fn mark(&self, at: usize, stopped: bool) {
        self.table.entries[at].stopped.store(u32::from(stopped), Ordering::Release);
    }

    /// Records that it is stopped no more.
    pub fn clear(&self, at: usize) {
        self.table.entries[at].way.store(0, Ordering::Release);
    }

    /// Says when we are back at the latest; `None` if nobody is stopped any more.
    pub fn be_back(&self, by_ns: Option<u64>) {
        let before = self.table.back_ns.swap(by_ns.unwrap_or(0), Ordering::AcqRel);
        if before == 0 && by_ns.is_some() {
            self.guardian.wake();
        }
    }
}
