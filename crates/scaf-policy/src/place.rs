//! Which PUs each program gets: disjoint partitions that follow the machine's topology.
//!
//! The problem: several programs want so many PUs each. A program runs best on PUs that share caches and memory
//! with each other and with no other program, and it loses its warm caches when it is moved. So, in this order:
//!
//! 1. no PU goes to two programs while there are enough (and `allowed` sets permit);
//! 2. SMT siblings go to the same program; as long as there are cores to spare, one PU a core is used;
//! 3. on a hybrid machine, heavier programs have the stronger cores;
//! 4. a program's PUs lie close together (or as its [`Style`] says): same last-level cache, then NUMA node, then package;
//! 5. as few PUs as possible change hands.
//!
//! What is better is said by one number, the [`Cost`] of a placement. Up to four layouts are made and the cheapest is taken:
//! one that starts from what every program has and one from an empty machine, and both again with caches looked for first for
//! the programs that fit into one, where some were divided. The gradual ones move little but fall to pieces as programs come
//! and go; the others repair that.
//!
//! Words: a *want* is a program's order; its *partition* is what it gets; a core is *split* when two programs
//! have PUs of it; PUs are named by their index in the topology here, by the system's index outside.

mod cost;
mod homes;
mod layout;
mod pack;
mod plan;
mod scraps;
mod shape;
mod take;

pub use cost::{Cost, cost};

use crate::chaos::Stream;
use crate::{ProgramId, PuSet, Topology};
use layout::{Layout, Way};
use serde::{Deserialize, Serialize};
use shape::{Order, Shape};
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
    /// Each partition as close together as may be; small ones side by side, so that whole caches stay free for large ones.
    #[default]
    Compact,
    /// Each partition over as many caches, nodes and packages as may be: more cache and memory bandwidth for each program, and
    /// longer ways between its threads.
    Spread,
    /// As compact, but each partition in caches of its own while there are any: programs disturb each other less, and a machine
    /// that isn't full has its caches better used.
    Along,
}

/// PUs chosen without any thought: for each want as many of those that it may run on, whoever else has them.
pub fn scatter(topology: &Topology, wants: &[Want], seed: u64) -> Vec<PuSet> {
    let (shape, all) = (Shape::new(topology), topology.all());
    let mut stream = Stream::new(seed);
    let scattered = |want: &Want| {
        let order = Order::new(&shape, &all, want);
        let mut left: Vec<usize> = (0..shape.os.len()).filter(|&pu| order.may(pu)).collect();
        let taken: Vec<usize> =
            (0..order.size).map(|_| left.swap_remove(stream.below(left.len() as u32) as usize)).collect();
        shape.set(&taken)
    };
    wants.iter().map(scattered).collect()
}

/// A partition for each of `wants`, in their order.
///
/// Every partition lies in the program's `allowed` set and has min(dop, |allowed|) PUs, at least one. They are
/// disjoint where the `allowed` sets permit that, which they do when nothing is restricted and the DoPs add up to
/// no more than there are PUs. Otherwise PUs are shared, as evenly as may be. The [`cost`] is never above that of the
/// same programs placed on an empty machine, nor of what they have if that is as many PUs as wanted; so where everybody has
/// what this function gave, nothing moves. Only a topology without PUs gives empty partitions.
pub fn place(topology: &Topology, wants: &[Want], style: Style) -> Vec<PuSet> {
    place_beside(topology, wants, style, &PuSet::new())
}

/// The same where programs take turns: for each turn, `turns` has its members' positions in `wants`. What is in no turn runs all
/// the time.
///
/// Members of one turn are disjoint with each other and with what runs all the time, as [`place`] would have them, if they fit
/// together and so does all that is in no turn or in several. Programs that have no turn in common may have the same PUs. A
/// program in several turns has one partition in all of them. Positions beyond `wants` are passed over.
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
fn place_beside(topology: &Topology, wants: &[Want], style: Style, taken: &PuSet) -> Vec<PuSet> {
    let (shape, all) = (Shape::new(topology), topology.all());
    let orders: Vec<Order> = wants.iter().map(|want| Order::new(&shape, &all, want)).collect();
    let taken: Vec<bool> = shape.os.iter().map(|&os| taken.contains(os)).collect();
    let price = |sets: &[Vec<usize>]| cost::count(&shape, &orders, &taken, sets, style).total();
    let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
    // Where equal: the first, which is the one that is nearer to what is.
    let mut offer = |sets: Vec<Vec<usize>>| {
        let price = price(&sets);
        if best.as_ref().is_none_or(|(least, _)| price < *least) {
            best = Some((price, sets));
        }
        best.as_ref().is_some_and(|(least, _)| *least == 0)
    };
    let had = orders.iter().any(|order| !order.previous.is_empty());
    let mut starts = vec![false];
    if orders.iter().all(|order| order.previous.len() == order.size) {
        if offer(orders.iter().map(|order| order.previous.clone()).collect()) {
            starts.clear();
        }
    } else if had {
        starts.insert(0, true);
    }
    'made: for gradual in starts {
        for packed in [false, true] {
            let layout = Layout::new(&shape, &orders, &taken, Way { style, gradual, packed });
            let again = layout.divided && style != Style::Spread;
            if offer(layout.partitions()) {
                break 'made;
            }
            if !again {
                break;
            }
        }
    }
    best.map_or_else(Vec::new, |(_, sets)| sets.iter().map(|set| shape.set(set)).collect())
}
