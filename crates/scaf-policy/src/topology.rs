//! The machine's hardware contexts and what they share, as the placement needs to know it.

use crate::PuSet;
use serde::{Deserialize, Serialize};

/// One hardware context. The logical ids are machine-wide: two PUs with the same `core` are SMT siblings, and
/// so on outwards. Where a machine has no such level, all of its PUs carry the id of the level around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Pu {
    /// The operating system's index: what affinity masks count in.
    pub os: u32,
    /// Which core.
    pub core: u32,
    /// Which last-level cache.
    pub l3: u32,
    /// Which NUMA node.
    pub numa: u32,
    /// Which package (socket).
    pub package: u32,
    /// How strong its core is on a hybrid machine: the higher, the faster and the less efficient. 0 where all are alike.
    #[serde(default)]
    pub class: u32,
}

/// All hardware contexts that may be given away.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Topology {
    /// In hwloc's logical order: PUs that share more stand closer together.
    pub pus: Vec<Pu>,
}

impl Topology {
    /// Every PU of this topology.
    pub fn all(&self) -> PuSet {
        self.pus.iter().map(|pu| pu.os).collect()
    }

    /// This topology with only the PUs in `keep`; the logical ids stay as they are.
    pub fn restrict(&self, keep: &PuSet) -> Topology {
        Topology { pus: self.pus.iter().filter(|pu| keep.contains(pu.os)).copied().collect() }
    }
}
