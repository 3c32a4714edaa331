//! The steps of a pass but the last two, which [`super::carry_out`] has.

use super::deferred_narrowing::{LONGEST_NS, LONGEST_START_NS};
use super::measure::{Tick, seen};
use super::parts::Daemon;
use super::serial_phases::{self, MOST_THREADS};
use super::{deferred_narrowing, mpi_loans, new_threads, starting, time_slices};
use crate::apply::gang::Gangs;
use crate::config::Gang;
use crate::journal::Entry;
use crate::log::warning;
use crate::observe::clock::now_ns;
use crate::observe::unmanaged_load::Sample;
use crate::paths::Scope;
use crate::registry::Program;
use scaf_policy::{Allocation, Machine, ProgramId, PuSet, Users};
use std::collections::BTreeMap;
use std::time::Instant;

/// Contexts that others may be busy on, beyond those taken from programs, before programs are disturbed.
const DISTURBED: f64 = 0.6;

impl Daemon {
    /// Ticks a second: the policy's choice, else the configuration's.
    pub(super) fn rate_hz(&self) -> f64 {
        self.decider.policy.rate_hz().unwrap_or(self.config.rate_hz)
    }

    /// Reads clocks and load, detaches programs that have ended, and follows new threads and children.
    pub(super) fn observe(&mut self) -> Sample {
        self.timers.ticked(self.rate_hz());
        let programs: Vec<(ProgramId, u32)> =
            self.registry.iter().map(|p| (p.identity.id, p.identity.pid)).collect();
        let pus = &self.capacity.limits.pus;
        let sample = match self.observer.sample(pus, programs.into_iter(), self.inspector.children()) {
            Ok((sample, gone)) => {
                gone.into_iter().for_each(|id| _ = self.detach(id));
                if !self.capacity.is_pretended {
                    let mut managed = sample.clone();
                    let is_nice = |program: &Program| program.reach.priority.nice > 0;
                    managed.counts_nice = self.registry.iter().all(is_nice);
                    let counts_nice = managed.counts_nice;
                    let is_apart = |it: &&Program| it.reach.alone.is_some() || (is_nice(it) && !counts_nice);
                    for program in self.registry.iter().filter(is_apart) {
                        managed.cpu_ns.remove(&program.identity.id);
                    }
                    self.load.update(managed);
                }
                sample
            }
            Err(e) => {
                warning!("/proc/stat: {e}: unmanaged load is unknown");
                Sample::default()
            }
        };
        let (registry, around) = (&mut self.registry, (&self.observer, &self.talk));
        new_threads::follow(registry, &mut self.apply, &mut self.budget, around, &mut self.limiters);
        if self.timers.slow_is_due() {
            self.once_a_second();
        }
        sample
    }

    fn once_a_second(&mut self) {
        self.meters.tsc.refine();
        self.refresh_capacity();
        self.detach_other_users();
        let around = (&self.observer, &self.talk);
        new_threads::widen_children((&self.registry, &self.bound), &self.apply, &mut self.budget, around);
        for program in self.registry.iter_mut().filter(|program| program.grant.lent) {
            let process = self.observer.process(program.identity.pid);
            serial_phases::end_if_parallel(program, now_ns(), || process.runnable(MOST_THREADS).0);
        }
        if self.timers.keep_is_due() {
            self.registry.iter_mut().for_each(|program| self.profiles.keep(program));
        }
        self.profiles.ask_again(&mut self.registry);
    }

    pub(super) fn refresh_capacity(&mut self) {
        self.capacity.refresh(&self.observer);
        self.talk.refresh_owners();
        let (around, bind) = ((&self.observer, &self.talk), !self.apply.leaves_affinities());
        self.capacity.limit_programs(&mut self.registry, around, &mut self.budget, bind);
    }

    pub(super) fn estimate(&mut self, sample: &Sample) {
        let oversubscribed = self.is_oversubscribed();
        let (config, talk, observer) = (&self.config, &self.talk, &self.observer);
        let tick = Tick { config, talk, observer, sample, oversubscribed };
        self.meters.read_all(&mut self.registry, &tick, &mut self.budget, &mut self.limiters);
    }

    /// Whether programs have contexts that others are busy on.
    pub(super) fn is_oversubscribed(&self) -> bool {
        let load = self.load.contexts_now();
        self.config.count_load
            && load - f64::from(self.unmanaged()) > DISTURBED
            && self.grants.contexts() + load > self.capacity.limits.pus.len() as f64
    }

    fn unmanaged(&self) -> u32 {
        let by_user = self.scope != Scope::Session && self.config.users != Users::ByProgram;
        self.capacity.unmanaged(self.load.taken(), &self.registry, by_user)
    }

    /// Contexts that may be allocated.
    pub(super) fn contexts(&self) -> u32 {
        let busy = if self.config.count_load { self.unmanaged() } else { 0 };
        let kept = busy.saturating_add(self.config.reserve);
        self.capacity.limits.contexts().saturating_sub(kept).max(1)
    }

    /// The same, as far as some program may use them: two that may use the same 12 of 16 have 6 each.
    pub(super) fn within_reach(&self) -> u32 {
        let programs = self.registry.iter().filter(|program| program.reach.alone.is_none());
        let all = programs.fold(PuSet::new(), |all, program| all.union(&program.reach.usable));
        let most = if all.is_empty() { u32::MAX } else { u32::try_from(all.len()).unwrap_or(u32::MAX) };
        self.contexts().min(most)
    }

    /// Who may be made to take turns.
    pub(super) fn gang(&mut self) -> Gang {
        time_slices::permitted(self.config.gang, self.apply.gangs())
    }

    pub(super) fn allocate(&mut self) -> (Allocation, Option<Entry>) {
        let (capacity, gang, users) = (self.within_reach(), self.gang(), self.config.users);
        let (units, pace) = (&self.capacity.units, self.pace);
        let now_s = || now_ns() as f64 * 1e-9 * pace;
        let machine = || Machine { capacity, now_s: now_s(), units: units.clone(), gang, users };
        self.decider.allocate(&self.registry, machine)
    }

    pub(super) fn place(&mut self, allocation: &Allocation) -> BTreeMap<ProgramId, PuSet> {
        let machine = (&self.capacity.topology, self.config.placement);
        self.decider.place(&self.registry, &self.grants, allocation, machine)
    }

    /// Between decisions: begins and ends loans of programs that wait in MPI.
    pub(super) fn lend(&mut self) {
        let began = Instant::now();
        if self.loans.at().is_some_and(|at| began >= at) {
            self.update_grants();
            self.loans.done(Instant::now(), began.elapsed());
        }
    }

    /// Updates the registry by the latest decision and by loans, and applies changes. True if there were any.
    pub(super) fn update_grants(&mut self) -> bool {
        let now_ns = now_ns();
        let job = |id: ProgramId| self.talk.pages(id.0).and_then(|pages| pages.rank().job());
        let loans = mpi_loans::current(&self.registry, &self.grants, job, now_ns);
        let (meters, talk, observer) = (&self.meters, &self.talk, &self.observer);
        let lends = self.decider.policy.lends();
        let restart = |program: &mut _| meters.restart(program, talk, observer);
        let changes = self.grants.update(&mut self.registry, &loans, lends, now_ns, restart);
        changes.to_publish.into_iter().for_each(|id| self.write_grant(id));
        let changed = !changes.to_apply.is_empty();
        changes.to_apply.into_iter().for_each(|id| self.carry_out(id));
        changed
    }

    /// Finds starting programs that have entered a region without a packet.
    pub(super) fn find_started(&mut self) {
        let started = starting::started(&self.registry, |program| seen(program, &self.talk));
        started.into_iter().for_each(|id| self.has_started(id));
    }

    pub(super) fn detach_unsuitable(&mut self) {
        starting::unsuitable(&self.registry).into_iter().for_each(|id| _ = self.detach(id));
    }

    /// Finds programs whose contexts are lent and that compute again.
    pub(super) fn find_returned(&mut self) {
        let says = |id: ProgramId| self.talk.pages(id.0).is_some_and(|pages| pages.rank().waits());
        let waits = |id, since: Option<u64>| since.is_some() || says(id);
        let all = self.registry.iter().map(|program| (program.identity.id, program.phase.waits_since_ns));
        let waiting: Vec<ProgramId> =
            all.filter(|(id, since)| waits(*id, *since)).map(|(id, _)| id).collect();
        waiting.into_iter().for_each(|id| _ = self.look_at_wait(id));
        if serial_phases::find_returned(&mut self.registry, |program| seen(program, &self.talk), now_ns()) {
            self.timers.ask();
        }
    }

    /// Checks whether a program waits in MPI; in a region it doesn't, for other threads compute. True if a
    /// wait begins.
    pub(super) fn look_at_wait(&mut self, id: ProgramId) -> bool {
        let Some(program) = self.registry.get_mut(id) else { return false };
        let Some(pages) = self.talk.pages(id.0) else { return false };
        let waits = pages.rank().waits() && seen(program, &self.talk).is_some_and(|seen| !seen.in_region);
        self.loans.waits(program, waits, now_ns())
    }

    /// Whether a program's affinity is to be set later than its grant is published.
    pub(super) fn defers(&mut self, id: ProgramId) -> bool {
        let Some(program) = self.registry.get(id) else { return false };
        let (owner, now) = (program.identity.owner, Instant::now());
        let is_spent = self.budget.is_spent(owner, self.talk.is_trusted(owner), now);
        let may_be_in_call = || {
            let pages = self.talk.pages(id.0)?;
            let runtimes: Vec<_> = pages.reported_runtimes().collect();
            let running = |page: crate::estimate::Page| page.1.iter().flatten().any(|slot| slot.team > 0);
            let in_region = || pages.read().is_some_and(running);
            let is_deferred = self.deferred.contains(id);
            Some(deferred_narrowing::may_be_in_call(program, is_deferred, &runtimes, in_region))
        };
        let mut in_call = false;
        if !is_spent && may_be_in_call().unwrap_or(false) {
            let process = self.observer.process(program.identity.pid);
            let (running, cost) = process.runnable(deferred_narrowing::MOST_THREADS);
            self.budget.charge(owner, cost, now);
            in_call = program.grant.dop.is_some_and(|dop| running > dop as usize);
        }
        let narrows = program.grant.set.is_some();
        let starts = narrows && self.talk.pages(id.0).is_some_and(|pages| !pages.begin_moves());
        let longest_ns = if in_call { Some(LONGEST_NS) } else { starts.then_some(LONGEST_START_NS) };
        let defers = self.deferred.defers(id, is_spent, longest_ns, now_ns());
        if let Some(pages) = self.talk.pages(id.0).filter(|_| narrows && defers) {
            pages.end_moves();
        }
        defers
    }

    /// Sets affinities that were deferred long enough.
    pub(super) fn narrow_deferred(&mut self) {
        for id in self.deferred.due(now_ns()) {
            if !self.defers(id) {
                self.set_affinity(id);
            }
        }
    }

    /// Looks whom others may wait for.
    pub(super) fn find_waited_for(&mut self) {
        let turns = self.gang() != Gang::Off;
        let around = (&self.observer, &self.talk);
        self.waited_for.look(&mut self.registry, around, &mut self.budget, turns);
    }

    /// Lets programs that wait for themselves while they are folded take turns, or leaves them alone. True if
    /// there was one.
    pub(super) fn separate_spinning(&mut self) -> bool {
        let asked = matches!(self.config.gang, Some(Gang::Spinning | Gang::Auto));
        let takes_turns = asked && self.gang() != Gang::Off;
        let around = (&self.observer, &self.talk);
        let found = self.spinning.find(&mut self.registry, around, &mut self.budget);
        let changed = found.yields || !found.stuck.is_empty();
        for stuck in found.stuck {
            let why = stuck.why();
            if let Some(uid) = stuck.teaches {
                self.profiles.keep_spinner(uid, stuck.place);
            }
            let Some(program) = self.registry.get_mut(stuck.id) else { continue };
            if program.code.only_spins()
                && program.code.spins_itself()
                && let Ok(file) = self.observer.process(program.identity.pid).executable()
            {
                self.spinning.add_unyielding(program.identity.uid, file);
            }
            program.code.find_rigid(why.clone());
            // With fewer contexts than it needs it would wait for itself in its turns, too.
            if !(takes_turns && program.may_have_all()) {
                self.leave_alone(stuck.id, why);
            }
        }
        changed
    }

    /// Leaves programs alone that can't be stopped between turns. True if there was one.
    pub(super) fn release_unstoppable(&mut self) -> bool {
        let failed = self.apply.gangs().map(Gangs::failed).unwrap_or_default();
        for (id, why) in time_slices::unstoppable(&self.registry, &failed) {
            self.leave_alone(id, why);
        }
        !failed.is_empty()
    }

    /// Adds this moment to the history if one is due.
    pub(super) fn keep_moment(&mut self, tick: bool) {
        if self.history.is_due(now_ns(), tick) {
            let now = self.moment();
            self.history.keep(now);
        }
    }
}
