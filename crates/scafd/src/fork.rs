//! What a process does first that the daemon forks and that goes on as it is: broker and guardian.

use std::ffi::CStr;
use std::os::fd::RawFd;

/// Gives it a name, lets signals pass that mean the daemon's process group or terminal, and closes what it
/// inherits but for `fd` and the standard streams.
pub fn detach(name: &CStr, fd: RawFd) {
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    let _ = rustix::thread::set_name(name);
    keep_only(fd);
}

/// With clients' sockets open the daemon would pass for alive, and the next one wouldn't get its lock.
fn keep_only(fd: RawFd) {
    let close = |from: RawFd, to: u32| {
        // SAFETY: nobody uses these any more; this process never goes back, so no owner is dropped.
        unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) }
    };
    // Before Linux 5.9 there is no such call.
    if (fd > 3 && close(3, fd as u32 - 1) != 0) || close(fd + 1, u32::MAX) != 0 {
        for other in (3..65_536).filter(|other| *other != fd) {
            // SAFETY: as above.
            unsafe { libc::close(other) };
        }
    }
}
