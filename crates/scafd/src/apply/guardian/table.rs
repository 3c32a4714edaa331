//! The table that the daemon and its guardian share: whose affinity is ours, and who is stopped.

use super::stopped;
use crate::apply::most::{MASKS, MOST_PROGRAMS};
use crate::apply::threads::mask_words;
use crate::observe::clock::now_ns;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Masks in an entry: those that are remembered, the one that is being set, and what the kernel made of it.
const SLOTS: usize = MASKS + 2;
pub(super) type SharedMask = [AtomicU64; MASK_WORDS];

/// One narrowed program. `pid` is written last and cleared first; 0 marks a free entry.
#[repr(C)]
pub(super) struct Entry {
    pub(super) pid: AtomicU32,
    pub(super) starttime: AtomicU64,
    pub(super) own: SharedMask,
    pub(super) ours: [SharedMask; SLOTS],
}

#[repr(C)]
pub(super) struct Table {
    pub(super) entries: [Entry; MOST_PROGRAMS],
    pub(super) stops: stopped::Table,
    /// Until when affinities are to stay as they are (CLOCK_MONOTONIC, ns); 0 while nobody is attached.
    pub(super) lease_ns: AtomicU64,
    /// 1 once the guardian has given them back because that was over.
    pub(super) widened: AtomicU32,
}

impl Table {
    /// Whether programs are attached, so that the daemon has to be heard of.
    pub(super) fn is_leased(&self) -> bool {
        self.lease_ns.load(Ordering::Acquire) != 0
    }

    /// Whether the daemon should have been heard of, and affinities weren't given back yet.
    pub(super) fn is_over(&self) -> bool {
        let until_ns = self.lease_ns.load(Ordering::Acquire);
        until_ns != 0 && now_ns() > until_ns && self.widened.load(Ordering::Acquire) == 0
    }
}

/// Memory that stays shared over a fork; zeroed, so all entries are free.
pub(super) fn map_table() -> io::Result<&'static Table> {
    // SAFETY: a fresh mapping at an address of the kernel's choice; it is never unmapped.
    let at = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            size_of::<Table>(),
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
        )?
    };
    // SAFETY: the mapping has the table's size, is page-aligned and zero, which is a value of atomics.
    Ok(unsafe { &*at.cast::<Table>() })
}

pub(super) fn store(to: &SharedMask, set: &PuSet) {
    for (cell, word) in to.iter().zip(mask_words(set)) {
        cell.store(word, Ordering::Relaxed);
    }
}

pub(super) fn load(from: &SharedMask) -> PuSet {
    PuSet::from_words(&std::array::from_fn::<u64, MASK_WORDS, _>(|i| from[i].load(Ordering::Relaxed)))
}
