//! Programs whose affinity is ours, and restoring it.

use super::table::{Table, load};
use crate::apply::threads::{Having, sweep};
use crate::observe::{Observer, affinity};
use scaf_policy::PuSet;
use std::path::Path;
use std::sync::atomic::Ordering;

const GENERATIONS: u32 = 8;

pub(super) struct Narrowed {
    pub(super) pid: u32,
    pub(super) starttime: u64,
    pub(super) own: PuSet,
    pub(super) ours: Vec<PuSet>,
}

/// All in the table.
pub(super) fn all(table: &Table) -> Vec<Narrowed> {
    let there = |pid: &u32| *pid != 0;
    let entries = table.entries.iter();
    entries
        .filter_map(|entry| {
            Some(Narrowed {
                pid: Some(entry.pid.load(Ordering::Acquire)).filter(there)?,
                starttime: entry.starttime.load(Ordering::Relaxed),
                own: load(&entry.own),
                ours: entry.ours.iter().map(load).filter(|mask| !mask.is_empty()).collect(),
            })
        })
        .collect()
}

/// Restores their own affinities.
pub(super) fn give_back(all: &[Narrowed]) {
    let observer = Observer::new(Path::new("/"));
    for one in all {
        let _ = sweep(&observer, one.pid, one.starttime, Having::OneOf(&one.masks()), &one.own);
    }
    // Afterwards, because a program may have any number of children.
    let programs: Vec<u32> = all.iter().map(|one| one.pid).collect();
    for one in all {
        if observer.process(one.pid).is_since(one.starttime) {
            one.free_children(&observer, one.pid, &programs, GENERATIONS);
        }
    }
}

impl Narrowed {
    fn masks(&self) -> Vec<&PuSet> {
        self.ours.iter().collect()
    }

    /// Restores children that were born narrowed and didn't attach.
    fn free_children(&self, observer: &Observer, pid: u32, programs: &[u32], depth: u32) {
        for child in observer.process(pid).children(usize::MAX) {
            if programs.contains(&child) {
                continue;
            }
            if affinity(child).is_ok_and(|mask| self.ours.contains(&mask))
                && let Ok(stat) = observer.process(child).stat()
            {
                let _ = sweep(observer, child, stat.starttime, Having::OneOf(&self.masks()), &self.own);
            }
            if depth > 1 {
                self.free_children(observer, child, programs, depth - 1);
            }
        }
    }
}
