//! `scaf run --verbose`: the program as a child, and a line at its end about what it had.
//!
//! Without it `scaf run` becomes the program. Here it waits instead: what the terminal's user types reaches
//! the program too, signals sent to us are handed on, and we end as it does.

use crate::tally::Tally;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::ffi::OsStr;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two questions: well within what the daemon keeps at its busiest.
const PERIOD: Duration = Duration::from_secs(10);

/// Runs the program, and says at its end what it had.
/// # Errors
/// It can't be started.
pub fn run(mut command: Command, name: &OsStr, socket: &Path) -> io::Result<ExitCode> {
    // What the terminal sends goes to the program as well, which may live on.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = child.id();
    let handing_on = std::thread::spawn(move || {
        for signal in signals.forever() {
            // The kernel sends these two to all at the terminal.
            if signal != SIGINT && signal != SIGQUIT {
                // SAFETY: signals our child. Its number is its own until it has been waited for, after which
                // this thread ends within a moment.
                unsafe { libc::kill(pid as i32, signal) };
            }
        }
    });
    let (ended, watching) = channel();
    let socket: PathBuf = socket.to_owned();
    let watcher = std::thread::spawn(move || watch(&socket, pid, &watching));
    let status = child.wait();
    handle.close();
    let _ = handing_on.join();
    drop(ended);
    let tally = watcher.join().unwrap_or_default();
    eprintln!("scaf: {}: {}", name.display(), line(&tally));
    Ok(as_it_did(status?))
}

/// Ends us by the signal that ended it.
fn as_it_did(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(255));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Adds up what the process had until `ended`.
fn watch(socket: &Path, pid: u32, ended: &Receiver<()>) -> Tally {
    let mut tally = Tally::default();
    loop {
        let last = ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Disconnected);
        tally.follow(socket, &|program| program.pid == pid);
        if last {
            return tally;
        }
    }
}

fn line(tally: &Tally) -> String {
    match (tally.contexts(), tally.speedups()) {
        (None, _) => "was not managed for long enough to say what it had".into(),
        (Some(contexts), None) => format!("{contexts:.1} contexts on average, speedup unknown"),
        (Some(contexts), Some((speedup, equal))) => {
            format!("{contexts:.1} contexts on average, speedup {speedup:.2}; with equal parts {equal:.2}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_whom_nothing_is_known_it_says_so() {
        assert!(line(&Tally::default()).contains("not managed"));
    }
}
