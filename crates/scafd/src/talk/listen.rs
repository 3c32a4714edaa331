//! The socket's place in the file system: one daemon a place, and no stale sockets.
//!
//! Who holds the lock of the file beside the socket is the daemon; a socket without one is left over, and
//! replaced. A socket that a service manager made stays when we end: it starts the next daemon.

use crate::broker::Broker;
use crate::broker::wire::Ask;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open, stat};
use rustix::net::sockopt::{socket_acceptconn, socket_type};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, getsockname, listen, socket_with,
};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Connections that may wait to be taken in. Whoever connects in a loop makes some 20 in a millisecond, and
/// others find the queue full while the daemon waits for a processor.
const WAITING: i32 = 4096;

/// How long a lock may outlive who had it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another daemon serves this place.
    #[error("{}: already running (pid {pid})", path.display())]
    Running {
        /// The socket.
        path: PathBuf,
        /// The other daemon's process id, as its lock file says.
        pid: String,
    },
    /// So few files may be open that nobody could be served.
    #[error("only {files} files may be open (RLIMIT_NOFILE); at least {needed} are needed")]
    Files {
        /// How many may be open.
        files: usize,
        /// How many have to.
        needed: usize,
    },
    /// What the service manager gave us isn't this socket.
    #[error("{}: what the service manager gave isn't this socket, of SOCK_SEQPACKET", path.display())]
    Other {
        /// The socket.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The socket or its lock file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// The listening socket and its lock; both files are removed on drop, unless the socket was adopted.
pub struct Listener {
    /// The socket.
    pub fd: OwnedFd,
    path: PathBuf,
    lock_path: PathBuf,
    _lock: OwnedFd,
    adopted: bool,
    broker: Option<Broker>,
}

impl Listener {
    /// Takes the place `path`; the socket gets the permissions `mode`.
    /// # Errors
    /// Another daemon has it, or a file cannot be made.
    pub fn new(path: &Path, mode: u32) -> Result<Listener, Error> {
        let lock_path = path.with_extension("lock");
        let _lock = lock(&lock_path, path)?;
        let io = |source: rustix::io::Errno| Error::Io { path: path.to_owned(), source: source.into() };
        match rustix::fs::unlink(path) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(e) => return Err(io(e)),
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(io)?;
        bind(&fd, &SocketAddrUnix::new(path).map_err(io)?).map_err(io)?;
        rustix::fs::chmod(path, Mode::from_raw_mode(mode)).map_err(io)?;
        listen(&fd, WAITING).map_err(io)?;
        Ok(Listener { fd, path: path.to_owned(), lock_path, _lock, adopted: false, broker: None })
    }

    /// Takes the place `path`, where `fd` is listened on already.
    /// # Errors
    /// Another daemon has the place, or `fd` isn't that socket.
    pub fn adopt(fd: OwnedFd, path: &Path) -> Result<Listener, Error> {
        let lock_path = path.with_extension("lock");
        let _lock = lock(&lock_path, path)?;
        let io = |source: rustix::io::Errno| Error::Io { path: path.to_owned(), source: source.into() };
        let place = SocketAddrUnix::new(path).map_err(io)?;
        let is_ours =
            getsockname(&fd).and_then(SocketAddrUnix::try_from).is_ok_and(|name| name.path() == place.path())
                && socket_type(&fd).is_ok_and(|kind| kind == SocketType::SEQPACKET)
                && socket_acceptconn(&fd).is_ok_and(|listens| listens);
        if !is_ours {
            return Err(Error::Other { path: path.to_owned() });
        }
        rustix::io::ioctl_fionbio(&fd, true).map_err(io)?;
        Ok(Listener { fd, path: path.to_owned(), lock_path, _lock, adopted: true, broker: None })
    }

    /// Has a broker remove both files in the end.
    pub fn with_broker(&mut self, broker: Broker) {
        self.broker = Some(broker);
    }

    /// Has the broker keep these users out, and no others; without one nobody is. False if it couldn't.
    pub fn keep_out(&self, users: Vec<u32>) -> bool {
        let told = self.broker.as_ref().map(|broker| broker.ask(&Ask::KeepOut(users)));
        told.is_none_or(|told| told.is_ok_and(|answer| answer.done().is_ok()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.adopted {
            return;
        }
        // The lock is still held, so these are ours. The socket goes first.
        if let Some(broker) = &self.broker {
            let _ = broker.ask(&Ask::Unlink);
            return;
        }
        let _ = rustix::fs::unlink(&self.path);
        let _ = rustix::fs::unlink(&self.lock_path);
    }
}

/// Whether a daemon serves that place now.
pub fn is_taken(socket: &Path) -> bool {
    let until = Instant::now() + PATIENCE;
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let Ok(fd) = open(socket.with_extension("lock"), flags, Mode::empty()) else { return false };
    while flock(&fd, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK) {
        if !has_ended(&holder(&fd)) || Instant::now() >= until {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn lock(lock_path: &Path, socket: &Path) -> Result<OwnedFd, Error> {
    let io = |source: rustix::io::Errno| Error::Io { path: lock_path.to_owned(), source: source.into() };
    let until = Instant::now() + PATIENCE;
    loop {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // Who can open it could hold the lock when we end, and no daemon would start any more.
        let fd = open(lock_path, flags, Mode::from_raw_mode(0o600)).map_err(io)?;
        rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o600)).map_err(io)?;
        match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let pid = holder(&fd);
                if has_ended(&pid) && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                let pid = if pid.is_empty() { "unknown".to_owned() } else { pid };
                return Err(Error::Running { path: socket.to_owned(), pid });
            }
            Err(e) => return Err(io(e)),
        }
        // A daemon that was just leaving may have removed the file between our open and our lock.
        let ours = fstat(&fd).map_err(io)?;
        if stat(lock_path).is_ok_and(|there| (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)) {
            write_pid(fd.as_fd()).map_err(io)?;
            return Ok(fd);
        }
    }
}

/// The process id of whoever has the lock, as that wrote it.
fn holder(lock: &OwnedFd) -> String {
    let mut pid = [0u8; 16];
    let n = rustix::io::pread(lock, &mut pid, 0).unwrap_or(0);
    String::from_utf8_lossy(&pid[..n]).trim().to_owned()
}

/// Whether a process that had the lock has ended. A child that was just born has it for a moment still.
fn has_ended(pid: &str) -> bool {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

fn write_pid(fd: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::ftruncate(&fd, 0)?;
    rustix::io::write(&fd, format!("{}\n", std::process::id()).as_bytes())?;
    Ok(())
}
