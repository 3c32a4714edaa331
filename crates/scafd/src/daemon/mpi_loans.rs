//! Loans between programs while some of them wait in MPI ([`scaf_policy::lending`]). They begin and end
//! between decisions, within half a millisecond. Only the borrower's grant changes.

use super::grants::Grants;
use crate::registry::{Program, Registry};
use scaf_policy::ProgramId;
use scaf_policy::lending::{Holder, Loan, Wait, loans};
use std::time::{Duration, Instant};

/// After so long a wait the user's other programs may borrow, too, from the next decision on.
const LONG_NS: u64 = 50_000_000;
/// Least time between two changes of loans; the lender waits that long.
const REST: Duration = Duration::from_micros(500);
/// New loans may cost no more than one part in so many of the daemon's time.
const PART: u32 = 20;

/// When loans are updated.
pub(super) struct Loans {
    to_lend: bool,
    to_take_back: bool,
    next_loans: Instant,
    next_take_back: Instant,
}

impl Loans {
    pub fn new(now: Instant) -> Loans {
        Loans { to_lend: false, to_take_back: false, next_loans: now, next_take_back: now }
    }

    /// A program waits in MPI, or no longer. True if a wait begins. A program that reported waits while it
    /// computed isn't believed for a while.
    pub fn waits(&mut self, program: &mut Program, waits: bool, now_ns: u64) -> bool {
        let waits = waits && now_ns >= program.phase.disbelieved_ns;
        if waits == program.phase.waits_since_ns.is_some() {
            return false;
        }
        program.phase.waits_since_ns = waits.then_some(now_ns);
        match waits {
            true => self.to_lend = true,
            false => self.to_take_back = true,
        }
        waits
    }

    pub fn take_back(&mut self) {
        self.to_take_back = true;
    }

    /// When loans are to be updated, if they are.
    pub fn at(&self) -> Option<Instant> {
        let at = [self.to_lend.then_some(self.next_loans), self.to_take_back.then_some(self.next_take_back)];
        at.into_iter().flatten().min()
    }

    /// They were updated until `now`, which took so long.
    pub fn done(&mut self, now: Instant, took: Duration) {
        (self.to_lend, self.to_take_back) = (false, false);
        self.next_take_back = now + REST;
        self.next_loans = now + (PART * took).max(REST);
    }
}

/// What is lent now; `job` is the label of a program's MPI job. Programs that take turns take no part.
pub(super) fn current(
    registry: &Registry,
    grants: &Grants,
    job: impl Fn(ProgramId) -> Option<u64>,
    now_ns: u64,
) -> Vec<Loan> {
    let holders: Vec<Holder<'_>> = registry
        .iter()
        .filter_map(|program| {
            let id = program.identity.id;
            let decided = grants.decided(id)?;
            let contexts = decided.dop.filter(|_| !program.phase.takes_turns)?;
            let wait = program.phase.waits_since_ns.map(|since| match now_ns.saturating_sub(since) {
                LONG_NS.. => Wait::Long,
                _ => Wait::Short,
            });
            Some(Holder {
                id,
                user: program.identity.owner,
                job: job(id),
                contexts,
                pus: &decided.pus,
                usable: &program.reach.usable,
                // A step is made with exactly so many contexts.
                most: match program.evidence.steps.now {
                    Some(_) => contexts,
                    None => program.natural().min(program.most()),
                },
                wait,
            })
        })
        .collect();
    loans(&holders)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::program;

    #[test]
    fn a_wait_asks_to_lend_and_its_end_to_take_back() {
        let began = Instant::now();
        let (mut loans, mut p) = (Loans::new(began), program(1));
        p.phase.disbelieved_ns = 10;
        assert!(!loans.waits(&mut p, true, 9) && loans.at().is_none());
        assert!(loans.waits(&mut p, true, 10) && loans.at() == Some(began));
        assert!(!loans.waits(&mut p, true, 11));
        loans.done(began, Duration::from_millis(1));
        assert_eq!(loans.at(), None);
        assert!(!loans.waits(&mut p, false, 12) && p.phase.waits_since_ns.is_none());
        assert_eq!(loans.at(), Some(began + REST));
        assert!(loans.waits(&mut p, true, 13));
        assert_eq!(loans.at(), Some(began + REST), "the earlier of both");
        loans.done(began, Duration::from_millis(1));
        loans.take_back();
        loans.done(began, Duration::from_millis(1));
        assert!(!loans.waits(&mut p, false, 14) && loans.waits(&mut p, true, 15));
        loans.to_take_back = false;
        assert_eq!(loans.at(), Some(began + PART * Duration::from_millis(1)));
    }
}
