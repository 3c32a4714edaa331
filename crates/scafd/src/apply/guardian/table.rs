//! The table that the daemon and its guardian share: whose affinity is ours, and who is stopped.

use super::stop_table::{self, MOST_PROGRAMS};
use crate::apply::threads::mask_words;
use scaf_policy::PuSet;
use scaf_proto::MASK_WORDS;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Affinities of ours that are remembered for each program. Every change moves the threads that have any of
/// them.
pub const MASKS: usize = 8;
/// Masks in an entry: those that are remembered, the one that is being set, and what the kernel made of it.
pub(super) const SLOTS: usize = MASKS + 2;
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
    pub(super) stops: stop_table::Table,
}

pub(super) fn store(to: &SharedMask, set: &PuSet) {
    for (cell, word) in to.iter().zip(mask_words(set)) {
        cell.store(word, Ordering::Relaxed);
    }
}

pub(super) fn load(from: &SharedMask) -> PuSet {
    PuSet::from_words(&std::array::from_fn::<u64, MASK_WORDS, _>(|i| from[i].load(Ordering::Relaxed)))
}
