//! The stopped programs, in memory that the guardian shares, so that none stays stopped. The switcher's
//! thread writes, the guardian reads. An entry is written before the program is stopped.

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
    pub(super) fn new(table: &'static Table, guardian: GuardianProcess) -> Stops {
        Stops { table, guardian }
    }

    /// Whether there is a guardian: without one nothing may be stopped.
    pub fn is_guarded(&self) -> bool {
        self.guardian.ensure()
    }

    /// Records a program before it is first stopped; gives its place. Fails if there is no room.
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

    /// Removes its record.
    pub fn clear(&self, at: usize) {
        self.table.entries[at].way.store(0, Ordering::Release);
    }

    /// Sets the time of the next look; `None` if nothing is stopped any more.
    pub fn be_back(&self, by_ns: Option<u64>) {
        let before = self.table.back_ns.swap(by_ns.unwrap_or(0), Ordering::AcqRel);
        if before == 0 && by_ns.is_some() {
            self.guardian.wake();
        }
    }
}
