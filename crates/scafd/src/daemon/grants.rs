//! What the latest decision gave each program, and what it has besides or less by loans for the moment.

use crate::registry::{Program, Registry};
use scaf_policy::lending::Loan;
use scaf_policy::{Allocation, Dop, ProgramId, PuSet};
use std::collections::{BTreeMap, BTreeSet};

/// What was decided about a program.
#[derive(Clone)]
pub(super) struct Decided {
    pub dop: Option<u32>,
    pub pus: PuSet,
    pub reason: String,
    pub is_idle: bool,
}

impl Decided {
    /// With what the program has borrowed, and a reason that names its loans.
    fn with(mut self, loans: &[Loan], id: ProgramId) -> Decided {
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

/// Programs whose grants have changed.
#[derive(Default)]
pub(super) struct Changes {
    /// To be published and applied. Those that lose contexts come first, so that no context is granted twice
    /// on the way.
    pub to_apply: Vec<ProgramId>,
    /// To be published only: just a flag has changed.
    pub to_publish: Vec<ProgramId>,
}

/// What was decided about each program last, before loans.
#[derive(Default)]
pub(super) struct Grants(BTreeMap<ProgramId, Decided>);

impl Grants {
    /// Replaces the decision.
    pub fn decide(
        &mut self,
        registry: &Registry,
        allocation: &Allocation,
        mut places: BTreeMap<ProgramId, PuSet>,
    ) {
        let shares: BTreeMap<ProgramId, (Dop, &str)> =
            allocation.shares.iter().map(|s| (s.id, (s.dop, s.reason.as_str()))).collect();
        let idle: BTreeSet<ProgramId> = allocation.idle.iter().copied().collect();
        let of = |program: &Program| {
            let id = program.identity.id;
            let (dop, pus, reason) = match (shares.get(&id), places.remove(&id)) {
                (Some((Dop::Contexts(dop), reason)), Some(pus)) => {
                    (Some((*dop).max(1)), pus, (*reason).to_owned())
                }
                (Some((_, reason)), _) => (None, program.reach.own.clone(), (*reason).to_owned()),
                (None, _) => {
                    (None, program.reach.own.clone(), program.reach.alone.clone().unwrap_or_default())
                }
            };
            (id, Decided { dop, pus, reason, is_idle: idle.contains(&id) })
        };
        self.0 = registry.iter().map(of).collect();
    }

    pub fn decided(&self, id: ProgramId) -> Option<&Decided> {
        self.0.get(&id)
    }

    pub fn remove(&mut self, id: ProgramId) {
        self.0.remove(&id);
    }

    /// Contexts that are granted, before loans.
    pub fn contexts(&self) -> f64 {
        self.0.values().filter_map(|decided| decided.dop).map(f64::from).sum()
    }

    /// Updates the registry by the latest decision and by loans. `lends`: the policy lends serial programs'
    /// contexts. `restart` is called for each program whose DoP has changed.
    pub fn update(
        &self,
        registry: &mut Registry,
        loans: &[Loan],
        lends: bool,
        now_ns: u64,
        mut restart: impl FnMut(&mut Program),
    ) -> Changes {
        let mut changes: Vec<(bool, ProgramId)> = Vec::new();
        let mut to_publish = Vec::new();
        for (id, decided) in &self.0 {
            let id = *id;
            let Some(program) = registry.get_mut(id) else { continue };
            let (is_idle, waits) = (decided.is_idle, loans.iter().any(|loan| loan.from == id));
            let Decided { dop, pus, reason, .. } = decided.clone().with(loans, id);
            let (had, before) = (program.grant.pus.clone(), program.grant.dop);
            let changed = program.regrant(dop, pus, reason, now_ns);
            let by_phase = is_idle || lends && program.is_lent();
            let lent = by_phase || waits;
            let only_flag = by_phase == program.grant.lent_by_phase;
            program.grant.lent_by_phase = by_phase;
            let since = program.phase.lends_since_ns.unwrap_or(now_ns);
            program.phase.lends_since_ns = waits.then_some(since);
            program.grant.borrows = loans.iter().any(|loan| loan.to == id);
            if changed {
                if before != dop {
                    restart(program);
                }
                let loses = !had.is_subset(&program.grant.pus);
                changes.push((!loses, id));
            } else if lent != program.grant.lent {
                program.grant.renew();
                match only_flag {
                    true => to_publish.push(id),
                    false => changes.push((true, id)),
                }
            }
            program.grant.lent = lent;
        }
        changes.sort();
        Changes { to_apply: changes.into_iter().map(|(_, id)| id).collect(), to_publish }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::program;
    use scaf_policy::Share;

    const A: ProgramId = ProgramId(1);
    const B: ProgramId = ProgramId(2);

    fn decided(grants: &mut Grants, registry: &Registry, parts: [(ProgramId, &str); 2]) {
        let place = |text: &str| -> PuSet { text.parse().unwrap() };
        let share = |(id, pus): &(ProgramId, &str)| Share {
            id: *id,
            dop: Dop::Contexts(place(pus).len() as u32),
            reason: "so".into(),
        };
        let allocation = Allocation { shares: parts.iter().map(share).collect(), ..Allocation::default() };
        grants.decide(registry, &allocation, parts.iter().map(|(id, pus)| (*id, place(pus))).collect());
    }

    #[test]
    fn who_loses_contexts_is_narrowed_before_others_get_them() {
        let (mut registry, mut grants) = (Registry::default(), Grants::default());
        (1..=2).for_each(|id| registry.attach(program(id)));
        decided(&mut grants, &registry, [(A, "0"), (B, "1-3")]);
        assert_eq!(grants.contexts(), 4.0);
        let mut restarted = 0;
        let changes = grants.update(&mut registry, &[], false, 1, |_| restarted += 1);
        assert_eq!((changes.to_apply, restarted), (vec![A, B], 2));
        decided(&mut grants, &registry, [(A, "0-1"), (B, "2-3")]);
        let changes = grants.update(&mut registry, &[], false, 2, |_| restarted += 1);
        assert_eq!((changes.to_apply, changes.to_publish, restarted), (vec![B, A], vec![], 4));
        let changes = grants.update(&mut registry, &[], false, 3, |_| restarted += 1);
        assert_eq!((changes.to_apply, restarted), (vec![], 4));
    }

    #[test]
    fn a_loan_widens_the_borrower_and_only_its_flag_changes_for_the_lender() {
        let (mut registry, mut grants) = (Registry::default(), Grants::default());
        (1..=2).for_each(|id| registry.attach(program(id)));
        decided(&mut grants, &registry, [(A, "0-1"), (B, "2-3")]);
        grants.update(&mut registry, &[], false, 1, |_| {});
        let loan = Loan { to: A, from: B, pu: 3 };
        let changes = grants.update(&mut registry, &[loan], false, 2, |_| {});
        assert_eq!((changes.to_apply, changes.to_publish), (vec![A], vec![B]));
        let [a, b] = [A, B].map(|id| registry.get(id).unwrap().grant.clone());
        assert_eq!((a.dop, a.pus.to_string(), a.borrows), (Some(3), "0-1,3".into(), true));
        assert_eq!((b.dop, b.lent, b.lent_by_phase), (Some(2), true, false));
        assert!(a.reason.contains("borrowed from program 2") && b.reason.contains("lent to program 1"));
        let changes = grants.update(&mut registry, &[], false, 3, |_| {});
        assert_eq!((changes.to_apply, changes.to_publish), (vec![A], vec![B]));
    }
}
