//! What programs are to be given, and how.

use crate::{ProgramId, PuSet};
use serde::{Deserialize, Serialize};

/// What one program is to be given.
#[derive(Clone, PartialEq, Debug)]
pub struct Want {
    /// Which program.
    pub id: ProgramId,
    /// How many PUs; 0 is read as 1.
    pub dop: u32,
    /// The PUs it may run on. Where none of them is in the topology, it may run on all of the topology.
    pub allowed: PuSet,
    /// The PUs it has now; empty if none.
    pub previous: PuSet,
    /// How much its PUs count against those of others: heavier programs get the faster cores first. 1 is
    /// normal; what is no positive number counts as 1.
    pub weight: f64,
}

/// How partitions lie on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Each partition as close together as may be; small ones side by side, so that whole caches stay free
    /// for large ones.
    #[default]
    Compact,
    /// Each partition over as many caches, nodes and packages as may be: more cache and memory bandwidth for
    /// each program, and longer ways between its threads.
    Spread,
    /// As compact, but each partition in caches of its own while there are any: programs disturb each other
    /// less, and a machine that isn't full has its caches better used.
    Along,
}
