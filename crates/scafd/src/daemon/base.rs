//! What a decision gave a program, before loans ([`super::mpi_loans`]) change it for a moment.

use scaf_policy::lending::Loan;
use scaf_policy::{ProgramId, PuSet};

/// What was decided about a program.
#[derive(Clone)]
pub(super) struct Base {
    pub dop: Option<u32>,
    pub pus: PuSet,
    pub reason: String,
    pub is_idle: bool,
}

impl Base {
    /// With what the program has borrowed, and a word about what it has lent.
    pub fn with(mut self, loans: &[Loan], id: ProgramId) -> Base {
        let Some(dop) = self.dop else { return self };
        let of = |which: fn(&Loan) -> ProgramId| loans.iter().filter(move |loan| which(loan) == id);
        let (borrowed, lent) = (of(|loan| loan.to).count(), of(|loan| loan.from).count());
        if let Some(first) = of(|loan| loan.to).next() {
            self.dop = Some(dop.saturating_add(u32::try_from(borrowed).unwrap_or(0)));
            self.pus = self.pus.union(&of(|loan| loan.to).map(|loan| loan.pu).collect());
            self.reason = format!(
                "{}; and {borrowed} borrowed from program {}, which waits in MPI",
                self.reason, first.from.0
            );
        }
        if let Some(first) = of(|loan| loan.from).next() {
            self.reason =
                format!("{}; {lent} lent to program {} while it waits in MPI", self.reason, first.to.0);
        }
        self
    }
}
