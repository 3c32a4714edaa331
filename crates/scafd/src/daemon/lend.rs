//! Contexts lent while their program is in a serial phase; they go back at once when it enters a region.
//!
//! A tick finds out who is in such a phase ([`crate::registry::Phase::listen`]), and the policy may leave
//! such a program one context. A program whose grant says so sends a packet when it enters a region.

use super::state::Daemon;
use crate::observe::clock;
use crate::observe::process::Process;
use crate::registry::Program;
use scaf_policy::ProgramId;

/// Threads of a program that are asked whether they run, 6 us each: so many of the first and of the last. The
/// first may all be a sleeping team's.
const MOST_THREADS: usize = 12;

impl Daemon {
    pub(super) fn entered(&mut self, id: ProgramId) {
        if self.look_at_wait(id) {
            return;
        }
        let lends = |program: &&mut Program| program.grant.lent && program.phase.lends();
        if let Some(program) = self.registry.get_mut(id).filter(lends) {
            program.phase.is_parallel(clock::now_ns());
            self.timers.ask();
        }
    }

    pub(super) fn find_returned(&mut self) {
        let waits = |program: &&Program| {
            let says = |id: ProgramId| self.parts.talk.pages(id.0).is_some_and(|pages| pages.rank().waits());
            program.phase.waits_since_ns.is_some() || says(program.identity.id)
        };
        let waiting: Vec<ProgramId> =
            self.registry.iter().filter(waits).map(|program| program.identity.id).collect();
        for id in waiting {
            self.look_at_wait(id);
        }
        for program in self.registry.iter_mut().filter(|program| program.grant.lent) {
            if let Some(page) = self.parts.talk.pages(program.identity.id.0).and_then(|pages| pages.read()) {
                let seen = program.evidence.peek(clock::ticks(), &page);
                if program.phase.has_returned(&seen) {
                    program.phase.is_parallel(clock::now_ns());
                    self.timers.ask();
                }
            }
        }
    }

    /// Looks once a second whether programs compute by other means than regions while contexts are lent.
    pub(super) fn watch_lent(&mut self) {
        for program in self.registry.iter_mut().filter(|program| program.grant.lent) {
            doubt(program, &self.observer.process(program.identity.pid));
        }
    }
}

/// Takes a program for serial no more if several of its threads want to run, by other means than OpenMP's. On
/// a busy machine, or with one context, no clock shows that.
pub(super) fn doubt(program: &mut Program, process: &Process) {
    if program.phase.serial && process.runnable(MOST_THREADS).0 > 1 {
        program.phase.is_parallel(clock::now_ns());
    }
}
