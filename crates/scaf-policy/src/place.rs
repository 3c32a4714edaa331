//! Which PUs each program gets: disjoint partitions that follow the machine's topology.
//!
//! The problem: several programs want so many PUs each. A program runs best on PUs that share caches and memory
//! with each other and with no other program, and it loses its warm caches when it is moved. So, in this order:
//!
//! 1. no PU goes to two programs while there are enough (and `allowed` sets permit);
//! 2. SMT siblings go to the same program; as long as there are cores to spare, one PU a core is used;
//! 3. a program's PUs lie close together: same last-level cache, then NUMA node, then package;
//! 4. as few PUs as possible change hands.
//!
//! Two layouts are made and the cheaper one is taken: one that starts from what every program has, one from an
//! empty machine. The first moves little but falls to pieces as programs come and go; the second repairs that.
//!
//! Words: a *want* is a program's order; its *partition* is what it gets; a core is *split* when two programs
//! have PUs of it; PUs are named by their index in the topology here, by the system's index outside.

mod layout;

use crate::chaos::Stream;
use crate::{ProgramId, PuSet, Topology};
use layout::Layout;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeSet;

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
    /// How much its PUs count against those of others: heavier programs get the faster cores first. 1 is normal; what is no
    /// positive number counts as 1.
    pub weight: f64,
}

/// How partitions lie on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Each partition as close together as may be.
    #[default]
    Compact,
}

/// PUs chosen without any thought: for each want as many of those that it may run on, whoever else has them.
pub fn scatter(topology: &Topology, wants: &[Want], seed: u64) -> Vec<PuSet> {
    let mut stream = Stream::new(seed);
    let scattered = |want: &Want| {
        let order = Order::new(topology, want);
        let mut left: Vec<usize> = (0..topology.pus.len()).filter(|&i| order.allowed[i]).collect();
        let mut taken = PuSet::new();
        for _ in 0..order.size {
            taken.insert(topology.pus[left.swap_remove(stream.below(left.len() as u32) as usize)].os);
        }
        taken
    };
    wants.iter().map(scattered).collect()
}

/// A want in terms of the topology.
struct Order {
    /// How many PUs it gets.
    size: usize,
    /// Which it may get, by index in the topology.
    allowed: Vec<bool>,
    /// Which it has that it may keep, in the topology's order.
    previous: Vec<usize>,
}

impl Order {
    fn new(topology: &Topology, want: &Want) -> Order {
        // A PU that is listed twice is taken once.
        let mut seen = BTreeSet::new();
        let usable: Vec<bool> = topology.pus.iter().map(|pu| seen.insert(pu.os)).collect();
        let is_in = |set: &PuSet, i: usize| usable[i] && set.contains(topology.pus[i].os);
        let mut allowed: Vec<bool> = (0..usable.len()).map(|i| is_in(&want.allowed, i)).collect();
        if !allowed.contains(&true) {
            allowed = usable.clone();
        }
        let size = (want.dop.max(1) as usize).min(allowed.iter().filter(|&&a| a).count());
        let previous = (0..usable.len()).filter(|&i| allowed[i] && is_in(&want.previous, i)).collect();
        Order { size, allowed, previous }
    }
}

/// A split core costs about a third of two PUs' work for as long as it lasts; a moved PU costs milliseconds of
/// cold cache, once. Decisions hold for some hundred milliseconds at least.
const COST_OF_A_SPLIT_CORE: usize = 8;

/// A partition for each of `wants`, in their order.
///
/// Every partition lies in the program's `allowed` set and has min(dop, |allowed|) PUs, at least one. They are
/// disjoint where the `allowed` sets permit that, which they do when nothing is restricted and the DoPs add up to
/// no more than there are PUs. Otherwise PUs are shared, as evenly as may be. Where every program already has a
/// partition that fits, nothing moves. Only a topology without PUs gives empty partitions.
pub fn place(topology: &Topology, wants: &[Want], style: Style) -> Vec<PuSet> {
    place_beside(topology, wants, style, &PuSet::new())
}

/// The same where programs take turns: for each turn, `turns` has its members' positions in `wants`. What is in no turn runs all
/// the time.
///
/// Members of one turn are disjoint with each other and with what runs all the time, wherever there is a way as in [`place`];
/// programs that have no turn in common may have the same PUs. A program in several turns has one partition in all of them.
/// Positions beyond `wants` are passed over.
pub fn place_turns(topology: &Topology, wants: &[Want], turns: &[Vec<usize>], style: Style) -> Vec<PuSet> {
    let mut when: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); wants.len()];
    for (turn, members) in turns.iter().enumerate() {
        for &who in members {
            if let Some(when) = when.get_mut(who) {
                when.insert(turn);
            }
        }
    }
    let mut sets = vec![PuSet::new(); wants.len()];
    // Those that can give way least first: what always runs, together; then, one by one, what is in several turns; then the
    // others of each turn, together.
    let mut groups: Vec<Vec<usize>> = vec![(0..wants.len()).filter(|&who| when[who].is_empty()).collect()];
    let mut several: Vec<usize> = (0..wants.len()).filter(|&who| when[who].len() > 1).collect();
    several.sort_by_key(|&who| Reverse((when[who].len(), wants[who].dop)));
    groups.extend(several.into_iter().map(|who| vec![who]));
    groups.extend((0..turns.len()).map(|turn| {
        (0..wants.len()).filter(|&who| when[who].len() == 1 && when[who].contains(&turn)).collect()
    }));
    for group in groups {
        let Some(&first) = group.first() else { continue };
        // All of a group run at the same times.
        let beside = |other: usize| when[other].is_empty() || !when[other].is_disjoint(&when[first]);
        let taken = (0..wants.len())
            .filter(|&other| beside(other))
            .fold(PuSet::new(), |all, other| all.union(&sets[other]));
        let members: Vec<Want> = group.iter().map(|&who| wants[who].clone()).collect();
        for (who, set) in group.into_iter().zip(place_beside(topology, &members, style, &taken)) {
            sets[who] = set;
        }
    }
    sets
}

/// As [`place`], beside programs that have `taken` and don't move: these PUs are given away only when there are no others.
fn place_beside(topology: &Topology, wants: &[Want], _style: Style, taken: &PuSet) -> Vec<PuSet> {
    let orders: Vec<Order> = wants.iter().map(|want| Order::new(topology, want)).collect();
    let previous: Vec<Vec<usize>> = orders.iter().map(|o| o.previous.clone()).collect();
    let taken: Vec<bool> = topology.pus.iter().map(|pu| taken.contains(pu.os)).collect();
    let sets = if fits(&orders, &previous, &taken) {
        previous
    } else {
        let gradual = Layout::new(topology, &orders, &taken, true).partitions();
        let fresh = Layout::new(topology, &orders, &taken, false).partitions();
        // Where equal: the one that is nearer to what is.
        if cost(topology, &orders, &fresh) < cost(topology, &orders, &gradual) { fresh } else { gradual }
    };
    sets.iter().map(|set| set.iter().map(|&i| topology.pus[i].os).collect()).collect()
}

/// Whether everybody has the right number of PUs already, and nobody shares one needlessly.
fn fits(orders: &[Order], sets: &[Vec<usize>], taken: &[bool]) -> bool {
    if orders.iter().zip(sets).any(|(order, set)| set.len() != order.size) {
        return false;
    }
    let mut load: Vec<usize> = taken.iter().map(|&taken| usize::from(taken)).collect();
    sets.iter().flatten().for_each(|&i| load[i] += 1);
    let (least, most) = (load.iter().min().copied().unwrap_or(0), load.iter().max().copied().unwrap_or(0));
    // With more asked for than there is, an even load is the best there can be.
    most <= 1 || (least >= 1 && most - least <= 1)
}

/// What is wrong with a layout: split cores, moved PUs, partitions spread over more caches, nodes and packages.
fn cost(topology: &Topology, orders: &[Order], sets: &[Vec<usize>]) -> usize {
    let mut tenants = BTreeSet::new();
    let (mut moved, mut spread) = (0, 0);
    for (program, (order, set)) in orders.iter().zip(sets).enumerate() {
        if !order.previous.is_empty() {
            moved += set.iter().filter(|i| !order.previous.contains(i)).count();
        }
        tenants.extend(set.iter().map(|&i| (topology.pus[i].core, program)));
        let distinct = |level: fn(&crate::Pu) -> u32| {
            set.iter().map(|&i| level(&topology.pus[i])).collect::<BTreeSet<_>>().len()
        };
        spread += distinct(|pu| pu.l3) + distinct(|pu| pu.numa) + distinct(|pu| pu.package);
    }
    let cores: BTreeSet<u32> = tenants.iter().map(|&(core, _)| core).collect();
    let splits = tenants.len() - cores.len();
    COST_OF_A_SPLIT_CORE * splits + moved + spread
}
