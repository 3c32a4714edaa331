//! What is wrong with a placement, as one number: the smaller the better. docs/internals/placement.md has the
//! weights and the reason for each; the unit is one PU that is moved, once.
//!
//! Under [`Style::Spread`] caches, nodes and packages count for each that the program could have and hasn't;
//! under [`Style::Along`] a cache costs 5 more for each program in it beyond the first.

use super::shape::{LEVELS, Order, Shape};
use super::want::{Style, Want};
use crate::{PuSet, Topology};
use serde::{Deserialize, Serialize};

/// The faults of a placement, counted; see this module for the weights.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Pairs of programs on one PU, over all PUs.
    pub shared: usize,
    /// Programs on a core beyond the first, over all cores.
    pub split: usize,
    /// PUs whose program has another PU of the core, as far as it may use idle cores.
    #[serde(rename = "crowded")]
    pub paired: usize,
    /// PUs on weaker cores while lighter programs, or nobody, have stronger ones.
    pub weaker: usize,
    /// Caches, nodes and packages beyond each program's first; under [`Style::Spread`], those that it lacks.
    pub apart: usize,
    /// Programs in a cache beyond the first; only under [`Style::Along`].
    pub beside: usize,
    /// PUs that programs which had any didn't have.
    pub moved: usize,
}

impl Cost {
    pub fn total(&self) -> usize {
        64 * self.shared
            + 16 * (self.split + self.paired)
            + 8 * self.weaker
            + 5 * (self.apart + self.beside)
            + self.moved
    }
}

/// The cost of the partitions `sets` for `wants`, in the same order, which [`super::place`] makes small. PUs
/// that are not in the topology don't count; a want without a set, or the reverse, is passed over.
pub fn cost(topology: &Topology, wants: &[Want], sets: &[PuSet], style: Style) -> Cost {
    let shape = Shape::new(topology);
    let all = topology.all();
    let orders: Vec<Order> = wants.iter().map(|want| Order::new(&shape, &all, want)).collect();
    let sets: Vec<Vec<usize>> = sets.iter().map(|set| shape.indexes(set)).collect();
    count(&shape, &orders, &vec![false; shape.os.len()], &sets, style)
}

/// [`cost`] in the machine's own numbers, beside others who have what is `taken`.
pub(super) fn count(
    shape: &Shape,
    orders: &[Order],
    taken: &[bool],
    sets: &[Vec<usize>],
    style: Style,
) -> Cost {
    let mut cost = Cost::default();
    let mut load: Vec<usize> = taken.iter().map(|&taken| usize::from(taken)).collect();
    // Programs on each core and in each cache; whoever has what is taken is one.
    let mut on_core = vec![0usize; shape.cores.len()];
    let mut in_cache = vec![0usize; shape.domains[0]];
    for (core, on) in shape.cores.iter().zip(&mut on_core) {
        *on = usize::from(core.pus.iter().any(|&pu| taken[pu]));
    }
    let mut core_seen = vec![0usize; shape.cores.len()];
    let mut seen = shape.domains.map(|domains| vec![0usize; domains]);
    let mut has = vec![false; shape.os.len()];
    let mut cores = Vec::with_capacity(sets.len());
    for (program, (order, set)) in orders.iter().zip(sets).enumerate() {
        let (mark, mut own_cores, mut own_domains) = (program + 1, 0, [0usize; LEVELS]);
        order.previous.iter().for_each(|&pu| has[pu] = true);
        for &pu in set {
            cost.shared += load[pu];
            load[pu] += 1;
            cost.moved += usize::from(!order.previous.is_empty() && !has[pu]);
            let core = shape.core_of[pu];
            if std::mem::replace(&mut core_seen[core], mark) != mark {
                own_cores += 1;
                on_core[core] += 1;
                for level in 0..LEVELS {
                    let domain = shape.cores[core].at[level];
                    if std::mem::replace(&mut seen[level][domain], mark) != mark {
                        own_domains[level] += 1;
                        // Not by package: there may be fewer caches than packages.
                        if level == 0 {
                            in_cache[domain] += 1;
                        }
                    }
                }
            }
        }
        order.previous.iter().for_each(|&pu| has[pu] = false);
        cost.apart += (0..LEVELS)
            .map(|level| match style {
                Style::Spread => set.len().min(shape.domains[level]).saturating_sub(own_domains[level]),
                Style::Compact | Style::Along => own_domains[level].saturating_sub(1),
            })
            .sum::<usize>();
        cores.push(own_cores);
    }
    cost.split = on_core.iter().map(|on| on.saturating_sub(1)).sum();
    if style == Style::Along {
        cost.beside = in_cache.iter().map(|programs| programs.saturating_sub(1)).sum();
    }
    let idle: Vec<usize> = (0..on_core.len()).filter(|&core| on_core[core] == 0).collect();
    cost.paired = paired(shape, orders, sets, &cores, &idle);
    cost.weaker = weaker(shape, orders, sets, &idle);
    cost
}

/// Second PUs of cores that could be first ones of idle cores.
fn paired(shape: &Shape, orders: &[Order], sets: &[Vec<usize>], cores: &[usize], idle: &[usize]) -> usize {
    if idle.is_empty() {
        return 0;
    }
    let usable = |order: &Order| {
        order.allowed.as_ref().map_or(idle.len(), |_| {
            idle.iter().filter(|&&core| shape.cores[core].pus.iter().any(|&pu| order.may(pu))).count()
        })
    };
    let seconds = orders.iter().zip(sets).zip(cores).map(|((order, set), &cores)| match set.len() - cores {
        0 => 0,
        seconds => seconds.min(usable(order)),
    });
    seconds.sum::<usize>().min(idle.len())
}

/// For each step to a stronger class: the most PUs below it, of programs from some weight on, that could
/// change places with cores above it that lighter programs have, or nobody.
fn weaker(shape: &Shape, orders: &[Order], sets: &[Vec<usize>], idle: &[usize]) -> usize {
    let mut classes: Vec<u32> = shape.kinds.iter().map(|kind| kind.class).collect();
    classes.dedup();
    classes.pop();
    if classes.is_empty() {
        return 0;
    }
    let mut by_weight: Vec<usize> = (0..orders.len().min(sets.len())).collect();
    by_weight.sort_by(|&a, &b| orders[b].weight.total_cmp(&orders[a].weight));
    let mut sum = 0;
    for class in classes {
        let strong = |who: usize| {
            let mut cores: Vec<usize> = sets[who].iter().map(|&pu| shape.core_of[pu]).collect();
            cores.retain(|&core| shape.cores[core].class >= class);
            cores.sort_unstable();
            cores.dedup();
            cores.len()
        };
        // Programs that may not have a stronger core don't count.
        let may = |who: usize| {
            let order = &orders[who];
            let inside = |pu: usize| order.may(pu) && shape.cores[shape.core_of[pu]].class >= class;
            order.allowed.is_none() || (0..shape.os.len()).any(inside)
        };
        let weak = |who: usize| {
            let below = |&&pu: &&usize| shape.cores[shape.core_of[pu]].class < class;
            if may(who) { sets[who].iter().filter(below).count() } else { 0 }
        };
        let nobodys = idle.iter().filter(|&&core| shape.cores[core].class >= class).count();
        let mut above = nobodys + by_weight.iter().map(|&who| strong(who)).sum::<usize>();
        let (mut below, mut most) = (0, 0);
        for (at, &who) in by_weight.iter().enumerate() {
            above -= strong(who);
            below += weak(who);
            let last = by_weight.get(at + 1).is_none_or(|&next| orders[next].weight < orders[who].weight);
            if last {
                most = most.max(above.min(below));
            }
        }
        sum += most;
    }
    sum
}
