//! The processes that the broker may change: those that attached, verified by the kernel's credentials.

use crate::apply::MOST_PROGRAMS;
use crate::broker::protocol::Who;
use crate::observe::Observer;
use crate::talk::Peer;
use rustix::net::{SocketAddrUnix, getsockname};
use scaf_policy::PuSet;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// How many ancestors of a child are checked.
const GENERATIONS: usize = 8;

/// A process that attached.
#[derive(Clone, Debug)]
pub struct One {
    pub who: Who,
    /// Its user then. If it becomes another user's, it isn't changed any more.
    pub uid: u32,
    pub gid: u32,
    /// Its own affinity, and those that we have set.
    pub affinities: Option<(PuSet, Vec<PuSet>)>,
}

/// All attached processes.
pub struct Attached {
    observer: Observer,
    socket: PathBuf,
    all: BTreeMap<u32, One>,
}

impl Attached {
    /// None yet; processes attach by connecting to this socket.
    pub fn new(socket: &Path) -> Attached {
        Attached { observer: Observer::new(Path::new("/")), socket: socket.to_owned(), all: BTreeMap::new() }
    }

    /// Adds the process at the other end of a connection, which must be one to the daemon's socket.
    pub fn add(&mut self, connection: &OwnedFd) -> io::Result<()> {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let ours = SocketAddrUnix::new(&self.socket)?;
        // A connection that the daemon made itself could have any process at its other end.
        let came_to = SocketAddrUnix::try_from(getsockname(connection)?).map_err(|_| refused())?;
        if came_to.path_bytes() != ours.path_bytes() {
            return Err(refused());
        }
        let peer = Peer::of(connection)?;
        let process = self.observer.process(peer.pid);
        let who = Who { pid: peer.pid, starttime: process.stat()?.starttime };
        if peer.pid == 0 || process.uid()? != peer.uid {
            return Err(refused());
        }
        if self.all.len() >= MOST_PROGRAMS {
            let observer = self.observer.clone();
            self.all.retain(|_, one| is_there(&observer, one.who));
        }
        if self.all.len() >= MOST_PROGRAMS {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.all.insert(peer.pid, One { who, uid: peer.uid, gid: peer.gid, affinities: None });
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn remove(&mut self, pid: u32) {
        self.all.remove(&pid);
    }

    /// An attached process that still runs and is still the same user's, else an error.
    pub fn own(&mut self, pid: u32) -> io::Result<&mut One> {
        let process = self.observer.process(pid);
        let one = self.former(pid)?;
        let (starttime, uid) = (process.stat()?.starttime, process.uid()?);
        match one {
            one if starttime != one.who.starttime => Err(io::Error::from_raw_os_error(libc::ESRCH)),
            one if uid != one.uid => Err(io::ErrorKind::PermissionDenied.into()),
            one => Ok(one),
        }
    }

    /// As [`Attached::own`], and with the same start time.
    pub fn same(&mut self, who: Who) -> io::Result<&mut One> {
        self.own(who.pid).and_then(|one| match one {
            one if one.who == who => Ok(one),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        })
    }

    /// A process that attached, whichever user it is now.
    pub fn former(&mut self, pid: u32) -> io::Result<&mut One> {
        self.all.get_mut(&pid).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }

    /// Whether a process descends from another.
    pub fn is_child(&self, pid: u32, of: u32) -> bool {
        let mut at = pid;
        for _ in 0..GENERATIONS {
            match self.observer.process(at).stat() {
                Ok(stat) if stat.parent == of => return true,
                Ok(stat) => at = stat.parent,
                Err(_) => return false,
            }
        }
        false
    }
}

fn is_there(observer: &Observer, who: Who) -> bool {
    observer.process(who.pid).is_since(who.starttime)
}
