//! Contexts lent while their program is in a serial phase; they go back at once when it enters a region.
//!
//! A tick finds out who is in such a phase ([`crate::registry::Phase::listen`]), and the policy may leave
//! such a program one context. A program whose grant says so sends a packet when it enters a region.

use super::parts::Daemon;
use crate::inspect::When;
use crate::observe::clock;
use crate::observe::proc_pid::Process;
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
        if self.registry.get(id).is_some_and(|program| program.phase.starting) {
            self.has_started(id);
        }
        let lends = |program: &&mut Program| program.grant.lent && program.phase.lends();
        if let Some(program) = self.registry.get_mut(id).filter(lends) {
            program.phase.is_parallel(clock::now_ns());
            self.timers.ask();
        }
    }

    /// A program enters its first region: its contexts are its own now, and its code has to be known.
    fn has_started(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.phase.is_parallel(clock::now_ns());
        let Some(program) = self.registry.get(id).filter(|program| program.reach.alone.is_none()) else {
            return;
        };
        if let Some(why) = self.why_bound(program.identity.pid, &program.reach.own, &program.grant.masks) {
            self.leave_alone(id, why);
            return self.timers.ask();
        }
        let (lent, modules) = (program.grant.lent, program.code.modules());
        if program.code.is_urgent() {
            self.inspect(id, modules, When::Now);
        }
        match lent {
            true => self.timers.ask(),
            // It isn't narrowed yet.
            false => self.carry_out(id),
        }
    }

    /// Looks whether programs have started that haven't said so.
    pub(super) fn find_started(&mut self) {
        let has_started = |program: &&Program| {
            let page = || self.parts.talk.pages(program.identity.id.0)?.read();
            let seen = || Some(program.evidence.peek(clock::ticks(), &page()?));
            program.phase.starting && seen().is_some_and(|seen| program.phase.has_returned(&seen))
        };
        let started = self.registry.iter().filter(has_started);
        let ids: Vec<ProgramId> = started.map(|program| program.identity.id).collect();
        ids.into_iter().for_each(|id| self.has_started(id));
    }

    /// Lets programs go that start and do something else than to compute on one thread.
    pub(super) fn let_go_astray(&mut self) {
        let astray = self.registry.iter().filter(|program| program.phase.astray);
        let ids: Vec<ProgramId> = astray.map(|program| program.identity.id).collect();
        for id in ids {
            self.let_go(id);
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
        let lent = |program: &&mut Program| program.grant.lent && !program.phase.starting;
        for program in self.registry.iter_mut().filter(lent) {
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
    if program.phase.serial && !program.phase.starting && process.runnable(MOST_THREADS).0 > 1 {
        program.phase.is_parallel(clock::now_ns());
    }
}
