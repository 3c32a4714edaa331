//! What adds up over time, for counters: context-seconds by programs' names, arrivals and departures.
//!
//! So many names at most have a total of their own, so that there are never more time series. A name that ran
//! lately keeps its total, so that its counter doesn't begin again; the others are added up in one.

use crate::output::printable;
use scafd::control::field::{JSON, MetricKind};
use scafd::control::{Frame, Program, Snapshot};
use std::collections::BTreeMap;

scafd::shown! {
    /// Programs that came and left.
    #[derive(Default)]
    struct Counts {
        /// Programs that came since scaf web started.
        arrivals: u64 = JSON.metric(MetricKind::Counter, "scaf_arrivals");
        /// Programs that left since scaf web started.
        departures: u64 = JSON.metric(MetricKind::Counter, "scaf_departures");
    }
}

/// Name of the total of all other programs.
pub const REST: &str = "(other)";
/// A total unused for so long is dropped if another name needs its place.
const QUIET_NS: u64 = 60_000_000_000;
/// A total unused for so long is dropped.
const FORGOTTEN_NS: u64 = 3_600_000_000_000;
const LONGEST_NAME: usize = 64;

#[derive(Debug, Default)]
struct Total {
    context_seconds: f64,
    used_ns: u64,
}

/// See the module.
#[derive(Debug)]
pub struct ProgramTotals {
    totals: BTreeMap<String, Total>,
    rest: Option<f64>,
    most: usize,
    /// Programs that came and left.
    pub counts: Counts,
}

/// A program's name in metrics: without the number that distinguishes equal names.
pub fn label(program: &Program) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match program.name.rsplit_once('#') {
        Some((name, number)) if is_number(number) => name,
        _ => &program.name,
    };
    printable(name).chars().take(LONGEST_NAME).collect()
}

impl ProgramTotals {
    /// With so many totals at most.
    pub fn new(most: usize) -> ProgramTotals {
        ProgramTotals { totals: BTreeMap::new(), rest: None, most, counts: Counts::default() }
    }

    /// The name of the total to which a program's numbers are added.
    pub fn name(&self, program: &Program) -> String {
        let name = label(program);
        if self.totals.contains_key(&name) { name } else { REST.to_owned() }
    }

    /// Seconds times contexts that each total's programs had.
    pub fn context_seconds(&self) -> impl Iterator<Item = (&str, f64)> {
        let named = self.totals.iter().map(|(name, total)| (name.as_str(), total.context_seconds));
        named.chain(self.rest.map(|rest| (REST, rest)))
    }

    /// Begins totals for the programs that run, those with the most contexts first.
    pub fn admit(&mut self, now: &Snapshot) {
        let mut new: BTreeMap<String, u32> = BTreeMap::new();
        for program in &now.programs {
            let name = label(program);
            match self.totals.get_mut(&name) {
                Some(total) => total.used_ns = now.now_ns,
                None => *new.entry(name).or_default() += program.dop.unwrap_or(0),
            }
        }
        let age = |total: &Total| now.now_ns.saturating_sub(total.used_ns);
        self.totals.retain(|_, total| age(total) <= FORGOTTEN_NS);
        let mut new: Vec<(String, u32)> = new.into_iter().collect();
        new.sort_by_key(|(_, contexts)| std::cmp::Reverse(*contexts));
        for (name, _) in new {
            if self.totals.len() >= self.most {
                let quiet = self.totals.iter().filter(|(_, it)| age(it) > QUIET_NS);
                let Some(closed) = quiet.max_by_key(|(_, it)| age(it)).map(|(name, _)| name.clone()) else {
                    self.rest.get_or_insert(0.0);
                    break;
                };
                self.totals.remove(&closed);
            }
            self.totals.insert(name, Total { context_seconds: 0.0, used_ns: now.now_ns });
        }
    }

    /// Adds what all programs had from a moment to the next.
    pub fn add(&mut self, before: &Snapshot, frame: &Frame) {
        self.counts.arrivals += frame.arrived.len() as u64;
        self.counts.departures += frame.left.len() as u64;
        self.admit(before);
        let seconds = frame.now_ns.saturating_sub(before.now_ns) as f64 / 1e9;
        for program in &before.programs {
            let had = f64::from(program.dop.unwrap_or(0)) * seconds;
            match self.totals.get_mut(&label(program)) {
                Some(total) => total.context_seconds += had,
                None => *self.rest.get_or_insert(0.0) += had,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Feed;
    use crate::feed::tests::answer;
    use crate::ps::tests::{program, snapshot};

    fn named(id: u64, name: &str, dop: u32) -> Program {
        Program { id, name: name.into(), dop: Some(dop), ..program() }
    }

    fn all(totals: &ProgramTotals) -> Vec<(&str, f64)> {
        totals.context_seconds().collect()
    }

    #[test]
    fn contexts_add_up_over_time() {
        let (mut feed, mut totals) = (Feed::default(), ProgramTotals::new(5));
        feed.take(answer(7, &[1, 2, 3]), |before, frame| totals.add(before, frame));
        assert_eq!(all(&totals), [("cg", 0.75)]);
    }

    #[test]
    fn there_are_never_more_accounts_than_wished_for() {
        let mut totals = ProgramTotals::new(2);
        let programs = (1..=9).map(|id| named(id, &format!("p{id}"), id as u32)).collect();
        let before = snapshot(programs);
        totals.add(&before, &Frame { now_ns: before.now_ns + 1_000_000_000, ..Frame::default() });
        assert_eq!(all(&totals), [("p8", 8.0), ("p9", 9.0), (REST, 28.0)]);
        assert_eq!(totals.name(&named(3, "p3", 1)), REST);
        // Programs of one name share an total.
        totals.add(
            &snapshot(vec![named(1, "p8", 1), named(2, "p8", 1)]),
            &Frame { now_ns: 5 + 1_000_000_000, ..Frame::default() },
        );
        assert_eq!(all(&totals)[0], ("p8", 10.0));
    }

    #[test]
    fn a_quiet_account_makes_room_and_a_forgotten_one_is_closed() {
        let mut totals = ProgramTotals::new(1);
        let at = |seconds: u64, program: Program| Snapshot {
            now_ns: seconds * 1_000_000_000,
            ..snapshot(vec![program])
        };
        totals.admit(&at(0, named(1, "a", 1)));
        totals.admit(&at(30, named(2, "b", 1)));
        assert_eq!(all(&totals), [("a", 0.0), (REST, 0.0)]);
        totals.admit(&at(91, named(2, "b", 1)));
        assert_eq!(all(&totals), [("b", 0.0), (REST, 0.0)]);
        totals.admit(&Snapshot { now_ns: 2 * FORGOTTEN_NS, ..snapshot(vec![]) });
        assert_eq!(all(&totals), [(REST, 0.0)]);
    }

    #[test]
    fn names_are_short_and_printable_and_the_same_for_programs_of_one_name() {
        assert_eq!(label(&named(1, "train.py#2", 1)), "train.py");
        assert_eq!(label(&named(1, "c#", 1)), "c#");
        let name = label(&named(1, &format!("a\n{}", "b".repeat(100)), 1));
        assert!(name.starts_with("a?b") && name.len() == LONGEST_NAME);
    }
}
