//! The daemon's connection to the broker process (`broker_process`), which has the few rights that a daemon
//! for all users needs. Requests and answers are packets of one size ([`protocol`]) over a socket pair; the
//! broker checks every request. If it no longer answers, the daemon ends.

pub mod fd_passing;
pub mod protocol;

use protocol::{Answer, Ask, BYTES};
use rustix::net::SendFlags;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long an answer may take: the default lease, after which the guardian acts.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the start may take.
const START: Duration = Duration::from_secs(60);

/// A handle to the broker.
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
    /// The child process `pid`, at the other end of `socket`.
    pub fn new(socket: OwnedFd, pid: Pid) -> io::Result<Broker> {
        for which in [Timeout::Recv, Timeout::Send] {
            set_socket_timeout(&socket, which, Some(PATIENCE))?;
        }
        let (turn, lost) = (Mutex::new(()), AtomicBool::new(false));
        Ok(Broker(Arc::new(Line { socket, pid, turn, lost })))
    }

    /// Waits for the first packet: how the broker stops programs.
    pub fn greeting(&self) -> io::Result<u32> {
        // It may first restore what an earlier daemon had narrowed, of any number of processes.
        set_socket_timeout(&self.0.socket, Timeout::Recv, Some(START))?;
        let said = self.0.answer();
        set_socket_timeout(&self.0.socket, Timeout::Recv, Some(PATIENCE))?;
        match said?.0 {
            Answer::Ready(way) => Ok(way),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    /// Asks, and waits for the answer; an error means that the broker is lost.
    pub fn ask(&self, ask: &Ask) -> io::Result<Answer> {
        self.0.exchange(ask, None).map(|(answer, _)| answer)
    }

    pub fn ask_with(&self, ask: &Ask, fd: BorrowedFd) -> io::Result<Answer> {
        self.0.exchange(ask, Some(fd)).map(|(answer, _)| answer)
    }

    /// Asks for a descriptor, and a number with it.
    pub fn fetch(&self, ask: &Ask, with: Option<BorrowedFd>) -> io::Result<(OwnedFd, u64)> {
        let (answer, fd) = self.0.exchange(ask, with)?;
        let number = answer.done()?;
        Ok((fd.ok_or(io::ErrorKind::InvalidData)?, number))
    }

    /// Whether it doesn't answer any more, or has closed the socket.
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
    /// Readable when the broker is lost: answers are read at once otherwise.
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
        let answer = fd_passing::send(&self.socket, &ask.bytes(), fd.as_slice(), SendFlags::empty())
            .and_then(|()| self.answer());
        // A late answer would be taken for that to the next request.
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
    /// Closes the socket, whereupon the broker restores everything and ends, and waits for that. If the
    /// broker doesn't answer, the guardian restores.
    fn drop(&mut self) {
        // If that fails, the broker notices only our end.
        let open = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both).is_err();
        let lost = open || *self.lost.get_mut();
        let _ = waitpid(Some(self.pid), if lost { WaitOptions::NOHANG } else { WaitOptions::empty() });
    }
}
