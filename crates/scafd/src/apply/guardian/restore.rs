//! What the guardian does: when the daemon has ended, it resumes programs and restores affinities.

use super::lease::Lease;
use super::narrowed::{self, give_back};
use super::record::Site;
use super::table::Table;
use crate::privileges;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// How often the daemon is checked while it has stopped programs,
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// and while programs are attached.
const SLOW_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };
const TRIES: u32 = 500;

/// The guardian's main function.
pub(super) fn run(table: &Table, lease: &Lease, record: Option<Site>, wait: BorrowedFd) -> ! {
    let _ = privileges::keep(privileges::GUARDIANS);
    while let Some(late) = wait_for_end(table, lease, wait) {
        // The daemon is stopped, or hangs. When it continues, it stops and narrows them again.
        match late {
            Late::Gangs => table.stops.resume_all(),
            Late::Grants => {
                // Before: what is narrowed from now on must not be taken for restored.
                lease.widen();
                give_back(&narrowed::all(table));
            }
        }
    }
    table.stops.resume_all();
    give_back(&narrowed::all(table));
    if let Some(record) = record {
        record.remove();
    }
    for _ in 0..TRIES {
        if table.stops.remove_all() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
        table.stops.resume_all();
    }
    // SAFETY: ends the process without running the daemon's exit handlers.
    unsafe { libc::_exit(0) }
}

/// What the daemon is late with.
enum Late {
    Gangs,
    Grants,
}

/// What the daemon is late with; `None` when it has ended.
fn wait_for_end(table: &Table, lease: &Lease, wait: BorrowedFd) -> Option<Late> {
    loop {
        let leased = lease.is_held().then_some(SLOW_LOOK);
        let timeout = if table.stops.is_watched() { Some(LOOK) } else { leased };
        let mut poll = [PollFd::from_borrowed_fd(wait, PollFlags::IN)];
        match rustix::event::poll(&mut poll, timeout.as_ref()) {
            // A byte is only to wake us.
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
