//! Which PUs each program gets: disjoint partitions that follow the machine's topology.
//!
//! The problem: several programs want so many PUs each. A program runs best on PUs that share caches and
//! memory with each other and with no other program, and it loses its warm caches when it is moved. So, in
//! this order:
//!
//! 1. no PU goes to two programs while there are enough (and `allowed` sets permit);
//! 2. SMT siblings go to the same program; as long as there are cores to spare, one PU a core is used;
//! 3. on a hybrid machine, heavier programs have the stronger cores;
//! 4. a program's PUs lie close together (or as its [`Style`] says): same last-level cache, then NUMA node,
//!    then package;
//! 5. as few PUs as possible change hands.
//!
//! What is better is said by one number, the [`Cost`] of a placement. Up to four layouts are made and the
//! cheapest is taken: one that starts from what every program has and one from an empty machine, and both
//! again with caches looked for first for the programs that fit into one, where some were divided. The
//! gradual ones move little but fall to pieces as programs come and go; the others repair that.
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
mod want;

pub use cost::{Cost, cost};
pub use want::{Style, Want};

use crate::chaos::Stream;
use crate::{ProgramId, PuSet, Topology, Turn};
use layout::{Layout, Way};
use shape::{Order, Shape};
use std::cmp::Reverse;
use std::collections::BTreeMap;

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
/// Every partition lies in the program's `allowed` set and has min(dop, |allowed|) PUs, at least one. They
/// are disjoint where the `allowed` sets permit that, which they do when nothing is restricted and the DoPs
/// add up to no more than there are PUs. Otherwise PUs are shared, as evenly as may be. The [`cost`] is never
/// above that of the same programs placed on an empty machine, nor of what they have if that is as many PUs
/// as wanted; so where everybody has what this function gave, nothing moves. Only a topology without PUs
/// gives empty partitions.
pub fn place(topology: &Topology, wants: &[Want], style: Style) -> Vec<PuSet> {
    Site::new(topology, style).place(wants, &PuSet::new())
}

/// The same where programs take turns: members of `turns` that aren't wanted are passed over, and what is in
/// no turn runs all the time.
///
/// Members of one turn are disjoint with each other and with what runs all the time, as [`place`] would have
/// them, if they fit together and so does all that is in no turn or in several. Programs that have no turn in
/// common may have the same PUs. A program in several turns has one partition in all of them.
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
    // Those who run at the same times are placed together. Those first who can give way least: what always
    // runs, then what is in most turns.
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

/// A machine, and how partitions are to lie on it.
struct Site {
    shape: Shape,
    all: PuSet,
    style: Style,
}

impl Site {
    fn new(topology: &Topology, style: Style) -> Site {
        Site { shape: Shape::new(topology), all: topology.all(), style }
    }

    /// As [`place`], beside programs that have `taken` and don't move: these PUs are given away only when
    /// there are no others.
    fn place(&self, wants: &[Want], taken: &PuSet) -> Vec<PuSet> {
        let (shape, style) = (&self.shape, self.style);
        let orders: Vec<Order> = wants.iter().map(|want| Order::new(shape, &self.all, want)).collect();
        let taken: Vec<bool> = shape.os.iter().map(|&os| taken.contains(os)).collect();
        let price = |sets: &[Vec<usize>]| cost::count(shape, &orders, &taken, sets, style).total();
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
