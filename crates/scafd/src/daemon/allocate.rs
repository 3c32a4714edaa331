//! Allocate and place: asks the policy for DoPs, and finds the PUs for them.

use super::grants::Grants;
use super::waited_for::keep_running;
use crate::config::Config;
use crate::journal::{Entry, Journal};
use crate::registry::{Program, Registry};
use scaf_policy::place::{Style, Want, place_allocation, scatter};
use scaf_policy::{Allocation, Decision, Dop, Machine, Policy, ProgramId, PuSet, Topology, allocate};
use std::collections::BTreeMap;

/// The policy and its decisions.
pub(super) struct Decider {
    pub policy: Box<dyn Policy>,
    pub journal: Journal,
    pub decisions: u64,
    /// How long the latest pass with a decision took.
    pub took_ns: u64,
    /// Number of the present policy's first decision.
    since: u64,
}

impl Decider {
    pub fn new(policy: Box<dyn Policy>) -> Decider {
        Decider { policy, journal: Journal::default(), decisions: 0, took_ns: 0, since: 1 }
    }

    /// Another policy decides from now on.
    pub fn replace(&mut self, policy: Box<dyn Policy>) {
        self.policy = policy;
        self.since = self.decisions + 1;
    }

    pub fn allocate(
        &mut self,
        registry: &Registry,
        machine: impl FnOnce() -> Machine,
    ) -> (Allocation, Option<Entry>) {
        let managed = registry.iter().filter(|program| program.reach.alone.is_none());
        let requests: Vec<_> = managed.map(Program::request).collect();
        if requests.is_empty() {
            return (Allocation::default(), None);
        }
        self.decisions += 1;
        let machine = machine();
        let mut allocation = allocate(self.policy.as_mut(), &machine, &requests);
        let mut entry = Entry::of(Decision {
            number: self.decisions,
            policy: self.policy.name().to_owned(),
            machine,
            programs: requests,
            allocation: allocation.clone(),
        });
        let stays = |id| registry.get(id).and_then(|program| program.phase.keeps_running.as_deref());
        keep_running(&mut allocation, stays);
        for share in &mut allocation.shares {
            let step = registry.get(share.id).and_then(|program| program.evidence.steps.now);
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

    /// PUs for each program of an allocation.
    pub fn place(
        &mut self,
        registry: &Registry,
        grants: &Grants,
        allocation: &Allocation,
        (topology, placement): (&Topology, Style),
    ) -> BTreeMap<ProgramId, PuSet> {
        let want = |share: &scaf_policy::Share| {
            let dop = allocation.contexts_of(share)?;
            let program = registry.get(share.id)?;
            // What it has borrowed isn't its place.
            let decided = grants.decided(share.id).filter(|decided| decided.dop.is_some());
            let has = || decided.map_or_else(|| program.grant.pus.clone(), |decided| decided.pus.clone());
            let previous = if program.grant.dop.is_some() { has() } else { PuSet::new() };
            let (allowed, weight) = (program.reach.usable.clone(), program.weight());
            Some(Want { id: share.id, dop, allowed, previous, weight })
        };
        let wants: Vec<Want> = allocation.shares.iter().filter_map(want).collect();
        let sets = match self.policy.scatter() {
            Some(seed) => scatter(topology, &wants, seed),
            None => place_allocation(topology, &wants, allocation, placement),
        };
        wants.iter().map(|want| want.id).zip(sets).collect()
    }

    /// Keeps a decision for viewers.
    pub fn record(&mut self, mut entry: Entry, registry: &Registry, config: &Config) {
        (entry.since, entry.objective, entry.floor) = (self.since, config.objective, config.floor);
        let mut owners = BTreeMap::new();
        for program in registry.iter() {
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
}
