//! What there is to give away, read again once a second: PUs that come and go, cpusets and affinities that change.

use super::{Daemon, arrive};
use crate::log::{self, Level};
use crate::observe::Limits;
use scaf_policy::{PuSet, Topology};

/// The machine as far as it may be given away.
#[derive(Default)]
pub(super) struct Ground {
    pub topology: Topology,
    /// Contexts in one unit of each of its levels ([`Topology::units`]).
    pub units: Vec<u32>,
}

impl Ground {
    /// Kept from one decision to the next: of 1,024 PUs, it takes 0.1 ms to find out.
    fn of(machine: &Topology, pus: &PuSet) -> Ground {
        let topology = machine.restrict(pus);
        Ground { units: topology.units(), topology }
    }
}

impl Daemon {
    /// Reads limits again, and the topology where there is a PU that wasn't; programs may then run on other PUs than before.
    pub(super) fn refresh_limits(&mut self) {
        self.limits = if self.parts.pretended {
            Limits { pus: self.parts.topology.all(), quota: None }
        } else {
            // Affinity can't be unreadable for ourselves but on machines beyond MAX_PUS; there, all that we know.
            let own = crate::observe::affinity(0).unwrap_or_else(|_| self.parts.topology.all());
            let mut limits = self.observer.limits(&own);
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
        for program in self.registry.iter_mut() {
            program.usable = if pretended { pus.clone() } else { program.own.intersection(&pus) };
            if program.usable.is_empty() && program.alone.is_none() {
                program.alone = Some(no_pus(&program.own, &pus));
                program.stranded = true;
            } else if program.stranded && !program.usable.is_empty() {
                program.stranded = false;
                // It may have bound its threads meanwhile, or before it attached.
                let known: Vec<&PuSet> = std::iter::once(&program.own).chain(&program.grant.masks).collect();
                program.alone = (!unbound)
                    .then(|| arrive::why_bound(&self.observer, program.pid, &program.own, &known))
                    .flatten();
            }
        }
    }

    /// Reads the topology again if it lacks some of the PUs that may be used: they were offline when it was read.
    fn follow_machine(&mut self, pus: &PuSet) {
        let read = || scaf_topology::load(&scaf_topology::Source::ThisMachine);
        match grown(&self.parts.topology, pus, &mut self.strange, read) {
            None => {}
            Some(Ok(topology)) => {
                log::line(Level::Info, format_args!("the machine has other PUs now: {}", topology.all()));
                self.parts.topology = topology;
            }
            Some(Err(e)) => log::line(Level::Warning, format_args!("PUs {pus} aren't all known: {e}")),
        }
    }
}

/// The topology as `read` gives it if that which is known lacks some of `pus`. PUs that it lacks as well are `strange`, and no reason
/// to read it once more.
fn grown<E>(
    known: &Topology,
    pus: &PuSet,
    strange: &mut PuSet,
    read: impl FnOnce() -> Result<Topology, E>,
) -> Option<Result<Topology, E>> {
    let missing = |topology: &Topology| pus.difference(&topology.all());
    if missing(known).is_subset(strange) {
        return None;
    }
    let read = read();
    *strange = missing(read.as_ref().unwrap_or(known));
    Some(read)
}

/// Why a program with the affinity `own` can't be given any of `pus`.
pub(super) fn no_pus(own: &PuSet, pus: &PuSet) -> String {
    format!("its affinity {own} has none of the PUs {pus} that can be given away")
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
        let mut strange = PuSet::new();
        let mut read = 0;
        let mut ask = |known: &Topology, pus: &str, there: u32| {
            let topology = || {
                read += 1;
                Ok::<_, ()>(machine(there))
            };
            let answer = grown(known, &set(pus), &mut strange, topology);
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
        let mut strange = PuSet::new();
        let known = machine(2);
        assert_eq!(grown(&known, &set("0-2"), &mut strange, || Err("broken")), Some(Err("broken")));
        assert_eq!(grown(&known, &set("0-2"), &mut strange, || Err("broken")), None);
    }
}
