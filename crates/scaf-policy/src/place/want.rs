use crate::{ProgramId, PuSet, Topology};
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Debug)]
pub struct Want {
    pub id: ProgramId,
    /// How many PUs; 0 is read as 1.
    pub dop: u32,
    /// The PUs it may run on. Where none of them is in the topology, it may run on all of the topology.
    pub allowed: PuSet,
    /// The PUs it has now; empty if none.
    pub previous: PuSet,
    /// Heavier programs get the faster cores first. 1 is normal and stands for what is no positive number.
    pub weight: f64,
}

impl Want {
    /// `dop` PUs anywhere on the machine, for a program that has none yet.
    pub fn new(id: ProgramId, dop: u32, topology: &Topology) -> Want {
        Want { id, dop, allowed: topology.all(), previous: PuSet::new(), weight: 1.0 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Each partition as close together as may be; small ones side by side, to keep whole caches free.
    #[default]
    Compact,
    /// Each partition over as many caches, nodes and packages as may be: more bandwidth, longer ways.
    Spread,
    /// As compact, but each partition in caches of its own while there are any: less disturbance.
    Along,
}
