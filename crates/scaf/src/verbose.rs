//! `scaf run --verbose`: the program as a child, and a line at its end about what it had.
//!
//! Without it `scaf run` becomes the program. Here it waits instead: what the terminal's user types reaches
//! the program too, signals sent to us are handed on, and we end as it does.

use crate::{daemon, worth};
use scafd::control::{Reply, Request, Snapshot};
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
    eprintln!("scaf: {}: {}", name.display(), tally.line());
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
    let (mut tally, mut known) = (Tally::default(), None);
    loop {
        let last = ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Disconnected);
        follow(socket, pid, &mut known, &mut tally);
        if last {
            return tally;
        }
    }
}

fn follow(socket: &Path, pid: u32, known: &mut Option<Snapshot>, tally: &mut Tally) {
    loop {
        let after = known.as_ref().map_or(0, |known| known.moment);
        let Ok(Reply::History(told)) = daemon::ask(socket, &Request::History(after)) else { return };
        if let Some(base) = told.base {
            tally.end();
            tally.add(&base, pid);
            *known = Some(*base);
        }
        let Some(known) = known else { return };
        for frame in &told.frames {
            known.advance(frame);
            tally.add(known, pid);
        }
        if told.frames.is_empty() || known.moment >= told.latest {
            return;
        }
    }
}

/// What a process had at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Had {
    at_ns: u64,
    contexts: u32,
    /// Its speedup, and that with equal parts.
    speedups: Option<(f64, f64)>,
}

/// What a process had so far, each moment weighted by how long it lasted.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tally {
    before: Option<Had>,
    seconds: f64,
    contexts: f64,
    known_s: f64,
    speedup: f64,
    equal: f64,
}

impl Tally {
    fn add(&mut self, now: &Snapshot, pid: u32) {
        if let Some(had) = self.before.take() {
            let lasted = now.now_ns.saturating_sub(had.at_ns) as f64 * 1e-9;
            self.seconds += lasted;
            self.contexts += lasted * f64::from(had.contexts);
            if let Some((speedup, equal)) = had.speedups {
                self.known_s += lasted;
                self.speedup += lasted * speedup;
                self.equal += lasted * equal;
            }
        }
        let Some(program) = now.programs.iter().find(|program| program.pid == pid) else { return };
        let Some(contexts) = program.dop else { return };
        let part = worth::equal_parts(now).get(&program.id).copied();
        let speedups =
            worth::speedup(program, contexts).zip(part.and_then(|part| worth::speedup(program, part)));
        self.before = Some(Had { at_ns: now.now_ns, contexts, speedups });
    }

    /// What follows isn't the next moment.
    fn end(&mut self) {
        self.before = None;
    }

    fn line(&self) -> String {
        if self.seconds <= 0.0 {
            return "was not managed for long enough to say what it had".into();
        }
        let contexts = self.contexts / self.seconds;
        if self.known_s <= 0.0 {
            return format!("{contexts:.1} contexts on average, speedup unknown");
        }
        let (speedup, equal) = (self.speedup / self.known_s, self.equal / self.known_s);
        format!("{contexts:.1} contexts on average, speedup {speedup:.2}; with equal parts {equal:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};
    use scafd::control::{CurvePoint, Program};

    fn at(s: u64, dop: Option<u32>) -> Snapshot {
        let point =
            |dop, speedup| CurvePoint { dop, speedup, error_ratio: 0.0, observed: None, sources: vec![] };
        let own = Program {
            id: 1,
            pid: 7,
            dop,
            natural: 8,
            curve: vec![point(1, 1.0), point(4, 3.0), point(8, 5.0)],
            ..program()
        };
        let other = Program { id: 2, pid: 8, natural: 8, dop: Some(4), efficiency: None, ..program() };
        Snapshot { now_ns: s * 1_000_000_000, capacity: 8, ..snapshot(vec![own, other]) }
    }

    #[test]
    fn what_it_had_is_weighted_by_how_long_it_had_it() {
        let mut tally = Tally::default();
        for (s, dop) in [(0, Some(8)), (1, Some(4)), (4, Some(4)), (5, None)] {
            tally.add(&at(s, dop), 7);
        }
        tally.add(&at(9, None), 7);
        assert_eq!(tally.line(), "4.8 contexts on average, speedup 3.40; with equal parts 3.00");
        tally.end();
        tally.add(&at(100, Some(8)), 7);
        assert_eq!(tally.seconds, 5.0);
    }

    #[test]
    fn of_whom_nothing_is_known_it_says_so() {
        assert!(Tally::default().line().contains("not managed"));
        let mut tally = Tally::default();
        tally.add(&at(1, Some(4)), 8);
        tally.add(&at(2, Some(4)), 8);
        assert_eq!(tally.line(), "4.0 contexts on average, speedup unknown");
    }
}
