//! What adds up over time, for counters: context-seconds by programs' names, arrivals and departures.
//!
//! As many names as were wished for have an account. A name that ran lately keeps it, so that its counter
//! doesn't begin again; what others have goes to one account for all of them. So there are never more time
//! series than that, whatever programs are called.

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

/// What all those without an account are called.
pub const REST: &str = "(other)";
/// An account that nobody used for so long is closed if another name needs it.
const QUIET_NS: u64 = 60_000_000_000;
/// An account that nobody used for so long is closed.
const FORGOTTEN_NS: u64 = 3_600_000_000_000;
const LONGEST_NAME: usize = 64;

#[derive(Debug, Default)]
struct Account {
    context_seconds: f64,
    used_ns: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Ledger {
    accounts: BTreeMap<String, Account>,
    rest: Option<f64>,
    most: usize,
    /// Programs that came and left.
    pub counts: Counts,
}

/// A program's name as it stands in metrics: without the number that tells two of the same apart.
pub fn label(program: &Program) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match program.name.rsplit_once('#') {
        Some((name, number)) if is_number(number) => name,
        _ => &program.name,
    };
    printable(name).chars().take(LONGEST_NAME).collect()
}

impl Ledger {
    /// With so many accounts.
    pub fn new(most: usize) -> Ledger {
        Ledger { accounts: BTreeMap::new(), rest: None, most, counts: Counts::default() }
    }

    /// Whose account a program's numbers go to.
    pub fn name(&self, program: &Program) -> String {
        let name = label(program);
        if self.accounts.contains_key(&name) { name } else { REST.to_owned() }
    }

    /// Seconds times contexts that each account's programs had.
    pub fn context_seconds(&self) -> impl Iterator<Item = (&str, f64)> {
        let named = self.accounts.iter().map(|(name, account)| (name.as_str(), account.context_seconds));
        named.chain(self.rest.map(|rest| (REST, rest)))
    }

    /// Opens accounts for who is there, those with the most contexts first.
    pub fn open(&mut self, now: &Snapshot) {
        let mut new: BTreeMap<String, u32> = BTreeMap::new();
        for program in &now.programs {
            let name = label(program);
            match self.accounts.get_mut(&name) {
                Some(account) => account.used_ns = now.now_ns,
                None => *new.entry(name).or_default() += program.dop.unwrap_or(0),
            }
        }
        let age = |account: &Account| now.now_ns.saturating_sub(account.used_ns);
        self.accounts.retain(|_, account| age(account) <= FORGOTTEN_NS);
        let mut new: Vec<(String, u32)> = new.into_iter().collect();
        new.sort_by_key(|(_, contexts)| std::cmp::Reverse(*contexts));
        for (name, _) in new {
            if self.accounts.len() >= self.most {
                let quiet = self.accounts.iter().filter(|(_, it)| age(it) > QUIET_NS);
                let Some(closed) = quiet.max_by_key(|(_, it)| age(it)).map(|(name, _)| name.clone()) else {
                    self.rest.get_or_insert(0.0);
                    break;
                };
                self.accounts.remove(&closed);
            }
            self.accounts.insert(name, Account { context_seconds: 0.0, used_ns: now.now_ns });
        }
    }

    /// Books what everyone had from a moment to the next.
    pub fn book(&mut self, before: &Snapshot, frame: &Frame) {
        self.counts.arrivals += frame.arrived.len() as u64;
        self.counts.departures += frame.left.len() as u64;
        self.open(before);
        let seconds = frame.now_ns.saturating_sub(before.now_ns) as f64 / 1e9;
        for program in &before.programs {
            let had = f64::from(program.dop.unwrap_or(0)) * seconds;
            match self.accounts.get_mut(&label(program)) {
                Some(account) => account.context_seconds += had,
                None => *self.rest.get_or_insert(0.0) += had,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::Feed;
    use crate::feed::tests::told;
    use crate::ps::tests::{program, snapshot};

    fn named(id: u64, name: &str, dop: u32) -> Program {
        Program { id, name: name.into(), dop: Some(dop), ..program() }
    }

    fn all(ledger: &Ledger) -> Vec<(&str, f64)> {
        ledger.context_seconds().collect()
    }

    #[test]
    fn contexts_add_up_over_time() {
        let (mut feed, mut ledger) = (Feed::default(), Ledger::new(5));
        feed.take(told(7, &[1, 2, 3]), |before, frame| ledger.book(before, frame));
        assert_eq!(all(&ledger), [("cg", 0.75)]);
    }

    #[test]
    fn there_are_never_more_accounts_than_wished_for() {
        let mut ledger = Ledger::new(2);
        let programs = (1..=9).map(|id| named(id, &format!("p{id}"), id as u32)).collect();
        let before = snapshot(programs);
        ledger.book(&before, &Frame { now_ns: before.now_ns + 1_000_000_000, ..Frame::default() });
        assert_eq!(all(&ledger), [("p8", 8.0), ("p9", 9.0), (REST, 28.0)]);
        assert_eq!(ledger.name(&named(3, "p3", 1)), REST);
        // Programs of one name share an account.
        ledger.book(
            &snapshot(vec![named(1, "p8", 1), named(2, "p8", 1)]),
            &Frame { now_ns: 5 + 1_000_000_000, ..Frame::default() },
        );
        assert_eq!(all(&ledger)[0], ("p8", 10.0));
    }

    #[test]
    fn a_quiet_account_makes_room_and_a_forgotten_one_is_closed() {
        let mut ledger = Ledger::new(1);
        let at = |seconds: u64, program: Program| Snapshot {
            now_ns: seconds * 1_000_000_000,
            ..snapshot(vec![program])
        };
        ledger.open(&at(0, named(1, "a", 1)));
        ledger.open(&at(30, named(2, "b", 1)));
        assert_eq!(all(&ledger), [("a", 0.0), (REST, 0.0)]);
        ledger.open(&at(91, named(2, "b", 1)));
        assert_eq!(all(&ledger), [("b", 0.0), (REST, 0.0)]);
        ledger.open(&Snapshot { now_ns: 2 * FORGOTTEN_NS, ..snapshot(vec![]) });
        assert_eq!(all(&ledger), [(REST, 0.0)]);
    }

    #[test]
    fn names_are_short_and_printable_and_the_same_for_programs_of_one_name() {
        assert_eq!(label(&named(1, "train.py#2", 1)), "train.py");
        assert_eq!(label(&named(1, "c#", 1)), "c#");
        let name = label(&named(1, &format!("a\n{}", "b".repeat(100)), 1));
        assert!(name.starts_with("a?b") && name.len() == LONGEST_NAME);
    }
}
