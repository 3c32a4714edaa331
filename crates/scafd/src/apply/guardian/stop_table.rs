//! The table of whom we have stopped, as the guardian reads it.

use crate::apply::stop::{self, Way};
use crate::observe::clock::now_ns;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Programs that can be attached at a time, and so narrowed or stopped.
pub const MOST_PROGRAMS: usize = 1024;
pub(super) const PATH_BYTES: usize = 512;

/// A program that is stopped now and then. `way` is written last and cleared first; 0 marks a free entry.
#[repr(C)]
pub(super) struct Entry {
    pub(super) way: AtomicU32,
    pub(super) pid: AtomicU32,
    pub(super) starttime: AtomicU64,
    pub(super) stopped: AtomicU32,
    pub(super) length: AtomicU32,
    pub(super) group: [AtomicU8; PATH_BYTES],
}

/// All of them. Consists of atomics, for which zero is a value.
#[repr(C)]
pub struct Table {
    pub(super) entries: [Entry; MOST_PROGRAMS],
    /// When the gangs' thread is back at the latest (CLOCK_MONOTONIC, ns); 0 while nobody takes turns.
    pub(super) back_ns: AtomicU64,
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
    pub fn resume_all(&self) {
        for (way, entry) in self.entries() {
            match entry.path() {
                Some(group) => stop::resume_group(way, &group),
                None if entry.stopped.load(Ordering::Acquire) != 0 => stop::resume_process(
                    entry.pid.load(Ordering::Relaxed),
                    entry.starttime.load(Ordering::Relaxed),
                ),
                None => {}
            }
        }
    }

    /// Takes all groups away. False if there still is one.
    pub fn remove_all(&self) -> bool {
        let groups: Vec<PathBuf> = self.entries().filter_map(|(_, entry)| entry.path()).collect();
        groups.iter().filter(|group| !stop::remove(group)).count() == 0
    }
}

impl Entry {
    fn path(&self) -> Option<PathBuf> {
        let length = (self.length.load(Ordering::Relaxed) as usize).min(PATH_BYTES);
        let bytes: Vec<u8> = self.group[..length].iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        (length > 0).then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
    }
}
