//! Loans between programs while some of them wait in MPI for others ([`scaf_policy::lending`]). They begin
//! and end between decisions, within half a millisecond. A lender's grant stays as it is; a borrower's has
//! the lent contexts besides.

use super::parts::Daemon;
use crate::observe::clock;
use scaf_policy::ProgramId;
use scaf_policy::lending::{Holder, Loan, Wait, loans};
use std::time::Instant;

/// After so long a wait the user's other programs may borrow, too, from the next decision on.
const LONG_NS: u64 = 50_000_000;

impl Daemon {
    /// Finds out whether a program waits in MPI now. In a region it doesn't: other threads compute. True if a
    /// wait begins.
    pub(super) fn look_at_wait(&mut self, id: ProgramId) -> bool {
        let Some(program) = self.registry.get_mut(id) else { return false };
        let Some(pages) = self.parts.talk.pages(id.0) else { return false };
        let now_ns = clock::now_ns();
        let waits = pages.rank().waits()
            && now_ns >= program.phase.disbelieved_ns
            && pages.read().is_some_and(|page| !program.evidence.peek(clock::ticks(), &page).in_region);
        if waits == program.phase.waits_since_ns.is_some() {
            return false;
        }
        program.phase.waits_since_ns = waits.then_some(now_ns);
        match waits {
            true => self.timers.ask_to_lend(),
            false => self.timers.ask_to_take_back(),
        }
        waits
    }

    /// Between decisions: gives and takes back what is lent.
    pub(super) fn lend_while_they_wait(&mut self) {
        if self.timers.loans_are_due() {
            let began = Instant::now();
            let changes = self.grant_with_loans();
            changes.into_iter().for_each(|id| self.carry_out(id));
            self.timers.loans_were_made(began.elapsed());
        }
    }

    /// What is lent now. Whoever takes turns with others has its contexts to itself in its turn.
    pub(super) fn loans(&self, now_ns: u64) -> Vec<Loan> {
        let holders: Vec<Holder<'_>> = self
            .registry
            .iter()
            .filter_map(|program| {
                let id = program.identity.id;
                let base = self.bases.get(&id)?;
                let contexts = base.dop.filter(|_| !program.phase.takes_turns)?;
                let wait = program.phase.waits_since_ns.map(|since| match now_ns.saturating_sub(since) {
                    LONG_NS.. => Wait::Long,
                    _ => Wait::Short,
                });
                Some(Holder {
                    id,
                    user: program.identity.owner,
                    job: self.parts.talk.pages(id.0).and_then(|pages| pages.rank().job()),
                    contexts,
                    pus: &base.pus,
                    usable: &program.reach.usable,
                    // What it does for a moment, to learn from it, is done with just so many.
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
}
