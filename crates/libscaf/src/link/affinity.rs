//! The program's own affinity, which the daemon narrows and the program gets back.
//!
//! A child has the affinity of the thread that starts it. So a thread that is about to start one has the
//! program's own meanwhile ([`begin_start`], [`end_start`]): the child never sees another. The daemon narrows
//! nobody meanwhile ([`scaf_proto::child_starts`]).

use super::{no_syscalls, pages, socket};
use crate::sys::errno::keeping_errno;
use crate::sys::thread_state::{self, LINK_AT, Part};
use crate::sys::{clock, kernel_threads, process, raw_syscalls, sched_affinity};
use core::cell::Cell;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use scaf_proto::MASK_WORDS;
use scaf_proto::grant::{self, Mask};

static OWN: [AtomicU64; MASK_WORDS] = [const { AtomicU64::new(0) }; MASK_WORDS];
/// PUs of the process's own affinity when that was read, those beyond the mask included.
static COUNTED: AtomicU32 = AtomicU32::new(0);
static BEYOND: AtomicU32 = AtomicU32::new(0);

/// The process's own affinity, read at the first call, before the daemon narrows it.
pub fn own() -> [u64; MASK_WORDS] {
    static KNOWN: AtomicU32 = AtomicU32::new(0);
    if KNOWN.swap(1, Ordering::Relaxed) == 0 {
        // The process's number names its first thread.
        let (now, (pus, beyond)) =
            (sched_affinity::get(process::pid()), sched_affinity::count(process::pid()));
        for (cell, word) in OWN.iter().zip(now) {
            cell.store(word, Ordering::Relaxed);
        }
        COUNTED.store(pus, Ordering::Relaxed);
        BEYOND.store(u32::from(beyond), Ordering::Relaxed);
    }
    let mut own = [0; MASK_WORDS];
    for (word, cell) in own.iter_mut().zip(&OWN) {
        *word = cell.load(Ordering::Relaxed);
    }
    own
}

/// Whether the process may run on PUs that a mask has no place for. Who can't be given its affinity back must
/// not be narrowed.
pub fn is_beyond_masks() -> bool {
    keeping_errno(own);
    BEYOND.load(Ordering::Relaxed) != 0
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
    if no_syscalls::are_known_forbidden() {
        // Nobody can ask any more: as many as are wanted.
        return MOST_PUS;
    }
    keeping_errno(own);
    let count = COUNTED.load(Ordering::Relaxed).clamp(1, MOST_PUS);
    OWN_PUS.store(count, Ordering::Relaxed);
    count
}

/// Whether the calling thread has an affinity of the daemon's, rather than one that it chose itself.
pub fn has_ours() -> bool {
    is_daemons(&keeping_errno(|| sched_affinity::get(0)))
}

/// Whether threads of this process have affinities of the program's choice ([`super::bindings`]), so that
/// none has one of the daemon's.
static CHOSEN: AtomicBool = AtomicBool::new(false);

pub fn are_chosen() -> bool {
    CHOSEN.load(Ordering::SeqCst)
}

/// Says so; whether it was so.
pub fn choose(chosen: bool) -> bool {
    CHOSEN.swap(chosen, Ordering::SeqCst)
}

/// Whether a thread with this affinity has it by the daemon.
fn is_daemons(mask: &Mask) -> bool {
    !are_chosen() && pages::grant().is_daemons(mask)
}

/// Whether a thread with this affinity may not run on some of the program's PUs.
pub fn leaves_out_some(mask: &Mask) -> bool {
    own_now().iter().zip(mask).any(|(own, has)| own & !has != 0)
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

/// As the daemon knows it, unless there is none, or it was killed in the midst of saying so.
fn own_now() -> Mask {
    let known = pages::grant().masks().map(|masks| masks.own);
    known.filter(|own| grant::count(own) > 0).unwrap_or_else(own)
}

/// Gives a thread the program's own affinity, if it has one of the daemon's: the latest or, where the daemon
/// was killed while it set that, an earlier one. One that had bound itself elsewhere keeps that.
fn restore(task: i32, own: &Mask) {
    if is_daemons(&sched_affinity::get(task)) {
        sched_affinity::set(task, own);
    }
}

/// Whether any thread may have an affinity of the daemon's.
pub fn may_be_narrow() -> bool {
    pages::grant().has_narrowed()
}

/// The affinity that the process would have without scaf, if the daemon has `narrowed` it to this one.
pub fn behind(narrowed: &Mask) -> Option<Mask> {
    (may_be_narrow() && is_daemons(narrowed)).then(own_now)
}

/// How often a thread that makes a child looks whether the daemon has moved all threads, and how often again
/// after a nap of some 50 us each.
const PATIENCE: u32 = 20;

/// Just before a child is made: it will have the program's own affinity, as the calling thread has from now
/// on. Whether the thread's has to be what is granted again, by [`end_start`].
pub fn begin_start() -> bool {
    let own = thread_state::own::<Starter>();
    if own.has_begun.get() || !may_be_narrow() || are_chosen() || no_syscalls::are_known_forbidden() {
        return false;
    }
    own.has_begun.set(true);
    pages::report().starts().begin();
    for tries in 0..2 * PATIENCE {
        if !pages::grant().moves().are_made() {
            break;
        }
        if tries < PATIENCE { raw_syscalls::give_way() } else { raw_syscalls::nap() }
    }
    widen_self();
    true
}

/// The child has been made.
pub fn end_start() {
    narrow_self(&own_now());
    pages::report().starts().end();
    thread_state::own::<Starter>().has_begun.set(false);
}

/// The calling thread is that of a child with memory of its own.
pub fn is_child() {
    CHOSEN.store(false, Ordering::SeqCst);
    thread_state::own::<Starter>().has_begun.set(false);
}

/// Gives the calling thread the program's own affinity, if it has one of the daemon's; what it has then. To
/// be called just before it becomes another program: that has the same.
pub fn widen_self() -> Option<Mask> {
    if !pages::grant().has_narrowed() || no_syscalls::are_known_forbidden() {
        return None;
    }
    let own = own_now();
    let now = sched_affinity::get(0);
    let is_narrow = now != own && is_daemons(&now);
    (is_narrow && sched_affinity::set(0, &own)).then(|| sched_affinity::get(0))
}

/// Most grants that a thread follows that narrows itself: they come four times a second.
const TRIES: usize = 4;

/// Gives the calling thread the granted affinity back after [`widen_self`], unless somebody has set another
/// one than `wide` meanwhile. If that was the daemon, it may have come before the child: then that is
/// widened here, as it begins.
pub fn narrow_self(wide: &Mask) {
    if no_syscalls::are_known_forbidden() {
        return;
    }
    if sched_affinity::get(0) != *wide {
        kernel_threads::for_each_child(|child| restore(child, wide));
        return;
    }
    // The daemon publishes a grant before it moves threads. So either the new grant is seen here, or the
    // daemon sees what is set here.
    for _ in 0..TRIES {
        let word = pages::grant().word();
        let narrows = word.dop().is_some() && word.folded();
        let granted = pages::grant().masks().filter(|_| narrows).map(|masks| masks.granted);
        sched_affinity::set(0, granted.as_ref().unwrap_or(wide));
        if pages::grant().word() == word {
            break;
        }
    }
    // Whoever gives threads their affinity back when the daemon is gone may have done it already.
    if pages::grant().is_expired(clock::ns(libc::CLOCK_MONOTONIC)) || !keeping_errno(socket::is_open) {
        sched_affinity::set(0, wide);
    }
}

/// What is kept of a thread that starts a child.
#[repr(C)]
struct Starter {
    /// Where its `vfork` returns to.
    returns_to: Cell<usize>,
    /// Whether it has begun to start a child. Its child by `vfork`, which has its storage, may start another.
    has_begun: Cell<bool>,
    /// Whether that is a `fork`, with handlers.
    forks: Cell<bool>,
    /// Whether it is in a `fork`, between our handlers.
    is_forking: Cell<bool>,
}

// SAFETY: 0 and `false` are zeros; `Cell`s aren't `Sync`; the bytes are `link`'s.
unsafe impl Part for Starter {
    const AT: usize = LINK_AT;
    const END: usize = thread_state::END;
}

pub const RETURNS_TO_AT: usize = LINK_AT + offset_of!(Starter, returns_to);

/// Before a fork: the child is born on the program's own affinity, which other libraries' handlers may ask
/// for.
pub fn before_fork() {
    thread_state::own::<Starter>().is_forking.set(true);
    thread_state::own::<Starter>().forks.set(begin_start());
}

/// Whether the thread is about to fork or has just done so. In the child nobody else is there to run while it
/// waits, and others' handlers, which yield, may run before ours.
pub fn is_forking() -> bool {
    thread_state::own::<Starter>().is_forking.get()
}

pub fn after_fork() {
    thread_state::own::<Starter>().is_forking.set(false);
}

pub fn after_fork_in_parent() {
    after_fork();
    if thread_state::own::<Starter>().forks.take() {
        end_start();
    }
}
