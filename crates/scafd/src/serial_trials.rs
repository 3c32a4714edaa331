//! The serial experiments of one program: which region is tried next, and its result. The program's account
//! counts only for the region asked for, and a time only if it is possible.

use crate::control;
use scaf_policy::experiment_candidate::{self, Candidate};
use scaf_policy::observed::{Observed, RegionAt};
use scaf_proto::experiment::{Account, Experiments, Order, Outcome};
use std::collections::BTreeMap;

/// When experiments are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Never.
    #[default]
    Off,
    /// While two or more programs share the machine: a program alone has all of it, whatever its speedup.
    Lazy,
    /// Also while a program is alone.
    Always,
}

/// An order that isn't carried out within this time is withdrawn.
const PATIENCE_NS: u64 = 10_000_000_000;
/// How long a region isn't tried whose team could not be made smaller.
const REST_NS: u64 = 2_000_000_000;
/// Regions that are remembered as tried; there are no further ones.
const MOST: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Tried {
    at_ns: u64,
    measured: bool,
}

/// One program's experiments.
#[derive(Clone, Debug, Default)]
pub struct Trials {
    order: Option<(Order, u64)>,
    number: u16,
    made: u64,
    measured: u64,
    latest: Option<Account>,
    tried: BTreeMap<u64, Tried>,
    again: BTreeMap<u64, u64>,
}

impl Trials {
    /// Reads the page at `now_ns`. True if the order there is to be withdrawn: it was carried out, or is too
    /// old.
    pub fn take(&mut self, page: &Experiments, observed: &mut Observed, now_ns: u64) -> bool {
        let new = page.latest().filter(|(made, _)| *made != self.made);
        if let Some((made, account)) = new {
            self.made = made;
            self.measured = page.count(Outcome::Measured);
            self.latest = Some(account);
        }
        let Some((order, since_ns)) = self.order else { return false };
        let answer = new.map(|(_, account)| account).filter(|account| account.region == order.region());
        let Some(account) = answer else {
            let late = now_ns.saturating_sub(since_ns) > PATIENCE_NS;
            if late {
                self.order = None;
            }
            return late;
        };
        self.order = None;
        let seconds = time(&account).filter(|_| account.cpu_ns <= now_ns.saturating_sub(since_ns));
        if let Some(seconds) = seconds {
            observed.tried_alone(order.region(), seconds);
        }
        if account.outcome == Outcome::NoRoom {
            self.again.insert(order.region(), now_ns);
            self.tried.remove(&order.region());
        } else if let Some(tried) = self.tried.get_mut(&order.region()) {
            tried.measured = seconds.is_some();
        }
        true
    }

    /// The next order for a program with `dop` contexts, if one is worth it. A region is tried once, and
    /// again in another phase or after `again_ns` (0: never). `memory` gives the bytes of memory of the
    /// process, and those that are private.
    pub fn next(
        &mut self,
        observed: &Observed,
        dop: u32,
        again_ns: u64,
        now_ns: u64,
        memory: impl FnOnce() -> Option<(u64, u64)>,
    ) -> Option<Order> {
        if self.order.is_some() {
            return None;
        }
        let may = |it: &RegionAt| {
            let rests = |at_ns: &u64| now_ns.saturating_sub(*at_ns) < REST_NS;
            let known = self.tried.contains_key(&it.region) || self.again.get(&it.region).is_some_and(rests);
            !known && !is_mark(it.region) && self.tried.len() + self.again.len() < MOST
        };
        let due = |it: &RegionAt| {
            let is_old = |tried: &Tried| !it.alone || now_ns.saturating_sub(tried.at_ns) >= again_ns;
            again_ns > 0 && self.tried.get(&it.region).is_some_and(|tried| tried.measured && is_old(tried))
        };
        let Candidate { region, mean_s } = experiment_candidate::candidate(observed, dop, may, due)?;
        let (resident, private) = memory()?;
        if !experiment_candidate::is_cheap(resident, private, mean_s) {
            return None;
        }
        self.number = self.number.wrapping_add(1);
        let order = Order::new(region, self.number);
        self.order = Some((order, now_ns));
        self.again.remove(&region);
        self.tried.insert(region, Tried { at_ns: now_ns, measured: false });
        Some(order)
    }

    /// What is shown of them.
    pub fn snapshot(&self) -> control::Experiments {
        control::Experiments {
            made: self.made,
            measured: self.measured,
            latest: self.latest.map_or_else(String::new, |account| tell(&account)),
        }
    }
}

/// Rows of marks can't be run.
fn is_mark(region: u64) -> bool {
    region >> 47 != 0
}

/// The region's time on one context in seconds, if it was measured.
fn time(account: &Account) -> Option<f64> {
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let measured = account.outcome == Outcome::Measured;
    experiment_candidate::time_alone(seconds(account.cpu_ns), seconds(account.lost_ns)).filter(|_| measured)
}

fn tell(account: &Account) -> String {
    let ms = |ns: u64| ns as f64 * 1e-6;
    let what = match account.outcome {
        Outcome::Measured if time(account).is_none() => {
            let (all, lost) = (ms(account.cpu_ns), ms(account.lost_ns));
            return format!(
                "{:#x}: {lost:.1} of {all:.1} ms went into copying memory: not used",
                account.region
            );
        }
        Outcome::Measured => {
            return format!(
                "{:#x}: {:.1} ms on one context while the others were busy",
                account.region,
                ms(account.cpu_ns.saturating_sub(account.lost_ns))
            );
        }
        Outcome::NoRoom => "not tried: its team can't be made smaller for as long",
        Outcome::Unsafe => "not tried: threads, mappings or a debugger are in the way",
        Outcome::Refused => "not tried: the system refuses a copy of the process, its timer or its filter",
        Outcome::Forbidden => "ended at a system call that others would notice",
        Outcome::Fault => "ended at memory that is shared with others, or at a fault",
        Outcome::Waits => "ended waiting for a thread that isn't there",
        Outcome::Late => "ended by its deadline",
    };
    format!("{:#x}: {what}", account.region)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::observed::{Runs, Spell};

    const S: u64 = 1_000_000_000;
    const SMALL: Option<(u64, u64)> = Some((4 << 20, 1 << 20));

    fn empty_page() -> Box<Experiments> {
        // SAFETY: atomics only, for which zero is a value.
        Box::new(unsafe { std::mem::zeroed() })
    }

    fn ran(observed: &mut Observed, mean_s: f64) {
        let runs = [Runs { region: 4096, dop: 2, runs: 0.25 / mean_s, count: 0.25 / mean_s, wall_s: 0.25 }];
        observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.25, runs: &runs });
    }

    fn program() -> (Trials, Observed) {
        let mut observed = Observed::default();
        (0..8).for_each(|_| ran(&mut observed, 0.1));
        (Trials::default(), observed)
    }

    fn measured(cpu_ns: u64, lost_ns: u64) -> Account {
        Account { region: 4096, outcome: Outcome::Measured, cpu_ns, lost_ns }
    }

    #[test]
    fn a_region_is_tried_once_and_its_time_is_taken_in() {
        let (mut trials, mut observed) = program();
        let page = empty_page();
        let order = trials.next(&observed, 2, 0, S, || SMALL).unwrap();
        assert_eq!(order.region(), 4096);
        assert_eq!(trials.next(&observed, 2, 0, S, || SMALL), None);
        assert!(!trials.take(&page, &mut observed, S));
        page.record(&measured(S / 5, 0));
        assert!(trials.take(&page, &mut observed, 2 * S));
        let speedup = observed.speedup(2, 1.0).unwrap();
        assert!((speedup.value - 2.0).abs() < 0.01 && speedup.error < 0.15, "{speedup:?}");
        assert_eq!(trials.next(&observed, 2, 0, 100 * S, || SMALL), None);
        assert_eq!(trials.snapshot().measured, 1);
        assert!(trials.snapshot().latest.contains("200.0 ms on one context"), "{:?}", trials.snapshot());
    }

    #[test]
    fn a_region_is_tried_again_in_another_phase_and_periodically_only_if_that_is_wanted() {
        let (mut trials, mut observed) = program();
        let page = empty_page();
        trials.next(&observed, 2, 10 * S, S, || SMALL).unwrap();
        page.record(&measured(S / 5, 0));
        trials.take(&page, &mut observed, 2 * S);
        let again = |observed: &Observed, again_ns, at_ns| {
            trials.clone().next(observed, 2, again_ns, at_ns, || SMALL).is_some()
        };
        assert!(!again(&observed, 10 * S, 5 * S) && again(&observed, 10 * S, 20 * S));
        (0..8).for_each(|_| ran(&mut observed, 0.3));
        assert!(again(&observed, 10 * S, 5 * S) && !again(&observed, 0, 20 * S));
    }

    #[test]
    fn what_cannot_be_believed_counts_for_nothing() {
        let impossible = [
            measured(0, 0),
            measured(S / 5, S / 6),
            measured(u64::MAX, 0),
            measured(S + S / 2, 0),
            Account { outcome: Outcome::Fault, ..measured(S / 5, 0) },
        ];
        for account in impossible {
            let (mut trials, mut observed) = program();
            let before = observed.speedup(2, 1.0);
            trials.next(&observed, 2, 0, S, || SMALL).unwrap();
            let page = empty_page();
            page.record(&account);
            assert!(trials.take(&page, &mut observed, 2 * S));
            assert_eq!(observed.speedup(2, 1.0), before, "{account:?}");
            assert_eq!(trials.next(&observed, 2, 0, 100 * S, || SMALL), None);
        }
        let (mut trials, mut observed) = program();
        trials.next(&observed, 2, 0, S, || SMALL).unwrap();
        let page = empty_page();
        page.record(&Account { outcome: Outcome::NoRoom, ..measured(0, 0) });
        assert!(trials.take(&page, &mut observed, S));
        assert_eq!(trials.next(&observed, 2, 0, 2 * S, || SMALL), None);
        assert!(trials.next(&observed, 2, 0, 4 * S, || SMALL).is_some());
        let (mut trials, mut observed) = program();
        trials.next(&observed, 2, 0, S, || SMALL).unwrap();
        let page = empty_page();
        page.record(&Account { region: 8192, ..measured(S / 5, 0) });
        assert!(!trials.take(&page, &mut observed, 2 * S));
        assert!(trials.take(&page, &mut observed, 12 * S), "the order is taken back");
    }

    #[test]
    fn large_processes_and_marks_are_let_be() {
        let (mut trials, observed) = program();
        assert_eq!(trials.next(&observed, 2, 0, S, || Some((64 << 20, 0))), None);
        assert_eq!(trials.next(&observed, 2, 0, S, || Some((60 << 20, 50 << 20))), None);
        assert_eq!(trials.next(&observed, 2, 0, S, || None), None);
        assert!(trials.next(&observed, 2, 0, S, || SMALL).is_some());
        assert!(is_mark(scaf_proto::rows::Key::marks(4096, 2).region()) && !is_mark(4096));
    }
}
