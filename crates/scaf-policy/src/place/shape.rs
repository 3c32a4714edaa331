//! The machine and the orders, numbered from 0; a PU that is listed twice counts once.

use super::want::Want;
use crate::{PuSet, Topology};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Levels of neighbourhood: last-level caches, NUMA nodes, packages.
pub(super) const LEVELS: usize = 3;

pub(super) struct Shape {
    /// Each PU's system index, in the topology's order.
    pub os: Vec<u32>,
    pub core_of: Vec<usize>,
    pub cores: Vec<Core>,
    /// Kinds of cores, the strongest first.
    pub kinds: Vec<Kind>,
    /// How many caches, nodes and packages there are.
    pub domains: [usize; LEVELS],
    pub caches: Vec<Vec<usize>>,
    /// The caches, neighbours in different packages if possible, else in different nodes.
    pub far_apart: Vec<usize>,
    /// Each PU's index by the system's.
    by_os: Vec<Option<usize>>,
}

/// The caches by turns of the packages, and within these of the nodes.
fn far_apart(shape: &Shape) -> Vec<usize> {
    let mut nodes_of = vec![Vec::new(); shape.domains[2]];
    let mut caches_of = vec![0; shape.domains[1]];
    let key = |cores: &Vec<usize>| {
        let [_, node, package] = shape.cores[*cores.first()?].at;
        if !nodes_of[package].contains(&node) {
            nodes_of[package].push(node);
        }
        caches_of[node] += 1;
        let turn = nodes_of[package].iter().position(|&other| other == node);
        Some((caches_of[node], turn, package))
    };
    let keys: Vec<_> = shape.caches.iter().map(key).collect();
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&cache| keys[cache]);
    order
}

/// Numbers ids in the order in which they come.
#[derive(Default)]
struct Numbers {
    all: BTreeMap<u32, usize>,
    /// A cache, since neighbours mostly have the same id.
    latest: Option<(u32, usize)>,
}

impl Numbers {
    fn of(&mut self, id: u32) -> usize {
        if let Some((latest, number)) = self.latest
            && latest == id
        {
            return number;
        }
        let next = self.all.len();
        let number = *self.all.entry(id).or_insert(next);
        self.latest = Some((id, number));
        number
    }
}

pub(super) struct Core {
    pub pus: Vec<usize>,
    pub at: [usize; LEVELS],
    pub class: u32,
    pub kind: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub class: u32,
    pub smt: usize,
}

impl Shape {
    pub fn new(topology: &Topology) -> Shape {
        let mut numbers: [Numbers; LEVELS + 1] = Default::default();
        let mut shape = Shape {
            os: Vec::new(),
            core_of: Vec::new(),
            cores: Vec::new(),
            kinds: Vec::new(),
            domains: [0; LEVELS],
            caches: Vec::new(),
            far_apart: Vec::new(),
            by_os: Vec::new(),
        };
        for pu in topology.pus.iter().filter(|pu| pu.os < PuSet::LIMIT) {
            let index = shape.os.len();
            let os = pu.os as usize;
            if os >= shape.by_os.len() {
                shape.by_os.resize(os + 1, None);
            }
            if shape.by_os[os].is_some() {
                continue;
            }
            shape.by_os[os] = Some(index);
            shape.os.push(pu.os);
            let at = [numbers[1].of(pu.l3), numbers[2].of(pu.numa), numbers[3].of(pu.package)];
            let core = numbers[0].of(pu.core);
            if core == shape.cores.len() {
                shape.cores.push(Core { pus: Vec::new(), at, class: pu.class, kind: 0 });
            }
            shape.cores[core].pus.push(index);
            shape.core_of.push(core);
        }
        shape.domains = [1, 2, 3].map(|level| numbers[level].all.len());
        shape.caches = vec![Vec::new(); shape.domains[0]];
        let kind = |core: &Core| Kind { class: core.class, smt: core.pus.len() };
        shape.kinds = shape.cores.iter().map(kind).collect();
        shape.kinds.sort_unstable_by_key(|&kind| Reverse(kind));
        shape.kinds.dedup();
        for (index, core) in shape.cores.iter_mut().enumerate() {
            let own = kind(core);
            core.kind = shape.kinds.partition_point(|&other| other > own);
            shape.caches[core.at[0]].push(index);
        }
        shape.far_apart = far_apart(&shape);
        shape
    }

    pub fn largest_cache(&self) -> usize {
        self.caches.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// The PUs of `set` that are on this machine, in its order.
    pub fn indexes(&self, set: &PuSet) -> Vec<usize> {
        let mut indexes: Vec<usize> = set.iter().filter_map(|os| *self.by_os.get(os as usize)?).collect();
        indexes.sort_unstable();
        indexes
    }

    pub fn set(&self, indexes: &[usize]) -> PuSet {
        indexes.iter().map(|&pu| self.os[pu]).collect()
    }
}

pub(super) struct Order {
    pub size: usize,
    /// PUs that it may get; `None` for all.
    pub allowed: Option<Vec<bool>>,
    /// PUs that it has and may keep, in the machine's order.
    pub previous: Vec<usize>,
    /// More than 0.
    pub weight: f64,
}

impl Order {
    pub fn new(shape: &Shape, all: &PuSet, want: &Want) -> Order {
        let mut allowed = None;
        let mut most = shape.os.len();
        if !all.is_subset(&want.allowed) {
            let inside = shape.indexes(&want.allowed);
            if !inside.is_empty() {
                most = inside.len();
                let mut may = vec![false; shape.os.len()];
                inside.into_iter().for_each(|pu| may[pu] = true);
                allowed = Some(may);
            }
        }
        let mut order = Order {
            size: (want.dop.max(1) as usize).min(most),
            allowed,
            previous: shape.indexes(&want.previous),
            weight: if want.weight > 0.0 && want.weight.is_finite() { want.weight } else { 1.0 },
        };
        let kept = order.previous.iter().copied().filter(|&pu| order.may(pu)).collect();
        order.previous = kept;
        order
    }

    pub fn may(&self, pu: usize) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed[pu])
    }
}
