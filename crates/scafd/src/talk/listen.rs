//! The socket's place in the file system: one daemon a place, and no stale sockets.
//!
//! Who holds the lock of the file beside the socket is the daemon; a socket without one is left over, and
//! replaced. A socket that a service manager made stays when we end: it starts the next daemon.

use crate::broker::Broker;
use crate::broker::protocol::Ask;
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

/// A socket's place, which is this daemon's for as long as it has this. The file that is locked is removed on
/// drop.
pub struct Place {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: OwnedFd,
    stays: bool,
}

impl Place {
    /// Takes the place of the socket `path`.
    /// # Errors
    /// Another daemon has it, or the file can't be made.
    pub fn take(path: &Path) -> Result<Place, Error> {
        let lock_path = path.with_extension("lock");
        let _lock = lock(&lock_path, path)?;
        Ok(Place { path: path.to_owned(), lock_path, _lock, stays: false })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // The lock is still held, so this is ours.
        if !self.stays {
            let _ = rustix::fs::unlink(&self.lock_path);
        }
    }
}

/// The listening socket in its place; its file is removed on drop, unless the socket was adopted.
pub struct Listener {
    /// The socket.
    pub fd: OwnedFd,
    place: Place,
    broker: Option<Broker>,
}

impl Listener {
    /// Listens in that place; the socket gets the permissions `mode`.
    /// # Errors
    /// The socket can't be made.
    pub fn new(place: Place, mode: u32) -> Result<Listener, Error> {
        let path = &place.path;
        let io = |source: rustix::io::Errno| Error::Io { path: path.clone(), source: source.into() };
        match rustix::fs::unlink(path) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(e) => return Err(io(e)),
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).map_err(io)?;
        bind(&fd, &SocketAddrUnix::new(path).map_err(io)?).map_err(io)?;
        rustix::fs::chmod(path, Mode::from_raw_mode(mode)).map_err(io)?;
        listen(&fd, WAITING).map_err(io)?;
        Ok(Listener { fd, place, broker: None })
    }

    /// Listens in that place by `fd`, which is listened on already.
    /// # Errors
    /// `fd` isn't that socket.
    pub fn adopt(fd: OwnedFd, mut place: Place) -> Result<Listener, Error> {
        let path = &place.path;
        let io = |source: rustix::io::Errno| Error::Io { path: path.clone(), source: source.into() };
        let name = SocketAddrUnix::new(path).map_err(io)?;
        let is_ours =
            getsockname(&fd).and_then(SocketAddrUnix::try_from).is_ok_and(|own| own.path() == name.path())
                && socket_type(&fd).is_ok_and(|kind| kind == SocketType::SEQPACKET)
                && socket_acceptconn(&fd).is_ok_and(|listens| listens);
        if !is_ours {
            return Err(Error::Other { path: path.clone() });
        }
        rustix::io::ioctl_fionbio(&fd, true).map_err(io)?;
        place.stays = true;
        Ok(Listener { fd, place, broker: None })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Has a broker remove both files in the end.
    pub fn with_broker(&mut self, broker: Broker) {
        self.broker = Some(broker);
    }

    /// Has the broker keep these users out, and no others; without one nobody is. False if it couldn't.
    pub fn set_bans(&self, users: Vec<u32>) -> bool {
        let told = self.broker.as_ref().map(|broker| broker.ask(&Ask::SetBans(users)));
        told.is_none_or(|told| told.is_ok_and(|answer| answer.done().is_ok()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // The socket goes before the lock.
        if self.place.stays {
            return;
        }
        match &self.broker {
            Some(broker) => drop(broker.ask(&Ask::Unlink)),
            None => drop(rustix::fs::unlink(&self.place.path)),
        }
    }
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
