//! What the guardian does: when the daemon has ended, it lets everyone go on and gives affinities back.

use super::lease::Lease;
use super::table::{Entry, Table, load};
use crate::apply::threads::sweep;
use crate::observe::{Observer, affinity};
use crate::privileges;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use scaf_policy::PuSet;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

const GENERATIONS: u32 = 8;
/// How often the daemon is looked after while it has stopped somebody.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// The same while programs are attached.
const SLOW_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
const TRIES: u32 = 500;

/// The guardian itself. Never returns.
pub(super) fn watch(table: &Table, lease: &Lease, wait: BorrowedFd) -> ! {
    let _ = privileges::keep(privileges::GUARDIANS);
    while let Some(late) = wait_for_end(table, lease, wait) {
        // The daemon is stopped, or hangs. When it goes on, it stops and narrows them again.
        match late {
            Late::Gangs => table.stops.let_all_go(),
            Late::Grants => {
                // Before: what is narrowed from now on is not to be taken for what was given back.
                lease.widen();
                restore_all(table);
            }
        }
    }
    table.stops.let_all_go();
    restore_all(table);
    for _ in 0..TRIES {
        if table.stops.take_all_away() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        table.stops.let_all_go();
    }
    // SAFETY: ends the process without running the daemon's exit handlers.
    unsafe { libc::_exit(0) }
}

/// With what the daemon is late.
enum Late {
    Gangs,
    Grants,
}

/// With what the daemon is late; `None` when it has ended.
fn wait_for_end(table: &Table, lease: &Lease, wait: BorrowedFd) -> Option<Late> {
    loop {
        let leased = lease.is_held().then_some(SLOW_LOOK);
        let timeout = if table.stops.is_watched() { Some(LOOK) } else { leased };
        let mut poll = [PollFd::from_borrowed_fd(wait, PollFlags::IN)];
        match rustix::event::poll(&mut poll, timeout.as_ref()) {
            // A byte only wakes us: from now on there is somebody to watch.
            Ok(1..) => match rustix::io::read(wait, &mut [0u8; 64]) {
                Ok(0) => return None,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return None,
            },
            Ok(0) if table.stops.is_late() => return Some(Late::Gangs),
            Ok(0) if lease.is_over() => return Some(Late::Grants),
            Ok(0) | Err(_) => {}
        }
    }
}

/// A program whose affinity is ours.
struct Noted {
    pid: u32,
    starttime: u64,
    own: PuSet,
    ours: Vec<PuSet>,
}

impl Noted {
    fn of(entry: &Entry) -> Option<Noted> {
        Some(Noted {
            pid: Some(entry.pid.load(Ordering::Acquire)).filter(|pid| *pid != 0)?,
            starttime: entry.starttime.load(Ordering::Relaxed),
            own: load(&entry.own),
            ours: entry.ours.iter().map(load).filter(|mask| !mask.is_empty()).collect(),
        })
    }

    /// Gives a process what it would have without us: the program itself, or a child of its.
    fn restore(&self, observer: &Observer, pid: u32, starttime: u64) {
        let _ = sweep(observer, pid, starttime, &self.ours.iter().collect::<Vec<_>>(), &self.own);
    }

    /// Children born with a narrowed affinity have it still, and nobody else knows.
    fn restore_children(&self, observer: &Observer, pid: u32, programs: &[u32], depth: u32) {
        for child in observer.process(pid).children(usize::MAX) {
            if programs.contains(&child) {
                continue;
            }
            if affinity(child).is_ok_and(|mask| self.ours.contains(&mask))
                && let Ok(stat) = observer.process(child).stat()
            {
                self.restore(observer, child, stat.starttime);
            }
            if depth > 1 {
                self.restore_children(observer, child, programs, depth - 1);
            }
        }
    }
}

fn restore_all(table: &Table) {
    let observer = Observer::new(Path::new("/"));
    let all: Vec<Noted> = table.entries.iter().filter_map(Noted::of).collect();
    for noted in &all {
        noted.restore(&observer, noted.pid, noted.starttime);
    }
    // Afterwards, for one program may have any number of them.
    let programs: Vec<u32> = all.iter().map(|noted| noted.pid).collect();
    for noted in &all {
        noted.restore_children(&observer, noted.pid, &programs, GENERATIONS);
    }
}
