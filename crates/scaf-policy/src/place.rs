//! Which PUs each program gets.

use crate::{ProgramId, PuSet, Topology};

/// What one program is to be given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Want {
    /// Which program.
    pub id: ProgramId,
    /// How many PUs; 0 is read as 1.
    pub dop: u32,
    /// The PUs it may run on. Where none of them is in the topology, all of the topology.
    pub allowed: PuSet,
    /// The PUs it has now; empty if none.
    pub previous: PuSet,
}

/// A partition for each of `wants`, in their order.
pub fn place(topology: &Topology, wants: &[Want]) -> Vec<PuSet> {
    let mut load = vec![0u32; topology.pus.len()];
    let all = topology.all();
    let mut sets = Vec::new();
    for want in wants {
        let allowed = want.allowed.intersection(&all);
        let allowed = if allowed.is_empty() { all.clone() } else { allowed };
        let mut pus: Vec<usize> = (0..load.len())
            .filter(|&i| allowed.contains(topology.pus[i].os))
            .collect();
        pus.sort_by_key(|&i| load[i]);
        pus.truncate(want.dop.max(1) as usize);
        for &i in &pus {
            load[i] += 1;
        }
        sets.push(pus.iter().map(|&i| topology.pus[i].os).collect());
    }
    sets
}
