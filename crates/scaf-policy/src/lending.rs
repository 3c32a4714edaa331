//! Loans: while a program waits for others, they may use its contexts, and return them when its wait ends.
//!
//! This is LeWI, "lend when idle" (M. Garcia et al., ICPP 2009): a rank of an MPI job that waits in MPI lends
//! to the job's other ranks first; the user's other programs follow, only for waits that last. Programs of
//! another user never borrow, because only the program itself says that it waits. A loan doesn't change the
//! lender's grant: both share the contexts for the moment that narrowing the borrower takes.

use crate::{ProgramId, PuSet};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Holder<'a> {
    pub id: ProgramId,
    pub user: u32,
    pub job: Option<u64>,
    pub contexts: u32,
    pub pus: &'a PuSet,
    pub usable: &'a PuSet,
    pub most: u32,
    pub wait: Option<Wait>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// For a moment so far: ranks of its job may borrow.
    Short,
    /// Long enough for the user's other programs to borrow.
    Long,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Loan {
    pub to: ProgramId,
    /// Whose it is: the first of those who share it.
    pub from: ProgramId,
    pub pu: u32,
}

/// Deals out the PUs all of whose holders wait: one after the other to whoever of the nearest has fewest
/// contexts then, among equals to the earliest program.
pub fn loans(holders: &[Holder<'_>]) -> Vec<Loan> {
    if holders.iter().all(|holder| holder.wait.is_none()) {
        return Vec::new();
    }
    let mut held: BTreeMap<u32, Vec<&Holder<'_>>> = BTreeMap::new();
    for holder in holders {
        holder.pus.iter().for_each(|pu| held.entry(pu).or_default().push(holder));
    }
    let mut borrowed: BTreeMap<ProgramId, u32> = BTreeMap::new();
    let mut loans = Vec::new();
    for (pu, of) in held {
        let Some(from) = of.first().filter(|_| of.iter().all(|holder| holder.wait.is_some())) else {
            continue;
        };
        let long = of.iter().all(|holder| holder.wait == Some(Wait::Long));
        let jobs: BTreeSet<u64> = of.iter().filter_map(|holder| holder.job).collect();
        let best = holders
            .iter()
            .filter_map(|holder| {
                let contexts = holder.contexts + borrowed.get(&holder.id).unwrap_or(&0);
                let may = holder.wait.is_none()
                    && of.iter().all(|lender| lender.user == holder.user)
                    && holder.usable.contains(pu)
                    && contexts < holder.most;
                let is_of_job = holder.job.is_some_and(|job| jobs.contains(&job));
                (may && (is_of_job || long)).then_some((!is_of_job, contexts, holder.id))
            })
            .min();
        if let Some((_, _, to)) = best {
            *borrowed.entry(to).or_default() += 1;
            loans.push(Loan { to, from: from.id, pu });
        }
    }
    loans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(pus: &[u32]) -> PuSet {
        pus.iter().copied().collect()
    }

    fn rank<'a>(id: u64, job: u64, pus: &'a PuSet, usable: &'a PuSet, wait: Option<Wait>) -> Holder<'a> {
        let contexts = u32::try_from(pus.len()).unwrap();
        Holder { id: ProgramId(id), user: 7, job: Some(job), contexts, pus, usable, most: 4, wait }
    }

    fn loan(to: u64, from: u64, pu: u32) -> Loan {
        Loan { to: ProgramId(to), from: ProgramId(from), pu }
    }

    #[test]
    fn a_rank_that_waits_lends_to_the_ranks_of_its_job() {
        let (a, b, c, all) = (set(&[0, 1]), set(&[2]), set(&[3]), set(&[0, 1, 2, 3]));
        let waits = Some(Wait::Short);
        let at = |wait| [rank(1, 5, &a, &all, wait), rank(2, 5, &b, &all, None), rank(3, 6, &c, &all, None)];
        assert_eq!(loans(&at(None)), []);
        assert_eq!(loans(&at(waits)), [loan(2, 1, 0), loan(2, 1, 1)]);
        let mut three = at(waits);
        three[2].job = Some(5);
        assert_eq!(loans(&three), [loan(2, 1, 0), loan(3, 1, 1)]);
        // No more than it can use, or may have.
        three[1].most = 1;
        assert_eq!(loans(&three), [loan(3, 1, 0), loan(3, 1, 1)]);
        three[2].usable = &c;
        assert_eq!(loans(&three), []);
    }

    #[test]
    fn others_borrow_only_from_who_waits_long_and_other_users_never_do() {
        let (a, b, c, all) = (set(&[0, 1]), set(&[2]), set(&[3]), set(&[0, 1, 2, 3]));
        let mut of = [
            rank(1, 5, &a, &all, Some(Wait::Short)),
            rank(2, 6, &b, &all, None),
            Holder { user: 8, job: Some(5), ..rank(3, 5, &c, &all, None) },
        ];
        // Another user may say anything about its job.
        assert_eq!(loans(&of), []);
        of[0].wait = Some(Wait::Long);
        assert_eq!(loans(&of), [loan(2, 1, 0), loan(2, 1, 1)]);
        of[1].most = 2;
        assert_eq!(loans(&of), [loan(2, 1, 0)]);
    }

    #[test]
    fn a_shared_context_is_lent_when_all_who_share_it_wait() {
        let (a, b, all) = (set(&[0]), set(&[1]), set(&[0, 1]));
        let short = Some(Wait::Short);
        let mut of = [rank(1, 5, &a, &all, short), rank(2, 5, &a, &all, None), rank(3, 5, &b, &all, None)];
        assert_eq!(loans(&of), []);
        of[1].wait = short;
        assert_eq!(loans(&of), [loan(3, 1, 0)]);
    }

    proptest! {
        #[test]
        fn whoever_borrows_works_can_use_it_and_doesnt_have_it(
            programs in prop::collection::vec(
                (0u32..2, prop::option::of(0u64..2), 0u64..256, 0u64..256, 1u32..9, 0u8..3), 0..8)
        ) {
            let sets: Vec<(PuSet, PuSet)> = programs
                .iter()
                .map(|of| (PuSet::from_words(&[of.2 & of.3]), PuSet::from_words(&[of.3])))
                .collect();
            let holders: Vec<Holder<'_>> = (0u64..)
                .zip(&programs)
                .zip(&sets)
                .map(|((id, of), (pus, usable))| Holder {
                    id: ProgramId(id),
                    user: of.0,
                    job: of.1,
                    contexts: u32::try_from(pus.len()).unwrap(),
                    pus,
                    usable,
                    most: of.4,
                    wait: [None, Some(Wait::Short), Some(Wait::Long)][usize::from(of.5)],
                })
                .collect();
            let of = |id: ProgramId| holders.iter().find(|holder| holder.id == id).unwrap();
            let loans = loans(&holders);
            for loan in &loans {
                let (to, from) = (of(loan.to), of(loan.from));
                prop_assert!(to.wait.is_none() && to.usable.contains(loan.pu) && !to.pus.contains(loan.pu));
                prop_assert!(from.wait.is_some() && from.pus.contains(loan.pu) && from.user == to.user);
                let job = to.job.is_some() && holders.iter().any(|holder| {
                    holder.pus.contains(loan.pu) && (holder.user, holder.job) == (to.user, to.job)
                });
                prop_assert!(job || from.wait == Some(Wait::Long));
                let borrowed = loans.iter().filter(|other| other.to == loan.to).count();
                prop_assert!(to.contexts as usize + borrowed <= to.most as usize);
                prop_assert_eq!(loans.iter().filter(|other| other.pu == loan.pu).count(), 1);
            }
            // Nothing that a rank of the same job could use stays unlent.
            for holder in holders.iter().filter(|holder| holder.wait.is_none() && holder.job.is_some()) {
                let has = loans.iter().filter(|loan| loan.to == holder.id).count() + holder.contexts as usize;
                for pu in holder.usable.iter().filter(|_| has < holder.most as usize) {
                    let held: Vec<_> = holders.iter().filter(|other| other.pus.contains(pu)).collect();
                    let own = (holder.user, holder.job);
                    let lendable = held.iter().any(|other| (other.user, other.job) == own)
                        && held.iter().all(|other| other.wait.is_some() && other.user == holder.user);
                    prop_assert!(!lendable || loans.iter().any(|loan| loan.pu == pu));
                }
            }
        }
    }
}
