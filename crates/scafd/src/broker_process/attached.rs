//! Whom the broker may touch: processes that attached, as the kernel says.

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

/// How far up a child's ancestors are looked at.
const GENERATIONS: usize = 8;

/// A process that attached.
#[derive(Clone, Debug)]
pub struct One {
    /// Which process.
    pub who: Who,
    /// Its user then; where it has become another user's, it isn't touched any more.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// The affinity that its threads have without us, and those that they have had by us.
    pub affinities: Option<(PuSet, Vec<PuSet>)>,
}

/// All of them.
pub struct Attached {
    observer: Observer,
    socket: PathBuf,
    all: BTreeMap<u32, One>,
}

impl Attached {
    /// Nobody; who attaches has come to this socket.
    pub fn new(socket: &Path) -> Attached {
        Attached { observer: Observer::new(Path::new("/")), socket: socket.to_owned(), all: BTreeMap::new() }
    }

    /// Takes in the process at the other end of a connection.
    /// # Errors
    /// The connection isn't one to the daemon's socket, or its process isn't that user's any more.
    pub fn add(&mut self, connection: &OwnedFd) -> io::Result<()> {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let ours = SocketAddrUnix::new(&self.socket)?;
        // At the other end of a connection that the daemon had made itself would be whoever it likes.
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

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Forgets one.
    pub fn remove(&mut self, pid: u32) {
        self.all.remove(&pid);
    }

    /// A process that attached, and is the same user's still.
    /// # Errors
    /// It isn't, or has ended.
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

    /// The same by its start time as well.
    /// # Errors
    /// As for [`Attached::own`].
    pub fn same(&mut self, who: Who) -> io::Result<&mut One> {
        self.own(who.pid).and_then(|one| match one {
            one if one.who == who => Ok(one),
            _ => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        })
    }

    /// A process that attached, whosever it is by now.
    /// # Errors
    /// It didn't.
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
    observer.process(who.pid).stat().is_ok_and(|stat| stat.starttime == who.starttime)
}
