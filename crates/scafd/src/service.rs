//! systemd's protocols of `sd_listen_fds(3)` and `sd_notify(3)`.

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use std::env;
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// The first file descriptor that a service manager passes.
const FIRST: RawFd = 3;

/// The socket that a service manager passes; an error if it passes anything else. To be called once, before
/// any file is opened.
pub fn given_socket() -> io::Result<Option<OwnedFd>> {
    if number("LISTEN_PID") != Some(u64::from(std::process::id())) {
        return Ok(None);
    }
    match number("LISTEN_FDS") {
        None | Some(0) => return Ok(None),
        Some(1) => {}
        Some(n) => return Err(io::Error::other(format!("the service manager gave {n} sockets, not one"))),
    }
    // SAFETY: borrowed for this one call, which says whether there is such a file.
    let flags = fcntl_getfd(unsafe { BorrowedFd::borrow_raw(FIRST) })?;
    // SAFETY: it is there, and by LISTEN_PID it is ours; nothing of ours is open yet that could be it.
    let fd = unsafe { OwnedFd::from_raw_fd(FIRST) };
    fcntl_setfd(&fd, flags | FdFlags::CLOEXEC)?;
    Ok(Some(fd))
}

/// Notifies the service manager of our state.
#[derive(Default)]
pub struct Notify {
    socket: Option<UnixDatagram>,
    every: Option<Duration>,
    next: Option<Instant>,
}

impl Notify {
    /// By the environment; if that is wrong, nothing is sent.
    pub fn of_environment() -> Notify {
        let Some(socket) = connect() else { return Notify::default() };
        let ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let within = number("WATCHDOG_USEC").filter(|us| ours && *us > 0).map(Duration::from_micros);
        Notify { socket: Some(socket), every: within.map(|within| within / 2), next: None }
    }

    /// The daemon listens.
    pub fn ready(&mut self) {
        self.say("READY=1");
        self.next = self.every.map(|every| Instant::now() + every);
    }

    /// The daemon is alive; sent as often as the watchdog requires.
    pub fn alive(&mut self) {
        if self.next.is_some_and(|next| Instant::now() >= next) {
            self.say("WATCHDOG=1");
            self.next = self.every.map(|every| Instant::now() + every);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// The daemon is about to end.
    pub fn stopping(&self) {
        self.say("STOPPING=1");
    }

    fn say(&self, what: &str) {
        if let Some(socket) = &self.socket {
            let _ = socket.send(what.as_bytes());
        }
    }
}

fn connect() -> Option<UnixDatagram> {
    let name = env::var_os("NOTIFY_SOCKET")?;
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name).ok()?,
        _ => SocketAddr::from_pathname(&name).ok()?,
    };
    let socket = UnixDatagram::unbound().ok()?;
    socket.connect_addr(&address).ok()?;
    socket.set_nonblocking(true).ok()?;
    Some(socket)
}

fn number(variable: &str) -> Option<u64> {
    env::var(variable).ok()?.parse().ok()
}
