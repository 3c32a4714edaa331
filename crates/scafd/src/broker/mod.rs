//! The daemon's side of its broker, the process that keeps the few rights that a daemon for all users needs.
//!
//! The daemon itself has none: it runs as a user without privileges. It asks over a socket that only the two
//! have, by packets of one size ([`protocol`]), and waits for each answer. The broker believes none of it
//! (`broker_process`). Where the broker doesn't answer any more it is lost, and the daemon ends.

pub mod fd_passing;
pub mod protocol;

use protocol::{Answer, Ask, BYTES};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long an answer may take: as long as a lease holds by default, after which the guardian acts.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long its start may take.
const START: Duration = Duration::from_secs(60);

/// A way to ask it.
#[derive(Clone, Debug)]
pub struct Broker(Arc<Line>);

#[derive(Debug)]
struct Line {
    socket: OwnedFd,
    pid: Pid,
    turn: Mutex<()>,
    lost: AtomicBool,
}

impl Broker {
    /// The process `pid`, a child of ours, at the other end of `socket`.
    /// # Errors
    /// It is no socket.
    pub fn new(socket: OwnedFd, pid: Pid) -> io::Result<Broker> {
        for which in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, which, Some(PATIENCE))?;
        }
        let (turn, lost) = (Mutex::new(()), AtomicBool::new(false));
        Ok(Broker(Arc::new(Line { socket, pid, turn, lost })))
    }

    /// The first thing that it says, unasked: how it stops programs.
    /// # Errors
    /// It couldn't begin.
    pub fn greeting(&self) -> io::Result<u32> {
        // It may have to give back what an earlier daemon had narrowed, of any number of processes.
        set_socket_timeout(&self.0.socket, Timeout::Recv, Some(START))?;
        let said = self.0.answer();
        set_socket_timeout(&self.0.socket, Timeout::Recv, Some(PATIENCE))?;
        match said?.0 {
            Answer::Ready(way) => Ok(way),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Asks, and waits for the answer.
    /// # Errors
    /// There is no broker any more.
    pub fn ask(&self, ask: &Ask) -> io::Result<Answer> {
        self.0.exchange(ask, None).map(|(answer, _)| answer)
    }

    /// The same with a descriptor that goes along.
    /// # Errors
    /// There is no broker any more.
    pub fn ask_with(&self, ask: &Ask, fd: BorrowedFd) -> io::Result<Answer> {
        self.0.exchange(ask, Some(fd)).map(|(answer, _)| answer)
    }

    /// Asks for a descriptor, and a number with it.
    /// # Errors
    /// It is refused, or there is no broker any more.
    pub fn fetch(&self, ask: &Ask, with: Option<BorrowedFd>) -> io::Result<(OwnedFd, u64)> {
        let (answer, fd) = self.0.exchange(ask, with)?;
        let number = answer.done()?;
        Ok((fd.ok_or(io::ErrorKind::InvalidData)?, number))
    }

    /// Whether it doesn't answer any more, or has hung up.
    pub fn is_lost(&self) -> bool {
        let line = &self.0;
        if !line.lost.load(Ordering::Relaxed) {
            let mut byte = [0u8; 1];
            let flags = rustix::net::RecvFlags::PEEK | rustix::net::RecvFlags::DONTWAIT;
            let peeked = rustix::net::recv(&line.socket, &mut byte, flags);
            let silent = matches!(peeked, Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR));
            line.lost.fetch_or(!silent, Ordering::Relaxed);
        }
        line.lost.load(Ordering::Relaxed)
    }
}

impl AsFd for Broker {
    /// Can be read when the broker is lost: what it says is taken in at once otherwise.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.socket.as_fd()
    }
}

impl Line {
    fn exchange(&self, ask: &Ask, fd: Option<BorrowedFd>) -> io::Result<(Answer, Option<OwnedFd>)> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.lost.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let answer = fd_passing::send(&self.socket, &ask.bytes(), fd).and_then(|()| self.answer());
        // Half an answer now would be taken for one to the next question.
        self.lost.fetch_or(answer.is_err(), Ordering::Relaxed);
        answer
    }

    fn answer(&self) -> io::Result<(Answer, Option<OwnedFd>)> {
        let mut packet = [0u8; BYTES];
        let (length, fd) = fd_passing::receive(&self.socket, &mut packet)?;
        let answer = Answer::parse(&packet[..length]).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((answer, fd))
    }
}

impl Drop for Line {
    /// Hangs up, upon which the broker gives everything back and ends, and waits until it has. For one that
    /// doesn't answer the guardian acts.
    fn drop(&mut self) {
        // Where that is refused it hears of our end only.
        let deaf = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both).is_err();
        let lost = deaf || *self.lost.get_mut();
        let _ = waitpid(Some(self.pid), if lost { WaitOptions::NOHANG } else { WaitOptions::empty() });
    }
}
