//! The program's own affinity, which the daemon narrows and the program gets back.

use super::{pages, silence};
use crate::sys::errno::keeping_errno;
use crate::sys::kernel_threads;
use core::mem::size_of_val;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::MASK_WORDS;
use scaf_proto::grant::{self, Mask};

static OWN: [AtomicU64; MASK_WORDS] = [const { AtomicU64::new(0) }; MASK_WORDS];

/// The process's own affinity, read at the first call, before the daemon narrows it.
pub fn own() -> [u64; MASK_WORDS] {
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    if KNOWN.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: takes nothing. The process's number names its first thread.
        let now = of_task(unsafe { libc::getpid() });
        for (cell, word) in OWN.iter().zip(now) {
            cell.store(word, Ordering::Relaxed);
        }
    }
    let mut own = [0; MASK_WORDS];
    for (word, cell) in own.iter_mut().zip(&OWN) {
        *word = cell.load(Ordering::Relaxed);
    }
    own
}

/// The affinity of a thread; 0 is the calling one. Empty if there is no such thread.
fn of_task(task: i32) -> Mask {
    let mut now = [0u64; MASK_WORDS];
    // SAFETY: fills memory of ours.
    unsafe { libc::sched_getaffinity(task, size_of_val(&now), now.as_mut_ptr().cast()) };
    now
}

const MOST_PUS: u32 = 65_535;
/// PUs that the process has of its own; 0 until asked for.
static OWN_PUS: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
pub fn own_pus() -> u32 {
    match OWN_PUS.load(Ordering::Relaxed) {
        0 => count_own_pus(),
        known => known,
    }
}

#[cold]
fn count_own_pus() -> u32 {
    if silence::is_known() {
        // Nobody can ask any more: as many as are wanted.
        return MOST_PUS;
    }
    let count = grant::count(&keeping_errno(own)).max(1);
    OWN_PUS.store(count, Ordering::Relaxed);
    count
}

/// Whether the calling thread has an affinity of the daemon's, rather than one that it chose itself.
pub fn has_ours() -> bool {
    pages::grant().is_daemons(&keeping_errno(|| of_task(0)))
}

/// After attaching: the daemon's masks are right also for a program that was narrowed before an exec.
pub fn take_from_grant() {
    if let Some(masks) = pages::grant().masks() {
        OWN_PUS.store(grant::count(&masks.own), Ordering::Relaxed);
    }
}

/// After a fork, in the child of an attached process: restores the program's own affinity.
pub fn give_back() {
    if pages::grant().has_narrowed() {
        restore(0, &own_now());
    }
}

/// The daemon is gone, or its lease is over, and nobody may be there who gives the threads' affinity back.
pub fn widen() {
    if pages::grant().has_narrowed() {
        let own = own_now();
        kernel_threads::for_each(|task| restore(task, &own));
    }
}

/// As the daemon knows it, unless it was killed in the midst of saying so.
fn own_now() -> Mask {
    pages::grant().masks().map_or_else(own, |masks| masks.own)
}

/// Gives a thread the program's own affinity, if it has one of the daemon's: the latest or, where the daemon
/// was killed while it set that, an earlier one. One that had bound itself elsewhere keeps that.
fn restore(task: i32, own: &Mask) {
    if pages::grant().is_daemons(&of_task(task)) {
        // SAFETY: reads memory of ours; an empty mask is refused by the kernel.
        unsafe { libc::sched_setaffinity(task, size_of_val(own), own.as_ptr().cast()) };
    }
}
