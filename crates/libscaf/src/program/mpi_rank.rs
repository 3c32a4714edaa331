//! A rank of an MPI job, while it waits in MPI: the daemon may then lend its contexts, to the job's other
//! ranks first, and has to know at once when the wait begins and ends. A wait is noticed by turns of MPI's
//! own polling loop that find nothing; one shorter than [`SHORT_TICKS`] is ignored. While contexts are lent
//! each such turn naps, so that the borrower has them to itself. One thread's outermost call at a time is
//! followed.

use super::masters::master;
use crate::link::{attachment, pages};
use crate::sys::arch::{ticks, tls_base};
use crate::sys::raw_syscalls::nap_for;
use crate::sys::{process, settings};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Ticks that a wait lasts before the daemon is told, 0.1 to 0.3 ms.
const SHORT_TICKS: u64 = 1 << 19;
/// So many times as long, 1.5 to 3 ms, where the latest long wait was over sooner: to lend and take back, and
/// for the borrower to start on other PUs, takes half a millisecond. With 4 in place of 12 GROMACS at steps
/// of 4 ms took 1.08 times as long as without loans.
const SOON: u64 = 12;
/// Each turn naps for so much longer than the one before, in nanoseconds and beyond the kernel's slack of 50
/// us: a nap's end takes 15 us from whoever computes there, and a wait ends late by half a nap.
const LONGER_NS: u32 = 10_000;
const LONGEST_NS: u32 = 400_000;
/// A turn that comes so many ticks after the one before, 15 to 30 us: MPI has found something in between.
const FOUND_TICKS: u64 = 1 << 16;
/// A call without a turn for so long, 0.5 to 1 s, may have been left by a jump or by its thread's end.
const LEFT_TICKS: u64 = 1 << 31;
/// The storage of the thread whose call is heard; 0 for none.
static CALLER: AtomicUsize = AtomicUsize::new(0);
/// Where that call's frame is.
static FRAME: AtomicUsize = AtomicUsize::new(0);
/// Tick of its first turn in vain, of the first since MPI found something, and of the latest; 0 before.
static FIRST: AtomicU64 = AtomicU64::new(0);
static SINCE: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);
/// How many ticks the latest wait took that was longer than [`SHORT_TICKS`].
static LATEST: AtomicU64 = AtomicU64::new(0);
/// Its latest nap, in nanoseconds.
static NAP: AtomicU32 = AtomicU32::new(0);

/// The calling thread, outside of regions, goes into a call by which programs wait in MPI; `frame` is an
/// address on its stack. True if that call is heard, and [`end`] is to be called.
#[inline]
pub fn begin(frame: usize) -> bool {
    if !attachment::is_expected() || master().depth.get() != 0 {
        return false;
    }
    let own = tls_base();
    match CALLER.compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => {}
        Err(caller) => {
            // A call within a call has a lower frame.
            let is_within = caller != own || frame < FRAME.load(Ordering::Relaxed);
            if is_within && ticks().wrapping_sub(LAST.load(Ordering::Relaxed)) < LEFT_TICKS {
                return false;
            }
            CALLER.store(own, Ordering::Relaxed);
            if pages::report().rank().waits() {
                say(false);
            }
        }
    }
    FRAME.store(frame, Ordering::Relaxed);
    FIRST.store(0, Ordering::Relaxed);
    SINCE.store(0, Ordering::Relaxed);
    LAST.store(ticks(), Ordering::Relaxed);
    true
}

/// After attaching: whom the program lends to and borrows from first.
pub fn introduce() {
    pages::report().rank().set_job(job());
}

pub fn end() {
    if CALLER.load(Ordering::Relaxed) != tls_base() {
        return;
    }
    let first = FIRST.load(Ordering::Relaxed);
    if first != 0 {
        let took = ticks().wrapping_sub(first);
        if took > SHORT_TICKS {
            LATEST.store(took, Ordering::Relaxed);
        }
    }
    if pages::report().rank().waits() {
        say(false);
    }
    CALLER.store(0, Ordering::Relaxed);
}

/// MPI has looked for what it waits for, and found nothing. False if it isn't such a wait.
#[inline]
pub fn waits() -> bool {
    if CALLER.load(Ordering::Relaxed) != tls_base() {
        return false;
    }
    let now = ticks();
    let (since, last) = (SINCE.load(Ordering::Relaxed), LAST.load(Ordering::Relaxed));
    LAST.store(now, Ordering::Relaxed);
    if since == 0 {
        FIRST.store(now, Ordering::Relaxed);
        begin_anew(now);
    } else if now.wrapping_sub(last) > FOUND_TICKS {
        begin_anew(now);
    } else if now.wrapping_sub(since) > SHORT_TICKS {
        waits_long(since, now);
        // After its nap.
        LAST.store(ticks(), Ordering::Relaxed);
    }
    true
}

/// MPI has found something, and may find what follows as soon.
pub fn found() {
    if CALLER.load(Ordering::Relaxed) == tls_base() && SINCE.load(Ordering::Relaxed) != 0 {
        begin_anew(ticks());
    }
}

fn begin_anew(now: u64) {
    SINCE.store(now, Ordering::Relaxed);
    NAP.store(0, Ordering::Relaxed);
}

#[cold]
fn waits_long(since: u64, now: u64) {
    let expected = LATEST.load(Ordering::Relaxed).max(now.wrapping_sub(since));
    if expected < SOON * SHORT_TICKS {
        return;
    }
    attachment::poll_outside_region(now);
    if !attachment::is_attached() {
        return;
    }
    if !pages::report().rank().waits() {
        say(true);
    } else if pages::grant().word().lent() {
        let nap = NAP.load(Ordering::Relaxed).saturating_add(LONGER_NS).min(LONGEST_NS);
        NAP.store(nap, Ordering::Relaxed);
        nap_for(nap);
    }
}

/// If the daemon can't be told of a wait now, that is tried again a while later. The end of one it finds by
/// itself then, at its next tick.
fn say(waits: bool) {
    let rank = pages::report().rank();
    rank.set_waits(waits);
    if !attachment::request_read() && waits {
        rank.set_waits(false);
        begin_anew(ticks());
    }
}

/// A label that all ranks of a job on this machine have: by the launcher's name for it, else by the launcher,
/// whose children they are.
fn job() -> u64 {
    let launch = settings::get().launch;
    if launch != 0 { launch } else { (process::parent() as u32).max(1).into() }
}

pub fn after_fork() {
    CALLER.store(0, Ordering::Relaxed);
}
