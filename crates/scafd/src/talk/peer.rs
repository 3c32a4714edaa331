//! The process at the other end of a connection.

use crate::observe::clock;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Credentials of the peer, from the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Process id in our namespace; 0 if it has none there.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// The owner of that user id ([`crate::privileges::Owners`]).
    pub owner: u32,
    /// Group id.
    pub gid: u32,
    /// When the connection was accepted, in clock ticks since boot: a process started later isn't the peer.
    pub accepted: u64,
}

impl Peer {
    /// Asks the kernel (`SO_PEERCRED`). Call it right after the accept, whose time it records.
    pub fn of(fd: &OwnedFd) -> io::Result<Peer> {
        let nobody = libc::ucred { pid: 0, uid: 0, gid: 0 };
        // Not by rustix, whose process ids can't be 0: a client in another namespace has that one.
        // SAFETY: SO_PEERCRED gives a ucred, and any bytes are one.
        let cred = unsafe { option(fd, libc::SO_PEERCRED, nobody)? };
        Ok(Peer {
            pid: u32::try_from(cred.pid).unwrap_or(0),
            uid: cred.uid,
            owner: cred.uid,
            gid: cred.gid,
            accepted: clock::boot_ticks(),
        })
    }
}

/// Whether the other end has something to read that we sent.
pub(super) fn has_unread(fd: &OwnedFd) -> bool {
    // SK_MEMINFO_WMEM_ALLOC: memory of packets that we sent and the peer hasn't read.
    const SENT: usize = 2;
    // SAFETY: SO_MEMINFO gives nine u32, and any bytes are these.
    let about = unsafe { option(fd, libc::SO_MEMINFO, [0u32; 9]) };
    about.is_ok_and(|about| about[SENT] > 0)
}

/// Reads a socket option.
/// # Safety
/// `T` is that option's type, and any bytes are a value of it.
unsafe fn option<T>(fd: &OwnedFd, which: libc::c_int, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: `length` is the size of `value`, and the kernel writes at most that many bytes.
    let rc = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, which, (&raw mut value).cast(), &mut length)
    };
    if rc == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}
