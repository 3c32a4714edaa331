//! From runs to numbers.
//!
//! `serial_s` is a program's time with one thread on one PU, alone; `solo_s` its plain time alone with the
//! whole machine; `corun_s` its median time in a co-run. The speedup is serial_s / corun_s, STP the sum of
//! speedups, ANTT the mean of corun_s / solo_s. A capped run counts with its cap, so corun_s is a lower bound
//! and the speedup an upper one. A failed run has speedup 0 and no ANTT.

use super::super::child::Outcome;
use super::super::corun::Run;
use super::super::stats::{self, Spread, median};
use scaf_policy::metrics::{antt, stp};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    pub serial_s: f64,
    pub solo_s: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Median seconds of its runs, capped ones included; `None` if it failed.
    pub corun_s: Option<f64>,
    pub completions: u32,
    pub capped: bool,
    pub verified: bool,
    pub failure: Option<String>,
}

/// Sums up a program's runs in one co-run; `right` judges a result.
pub fn tally(runs: &[Run], right: impl Fn(&Outcome) -> bool) -> Tally {
    let mut tally = Tally { verified: true, ..Tally::default() };
    let mut seconds = Vec::new();
    for run in runs {
        match run {
            Run::Capped(cap_s) => {
                tally.capped = true;
                seconds.push(*cap_s);
            }
            Run::Ended(outcome) => {
                tally.verified &= right(outcome);
                match outcome.failure() {
                    Some(how) => tally.failure = Some(how),
                    None => {
                        tally.completions += 1;
                        seconds.push(outcome.seconds);
                    }
                }
            }
        }
    }
    tally.corun_s = if tally.failure.is_some() { None } else { median(&seconds) };
    tally
}

#[derive(Clone, Debug, PartialEq)]
pub struct ProgramResult {
    /// Median seconds; a lower bound if capped, `None` if it failed in every repetition.
    pub corun_s: Option<f64>,
    /// An upper bound if capped, 0 if it failed.
    pub speedup: f64,
    pub completions: u32,
    pub capped: bool,
    pub verified: bool,
    pub failure: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConfigResult {
    pub stp: Spread,
    pub stps: Vec<f64>,
    /// Average normalised turnaround time; `None` if a program failed in every repetition.
    pub antt: Option<f64>,
    pub makespan_s: f64,
    pub programs: Vec<ProgramResult>,
}

/// Sums up the repetitions (a tally for each program, and the makespan); `None` if there are none.
pub fn config_result(alone: &[Alone], repetitions: &[(Vec<Tally>, f64)]) -> Option<ConfigResult> {
    let stps: Vec<f64> = repetitions.iter().map(|(tallies, _)| stp(&speedups(alone, tallies))).collect();
    let antts: Vec<f64> = repetitions.iter().filter_map(|(tallies, _)| turnaround(alone, tallies)).collect();
    let makespans: Vec<f64> = repetitions.iter().map(|(_, makespan_s)| *makespan_s).collect();
    let programs = alone.iter().enumerate().map(|(index, alone)| {
        let tallies: Vec<&Tally> = repetitions.iter().filter_map(|(tallies, _)| tallies.get(index)).collect();
        program_result(alone, &tallies)
    });
    Some(ConfigResult {
        stp: stats::spread(&stps)?,
        stps,
        antt: median(&antts),
        makespan_s: median(&makespans)?,
        programs: programs.collect(),
    })
}

/// The median over repetitions of the ratio of two configurations' STP. A drift of the machine's speed
/// between repetitions cancels out, so this tells smaller differences than two medians do.
pub fn stp_ratio(result: &ConfigResult, reference: &ConfigResult) -> Option<f64> {
    let pairs = result.stps.iter().zip(&reference.stps).filter(|(_, reference)| **reference > 0.0);
    median(&pairs.map(|(stp, reference)| stp / reference).collect::<Vec<_>>())
}

fn speedups(alone: &[Alone], tallies: &[Tally]) -> Vec<f64> {
    let speedup =
        |(alone, tally): (&Alone, &Tally)| tally.corun_s.map_or(0.0, |corun_s| alone.serial_s / corun_s);
    alone.iter().zip(tallies).map(speedup).collect()
}

fn turnaround(alone: &[Alone], tallies: &[Tally]) -> Option<f64> {
    let slowdowns: Option<Vec<f64>> =
        alone.iter().zip(tallies).map(|(alone, tally)| Some(tally.corun_s? / alone.solo_s)).collect();
    Some(antt(&slowdowns?))
}

fn program_result(alone: &Alone, tallies: &[&Tally]) -> ProgramResult {
    let seconds: Vec<f64> = tallies.iter().filter_map(|tally| tally.corun_s).collect();
    let failure = tallies.iter().find_map(|tally| tally.failure.clone());
    let corun_s = median(&seconds);
    ProgramResult {
        corun_s,
        speedup: corun_s.map_or(0.0, |corun_s| alone.serial_s / corun_s),
        completions: tallies.iter().map(|tally| tally.completions).sum(),
        capped: tallies.iter().any(|tally| tally.capped),
        verified: failure.is_none() && tallies.iter().all(|tally| tally.verified),
        failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    const ALONE: [Alone; 2] = [Alone { serial_s: 4.0, solo_s: 2.0 }, Alone { serial_s: 3.0, solo_s: 1.0 }];

    fn ended(seconds: f64, code: i32) -> Run {
        Run::Ended(Outcome {
            seconds,
            ended_ns: 0,
            status: ExitStatus::from_raw(code << 8),
            stdout: "ok".into(),
            stderr: String::new(),
        })
    }

    fn took(seconds: f64) -> Tally {
        Tally { corun_s: Some(seconds), completions: 1, verified: true, ..Tally::default() }
    }

    #[test]
    fn a_programs_time_is_the_median_of_its_runs() {
        let found = tally(&[ended(3.0, 0), ended(1.0, 0), ended(2.0, 0)], |outcome| outcome.stdout == "ok");
        assert_eq!(found, Tally { completions: 3, ..took(2.0) });
        assert!(!tally(&[ended(1.0, 0)], |_| false).verified);
    }

    #[test]
    fn a_capped_run_is_a_bound_and_not_dropped() {
        let found = tally(&[Run::Capped(9.0)], |_| true);
        assert_eq!((found.corun_s, found.capped, found.completions), (Some(9.0), true, 0));
        let result = config_result(&ALONE[..1], &[(vec![found], 9.0)]).unwrap();
        assert_eq!((result.programs[0].speedup, result.programs[0].capped), (4.0 / 9.0, true));
    }

    #[test]
    fn a_failed_run_is_no_progress() {
        let failed = tally(&[ended(1.0, 0), ended(0.1, 2)], |_| true);
        assert_eq!((failed.corun_s, failed.failure.as_deref()), (None, Some("exited with 2")));
        let result = config_result(&ALONE, &[(vec![failed, took(1.5)], 1.5)]).unwrap();
        assert_eq!((result.stp.median, result.antt), (2.0, None));
        assert_eq!((result.programs[0].speedup, result.programs[0].verified), (0.0, false));
    }

    #[test]
    fn throughput_and_turnaround_are_medians_over_repetitions() {
        let repetitions: Vec<_> = [(4.0, 3.0), (2.0, 1.5), (8.0, 6.0)]
            .map(|(a, b)| (vec![took(a), took(b)], f64::max(a, b)))
            .into();
        let result = config_result(&ALONE, &repetitions).unwrap();
        // Speedups 1 + 1, 2 + 2, 0.5 + 0.5; slowdowns 2 and 3, 1 and 1.5, 4 and 6.
        assert_eq!(result.stp, Spread { min: 1.0, median: 2.0, max: 4.0 });
        assert_eq!(result.antt, Some(2.5));
        assert_eq!(result.makespan_s, 4.0);
        assert_eq!(result.programs[1].corun_s, Some(3.0));
        assert_eq!(config_result(&ALONE, &[]), None);
    }

    #[test]
    fn configurations_are_compared_within_each_repetition() {
        let of = |times: [f64; 3]| {
            config_result(&ALONE[..1], &times.map(|time| (vec![took(time)], time))).unwrap()
        };
        // The machine is twice as slow in the second repetition, for both.
        assert_eq!(stp_ratio(&of([2.0, 4.0, 3.0]), &of([1.0, 2.0, 3.0])), Some(0.5));
        assert_eq!(stp_ratio(&of([2.0; 3]), &ConfigResult { stps: vec![0.0; 3], ..of([1.0; 3]) }), None);
    }
}
