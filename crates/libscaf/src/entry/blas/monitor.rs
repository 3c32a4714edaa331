//! A thread that detects when the process computes in a BLAS, tells the daemon, and has the libraries follow
//! the grant; only in processes with such a library of several threads. It reads the process's clocks 20
//! times a second while the process computes ([`scaf_team::parallel_detector`]), 3 us each. The process
//! attaches as soon as the library is there: first calls of two programs on all threads would delay each
//! other for a second.

use super::find;
use super::table::{LIBRARIES, Library, NEWS, follow, table, threads};
use crate::link::{affinity, attachment, forked, no_syscalls};
use crate::program::budget::{self, Who};
use crate::program::masters::NO_SLOT;
use crate::program::non_openmp::{self, Ticket};
use crate::program::{grant_watcher, masters};
use crate::runtimes::hooks;
use crate::sys::helpers::{self, spawn};
use crate::sys::{clock, settings};
use core::ffi::c_void;
use core::mem::zeroed;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::parallel_detector::{ParallelDetector, Sample};

static UP: AtomicU32 = AtomicU32::new(0);

pub fn start_if_needed() {
    let (user, _) = threads();
    if user >= 2 && UP.load(Ordering::Relaxed) == 0 {
        start();
    }
}

/// At load: the thread looks into libraries linked with the program, which may not be initialised yet.
pub fn at_load() {
    if !settings::get().blas_alone && find::are_there() && affinity::own_pus() >= 2 {
        start();
    }
}

pub fn look() {
    if find::look() {
        forked::watch();
        start_if_needed();
    }
}

fn changed(_: u32) {
    follow(true);
}

#[cold]
fn start() {
    if !no_syscalls::are_forbidden()
        && !helpers::are_to_leave()
        && UP.swap(1, Ordering::SeqCst) == 0
        && !spawn(monitor, null_mut())
    {
        UP.store(0, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy)]
struct Clocks {
    wall_us: u64,
    cpu_us: u64,
    first_us: u64,
    switches: u64,
}

impl Clocks {
    fn now() -> Clocks {
        // SAFETY: the kernel fills the structure, for which zeros are a value.
        unsafe {
            let mut used: libc::rusage = zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut used);
            Clocks {
                wall_us: clock::ns(libc::CLOCK_MONOTONIC) / 1_000,
                cpu_us: clock::ns(libc::CLOCK_PROCESS_CPUTIME_ID) / 1_000,
                first_us: clock::ran_for(libc::getpid().cast_unsigned()).unwrap_or(0) / 1_000,
                switches: used.ru_nivcsw as u64,
            }
        }
    }
}

/// Pause before the first look: short, as a new library's threads spin and other programs must make room.
const FIRST_PAUSE_MS: u32 = 10;

/// One of so many looks is for whether `main` has ended.
const LOOKS_FOR_MAIN: u32 = 8;

extern "C" fn monitor(_: *mut c_void) -> *mut c_void {
    let mut detector = ParallelDetector::default();
    let mut last = Clocks::now();
    let mut regions = 0;
    let mut work = None;
    let mut greeted = false;
    let (mut pause_ms, mut looks) = (FIRST_PAUSE_MS, 0u32);
    loop {
        helpers::pause(pause_ms);
        no_syscalls::sleep_while_forbidden();
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS_FOR_MAIN) && helpers::has_main_ended() {
            hooks::call(hooks::get().main_has_ended);
        }
        if helpers::are_to_leave() {
            if let Some((ticket, _)) = work {
                end(ticket);
            }
            budget::runs(Who::Blas, 0);
            UP.store(0, Ordering::SeqCst);
            return null_mut();
        }
        if NEWS.load(Ordering::Relaxed) != 0 || table().next().is_none() {
            look();
        }
        follow(false);
        let (user, allowed) = threads();
        if user < 2 {
            // Nothing to look after. Whoever finds a library later, or sets more threads, starts another one.
            UP.store(0, Ordering::SeqCst);
            return null_mut();
        }
        if !greeted || attachment::is_waiting() {
            greeted = true;
            if non_openmp::attach(user) {
                grant_watcher::on_change(changed);
            }
        }
        let now = Clocks::now();
        let mine = work.map_or(0, |(_, threads)| threads);
        let (running, left) = budget::regions(mine);
        let parallel = detector.take(&Sample {
            wall_us: now.wall_us.saturating_sub(last.wall_us),
            cpu_us: now.cpu_us.saturating_sub(last.cpu_us),
            first_us: now.first_us.saturating_sub(last.first_us),
            switches: now.switches.saturating_sub(last.switches),
            allowed,
            in_region: running > 0 || left != regions,
        });
        (last, regions) = (now, left);
        // A piece of work has one size; with another number of threads it is other work.
        if let Some((ticket, threads)) = work
            && !(parallel && threads == allowed)
        {
            end(ticket);
            regions = budget::regions(0).1;
            work = None;
        }
        budget::runs(Who::Blas, if parallel { allowed } else { 0 });
        // `non_openmp::attach` also checks whether the daemon is still there.
        if parallel && non_openmp::attach(user) && work.is_none() {
            grant_watcher::on_change(changed);
            work = Some((non_openmp::begin_noticed(id(), allowed), allowed));
        }
        hooks::call(hooks::get().after_poll);
        pause_ms = detector.pause_ms();
    }
}

/// Ends the work. Its length is arbitrary: the slot is left first, so that nothing is learned from it. The
/// slot is freed because one that is taken counts as a master.
fn end(ticket: Ticket) {
    let slot = masters::leave_slot();
    non_openmp::end(ticket, 0);
    if slot != 0 && slot != NO_SLOT {
        masters::free_slot(slot);
    }
}

/// What the work goes by: the first library's setter, which is at the same place of its file in each run.
fn id() -> u64 {
    let set = |library: &Library| library.number.set.load(Ordering::Relaxed) as u64;
    table().take(LIBRARIES).map(set).next().unwrap_or(1)
}

pub fn after_fork() {
    UP.store(0, Ordering::Relaxed);
    budget::runs(Who::Blas, 0);
}
