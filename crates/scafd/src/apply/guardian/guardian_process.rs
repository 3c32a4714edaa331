//! The guardian's process: started with the daemon, and again if it has died.
//!
//! Before every change that the guardian would have to undo, one system call checks that it is there: without
//! it, the pipe to it has no reader. Until another one is started nothing is changed.

use super::lease::Lease;
use super::record::Site;
use super::restore;
use super::table::Table;
use crate::fork;
use crate::log::warning;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone)]
pub struct GuardianProcess {
    table: &'static Table,
    lease: Lease,
    record: Option<Site>,
    alive: Arc<Mutex<Option<Alive>>>,
}

struct Alive {
    pipe: OwnedFd,
    pid: Pid,
}

impl GuardianProcess {
    /// Starts the guardian of that table and file.
    pub(super) fn start(
        table: &'static Table,
        lease: Lease,
        record: Option<Site>,
    ) -> io::Result<GuardianProcess> {
        let alive = Alive::start(table, lease, record)?;
        Ok(GuardianProcess { table, lease, record, alive: Arc::new(Mutex::new(Some(alive))) })
    }

    /// Whether there is a guardian; one that has died is replaced.
    pub fn ensure(&self) -> bool {
        let mut alive = self.alive();
        let Some(last) = alive.as_ref() else { return false };
        if last.is_there() {
            return true;
        }
        last.bury();
        match Alive::start(self.table, self.lease, self.record) {
            Ok(next) => {
                let pid = next.pid.as_raw_nonzero();
                warning!("the guardian has died; process {pid} is the next");
                *alive = Some(next);
                true
            }
            Err(error) => {
                warning!("the guardian has died, and there can't be another one: {error}");
                false
            }
        }
    }

    /// Wakes it to read the table again.
    pub fn wake(&self) {
        if let Some(alive) = self.alive().as_ref() {
            let _ = rustix::io::write(&alive.pipe, &[1]);
        }
    }

    /// Ends it and waits for that. It restores what is still recorded.
    pub(super) fn end(&self) {
        if let Some(Alive { pipe, pid }) = self.alive().take() {
            drop(pipe);
            // A stopped one would never end.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::CONT);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }

    fn alive(&self) -> MutexGuard<'_, Option<Alive>> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Alive {
    fn start(table: &'static Table, lease: Lease, record: Option<Site>) -> io::Result<Alive> {
        let (wait, pipe) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        // SAFETY: the child has this thread only. It takes no lock of ours and prints nothing; glibc keeps
        // the allocator usable.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                fork::detach(c"scafd-guardian", wait.as_raw_fd());
                restore::run(table, &lease, record, wait.as_fd())
            }
            pid => {
                let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave pid 0"))?;
                Ok(Alive { pipe, pid })
            }
        }
    }

    /// The write end of a pipe without a reader is in error.
    fn is_there(&self) -> bool {
        let mut poll = [PollFd::new(&self.pipe, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        !(matches!(rustix::event::poll(&mut poll, Some(&now)), Ok(1..))
            && poll[0].revents().contains(PollFlags::ERR))
    }

    fn bury(&self) {
        let _ = waitpid(Some(self.pid), WaitOptions::empty());
    }
}
