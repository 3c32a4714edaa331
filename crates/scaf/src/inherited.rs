//! Rust's runtime ignores SIGPIPE before `main`, and opens /dev/null in place of closed standard streams.
//! Both are restored for the program that this process executes.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

const STREAMS: [i32; 3] = [0, 1, 2];
static CLOSED: [AtomicBool; STREAMS.len()] = [const { AtomicBool::new(false) }; STREAMS.len()];
static PIPE_IGNORED: AtomicBool = AtomicBool::new(false);

/// Called by the loader before Rust's runtime starts.
#[used]
#[unsafe(link_section = ".init_array")]
static RECORD: extern "C" fn() = record;

extern "C" fn record() {
    for (stream, closed) in STREAMS.into_iter().zip(&CLOSED) {
        // SAFETY: takes no pointers; a closed descriptor is an error, nothing more.
        closed.store(unsafe { libc::fcntl(stream, libc::F_GETFD) } < 0, Ordering::Relaxed);
    }
    // SAFETY: `sigaction` has integers, a mask and an optional function: all zeros are a value.
    let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: with a null action, sigaction only writes the present one into the live local.
    let known = unsafe { libc::sigaction(libc::SIGPIPE, std::ptr::null(), &mut now) } == 0;
    PIPE_IGNORED.store(known && now.sa_sigaction == libc::SIG_IGN, Ordering::Relaxed);
}

/// Restores both in a command that this process becomes.
pub fn restore(command: &mut Command) {
    // SAFETY: the closure only makes async-signal-safe system calls and allocates nothing.
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
