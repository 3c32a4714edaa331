//! The contexts that may be allocated, read again once a second: PUs, cpusets and affinities may change.

use super::move_budget::{A_LEVEL, MoveBudget};
use crate::apply::bound_thread;
use crate::log::{info, warning};
use crate::observe::cgroup::Groups;
use crate::observe::priority::Priority;
use crate::observe::{Limits, Observer};
use crate::registry::Registry;
use crate::talk::Talk;
use scaf_policy::{PuSet, Topology};
use std::collections::BTreeSet;
use std::time::Instant;

/// The machine, and the part of it that may be allocated.
pub(super) struct Capacity {
    pub machine: Topology,
    /// Whether that is another machine than this one, in a dry run.
    pub is_pretended: bool,
    pub limits: Limits,
    /// What control groups have allowed since the limits were read.
    pub groups: Groups,
    /// The part of the machine within the limits.
    pub topology: Topology,
    /// Contexts in one unit of each of its levels ([`Topology::units`]).
    pub units: Vec<u32>,
    /// PUs that the machine's topology doesn't have although they are there.
    unknown: PuSet,
}

impl Capacity {
    pub fn new(machine: Topology, is_pretended: bool, observer: &Observer) -> Capacity {
        let (limits, topology) = (Limits::default(), Topology::default());
        let (groups, units, unknown) = (observer.no_groups(), Vec::new(), PuSet::new());
        let mut new = Capacity { machine, is_pretended, limits, groups, topology, units, unknown };
        new.refresh(observer);
        new
    }

    pub fn refresh(&mut self, observer: &Observer) {
        self.limits = if self.is_pretended {
            // In slow motion, contexts are groups with quotas.
            self.groups = observer.no_groups();
            Limits { pus: self.machine.all(), quota: None }
        } else {
            self.groups = observer.groups();
            let own = crate::observe::affinity(0).unwrap_or_else(|_| self.machine.all());
            let mut limits = observer.limits(&own, &mut self.groups);
            self.follow_machine(&limits.pus);
            let known: PuSet = limits.pus.intersection(&self.machine.all());
            if !known.is_empty() {
                limits.pus = known;
            }
            limits
        };
        self.topology = self.machine.restrict(&self.limits.pus);
        self.units = self.topology.units();
    }

    /// Reads the topology again if it lacks PUs that may be used: they were offline then.
    fn follow_machine(&mut self, pus: &PuSet) {
        let read = || scaf_topology::load(&scaf_topology::Source::ThisMachine);
        match grown(&self.machine, pus, &mut self.unknown, read) {
            None => {}
            Some(Ok(topology)) => {
                info!("the machine has other PUs now: {}", topology.all());
                self.machine = topology;
            }
            Some(Err(e)) => warning!("PUs {pus} aren't all known: {e}"),
        }
    }

    /// Says which of these PUs each program may have; `bind` says whether its threads' own affinities count.
    pub fn limit_programs(
        &mut self,
        registry: &mut Registry,
        (observer, talk): (&Observer, &Talk),
        budget: &mut MoveBudget,
        bind: bool,
    ) {
        let now = Instant::now();
        for program in registry.iter_mut() {
            let (grant, pid, owner) = (&program.grant, program.identity.pid, program.identity.owner);
            // Chains of groups are their user's to make. Who has had enough looked at keeps what was found.
            if !budget.is_spent(owner, talk.is_trusted(owner), now) {
                let before = self.groups.unusual();
                program.reach.cgroup = self.groups.of(&pid.to_string()).capped(talk.is_trusted(owner));
                budget.charge(owner, A_LEVEL * (self.groups.unusual() - before), now);
            }
            program.reach.priority = Priority::of(pid);
            let bind = bind && !program.reach.binding.is_managed();
            program.reach.follow(&self.limits.pus, self.is_pretended, |own| {
                let known: Vec<&PuSet> = std::iter::once(own).chain(&grant.masks).collect();
                bind.then(|| why_bound(observer, pid, own, &known)).flatten()
            });
        }
    }

    /// Contexts that are left to unmanaged processes, which keep `busy` of them busy. `by_user`: together
    /// they are one user more and have no more than its part, else whoever avoids scaf would have all.
    pub fn unmanaged(&self, busy: u32, registry: &Registry, by_user: bool) -> u32 {
        if !by_user {
            return busy;
        }
        let managed = registry.iter().filter(|it| it.reach.alone.is_none() && !it.phase.idle);
        let users: BTreeSet<u32> = managed.map(|program| program.identity.owner).collect();
        busy.min(part_of_one_more(self.limits.contexts(), users.len().max(1)))
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

/// The topology as `read` gives it if the known one lacks some of `pus`. PUs that it lacks as well are
/// `unknown`, and no reason to read it again.
fn grown<E>(
    known: &Topology,
    pus: &PuSet,
    unknown: &mut PuSet,
    read: impl FnOnce() -> Result<Topology, E>,
) -> Option<Result<Topology, E>> {
    let missing = |topology: &Topology| pus.difference(&topology.all());
    if missing(known).is_subset(unknown) {
        return None;
    }
    let read = read();
    *unknown = missing(read.as_ref().unwrap_or(known));
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores: u32) -> Topology {
        let pu = |os| scaf_policy::Pu { os, core: os, l3: 0, numa: 0, package: 0, class: 0 };
        Topology { pus: (0..cores).map(pu).collect() }
    }

    fn set(text: &str) -> PuSet {
        text.parse().unwrap()
    }

    #[test]
    fn a_pu_that_comes_is_read_about_once() {
        let mut unknown = PuSet::new();
        let mut read = 0;
        let mut ask = |known: &Topology, pus: &str, there: u32| {
            let topology = || {
                read += 1;
                Ok::<_, ()>(machine(there))
            };
            let answer = grown(known, &set(pus), &mut unknown, topology);
            (answer.and_then(Result::ok).map(|topology| topology.pus.len()), read)
        };
        assert_eq!(ask(&machine(2), "0-1", 4), (None, 0), "nothing new");
        assert_eq!(ask(&machine(4), "0,2", 4), (None, 0), "one has gone");
        assert_eq!(ask(&machine(2), "0-2", 4), (Some(4), 1), "one has come");
        assert_eq!(ask(&machine(4), "0-4", 4), (Some(4), 2), "one has come that isn't known");
        assert_eq!(ask(&machine(4), "0-4", 4), (None, 2), "it still isn't");
        assert_eq!(ask(&machine(4), "0-5", 6), (Some(6), 3), "another one");
    }

    #[test]
    fn where_the_machine_cant_be_read_it_is_as_before_until_something_changes() {
        let mut unknown = PuSet::new();
        let known = machine(2);
        assert_eq!(grown(&known, &set("0-2"), &mut unknown, || Err("broken")), Some(Err("broken")));
        assert_eq!(grown(&known, &set("0-2"), &mut unknown, || Err("broken")), None);
    }

    #[test]
    fn unmanaged_processes_are_one_user_more() {
        let parts = [0, 1, 2, 3, 15, 16, 40].map(|users| part_of_one_more(16, users));
        assert_eq!(parts, [16, 8, 5, 4, 1, 1, 0]);
        assert_eq!([1, 2].map(|users| part_of_one_more(2, users)), [1, 1]);
    }
}
