//! First steps of a process that is forked without exec: broker and guardian.

use std::ffi::CStr;
use std::os::fd::RawFd;

/// Names the process, ignores signals meant for the daemon's process group or terminal, and closes what it
/// inherited but for `fd` and the standard streams.
pub fn detach(name: &CStr, fd: RawFd) {
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: SIG_IGN installs no handler, so no code of ours runs in a signal context.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = rustix::thread::set_name(name);
    keep_only(fd);
}

/// Inherited client sockets would make the daemon seem alive, and its lock would stay held.
fn keep_only(fd: RawFd) {
    let close = |from: RawFd, to: u32| {
        // SAFETY: this process never returns to code that owns these descriptors, so none is used or dropped.
        unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) }
    };
    // Linux before 5.9 doesn't have it.
    if (fd > 3 && close(3, fd as u32 - 1) != 0) || close(fd + 1, u32::MAX) != 0 {
        for other in (3..65_536).filter(|other| *other != fd) {
            // SAFETY: nothing in this process uses or drops the descriptor later.
            unsafe { libc::close(other) };
        }
    }
}
