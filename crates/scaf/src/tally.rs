//! Some programs' contexts, speedups and time at their minimum, added up from the daemon's history.

use crate::{daemon, worth};
use scafd::control::{History, Program, Reply, Request, Snapshot};
use std::path::Path;

/// Which programs are added up.
pub type Which<'a> = &'a dyn Fn(&Program) -> bool;

/// Their sums at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Had {
    at_ns: u64,
    contexts: u32,
    /// Whether they had no more than their minimum, and would use more.
    least: bool,
    /// Their speedup, and that with equal parts.
    speedups: Option<(f64, f64)>,
}

/// Their sums so far, each moment weighted by its length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    before: Option<Had>,
    /// The daemon's process, and the state at its latest moment that is known.
    known: Option<(u32, Snapshot)>,
    seconds: f64,
    contexts: f64,
    least_s: f64,
    known_s: f64,
    speedup: f64,
    equal: f64,
}

impl Tally {
    /// Asks the daemon for what was since the last time, and adds it. Without an answer nothing is added.
    pub fn follow(&mut self, socket: &Path, which: Which<'_>) {
        loop {
            let after = self.known.as_ref().map_or(0, |(_, known)| known.moment);
            let Ok(Reply::History(answer)) = daemon::ask(socket, &Request::History(after)) else { return };
            if !self.take(*answer, which) {
                return;
            }
        }
    }

    /// Adds what a daemon answer. True if there is more to ask for.
    fn take(&mut self, answer: History, which: Which<'_>) -> bool {
        let another = self.known.as_ref().is_some_and(|(daemon, _)| *daemon != answer.daemon);
        if another {
            // A new daemon numbers its moments anew. Without a base it took our number for one of its own.
            (self.before, self.known) = (None, None);
            if answer.base.is_none() {
                return answer.latest > 0;
            }
        }
        if let Some(base) = answer.base {
            self.before = None;
            self.add(&base, which);
            self.known = Some((answer.daemon, *base));
        }
        let Some((daemon, mut known)) = self.known.take() else { return false };
        for frame in &answer.frames {
            known.advance(frame);
            self.add(&known, which);
        }
        let more = !answer.frames.is_empty() && known.moment < answer.latest;
        self.known = Some((daemon, known));
        more
    }

    fn add(&mut self, now: &Snapshot, which: Which<'_>) {
        if let Some(had) = self.before.take() {
            let lasted = now.now_ns.saturating_sub(had.at_ns) as f64 * 1e-9;
            self.seconds += lasted;
            self.contexts += lasted * f64::from(had.contexts);
            self.least_s += if had.least { lasted } else { 0.0 };
            if let Some((speedup, equal)) = had.speedups {
                self.known_s += lasted;
                self.speedup += lasted * speedup;
                self.equal += lasted * equal;
            }
        }
        self.before = had(now, which);
    }

    /// How long any of them was managed, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Contexts on average while they were managed; `None` if they weren't.
    pub fn contexts(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.contexts / self.seconds)
    }

    /// How long they had no more than their minimum although they would use more, in seconds.
    pub fn least_seconds(&self) -> f64 {
        self.least_s
    }

    /// The sum of their speedups on average while these were known, and that with equal parts.
    pub fn speedups(&self) -> Option<(f64, f64)> {
        (self.known_s > 0.0).then(|| (self.speedup / self.known_s, self.equal / self.known_s))
    }
}

fn had(now: &Snapshot, which: Which<'_>) -> Option<Had> {
    let granted: Vec<(&Program, u32)> = now
        .programs
        .iter()
        .filter(|program| which(program))
        .filter_map(|program| Some((program, program.dop?)))
        .collect();
    let contexts = granted.iter().fold(0_u32, |sum, (_, dop)| sum.saturating_add(*dop));
    let equal = (!granted.is_empty()).then(|| worth::equal_parts(now))?;
    let of = |(program, dop): &(&Program, u32)| {
        let part = *equal.get(&program.id)?;
        worth::speedup(program, *dop).zip(worth::speedup(program, part))
    };
    let known: Vec<(f64, f64)> = granted.iter().filter_map(of).collect();
    let sum = known.iter().fold((0.0, 0.0), |(is, would), one| (is + one.0, would + one.1));
    let most = |program: &Program| if program.max == 0 { u32::MAX } else { program.max };
    let least =
        granted.iter().all(|(program, dop)| *dop <= program.min && *dop < program.natural.min(most(program)));
    Some(Had { at_ns: now.now_ns, contexts, least, speedups: (!known.is_empty()).then_some(sum) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};
    use scafd::control::CurvePoint;

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
    fn what_they_had_is_weighted_by_how_long_they_had_it() {
        let (mut tally, own) = (Tally::default(), |program: &Program| program.pid == 7);
        for (s, dop) in [(0, Some(8)), (1, Some(4)), (4, Some(4)), (5, None), (9, None)] {
            tally.add(&at(s, dop), &own);
        }
        let (contexts, (speedup, equal)) = (tally.contexts().unwrap(), tally.speedups().unwrap());
        let answer = [tally.seconds(), contexts, speedup, equal, tally.least_seconds()];
        assert_eq!(
            answer.map(|number| format!("{number:.3}")),
            ["5.000", "4.800", "3.400", "3.000", "0.000"]
        );
    }

    #[test]
    fn programs_together_have_the_sum() {
        let (mut tally, all) = (Tally::default(), |_: &Program| true);
        tally.add(&at(0, Some(1)), &all);
        tally.add(&at(2, Some(1)), &all);
        assert_eq!((tally.contexts(), tally.least_seconds()), (Some(5.0), 0.0));
        let mut alone = Tally::default();
        let own = |program: &Program| program.pid == 7;
        alone.add(&at(0, Some(1)), &own);
        alone.add(&at(2, Some(4)), &own);
        assert_eq!((alone.contexts(), alone.least_seconds()), (Some(1.0), 2.0));
    }

    #[test]
    fn of_whom_nothing_is_known_there_is_no_speedup() {
        assert_eq!((Tally::default().contexts(), Tally::default().speedups()), (None, None));
        let (mut tally, other) = (Tally::default(), |program: &Program| program.pid == 8);
        tally.add(&at(1, Some(4)), &other);
        tally.add(&at(2, Some(4)), &other);
        assert_eq!((tally.contexts(), tally.speedups()), (Some(4.0), None));
    }

    #[test]
    fn moments_of_another_daemon_are_others() {
        let (mut tally, own) = (Tally::default(), |program: &Program| program.pid == 7);
        let answer = |daemon, base: Option<Snapshot>| History {
            daemon,
            oldest: 1,
            latest: 1,
            base: base.map(Box::new),
            frames: Vec::new(),
        };
        assert!(!tally.take(answer(70, Some(at(1, Some(8)))), &own));
        assert!(tally.take(answer(71, None), &own), "it is asked again, from its beginning");
        assert!(!tally.take(answer(71, Some(at(100, Some(8)))), &own));
        assert_eq!(tally.seconds(), 0.0);
    }
}
