//! Measures a program that is managed from outside and reports nothing. Its CPU clock says how much of its
//! contexts' time it used, samples how much of that its threads didn't wait by spinning: useful time over
//! granted time is its efficiency, as for any other program (SCAF, section 4.3.2). How much its threads ran
//! or waited for a context (`schedstat`) is its demand: of eight threads two may compute.

use crate::observe::proc_pid::Process;
use crate::observe::samples::{Samples, Seen};
use scaf_policy::efficiency::Interval;
use std::collections::BTreeMap;

/// Time between two readings, and between two of its threads.
const READ_NS: u64 = 250_000_000;
const READ_THREADS_NS: u64 = 2_000_000_000;
/// CPU time of a thread between two samples.
const PERIOD_NS: u64 = 20_000_000;
/// Samples that count: earlier ones count half. So many tell a share to a tenth.
const MEMORY: u32 = 200;
const ENOUGH: u32 = 25;
/// First and last threads that are looked at, so many of each.
const MOST_THREADS: usize = 32;
/// Less of a context than this is no further one that it needs.
const HARDLY: f64 = 0.2;

pub(super) struct OutsideMeter {
    /// Whether it was stopped for others' turns.
    takes_turns: bool,
    at_ns: u64,
    cpu_ns: u64,
    /// When its threads were read, and its CPU time then.
    threads_at_ns: u64,
    threads_cpu_ns: u64,
    /// How much each thread had run or waited for a context.
    wanted_ns: BTreeMap<u32, u64>,
    /// `None` where samples can't be taken.
    samples: Option<Samples>,
    seen: Seen,
}

/// What threads wanted on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Demand {
    pub contexts: f64,
    /// How many were runnable at the end.
    pub runnable: u32,
    /// Whether all were looked at.
    pub are_all: bool,
}

impl Demand {
    /// How many contexts a program needs of which so many were known. One that needs all at once has no use
    /// for fewer.
    pub fn natural(&self, before: u32, all_at_once: bool) -> u32 {
        let whole = (self.contexts - HARDLY).ceil().clamp(1.0, 65_535.0) as u32;
        match (all_at_once, self.are_all) {
            (true, _) => self.runnable.max(before),
            (false, true) => whole,
            (false, false) => whole.max(before),
        }
    }
}

/// What a reading says.
#[derive(Default, Debug, PartialEq)]
pub(super) struct Reading {
    /// How it used its contexts, where that can be seen.
    pub interval: Option<Interval>,
    /// What its threads wanted, every 2 s.
    pub demand: Option<Demand>,
    /// Contexts that it used in that time.
    pub used: Option<f64>,
    /// That samples can't be taken was found out.
    pub is_blind: bool,
}

impl OutsideMeter {
    pub fn new(process: &Process, (cpu_ns, now_ns): (u64, u64)) -> OutsideMeter {
        OutsideMeter {
            takes_turns: false,
            at_ns: now_ns,
            cpu_ns,
            threads_at_ns: now_ns,
            threads_cpu_ns: cpu_ns,
            wanted_ns: process.wanted_ns(MOST_THREADS).0,
            samples: Some(Samples::every(process, PERIOD_NS)),
            seen: Seen::default(),
        }
    }

    /// Reads a program with so many contexts, if it is time. What it did while it was stopped for others'
    /// turns isn't compared with what it does while it isn't.
    pub fn read(
        &mut self,
        process: &Process,
        (cpu_ns, now_ns): (u64, u64),
        contexts: u32,
        takes_turns: bool,
    ) -> Reading {
        let mut reading = Reading::default();
        if std::mem::replace(&mut self.takes_turns, takes_turns) != takes_turns {
            let samples = self.samples.take();
            *self = OutsideMeter { samples, takes_turns, ..OutsideMeter::new(process, (cpu_ns, now_ns)) };
            return reading;
        }
        let dt_ns = now_ns.saturating_sub(self.at_ns);
        if dt_ns < READ_NS {
            return reading;
        }
        let cpu_s = cpu_ns.saturating_sub(self.cpu_ns) as f64 * 1e-9;
        (self.at_ns, self.cpu_ns) = (now_ns, cpu_ns);
        if let Some(samples) = &mut self.samples {
            self.seen.add(samples.take(), MEMORY);
        }
        reading.interval = self.interval(dt_ns as f64 * 1e-9, cpu_s, contexts);
        let passed_ns = now_ns.saturating_sub(self.threads_at_ns);
        if passed_ns >= READ_THREADS_NS {
            self.read_threads(process, now_ns, passed_ns, &mut reading);
        }
        reading
    }

    /// Useful time is what it used but for its share of waiting, once that is known.
    fn interval(&self, dt_s: f64, cpu_s: f64, contexts: u32) -> Option<Interval> {
        let known = self.samples.is_some() && self.seen.all >= ENOUGH;
        let waits = f64::from(self.seen.waiting) / f64::from(self.seen.all.max(1));
        known.then(|| Interval {
            dt_s,
            p: f64::from(contexts),
            parallel_s: dt_s,
            useful_s: cpu_s * (1.0 - waits),
        })
    }

    fn read_threads(&mut self, process: &Process, now_ns: u64, passed_ns: u64, reading: &mut Reading) {
        let (wanted, are_all) = process.wanted_ns(MOST_THREADS);
        // One that is met now has begun since, or is among these only now.
        let more = |(tid, ns): (&u32, &u64)| {
            ns.saturating_sub(*self.wanted_ns.get(tid).unwrap_or(&0)).min(passed_ns)
        };
        let wanted_now = wanted.iter().map(more).sum::<u64>() as f64 / passed_ns as f64;
        let runnable = process.runnable_threads(MOST_THREADS).0;
        let used_ns = self.cpu_ns.saturating_sub(self.threads_cpu_ns);
        reading.used = Some(used_ns as f64 / passed_ns as f64);
        (self.wanted_ns, self.threads_at_ns, self.threads_cpu_ns) = (wanted, now_ns, self.cpu_ns);
        // Threads that have ended, and those in the middle, have used something, too.
        let demand = wanted_now.max(used_ns as f64 / passed_ns as f64);
        let threads = u32::try_from(runnable.len()).unwrap_or(u32::MAX);
        reading.demand = Some(Demand { contexts: demand, runnable: threads, are_all });
        if let Some(samples) = &mut self.samples
            && samples.follow(&runnable).is_err()
        {
            (self.samples, reading.is_blind) = (None, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_waits_isnt_useful_and_a_few_samples_say_nothing() {
        let process = Process::new(Path::new("/"), std::process::id());
        let mut meter = OutsideMeter::new(&process, (0, 0));
        let mut at = |all, waiting| {
            meter.seen = Seen { all, waiting };
            meter.interval(2.0, 3.0, 2).map(|interval| interval.efficiency())
        };
        assert_eq!(at(ENOUGH - 1, 0), None);
        assert_eq!(at(100, 0), Some(0.75));
        assert_eq!(at(100, 50), Some(0.375));
        meter.samples = None;
        assert_eq!(meter.interval(2.0, 3.0, 2), None);
    }

    #[test]
    fn a_demand_is_whole_contexts_and_at_least_one() {
        let natural = |contexts, are_all, all_at_once| {
            Demand { contexts, runnable: 5, are_all }.natural(3, all_at_once)
        };
        let whole = [0.0, 0.9, 1.1, 2.19, 2.3, 1e9].map(|contexts| natural(contexts, true, false));
        assert_eq!(whole, [1, 1, 1, 2, 3, 65_535]);
        assert_eq!([natural(1.0, false, false), natural(7.0, false, false)], [3, 7]);
        assert_eq!(natural(1.0, true, true), 5);
    }

    #[test]
    fn a_thread_that_runs_wants_a_context_and_readings_have_their_time() {
        let process = Process::new(Path::new("/"), std::process::id());
        let now_ns = crate::observe::clock::now_ns();
        let mut meter = OutsideMeter::new(&process, (0, now_ns));
        assert_eq!(meter.read(&process, (1, now_ns + 1), 1, false), Reading::default());
        let begin = std::time::Instant::now();
        while begin.elapsed().as_millis() < 50 {}
        let reading = meter.read(&process, (1, now_ns + READ_THREADS_NS), 1, false);
        let demand = reading.demand.expect("a demand");
        assert!(demand.contexts > 0.0 && demand.runnable >= 1, "{demand:?}");
        let changed = meter.read(&process, (1, now_ns + 2 * READ_THREADS_NS), 1, true);
        assert_eq!(changed, Reading::default(), "it begins anew");
    }
}
