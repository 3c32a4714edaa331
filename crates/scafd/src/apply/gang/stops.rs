//! Whom we have stopped, in memory that the guardian shares: so that nobody stays stopped, whatever becomes of the daemon.
//!
//! The gangs' thread writes, the guardian reads. An entry is written before anything is stopped by it.

use super::stop::{self, Held, Way};
use crate::apply::guardian::{ENTRIES, pulse::Pulse};
use crate::observe::clock::now_ns;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Longest path of a group.
const PATH_BYTES: usize = 512;

/// A program that is stopped now and then. `way` is written last and cleared first; 0 marks a free entry.
#[repr(C)]
struct Entry {
    way: AtomicU32,
    pid: AtomicU32,
    starttime: AtomicU64,
    /// Whether it is stopped now.
    stopped: AtomicU32,
    length: AtomicU32,
    group: [AtomicU8; PATH_BYTES],
}

/// All of them. Consists of atomics, for which zero is a value.
#[repr(C)]
pub struct Table {
    entries: [Entry; ENTRIES],
    /// When the gangs' thread comes back at the latest, in nanoseconds of CLOCK_MONOTONIC; 0 while nobody takes turns.
    back_ns: AtomicU64,
}

/// The writer's side.
pub struct Stops {
    table: &'static Table,
    guardian: Pulse,
}

impl Stops {
    /// Writes into `table`, which the guardian shares.
    pub fn new(table: &'static Table, guardian: Pulse) -> Stops {
        Stops { table, guardian }
    }

    /// Whether there is a guardian: without one nobody may be stopped.
    pub fn is_guarded(&self) -> bool {
        self.guardian.is_felt()
    }

    /// Notes a program before it is stopped for the first time; gives its place.
    ///
    /// # Errors
    /// No room for it, so that nobody would let it go on if we were killed.
    pub fn note(&self, pid: u32, held: &Held, way: Way) -> io::Result<usize> {
        let group = held.group().map(|group| group.as_os_str().as_bytes()).unwrap_or_default();
        let free = self.table.entries.iter().position(|entry| entry.way.load(Ordering::Relaxed) == 0);
        let (Some(at), true) = (free, group.len() <= PATH_BYTES) else {
            return Err(io::Error::other("there is no room to note it for the guardian"));
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

    /// Notes that it is about to be stopped, or was let go on.
    pub fn mark(&self, at: usize, stopped: bool) {
        self.table.entries[at].stopped.store(u32::from(stopped), Ordering::Release);
    }

    /// Notes that it was let go for good.
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

impl Table {
    /// Whether somebody takes turns.
    pub fn is_watched(&self) -> bool {
        self.back_ns.load(Ordering::Acquire) != 0
    }

    /// Whether the daemon should have been back.
    pub fn is_late(&self) -> bool {
        let by_ns = self.back_ns.load(Ordering::Acquire);
        by_ns != 0 && now_ns() > by_ns
    }

    fn entries(&self) -> impl Iterator<Item = (Way, &Entry)> {
        self.entries
            .iter()
            .filter_map(|entry| Some((Way::of_code(entry.way.load(Ordering::Acquire))?, entry)))
    }

    /// Lets everyone go on.
    pub fn let_all_go(&self) {
        for (way, entry) in self.entries() {
            match entry.path() {
                Some(group) => stop::let_go(way, &group),
                None if entry.stopped.load(Ordering::Acquire) != 0 => stop::let_process_go(
                    entry.pid.load(Ordering::Relaxed),
                    entry.starttime.load(Ordering::Relaxed),
                ),
                None => {}
            }
        }
    }

    /// Takes all groups away. False if there still is one.
    pub fn take_all_away(&self) -> bool {
        let groups: Vec<PathBuf> = self.entries().filter_map(|(_, entry)| entry.path()).collect();
        groups.iter().filter(|group| !stop::take_away(group)).count() == 0
    }
}

impl Entry {
    fn path(&self) -> Option<PathBuf> {
        let length = (self.length.load(Ordering::Relaxed) as usize).min(PATH_BYTES);
        let bytes: Vec<u8> = self.group[..length].iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        (length > 0).then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
    }
}
