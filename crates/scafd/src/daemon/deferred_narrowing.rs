//! Affinities that are set later than their grant is published: of programs that lose contexts while a BLAS
//! of theirs is in a call on several threads, or while they make a child ([`scaf_proto::child_starts`]), and
//! of users whose budget is spent ([`super::move_budget`]).
//!
//! The threads of such a call wait for each other by spinning: folded onto one context, a Cholesky
//! factorisation of 70 ms takes 2 s. The program keeps its affinity until no more of its threads run than it
//! has contexts, 20 to 30 ms after the call's end, or for [`LONGEST_NS`].

use crate::registry::Program;
use scaf_policy::ProgramId;
use scaf_proto::runtimes::{Kind, Promise, RuntimeCopy};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) const LONGEST_NS: u64 = 1_000_000_000;
/// The same for one that makes a child; `system` returns only when its child has ended.
pub(super) const LONGEST_START_NS: u64 = 60_000_000;
/// Time between two checks.
pub(super) const LOOK: Duration = Duration::from_millis(15);
/// Threads of a program that are asked whether they run, 6 us each.
pub(super) const MOST_THREADS: usize = 12;

/// Programs that are narrowed later. Times are in nanoseconds of CLOCK_MONOTONIC.
#[derive(Default)]
pub(super) struct DeferredNarrowing(BTreeMap<ProgramId, Deferred>);

struct Deferred {
    until_ns: u64,
    looked_ns: u64,
}

impl DeferredNarrowing {
    /// Whether a program's affinity is to be set later: while its user's budget is spent, and for so long at
    /// most if something else is to end before.
    pub fn defers(&mut self, id: ProgramId, is_spent: bool, longest_ns: Option<u64>, now_ns: u64) -> bool {
        let until_ns = self.0.get(&id).map_or(now_ns + longest_ns.unwrap_or(0), |it| it.until_ns);
        let defers = is_spent || longest_ns.is_some() && now_ns < until_ns;
        match defers {
            true => _ = self.0.insert(id, Deferred { until_ns, looked_ns: now_ns }),
            false => self.remove(id),
        }
        defers
    }

    pub fn contains(&self, id: ProgramId) -> bool {
        self.0.contains_key(&id)
    }

    pub fn remove(&mut self, id: ProgramId) {
        self.0.remove(&id);
    }

    pub fn due(&self, now_ns: u64) -> Vec<ProgramId> {
        let is_due = |it: &Deferred| now_ns.saturating_sub(it.looked_ns) >= LOOK.as_nanos() as u64;
        self.0.iter().filter(|(_, it)| is_due(it)).map(|(id, _)| *id).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether a program may be in a BLAS call, by the runtimes on its page. A library that follows grants is
/// taken to be in one unless a region runs.
pub(super) fn may_be_in_call(
    program: &Program,
    is_deferred: bool,
    runtimes: &[RuntimeCopy],
    in_region: impl FnOnce() -> bool,
) -> bool {
    let (Some(dop), Some(_)) = (program.grant.dop, &program.grant.set) else { return false };
    let came_at_work = program.phase.came_at_work;
    let blas = |it: &&RuntimeCopy| matches!(it.kind, Kind::OpenBlas | Kind::Blis);
    let follows = runtimes.iter().filter(blas).any(|it| it.promise == Promise::Follows);
    // A page without runtimes isn't written yet.
    let at_work =
        came_at_work && runtimes.is_empty() || runtimes.iter().filter(blas).any(|it| it.at_work > dop);
    is_deferred || at_work && (follows || came_at_work) || follows && !in_region()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::{grant, program};

    const ID: ProgramId = ProgramId(1);

    #[test]
    fn a_call_is_waited_for_but_not_for_ever() {
        let mut deferred = DeferredNarrowing::default();
        assert!(!deferred.defers(ID, false, None, 0) && deferred.is_empty());
        assert!(deferred.defers(ID, false, Some(LONGEST_NS), 0) && deferred.contains(ID));
        let look_ns = LOOK.as_nanos() as u64;
        assert_eq!((deferred.due(look_ns - 1), deferred.due(look_ns)), (vec![], vec![ID]));
        assert!(deferred.defers(ID, false, Some(LONGEST_NS), look_ns));
        assert_eq!(deferred.due(2 * look_ns - 1), []);
        assert!(!deferred.defers(ID, false, Some(LONGEST_NS), LONGEST_NS) && deferred.is_empty());
        assert!(deferred.defers(ID, true, None, 0) && deferred.defers(ID, true, None, 9 * LONGEST_NS));
        deferred.remove(ID);
        assert!(deferred.is_empty());
    }

    #[test]
    fn a_library_that_follows_or_came_at_work_may_be_in_a_call() {
        let mut p = program(1);
        let blas = |promise, at_work| RuntimeCopy {
            kind: Kind::OpenBlas,
            promise,
            threads: 4,
            most: 4,
            at_work,
            file: [0; scaf_proto::runtimes::FILE_BYTES],
        };
        let follows = [blas(Promise::Follows, 0)];
        assert!(!may_be_in_call(&p, true, &follows, || false), "it isn't managed");
        grant(&mut p, 2, 0);
        p.grant.set = Some(p.grant.pus.clone());
        assert!(may_be_in_call(&p, false, &follows, || false));
        assert!(!may_be_in_call(&p, false, &follows, || true));
        assert!(may_be_in_call(&p, false, &[blas(Promise::Follows, 3)], || true));
        assert!(!may_be_in_call(&p, false, &[], || false));
        p.phase.came_at_work = true;
        assert!(may_be_in_call(&p, false, &[], || true));
        assert!(may_be_in_call(&p, true, &follows, || true), "what is deferred is looked at");
    }
}
