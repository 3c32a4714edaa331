//! What Rust's runtime changes before `main`: it ignores SIGPIPE, and opens /dev/null where a standard stream
//! is closed. A program that we become has both as they were when we were started.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const STREAMS: [i32; 3] = [0, 1, 2];
static CLOSED: [AtomicBool; STREAMS.len()] = [const { AtomicBool::new(false) }; STREAMS.len()];
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Called by the loader, before the runtime begins.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

extern "C" fn note() {
    for (stream, closed) in STREAMS.into_iter().zip(&CLOSED) {
        // SAFETY: asks about a descriptor.
        closed.store(unsafe { libc::fcntl(stream, libc::F_GETFD) } < 0, Ordering::Relaxed);
    }
    // SAFETY: any bytes are a value of this type, and the kernel fills it.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: changes nothing.
    let known = unsafe { libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut now) } == 0;
    PIPE_IGNORED.store(known && now.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
}

/// Has the command that this process becomes find both as they were.
pub fn hand_on(command: &mut Command) {
    // SAFETY: the closure makes system calls only.
    unsafe {
        command.pre_exec(|| {
            if PIPE_IGNORED.load(Ordering::Relaxed) {
                libc::signal(libc::SIGPIPE, libc::SIG_IGN);
            }
            for (stream, closed) in STREAMS.into_iter().zip(&CLOSED) {
                if closed.load(Ordering::Relaxed) {
                    libc::close(stream);
                }
            }
            Ok(())
        });
    }
}
