//! The machine's hardware contexts and what they share, as the placement needs to know it.

use crate::PuSet;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One hardware context. Ids are machine-wide: two PUs with the same `core` are SMT siblings, and so on
/// outwards. Where a machine lacks a level, all PUs carry the id of the level around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Pu {
    /// The operating system's index, as in affinity masks.
    pub os: u32,
    pub core: u32,
    pub l3: u32,
    pub numa: u32,
    pub package: u32,
    /// How strong its core is on a hybrid machine: higher is faster. 0 where all are alike.
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
    pub fn all(&self) -> PuSet {
        self.pus.iter().map(|pu| pu.os).collect()
    }

    /// PUs in a core, a cache, a node, a package and the machine, rising; only levels whose units are alike.
    pub fn units(&self) -> Vec<u32> {
        let levels: [fn(&Pu) -> u32; 5] = [|pu| pu.core, |pu| pu.l3, |pu| pu.numa, |pu| pu.package, |_| 0];
        let size = |level: fn(&Pu) -> u32| {
            let mut sizes = BTreeMap::new();
            self.pus.iter().for_each(|pu| *sizes.entry(level(pu)).or_insert(0u32) += 1);
            let size = sizes.values().next().copied()?;
            sizes.values().all(|other| *other == size).then_some(size)
        };
        levels.into_iter().filter_map(size).collect::<BTreeSet<u32>>().into_iter().collect()
    }

    /// This topology with only the PUs in `keep`; the logical ids stay as they are.
    pub fn restrict(&self, keep: &PuSet) -> Topology {
        Topology { pus: self.pus.iter().filter(|pu| keep.contains(pu.os)).copied().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_units_that_are_alike_have_a_size() {
        let pu = |os: u32| Pu { os, core: os / 2, l3: os / 6, numa: os / 12, package: os / 12, class: 0 };
        let whole = Topology { pus: (0..24).map(pu).collect() };
        assert_eq!(whole.units(), [2, 6, 12, 24]);
        assert_eq!(whole.restrict(&(0..23).collect()).units(), [23]);
        assert_eq!(whole.restrict(&(0..6).collect()).units(), [2, 6]);
        assert!(Topology::default().units().is_empty());
    }
}
