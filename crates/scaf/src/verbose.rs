//! `scaf run --verbose`: runs the program as a child, and prints a line at its end about its contexts and
//! speedup. Signals are forwarded to the program, and its exit status or signal becomes ours.

use crate::output::complain;
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

/// Time between two requests; the daemon keeps more history than that.
const PERIOD: Duration = Duration::from_secs(10);

/// Runs the program and prints the line.
/// # Errors
/// It can't be started.
pub fn run(mut command: Command, name: &OsStr, socket: &Path) -> io::Result<ExitCode> {
    // The terminal signals the program, too, which may survive; then we go on waiting.
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = child.id();
    let forwarder = std::thread::spawn(move || {
        for signal in signals.forever() {
            // The terminal sends these two to the program itself.
            if signal != SIGINT && signal != SIGQUIT {
                // SAFETY: kill takes no pointers. The pid is our child's until it has been waited for, and
                // this thread ends right after that.
                unsafe { libc::kill(pid as i32, signal) };
            }
        }
    });
    let (ended, watching) = channel();
    let socket: PathBuf = socket.to_owned();
    let watcher = std::thread::spawn(move || watch(&socket, pid, &watching));
    let status = child.wait();
    handle.close();
    let _ = forwarder.join();
    drop(ended);
    let tally = watcher.join().unwrap_or_default();
    complain(&format!("scaf: {}: {}", name.display(), line(&tally)));
    Ok(as_it_did(status?))
}

/// Ends this process as the program ended.
fn as_it_did(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return ExitCode::from(u8::try_from(128 + signal).unwrap_or(255));
    }
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Adds up the process's contexts and speedups until `ended`.
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
        (None, _) => "was not managed for long enough to be measured".into(),
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
