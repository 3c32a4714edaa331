//! The socket: connecting, one packet each way, and its end of file, the only sign that the daemon is gone.

use crate::sys::file::File;
use crate::sys::{glibc, process, settings, users};
use core::ffi::c_int;
use core::mem::{size_of, zeroed};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use scaf_proto::hello::{Hello, Welcome};

/// File descriptors of ours start here, out of the way of programs that count on theirs being small. A
/// process that may not have so many needs all that it may have.
const FIRST_FD: c_int = 400;
/// Longest wait for the daemon's answer, once an attachment: a running daemon answers in 0.1 ms.
pub const PATIENCE_MS: c_int = 2;
static SOCKET: AtomicI32 = AtomicI32::new(-1);
/// The socket's inode: a program may close our descriptor and open another file under its number.
static SOCKET_INODE: AtomicU64 = AtomicU64::new(0);

/// Connects to the daemon; `false` if none listens. This is the process's connection from now on.
pub fn connect() -> bool {
    let Some(fd) = open() else { return false };
    match glibc::fstat(fd) {
        Some(status) => {
            SOCKET_INODE.store(status.st_ino, Ordering::Relaxed);
            SOCKET.store(fd, Ordering::Relaxed);
            true
        }
        None => {
            // SAFETY: the descriptor was opened just now, and nobody else has it.
            unsafe { libc::close(fd) };
            false
        }
    }
}

/// A connection of its own, for a question.
pub fn open_for_question() -> Option<File> {
    open().and_then(File::from_result)
}

/// Connects to the daemon where the settings say, else at the usual paths.
fn open() -> Option<c_int> {
    let settings = settings::get();
    if settings.socket[0] != 0 {
        connect_to(&[&settings.socket], users::may_serve_here)
    } else {
        let mut digits = [0; 10];
        let uid = decimal(process::user(), &mut digits);
        let session = users::may_serve;
        let runtime_dir = &settings.runtime_dir;
        let of_session = || match runtime_dir[0] {
            0 => None,
            _ => connect_to(&[runtime_dir, b"/scaf/scafd.sock"], session),
        };
        connect_to(&[b"/run/scaf/scafd.sock"], users::may_serve_here)
            .or_else(of_session)
            .or_else(|| connect_to(&[b"/tmp/scaf-", uid, b"/scafd.sock"], session))
    }
}

/// Connects to the path made of `parts` (each up to its first zero), if the daemon's user `may` serve us.
fn connect_to(parts: &[&[u8]], may: fn(libc::uid_t) -> bool) -> Option<c_int> {
    // SAFETY: zeros are a value of these structures; the kernel reads and writes as many bytes as it is told.
    unsafe {
        let mut address: libc::sockaddr_un = zeroed();
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let bytes = parts.iter().flat_map(|part| part.iter().take_while(|byte| **byte != 0));
        let mut room = address.sun_path.iter_mut();
        for byte in bytes {
            match room.next() {
                Some(cell) => *cell = *byte as libc::c_char,
                None => return None,
            }
        }
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let low = libc::socket(libc::AF_UNIX, kind, 0);
        if low < 0 {
            return None;
        }
        let fd = libc::fcntl(low, libc::F_DUPFD_CLOEXEC, FIRST_FD);
        libc::close(low);
        if fd < 0 {
            return None;
        }
        let length = size_of::<libc::sockaddr_un>() as libc::socklen_t;
        let mut peer: libc::ucred = zeroed();
        let mut peer_length = size_of::<libc::ucred>() as libc::socklen_t;
        let ours = libc::connect(fd, (&raw const address).cast(), length) == 0
            && libc::getsockopt(
                fd,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &mut peer_length,
            ) == 0
            && may(peer.uid);
        if !ours {
            libc::close(fd);
        }
        ours.then_some(fd)
    }
}

/// Sends a packet; `false` if it can't go at once.
pub fn send(hello: &Hello) -> bool {
    let bytes = hello.as_bytes();
    let quietly = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    let fd = SOCKET.load(Ordering::Relaxed);
    // SAFETY: the kernel reads the packet's bytes.
    is_ours()
        && unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), quietly) } == bytes.len() as isize
}

pub struct Answer {
    pub welcome: bool,
    /// Descriptors of the grant page and the report page; -1 where there is none.
    pub files: [c_int; 2],
}

impl Drop for Answer {
    fn drop(&mut self) {
        for file in self.files.into_iter().filter(|file| *file >= 0) {
            // SAFETY: the descriptor came with this answer, which nobody else has.
            unsafe { libc::close(file) };
        }
    }
}

/// Takes the daemon's answer, waiting for it up to `patience_ms`; `None` while there is none.
pub fn receive(patience_ms: c_int) -> Option<Answer> {
    let fd = SOCKET.load(Ordering::Relaxed);
    // SAFETY: the message describes `answer` and `control` as they are; `control` is aligned for a header,
    // and what is read of it, its own length says is there.
    unsafe {
        let mut ready = libc::pollfd { fd, events: libc::POLLIN | libc::POLLRDHUP, revents: 0 };
        if libc::poll(&mut ready, 1, patience_ms) <= 0 {
            return None;
        }
        if ready.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0 {
            // The daemon detached us before we took the answer: its pages may be another program's by now.
            return Some(Answer { welcome: false, files: [-1; 2] });
        }
        let mut answer = [0u8; size_of::<Welcome>()];
        let mut control = [0u64; 8];
        let mut part = libc::iovec { iov_base: answer.as_mut_ptr().cast(), iov_len: answer.len() };
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let got = libc::recvmsg(fd, &mut message, libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC);
        if got < 0 && matches!(*libc::__errno_location(), libc::EAGAIN | libc::EINTR) {
            return None;
        }
        let mut files = [-1; 2];
        let header = libc::CMSG_FIRSTHDR(&message);
        if got > 0
            && !header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS
        {
            let count =
                ((*header).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize) / size_of::<c_int>();
            let data = libc::CMSG_DATA(header).cast::<c_int>();
            // Our daemon sends two; the buffer has room for 12.
            for number in 0..count.min(12) {
                let file = data.add(number).read_unaligned();
                match files.get_mut(number) {
                    Some(place) => *place = file,
                    None => {
                        libc::close(file);
                    }
                }
            }
        }
        let welcome = answer.get(..got.max(0) as usize).and_then(Welcome::parse).is_some();
        Some(Answer { welcome, files })
    }
}

pub fn is_ours() -> bool {
    let fd = SOCKET.load(Ordering::Relaxed);
    let is_it = |status: libc::stat| {
        status.st_ino == SOCKET_INODE.load(Ordering::Relaxed)
            && status.st_mode & libc::S_IFMT == libc::S_IFSOCK
    };
    fd >= 0 && glibc::fstat(fd).is_some_and(is_it)
}

pub fn is_open() -> bool {
    let mut byte = 0u8;
    is_ours()
        // SAFETY: the kernel writes one byte.
        && unsafe {
            let fd = SOCKET.load(Ordering::Relaxed);
            let got = libc::recv(fd, (&raw mut byte).cast(), 1, libc::MSG_DONTWAIT | libc::MSG_PEEK);
            got > 0 || (got < 0 && matches!(*libc::__errno_location(), libc::EAGAIN | libc::EINTR))
        }
}

pub fn close() {
    if is_ours() {
        // SAFETY: the descriptor is the socket that `connect_to` opened, as its inode says.
        unsafe { libc::close(SOCKET.load(Ordering::Relaxed)) };
    }
    SOCKET.store(-1, Ordering::Relaxed);
}

/// A number in decimal digits.
pub fn decimal(mut number: u32, room: &mut [u8; 10]) -> &[u8] {
    let mut used = 0;
    for cell in room.iter_mut().rev() {
        *cell = b'0' + (number % 10) as u8;
        number /= 10;
        used += 1;
        if number == 0 {
            break;
        }
    }
    room.get(room.len() - used..).unwrap_or(&[])
}
