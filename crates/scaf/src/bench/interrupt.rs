//! Signals of the user, which wake a waiting benchmark.
//!
//! The handler only writes a byte into a pipe. The waiting code then returns an error, and drops clean up
//! children, private daemon and temporary folder.

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

pub struct Interrupt {
    reader: UnixStream,
}

impl Interrupt {
    /// Takes over SIGINT, SIGTERM and SIGHUP.
    pub fn install() -> Result<Interrupt> {
        let (reader, writer) = UnixStream::pair().context("pipe for signals")?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let writer = writer.try_clone().context("pipe for signals")?;
            signal_hook::low_level::pipe::register(signal, writer).context("signal handler")?;
        }
        Ok(Interrupt { reader })
    }

    /// Waits until one of `files` is ready, or for `limit`. It is an error if the user interrupts.
    pub fn wait(&self, files: &[BorrowedFd<'_>], limit: Duration) -> Result<()> {
        let mut polled: Vec<PollFd<'_>> =
            files.iter().map(|file| PollFd::from_borrowed_fd(*file, PollFlags::IN)).collect();
        polled.push(PollFd::new(&self.reader, PollFlags::IN));
        let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) };
        match poll(&mut polled, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(std::io::Error::from(error)).context("poll"),
        }
        self.check()
    }

    /// It is an error if the user has interrupted.
    pub fn check(&self) -> Result<()> {
        let mut seen = [PollFd::from_borrowed_fd(self.reader.as_fd(), PollFlags::IN)];
        match poll(&mut seen, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(0) | Err(_) => Ok(()),
            Ok(_) => bail!(std::io::Error::new(ErrorKind::Interrupted, "interrupted")),
        }
    }
}

/// Whether this is the error of a user's interrupt.
pub fn is_interrupt(error: &(dyn std::error::Error + 'static)) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::Interrupted)
}
