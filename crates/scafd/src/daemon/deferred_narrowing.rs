//! Programs whose affinity is set later than their grant is told: those that lose contexts while a library of
//! theirs, a BLAS, is in a call on several threads, and those whose user has had too many threads moved
//! (`move_budget.rs`).
//!
//! Such a call can't be made smaller, and its threads wait for each other by spinning: folded onto one
//! context, a Cholesky factorisation of 70 ms takes 2 s. The library is told of the new grant at once, for
//! its next call. The program keeps its affinity until its threads are no more than its contexts, 20 to 30 ms
//! after the call's end, or for [`LONGEST`].

use super::parts::Daemon;
use crate::observe::clock;
use crate::registry::Program;
use scaf_policy::ProgramId;
use scaf_proto::runtimes::{Kind, Promise};
use std::time::{Duration, Instant};

const LONGEST: Duration = Duration::from_secs(1);
/// Time between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(15);
/// Threads of a program that are asked whether they run, 6 us each.
const MOST_THREADS: usize = 12;

impl Daemon {
    /// Whether its affinity is set later; false if it is to be set now.
    pub(super) fn waits(&mut self, id: ProgramId) -> bool {
        let waits_its_turn = self.waits_its_turn(id);
        let in_calls = !waits_its_turn && self.is_in_calls(id);
        let Some(program) = self.registry.get_mut(id) else { return false };
        let now_ns = clock::now_ns();
        let until = program.phase.late_ns.unwrap_or(now_ns + LONGEST.as_nanos() as u64);
        let waits = waits_its_turn || in_calls && now_ns < until;
        program.phase.late_ns = waits.then_some(until);
        program.phase.looked_ns = now_ns;
        waits
    }

    /// Sets what has waited long enough.
    pub(super) fn narrow_late(&mut self) {
        let now_ns = clock::now_ns();
        let is_due = |program: &&Program| {
            let since_ns = now_ns.saturating_sub(program.phase.looked_ns);
            program.phase.late_ns.is_some() && since_ns >= LOOK.as_nanos() as u64
        };
        let late: Vec<ProgramId> = self.registry.iter().filter(is_due).map(|p| p.identity.id).collect();
        for id in late {
            if !self.waits(id) {
                self.set_affinity(id);
            }
        }
    }

    pub(super) fn is_late(&self) -> bool {
        self.registry.iter().any(|program| program.phase.late_ns.is_some())
    }

    /// Whether a program's threads have to wait until what its user has had is made up for.
    pub(super) fn waits_its_turn(&self, id: ProgramId) -> bool {
        let owner = self.registry.get(id).map(|program| program.identity.owner);
        owner.is_some_and(|owner| self.sweeps.has_to_wait(&self.parts.talk, owner, Instant::now()))
    }

    /// A program's threads were moved.
    pub(super) fn has_moved(&mut self, id: ProgramId) {
        if let Some(program) = self.registry.get(id) {
            self.sweeps.moved(program.identity.owner, program.grant.counted, Instant::now());
        }
    }

    fn is_in_calls(&mut self, id: ProgramId) -> bool {
        let (Some(program), Some(pages)) = (self.registry.get(id), self.parts.talk.pages(id.0)) else {
            return false;
        };
        let (Some(dop), Some(_)) = (program.grant.dop, &program.grant.set) else { return false };
        let mut follows = false;
        let mut at_work = program.phase.came_at_work && pages.reported_runtimes().next().is_none();
        for runtime in pages.reported_runtimes() {
            let blas = matches!(runtime.kind, Kind::OpenBlas | Kind::Blis);
            follows |= blas && runtime.promise == Promise::Follows;
            at_work |= blas && runtime.at_work > dop;
        }
        let in_region = || pages.read().is_some_and(|page| page.1.iter().flatten().any(|slot| slot.team > 0));
        let known = program.phase.late_ns.is_some()
            || at_work && (follows || program.phase.came_at_work)
            || follows && !in_region();
        if !known {
            return false;
        }
        let (running, cost) = self.observer.process(program.identity.pid).runnable(MOST_THREADS);
        self.sweeps.moved(program.identity.owner, cost, Instant::now());
        running > dop as usize
    }
}
