//! Contexts that were lent while their program was in a serial phase, and go back at once when it enters a parallel region.
//!
//! A tick finds out who is in such a phase ([`crate::registry::Program::phase`]), the policy may give such a program one context,
//! and the program's grant says so. A program whose grant says so sends one packet when it enters a region. A decision takes as long as for
//! a program that arrives, about 1 ms.

use super::state::Daemon;
use crate::observe::clock;
use crate::observe::process::Process;
use crate::registry::Program;
use scaf_policy::ProgramId;

/// Threads of a program that are asked whether they run, once a second at 6 us each: so many of the first and of the last, for the
/// first may all be its team's, asleep, while others work.
const MOST_THREADS: usize = 12;

impl Daemon {
    /// A program says that it has entered a region. From one that has nothing to get back, that means nothing.
    pub(super) fn entered(&mut self, id: ProgramId) {
        if let Some(program) = self.registry.get_mut(id).filter(|program| program.grant.lent) {
            program.phase.is_parallel(clock::now_ns());
            self.timers.returns();
        }
    }

    /// Finds programs that entered a region in the moment between the tick that found them serial and the grant that told them to say so.
    pub(super) fn find_returned(&mut self) {
        for program in self.registry.iter_mut().filter(|program| program.grant.lent) {
            if let Some(page) = self.parts.talk.pages(program.identity.id.0).and_then(|pages| pages.read()) {
                let seen = program.evidence.peek(clock::ticks(), &page);
                if program.phase.has_returned(&seen) {
                    program.phase.is_parallel(clock::now_ns());
                    self.timers.returns();
                }
            }
        }
    }

    /// Looks once a second whether programs begin to compute by other means than regions, while their contexts are lent.
    pub(super) fn watch_lent(&mut self) {
        for program in self.registry.iter_mut().filter(|program| program.grant.lent) {
            doubt(program, &self.observer.process(program.identity.pid));
        }
    }
}

/// Takes a program for serial no more if several of its threads want to run: by other means than OpenMP's, for which it enters no region. On a
/// machine that is busy, or with one context, no clock shows that.
pub(super) fn doubt(program: &mut Program, process: &Process) {
    if program.phase.serial && process.runnable(MOST_THREADS) > 1 {
        program.phase.is_parallel(clock::now_ns());
    }
}
