//! Who is at the other end, and sending file descriptors there.

use crate::observe::clock;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Who connected, as the kernel says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Peer {
    /// Process id in our namespace; 0 if it has none there.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// Whose that user is ([`crate::privileges::Owners`]): all of these have one part.
    pub owner: u32,
    /// Group id.
    pub gid: u32,
    /// When its connection was accepted, in clock ticks since the machine started; a process started later
    /// isn't it.
    pub accepted: u64,
}

impl Peer {
    /// Asks the kernel (`SO_PEERCRED`). To be called right after the accept, whose time it notes.
    /// # Errors
    /// It is no socket.
    pub fn of(fd: &OwnedFd) -> io::Result<Peer> {
        let nobody = libc::ucred { pid: 0, uid: 0, gid: 0 };
        // Not by rustix: its process ids can't be 0, and a client in another namespace has that one.
        // SAFETY: its type in the kernel, of plain numbers.
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

/// Whether there is something that the other end hasn't taken, and could.
pub(super) fn has_untaken(fd: &OwnedFd) -> bool {
    // The kernel's `SK_MEMINFO_*`, of which this is the memory of what was sent.
    const SENT: usize = 2;
    // SAFETY: its type in the kernel, of plain numbers.
    let about = unsafe { option(fd, libc::SO_MEMINFO, [0u32; 9]) };
    about.is_ok_and(|about| about[SENT] > 0)
}

/// What the kernel says of a socket.
/// # Safety
/// `T` is that option's type, and any bytes are one.
unsafe fn option<T>(fd: &OwnedFd, which: libc::c_int, mut value: T) -> io::Result<T> {
    let mut length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `value`.
    let rc = unsafe {
        libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, which, (&raw mut value).cast(), &mut length)
    };
    if rc == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

/// Sends one packet with two file descriptors, without waiting.
pub(super) fn send_with_fds(to: &OwnedFd, bytes: &[u8], fds: &[OwnedFd; 2]) -> rustix::io::Result<()> {
    let fds = [fds[0].as_fd(), fds[1].as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    sendmsg(to, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
    Ok(())
}
