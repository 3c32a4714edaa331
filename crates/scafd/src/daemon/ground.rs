//! The machine as far as it may be given away, and when it has to be read again.

use scaf_policy::{PuSet, Topology};

/// The machine as far as it may be given away.
#[derive(Default)]
pub(super) struct Ground {
    pub topology: Topology,
    /// Contexts in one unit of each of its levels ([`Topology::units`]).
    pub units: Vec<u32>,
}

impl Ground {
    pub fn of(machine: &Topology, pus: &PuSet) -> Ground {
        let topology = machine.restrict(pus);
        Ground { units: topology.units(), topology }
    }
}

/// The topology as `read` gives it if the known one lacks some of `pus`. PUs that it lacks as well are
/// `strange`, and no reason to read it again.
pub(super) fn grown<E>(
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
