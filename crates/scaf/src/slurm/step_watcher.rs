//! `scaf slurm watch`: writes a step's contexts and speedup into its job's record. Slurm doesn't change the
//! record of a job that was cancelled or timed out, so interim results are written after 10 s, 20 s, 40 s...

use super::{comment, low, socket};
use crate::cli::SlurmWatch;
use crate::tally::Tally;
use anyhow::Result;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use scafd::control::Program;
use scafd::observe::slurm_step::Step;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Time between two questions: well within what the daemon keeps at its busiest, and little of a step is lost
/// with a daemon that is killed.
const PERIOD: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// When the record is written for the first time; each time after that comes twice as late.
const FIRST: Duration = Duration::from_secs(10);
/// Seconds for the record after the step's end. The plug-in waits a little longer.
const LAST_WORDS_S: u32 = 5;

/// Carries out `scaf slurm watch`, which ends with standard input.
/// # Errors
/// The record couldn't be written at last, and why.
pub fn watch(flags: &SlurmWatch) -> Result<ExitCode> {
    let socket = socket(flags.socket.as_ref());
    let (job, step) = flags.job;
    let label = Step::new(job, low(step)).map(|step| step.to_string()).unwrap_or_default();
    let own = |program: &Program| program.uid == flags.uid && program.job.as_ref() == Some(&label);
    let step = label.split_once('.').map_or("", |(_, step)| step);
    let record = comment::Record { job, step, node: &flags.node, scontrol: &flags.scontrol };
    let (mut tally, begin, mut next) = (Tally::default(), Instant::now(), FIRST);
    loop {
        let ended = has_ended();
        if ended {
            // SAFETY: alarm takes no pointers. SIGALRM has no handler, so that a hang ends this process.
            unsafe { libc::alarm(LAST_WORDS_S) };
        }
        tally.follow(&socket, &own);
        if ended {
            break;
        }
        if begin.elapsed() >= next && tally.seconds() > 0.0 {
            next *= 2;
            // If it fails now, there is a next time.
            let _ = record.write(&said(&tally, true));
        }
    }
    // A batch script that only starts steps has no record.
    if tally.seconds() > 0.0 || step != "batch" {
        record.write(&said(&tally, false))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits for the time of the next request. True if standard input has ended; nothing else comes there.
fn has_ended() -> bool {
    let stdin = std::io::stdin();
    let mut input = [PollFd::new(&stdin, PollFlags::IN)];
    !matches!(poll(&mut input, Some(&PERIOD)), Ok(0))
}

/// What a step had; docs/guide/slurm.md says how it is read.
fn said(tally: &Tally, so_far: bool) -> String {
    let mut text = format!("seconds={:.1}", tally.seconds());
    if let Some(contexts) = tally.contexts() {
        text += &format!(",contexts={contexts:.2},at_min={:.1}", tally.least_seconds());
    }
    if let Some((speedup, equal)) = tally.speedups() {
        text += &format!(",speedup={speedup:.2}");
        if equal > 0.0 {
            text += &format!(",gain={:+.2}", speedup / equal - 1.0);
        }
    }
    if so_far {
        text += ",so_far";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_had_nothing_says_so() {
        assert_eq!(said(&Tally::default(), false), "seconds=0.0");
        assert_eq!(said(&Tally::default(), true), "seconds=0.0,so_far");
    }
}
