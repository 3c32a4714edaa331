//! Apply and publish: the only places from which programs' grants and affinities change.

use super::parts::Daemon;
use crate::apply::{Trouble, mask_words};
use crate::journal::Entry;
use crate::log::info;
use crate::observe::clock::now_ns;
use crate::registry::Binding;
use scaf_policy::{Allocation, ProgramId, PuSet};
use scaf_proto::grant::Masks;
use std::collections::BTreeMap;
use std::time::Instant;

const LEAST_TICKS: f64 = 3.0;

impl Daemon {
    /// Writes changed grants to their pages and sets affinities, those that lose contexts first, and has
    /// turns taken.
    pub(super) fn apply(&mut self, allocation: &Allocation, places: BTreeMap<ProgramId, PuSet>) {
        self.grants.decide(&self.registry, allocation, places);
        let changed = self.update_grants();
        self.take_turns(allocation);
        if changed {
            self.timers.watch();
        }
    }

    /// Records a decision for viewers, and sends newcomers their pages.
    pub(super) fn publish(&mut self, decision: Option<Entry>) {
        if let Some(decision) = decision {
            self.decider.record(decision, &self.registry, &self.config);
        }
        while let Some(id) = self.newcomers.first() {
            self.welcome(id);
        }
    }

    pub(super) fn take_turns(&mut self, allocation: &Allocation) {
        if let Some(gangs) = self.apply.gangs() {
            self.slices.take(gangs, allocation, &mut self.registry);
        }
    }

    /// Writes a program's grant to its page and sets its affinity.
    pub(super) fn carry_out(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        let narrow = program.grant.dop.is_some() && program.grant.pus != program.reach.usable;
        let keeps = program.reach.binding == Binding::Kept;
        // One that does nothing before its first region may still have libraries that count their PUs.
        let counts = (program.grant.lent_by_phase || program.phase.starting) && !program.had_region();
        program.grant.set = (narrow && !counts && !keeps).then(|| program.grant.pus.clone());
        if let Some(mask) = &program.grant.set {
            // Before the sweep, so that what it leaves half done is known as ours.
            program.grant.remember(&mask.clone());
        }
        if self.verbose {
            info!(
                "program {} (process {}): {} on {}: {}",
                id.0,
                program.identity.pid,
                program.grant.dop.map_or("unmanaged".to_owned(), |dop| format!("DoP {dop}")),
                program.grant.pus,
                program.grant.reason
            );
        }
        self.write_grant(id);
        // Before it is narrowed: were we killed in between, and the guardian, too, only it would know.
        if self.newcomers.contains(id) && !self.welcome(id) {
            return;
        }
        if !self.defers(id) {
            self.set_affinity(id);
        }
    }

    pub(super) fn set_affinity(&mut self, id: ProgramId) {
        self.deferred.remove(id);
        let Some(program) = self.registry.get_mut(id) else { return };
        let target = program.target();
        let result = match &program.grant.set {
            Some(mask) => {
                let mut narrow = || self.apply.narrow(&target, mask).map(Some);
                match self.talk.pages(id.0) {
                    Some(pages) => pages.while_moving(narrow),
                    None => narrow(),
                }
            }
            None => self.apply.restore(&target).map(|()| None),
        };
        self.budget.charge(program.identity.owner, program.grant.counted, Instant::now());
        match result {
            Ok(set) => program.grant.affinity_set(set, now_ns()),
            Err(Trouble::Gone(_)) => {}
            Err(trouble) => {
                let text = format_args!("program {} is left alone: {trouble}", id.0);
                self.limiters.warn(program.identity.owner, text);
                self.leave_alone(id, trouble.to_string());
            }
        }
    }

    /// Gives a program its own affinity back and takes it out of all decisions.
    pub(super) fn leave_alone(&mut self, id: ProgramId, why: String) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.grant.set = None;
        let _ = self.apply.restore(&program.target());
        program.reach.alone = Some(why.clone());
        (program.grant.lent, program.grant.lent_by_phase, program.grant.borrows) = (false, false, false);
        program.ungrant(why, now_ns());
        self.grants.remove(id);
        self.loans.take_back();
        self.write_grant(id);
    }

    pub(super) fn write_grant(&mut self, id: ProgramId) {
        if let (Some(program), Some(pages)) = (self.registry.get(id), self.talk.pages(id.0)) {
            let (granted, own) = (mask_words(&program.grant.pus), mask_words(&program.reach.own));
            let ours: Vec<_> = program.grant.masks.iter().rev().map(mask_words).collect();
            pages.record(&ours);
            pages.publish(program.word(), &Masks { granted, own });
        }
    }

    /// Sends a newcomer its pages with its first grant. False if it has gone.
    fn welcome(&mut self, id: ProgramId) -> bool {
        self.newcomers.remove(id);
        let sent = self.talk.welcome(id.0);
        if !sent {
            self.depart(id);
        }
        sent
    }

    /// Renews all leases: grants hold for a few seconds, so that programs run as without this daemon soon
    /// after it is stopped or hangs. Then the guardian restores affinities, and here they are set again.
    pub(super) fn renew_leases(&mut self) {
        let seconds = self.config.lease_s.max(LEAST_TICKS / self.rate_hz());
        let until_ns = now_ns() + (seconds * 1e9) as u64;
        let was_over = self.apply.renew((!self.registry.is_empty()).then_some(until_ns));
        self.talk.renew(until_ns);
        if was_over {
            let narrowed = self.registry.iter().filter(|program| program.grant.set.is_some());
            let narrowed: Vec<ProgramId> = narrowed.map(|program| program.identity.id).collect();
            narrowed.into_iter().for_each(|id| self.set_affinity(id));
        }
    }

    /// Before the daemon ends: everybody is unmanaged and has the own affinity again.
    pub(super) fn release_all(&mut self) {
        if let Some(gangs) = self.apply.gangs() {
            gangs.end();
        }
        let ids: Vec<ProgramId> = self.registry.iter().map(|p| p.identity.id).collect();
        for id in ids {
            if let Some(program) = self.registry.get_mut(id) {
                program.ungrant("the daemon has ended".into(), now_ns());
            }
            self.carry_out(id);
        }
    }
}
