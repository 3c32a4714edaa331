//! Allocate, place, apply and publish.
//!
//! Those who lose contexts come first, so that at no moment two programs are sent to the same context on
//! purpose.

use super::base::Base;
use super::parts::Daemon;
use crate::apply::{Target, Trouble, mask_words};
use crate::journal::Entry;
use crate::log::info;
use crate::observe::clock;
use crate::registry::Program;
use scaf_policy::place::{Want, place_allocation, scatter};
use scaf_policy::{Allocation, Decision, Dop, Machine, ProgramId, PuSet, allocate};
use scaf_proto::grant::Masks;
use std::collections::{BTreeMap, BTreeSet};

impl Daemon {
    pub(super) fn allocate(&mut self) -> (Allocation, Option<Entry>) {
        let requests: Vec<_> =
            self.registry.iter().filter(|p| p.reach.alone.is_none()).map(|p| p.request()).collect();
        if requests.is_empty() {
            return (Allocation::default(), None);
        }
        self.decisions += 1;
        let now_s = clock::now_ns() as f64 * 1e-9 * self.parts.pace;
        let units = self.ground.units.clone();
        let users = self.parts.config.users;
        let machine = Machine { capacity: self.within_reach(), now_s, units, gang: self.gang(), users };
        let mut allocation = allocate(self.parts.policy.as_mut(), &machine, &requests);
        let mut entry = Entry::of(Decision {
            number: self.decisions,
            policy: self.parts.policy.name().to_owned(),
            machine,
            programs: requests,
            allocation: allocation.clone(),
        });
        for share in &mut allocation.shares {
            let step = self.registry.get_mut(share.id).and_then(|program| program.evidence.steps.now);
            if let (Some(step), Dop::Contexts(dop)) = (step, share.dop)
                && step < dop
            {
                share.dop = Dop::Contexts(step);
                entry.steps.insert(share.id.0, step);
                share.reason = format!("for a moment, to learn its speedup there; else {}", share.reason);
            }
        }
        (allocation, Some(entry))
    }

    /// The capacity, as far as some program may use it: two that may use the same 12 of 16 have 6 each.
    pub(super) fn within_reach(&self) -> u32 {
        let programs = self.registry.iter().filter(|program| program.reach.alone.is_none());
        let all = programs.fold(PuSet::new(), |all, program| all.union(&program.reach.usable));
        let most = if all.is_empty() { u32::MAX } else { u32::try_from(all.len()).unwrap_or(u32::MAX) };
        self.capacity().min(most)
    }

    pub(super) fn note(&mut self, entry: Option<Entry>) {
        let Some(mut entry) = entry else { return };
        (entry.since, entry.objective, entry.floor) =
            (self.policy_since, self.parts.config.objective, self.parts.config.floor);
        let mut owners = BTreeMap::new();
        for program in self.registry.iter() {
            let id = program.identity.id.0;
            owners.insert(id, program.identity.uid);
            entry.names.insert(id, program.identity.shown());
            entry.mechanisms.insert(id, program.mechanism().0);
            let known = &program.evidence.known;
            if !known.is_empty() {
                entry.sources.insert(id, known.iter().map(|known| known.sources.clone()).collect());
            }
        }
        self.journal.add(entry, owners);
    }

    pub(super) fn place(&mut self, allocation: &Allocation) -> BTreeMap<ProgramId, PuSet> {
        let wants: Vec<Want> = allocation
            .shares
            .iter()
            .filter_map(|share| {
                let dop = allocation.contexts_of(share)?;
                let program = self.registry.get_mut(share.id)?;
                // What it has borrowed isn't its place.
                let base = self.bases.get(&share.id).filter(|base| base.dop.is_some());
                let has = || base.map_or_else(|| program.grant.pus.clone(), |base| base.pus.clone());
                let previous = if program.grant.dop.is_some() { has() } else { PuSet::new() };
                Some(Want {
                    id: share.id,
                    dop,
                    allowed: program.reach.usable.clone(),
                    previous,
                    weight: program.wishes.weight,
                })
            })
            .collect();
        let topology = &self.ground.topology;
        let sets = match self.parts.policy.scatter() {
            Some(seed) => scatter(topology, &wants, seed),
            None => place_allocation(topology, &wants, allocation, self.parts.config.placement),
        };
        wants.iter().map(|want| want.id).zip(sets).collect()
    }

    /// Takes note of everybody's new grant and tells those whose grant changed, those who lose contexts
    /// first.
    pub(super) fn regrant(
        &mut self,
        allocation: &Allocation,
        mut places: BTreeMap<ProgramId, PuSet>,
    ) -> Vec<ProgramId> {
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
            (id, Base { dop, pus, reason, is_idle: idle.contains(&id) })
        };
        self.bases = self.registry.iter().map(of).collect();
        self.grant_with_loans()
    }

    /// Takes note of what everybody has now, by the latest decision and by loans, and tells those for whom
    /// that is new, those who lose contexts first.
    pub(super) fn grant_with_loans(&mut self) -> Vec<ProgramId> {
        let now_ns = clock::now_ns();
        let loans = self.loans(now_ns);
        let mut changes: Vec<(bool, ProgramId)> = Vec::new();
        let lends = self.parts.policy.lends();
        for (id, base) in self.bases.clone() {
            let Some(program) = self.registry.get_mut(id) else { continue };
            let (is_idle, waits) = (base.is_idle, loans.iter().any(|loan| loan.from == id));
            let Base { dop, pus, reason, .. } = base.with(&loans, id);
            let (had, before) = (program.grant.pus.clone(), program.grant.dop);
            let changed = program.regrant(dop, pus, reason, now_ns);
            let by_phase = is_idle || lends && program.is_lent();
            let lent = by_phase || waits;
            let told_only = by_phase == program.grant.lent_by_phase;
            program.grant.lent_by_phase = by_phase;
            let since = program.phase.lends_since_ns.unwrap_or(now_ns);
            program.phase.lends_since_ns = waits.then_some(since);
            program.grant.borrows = loans.iter().any(|loan| loan.to == id);
            if changed {
                if before != dop
                    && let Some(page) = self.parts.talk.pages(id.0).and_then(|pages| pages.read())
                {
                    let cpu_ns = self.observer.cpu_ns(program.identity.pid);
                    let seen = program.evidence.restart(clock::ticks(), &page, cpu_ns, &self.tsc);
                    program.grant.made_at(&seen);
                }
                let loses = !had.is_subset(&program.grant.pus);
                changes.push((!loses, id));
            } else if lent != program.grant.lent {
                program.grant.renew();
                program.grant.lent = lent;
                match told_only {
                    true => self.publish(id),
                    false => changes.push((true, id)),
                }
                continue;
            }
            program.grant.lent = lent;
        }
        changes.sort();
        changes.into_iter().map(|(_, id)| id).collect()
    }

    /// Publishes grants that have changed, sets the affinities, and has turns carried out.
    pub(super) fn apply_and_publish(&mut self, allocation: &Allocation, changes: Vec<ProgramId>) {
        let changed = !changes.is_empty();
        changes.into_iter().for_each(|id| self.carry_out(id));
        self.take_turns(allocation);
        if changed {
            self.timers.watch();
        }
    }

    /// Publishes a program's grant and sets its affinity.
    pub(super) fn carry_out(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        let narrow = program.grant.dop.is_some() && program.grant.pus != program.reach.usable;
        // One that does nothing before its first region may still have libraries that count their PUs.
        let counts = (program.grant.lent_by_phase || program.phase.starting) && !program.had_region();
        program.grant.set = (narrow && !counts).then(|| program.grant.pus.clone());
        if let Some(mask) = &program.grant.set {
            // Before the sweep, so that what it leaves half done is known as ours.
            program.grant.remember(&mask.clone());
        }
        if self.parts.verbose {
            info!(
                "program {} (process {}): {} on {}: {}",
                id.0,
                program.identity.pid,
                program.grant.dop.map_or("unmanaged".to_owned(), |dop| format!("DoP {dop}")),
                program.grant.pus,
                program.grant.reason
            );
        }
        self.publish(id);
        // Before it is narrowed: were we killed in between, and the guardian, too, only it would know.
        if self.newcomers.contains(&id) && !self.welcome(id) {
            return;
        }
        if !self.waits(id) {
            self.set_affinity(id);
        }
    }

    pub(super) fn set_affinity(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.phase.late_ns = None;
        let target = target_of(program);
        let result = match &program.grant.set {
            Some(mask) => self.parts.apply.narrow(&target, mask).map(Some),
            None => self.parts.apply.restore(&target).map(|()| None),
        };
        self.has_moved(id);
        let Some(program) = self.registry.get_mut(id) else { return };
        match result {
            Ok(set) => {
                program.grant.affinity_set(set, clock::now_ns());
            }
            Err(Trouble::Gone(_)) => {}
            Err(trouble) => {
                let text = format_args!("program {} is left alone: {trouble}", id.0);
                self.complaints.warn(program.identity.owner, text);
                self.leave_alone(id, trouble.to_string());
            }
        }
    }

    /// Gives a program its own affinity back and takes it out of all decisions.
    pub(super) fn leave_alone(&mut self, id: ProgramId, why: String) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.grant.set = None;
        let _ = self.parts.apply.restore(&target_of(program));
        program.reach.alone = Some(why.clone());
        (program.grant.lent, program.grant.lent_by_phase, program.grant.borrows) = (false, false, false);
        self.bases.remove(&id);
        self.timers.ask_to_take_back();
        program.ungrant(why, clock::now_ns());
        self.publish(id);
    }

    /// Writes a program's grant page.
    pub(super) fn publish(&mut self, id: ProgramId) {
        if let Some(program) = self.registry.get_mut(id)
            && let Some(pages) = self.parts.talk.pages(id.0)
        {
            let masks =
                Masks { granted: mask_words(&program.grant.pus), own: mask_words(&program.reach.own) };
            let ours: Vec<_> = program.grant.masks.iter().rev().map(mask_words).collect();
            pages.record(&ours);
            pages.publish(program.word(), &masks);
        }
    }

    /// Before the daemon ends: everybody is unmanaged and has the own affinity again.
    pub(super) fn release_all(&mut self) {
        if let Some(gangs) = self.parts.apply.gangs() {
            gangs.end();
        }
        let ids: Vec<ProgramId> = self.registry.iter().map(|p| p.identity.id).collect();
        for id in ids {
            if let Some(program) = self.registry.get_mut(id) {
                program.ungrant("the daemon has ended".into(), clock::now_ns());
            }
            self.carry_out(id);
        }
    }
}

pub(super) fn target_of(program: &Program) -> Target<'_> {
    Target {
        pid: program.identity.pid,
        starttime: program.identity.starttime,
        own: &program.reach.own,
        masks: &program.grant.masks,
    }
}
