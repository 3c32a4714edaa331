//! `scaf record`: every decision of the daemon from now on, a line of JSON each.
//!
//! Decisions are numbered, and the daemon keeps the latest for longer than the time between two requests. So
//! none is missed or written twice. A gap is an error, for such a trace would be wrong.

use crate::bench::interrupt::{Interrupt, is_interrupt};
use crate::{cli, daemon};
use anyhow::{Context, Result, bail, ensure};
use scafd::control::{Decisions, Request};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Time between two requests. The daemon keeps its latest 250 decisions: per second, it makes four to 100,
/// and one for each program that comes, goes or returns from a serial phase.
const PERIOD: Duration = Duration::from_millis(100);

/// Carries out `scaf record`.
/// # Errors
/// No daemon, a file that can't be written, decisions that are kept no more, or the daemon's end.
pub fn run(flags: &cli::Record) -> Result<ExitCode> {
    let socket = daemon::require()?;
    let interrupt = Interrupt::install()?;
    let name =
        flags.file.as_deref().map_or_else(|| "standard output".to_owned(), |it| it.display().to_string());
    let out: Box<dyn Write> = match &flags.file {
        Some(file) => Box::new(File::create(file).with_context(|| name.clone())?),
        None => Box::new(std::io::stdout()),
    };
    let mut trace = Trace::begin(&socket, BufWriter::new(out))?;
    let (began, result) = (Instant::now(), follow(&mut trace, &socket, &interrupt, flags.seconds));
    let seconds = began.elapsed().as_secs_f64();
    trace.out.flush().or_else(nobody_reads).with_context(|| name.clone())?;
    eprintln!("{} decisions of {seconds:.1} s in {name}", trace.written);
    if trace.hidden {
        eprintln!(
            "programs of other users are hidden from you: what is recorded isn't all that was decided about"
        );
    }
    result.map(|()| ExitCode::SUCCESS)
}

/// Records decisions until the time is over, the user interrupts or the reader has gone.
fn follow(
    trace: &mut Trace<impl Write>,
    socket: &Path,
    interrupt: &Interrupt,
    seconds: Option<f64>,
) -> Result<()> {
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    loop {
        let left = end.map_or(PERIOD, |end| end.saturating_duration_since(Instant::now()));
        let last = match interrupt.wait(&[], left.min(PERIOD)) {
            Ok(()) => left.is_zero(),
            Err(error) if error.chain().any(is_interrupt) => true,
            Err(error) => return Err(error),
        };
        loop {
            let news = daemon::decisions(socket, &Request::Decisions(trace.latest))
                .context("the daemon has gone; what it decided in the last 0.1 s may be missing")?;
            let more = news.entries.last().is_some_and(|it| it.decision.number < news.latest);
            trace.add(&news)?;
            if !more {
                break;
            }
        }
        if last || trace.unread {
            return Ok(());
        }
    }
}

struct Trace<W: Write> {
    out: W,
    daemon: u32,
    /// Number of the latest decision that was written, or made before the trace began.
    latest: u64,
    written: u64,
    hidden: bool,
    /// The reader of our output has gone.
    unread: bool,
}

impl<W: Write> Trace<W> {
    fn begin(socket: &Path, out: W) -> Result<Trace<W>> {
        let now = daemon::decisions(socket, &Request::Decisions(u64::MAX))?;
        Ok(Trace { out, daemon: now.daemon, latest: now.latest, written: 0, hidden: false, unread: false })
    }

    fn add(&mut self, news: &Decisions) -> Result<()> {
        ensure!(
            news.daemon == self.daemon,
            "another daemon is there now (process {} instead of {}); record it anew",
            news.daemon,
            self.daemon
        );
        for entry in &news.entries {
            let number = entry.decision.number;
            if number != self.latest + 1 {
                bail!(
                    "decisions {} to {} were made faster than they could be read, and aren't kept any more",
                    self.latest + 1,
                    number - 1
                );
            }
            let mut line = serde_json::to_vec(entry).context("a decision")?;
            line.push(b'\n');
            if let Err(error) = self.out.write_all(&line) {
                self.unread = true;
                return nobody_reads(error).context("a decision can't be written");
            }
            (self.latest, self.written) = (number, self.written + 1);
            self.hidden |= entry.hidden > 0;
        }
        self.out.flush().or_else(|error| {
            self.unread = true;
            nobody_reads(error)
        })?;
        Ok(())
    }
}

/// A reader that has seen enough (`scaf record` into `head -1`) is no error.
fn nobody_reads(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::{Allocation, Decision, Machine};
    use scafd::journal::Entry;

    fn news(daemon: u32, numbers: std::ops::RangeInclusive<u64>) -> Decisions {
        let entry = |number| {
            let machine = Machine::new(4, 0.1);
            let allocation = Allocation::default();
            Entry::of(Decision { number, policy: "equi".into(), machine, programs: vec![], allocation })
        };
        let latest = *numbers.end();
        Decisions { daemon, oldest: 1, latest, entries: numbers.map(entry).collect() }
    }

    fn trace() -> Trace<Vec<u8>> {
        Trace { out: Vec::new(), daemon: 7, latest: 4, written: 0, hidden: false, unread: false }
    }

    #[test]
    fn each_decision_is_a_line() {
        let mut trace = trace();
        trace.add(&news(7, 5..=6)).unwrap();
        trace.add(&Decisions { entries: vec![], ..news(7, 6..=6) }).unwrap();
        trace.add(&news(7, 7..=7)).unwrap();
        let text = String::from_utf8(trace.out).unwrap();
        let numbers: Vec<u64> =
            text.lines().map(|line| serde_json::from_str::<Decision>(line).unwrap().number).collect();
        assert_eq!((numbers, trace.written), (vec![5, 6, 7], 3));
    }

    #[test]
    fn a_hole_and_another_daemon_are_errors_that_say_so() {
        let error = trace().add(&news(7, 7..=8)).unwrap_err().to_string();
        assert!(error.contains("decisions 5 to 6"), "{error}");
        let error = trace().add(&news(8, 5..=5)).unwrap_err().to_string();
        assert!(error.contains("process 8 instead of 7"), "{error}");
    }
}
