//! What there is to give away, read again once a second: PUs, cpusets and affinities may change.

use super::ground::{Ground, grown};
use super::move_budget::A_LEVEL;
use super::parts::Daemon;
use crate::apply::bound_thread;
use crate::log::{info, warning};
use crate::observe::{Limits, Observer};
use crate::paths::Scope;
use crate::registry::Program;
use scaf_policy::{PuSet, Users};
use std::collections::BTreeSet;
use std::time::Instant;

impl Daemon {
    pub(super) fn refresh_limits(&mut self) {
        self.limits = if self.parts.pretended {
            // In slow motion, contexts are groups with quotas.
            self.groups = self.observer.no_groups();
            Limits { pus: self.parts.topology.all(), quota: None }
        } else {
            self.groups = self.observer.groups();
            let own = crate::observe::affinity(0).unwrap_or_else(|_| self.parts.topology.all());
            let mut limits = self.observer.limits(&own, &mut self.groups);
            self.follow_machine(&limits.pus);
            let known: PuSet = limits.pus.intersection(&self.parts.topology.all());
            if !known.is_empty() {
                limits.pus = known;
            }
            limits
        };
        let (pus, pretended) = (self.limits.pus.clone(), self.parts.pretended);
        self.ground = Ground::of(&self.parts.topology, &pus);
        let unbound = self.parts.apply.leaves_affinities();
        self.parts.talk.refresh_owners();
        let groups = &mut self.groups;
        for program in self.registry.iter_mut() {
            let (grant, pid, owner) = (&program.grant, program.identity.pid, program.identity.owner);
            // Chains of groups are their user's to make. Who has had enough looked at keeps what was found.
            if !self.sweeps.has_to_wait(&self.parts.talk, owner, Instant::now()) {
                let before = groups.unusual();
                program.reach.cgroup = groups.of(&pid.to_string());
                let levels = groups.unusual() - before;
                self.sweeps.moved(owner, A_LEVEL * levels, Instant::now());
            }
            program.reach.follow(&pus, pretended, |own| {
                let known: Vec<&PuSet> = std::iter::once(own).chain(&grant.masks).collect();
                (!unbound).then(|| why_bound(&self.observer, pid, own, &known)).flatten()
            });
        }
    }

    /// Contexts that are left to unmanaged processes: those that they keep busy. Where users come first they
    /// are one user more, all together, and have no more than its part: else who leaves scaf out would have
    /// all.
    pub(super) fn unmanaged(&self) -> u32 {
        let (busy, contexts) = (self.load.taken(), self.limits.contexts());
        if self.parts.scope == Scope::Session || self.parts.config.users == Users::ByProgram {
            return busy;
        }
        let counts = |program: &&Program| program.reach.alone.is_none() && !program.phase.idle;
        let managed = self.registry.iter().filter(counts);
        let users: BTreeSet<u32> = managed.map(|program| program.identity.owner).collect();
        busy.min(part_of_one_more(contexts, users.len().max(1)))
    }

    /// Reads the topology again if it lacks PUs that may be used: they were offline then.
    fn follow_machine(&mut self, pus: &PuSet) {
        let read = || scaf_topology::load(&scaf_topology::Source::ThisMachine);
        match grown(&self.parts.topology, pus, &mut self.strange, read) {
            None => {}
            Some(Ok(topology)) => {
                info!("the machine has other PUs now: {}", topology.all());
                self.parts.topology = topology;
            }
            Some(Err(e)) => warning!("PUs {pus} aren't all known: {e}"),
        }
    }
}

/// What each has, to the nearest context, if that many users and one more have equally many.
fn part_of_one_more(contexts: u32, users: usize) -> u32 {
    let all = u32::try_from(users).unwrap_or(u32::MAX).saturating_add(1);
    contexts.saturating_add(all / 2) / all
}

/// Why a program some of whose threads have none of the `known` affinities is left alone; `None` if all have.
pub(super) fn why_bound(observer: &Observer, pid: u32, own: &PuSet, known: &[&PuSet]) -> Option<String> {
    let (tid, mask) = bound_thread(observer, pid, known).ok()??;
    Some(format!("its thread {tid} has an affinity of its own ({mask}, the program {own})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmanaged_processes_are_one_user_more() {
        let parts = [0, 1, 2, 3, 15, 16, 40].map(|users| part_of_one_more(16, users));
        assert_eq!(parts, [16, 8, 5, 4, 1, 1, 0]);
        assert_eq!([1, 2].map(|users| part_of_one_more(2, users)), [1, 1]);
    }
}
