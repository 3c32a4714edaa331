//! The socket's place in the file system: one daemon a place, and no stale sockets.
//!
//! The daemon holds a lock on the file beside the socket. A socket whose lock nobody holds is stale and is
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

/// Backlog of the socket. A loop makes some 20 connections in a millisecond; with a short backlog others
/// would find it full while the daemon waits for a processor.
const WAITING: i32 = 4096;

/// How long a lock may outlive its holder.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why there is no socket.
#[allow(missing_docs)] // names say enough of most fields
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another daemon has this socket.
    #[error("{}: already running (pid {pid})", path.display())]
    Running { path: PathBuf, pid: String },
    /// So few files may be open that nobody could be served.
    #[error("only {files} files may be open (RLIMIT_NOFILE); at least {needed} are needed")]
    Files { files: usize, needed: usize },
    /// The service manager passed another socket.
    #[error("{}: the service manager passed something else than this SOCK_SEQPACKET socket", path.display())]
    Other { path: PathBuf },
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The lock of a socket's path. The lock file is removed on drop.
pub struct Place {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: OwnedFd,
    stays: bool,
}

impl Place {
    /// Locks the path of the socket `path`; fails if another daemon has it.
    pub fn take(path: &Path) -> Result<Place, Error> {
        let lock_path = path.with_extension("lock");
        let _lock = lock(&lock_path, path)?;
        Ok(Place { path: path.to_owned(), lock_path, _lock, stays: false })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // We still hold the lock, so the file is ours.
        if !self.stays {
            let _ = rustix::fs::unlink(&self.lock_path);
        }
    }
}

/// The listening socket; its file is removed on drop, unless the socket was adopted.
pub struct Listener {
    pub fd: OwnedFd,
    place: Place,
    broker: Option<Broker>,
}

impl Listener {
    /// Makes the socket, with the permissions `mode`.
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

    /// Takes over `fd`, on which a service manager listens; fails if it isn't that socket.
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

    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Has the broker remove both files at the end, and set bans.
    pub fn with_broker(&mut self, broker: Broker) {
        self.broker = Some(broker);
    }

    /// Has the broker ban these users and no others; without a broker nobody is. False if it failed.
    pub fn set_bans(&self, users: Vec<u32>) -> bool {
        self.broker
            .as_ref()
            .is_none_or(|broker| broker.ask(&Ask::SetBans(users)).is_ok_and(|answer| answer.done().is_ok()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
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
        // A user who could open it could hold the lock after our end, and no daemon would start any more.
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
        // A daemon that was ending may have removed the file between our open and our lock.
        let ours = fstat(&fd).map_err(io)?;
        if stat(lock_path).is_ok_and(|there| (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)) {
            write_pid(fd.as_fd()).map_err(io)?;
            return Ok(fd);
        }
    }
}

/// The process id that the lock's holder wrote.
fn holder(lock: &OwnedFd) -> String {
    let mut pid = [0u8; 16];
    let n = rustix::io::pread(lock, &mut pid, 0).unwrap_or(0);
    String::from_utf8_lossy(&pid[..n]).trim().to_owned()
}

/// Whether the holder has ended. A child that it forked just before may have the lock for a moment longer.
fn has_ended(pid: &str) -> bool {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

fn write_pid(fd: impl AsFd) -> rustix::io::Result<()> {
    rustix::fs::ftruncate(&fd, 0)?;
    rustix::io::write(&fd, format!("{}\n", std::process::id()).as_bytes())?;
    Ok(())
}
