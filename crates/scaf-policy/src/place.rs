//! Which PUs each program gets: disjoint partitions that follow the machine's topology
//! (docs/internals/placement.md).
//!
//! Up to four layouts are made and the one with the lowest [`Cost`] is taken: one from what every program has
//! and one from an empty machine; where a program that fits into a cache was divided, both again with caches
//! assigned first. Gradual layouts move little but fragment as programs come and go; the others repair that.
//!
//! A *want* is a program's order; its *partition* is what it gets; a core is *split* when two programs have
//! PUs of it. PUs are named by their index in the topology here, by the system's index outside.

mod cache_fit;
mod core_choice;
mod cost;
mod layout;
mod pack;
mod partial_cores;
mod plan;
mod pools;
mod shape;
mod want;

pub use cost::{Cost, cost};
pub use pools::place_allocation;
pub use want::{Style, Want};

use crate::splitmix::SplitMix;
use crate::{ProgramId, PuSet, Topology, Turn};
use layout::{Layout, Way};
use shape::{Order, Shape};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Arbitrary PUs for each want out of those that it may run on, whoever else has them.
pub fn scatter(topology: &Topology, wants: &[Want], seed: u64) -> Vec<PuSet> {
    let (shape, all) = (Shape::new(topology), topology.all());
    let mut stream = SplitMix::new(seed);
    let scattered = |want: &Want| {
        let order = Order::new(&shape, &all, want);
        let mut left: Vec<usize> = (0..shape.os.len()).filter(|&pu| order.may(pu)).collect();
        let taken: Vec<usize> =
            (0..order.size).map(|_| left.swap_remove(stream.below(left.len() as u32) as usize)).collect();
        shape.set(&taken)
    };
    wants.iter().map(scattered).collect()
}

/// A partition for each of `wants`, in order: min(dop, |allowed|) PUs of its `allowed` set, at least one.
///
/// Partitions are disjoint where the `allowed` sets permit that; else PUs are shared as evenly as may be. The
/// [`cost()`] is never above that of an empty start, nor of what the programs have if that is as many PUs as
/// wanted: where all have what this function gave, nothing moves. An empty topology gives empty partitions.
pub fn place(topology: &Topology, wants: &[Want], style: Style) -> Vec<PuSet> {
    Site::new(topology, style).place(wants, &PuSet::new())
}

/// [`place`] for programs that take turns. Members of `turns` that aren't wanted are passed over. Members of
/// one turn are disjoint with each other and with what runs all the time, if they fit together and so does
/// all that is in no turn or in several. A program in several turns has one partition.
pub fn place_turns(topology: &Topology, wants: &[Want], turns: &[Turn], style: Style) -> Vec<PuSet> {
    let position: BTreeMap<ProgramId, usize> =
        wants.iter().enumerate().map(|(who, want)| (want.id, who)).collect();
    let mut when: Vec<Vec<usize>> = vec![Vec::new(); wants.len()];
    for (turn, members) in turns.iter().map(|turn| &turn.members).enumerate() {
        for who in members.iter().filter_map(|id| position.get(id)) {
            if when[*who].last() != Some(&turn) {
                when[*who].push(turn);
            }
        }
    }
    // Those who run at the same times are placed together, those who run most first.
    let mut groups: BTreeMap<(Reverse<usize>, Vec<usize>), Vec<usize>> = BTreeMap::new();
    for (who, when) in when.into_iter().enumerate() {
        let often = if when.is_empty() { usize::MAX } else { when.len() };
        groups.entry((Reverse(often), when)).or_default().push(who);
    }
    let site = Site::new(topology, style);
    let mut sets = vec![PuSet::new(); wants.len()];
    let (mut always, mut taken) = (PuSet::new(), vec![PuSet::new(); turns.len()]);
    for ((_, when), group) in groups {
        let beside = when.iter().fold(always.clone(), |all, &turn| all.union(&taken[turn]));
        let members: Vec<Want> = group.iter().map(|&who| wants[who].clone()).collect();
        for (who, set) in group.into_iter().zip(site.place(&members, &beside)) {
            if when.is_empty() {
                always = always.union(&set);
            }
            when.iter().for_each(|&turn| taken[turn] = taken[turn].union(&set));
            sets[who] = set;
        }
    }
    sets
}

struct Site {
    shape: Shape,
    all: PuSet,
    style: Style,
}

impl Site {
    fn new(topology: &Topology, style: Style) -> Site {
        Site { shape: Shape::new(topology), all: topology.all(), style }
    }

    /// As [`place`], beside programs that don't move: PUs in `taken` are given away last.
    fn place(&self, wants: &[Want], taken: &PuSet) -> Vec<PuSet> {
        let (shape, style) = (&self.shape, self.style);
        let orders: Vec<Order> = wants.iter().map(|want| Order::new(shape, &self.all, want)).collect();
        let taken: Vec<bool> = shape.os.iter().map(|&os| taken.contains(os)).collect();
        let price = |sets: &[Vec<usize>]| cost::count(shape, &orders, &taken, sets, style).total();
        let mut best: Option<(usize, Vec<Vec<usize>>)> = None;
        // Of equals the first, which is nearer to what the programs have.
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
                let layout = Layout::new(shape, &orders, &taken, Way { style, gradual, packed });
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
}
