//! Makes one layout: first whole cores near each other, as planned, then what is left over PU by PU.

use super::plan::plan;
use super::shape::{Core, LEVELS, Order, Shape};
use super::want::Style;
use std::cmp::Reverse;

#[derive(Clone, Copy)]
pub(super) struct Way {
    pub style: Style,
    /// Starts from what the programs have, else from an empty machine.
    pub gradual: bool,
    /// First looks for a cache for each program that fits into one.
    pub packed: bool,
}

pub(super) struct Layout<'a> {
    pub shape: &'a Shape,
    pub orders: &'a [Order],
    pub way: Way,
    pub load: Vec<usize>,
    /// The latest program that was given each PU; `None` if it is free or was taken before.
    pub owner: Vec<Option<usize>>,
    pub has: Vec<Vec<usize>>,
    /// Whether nobody has any part of a core.
    pub open: Vec<bool>,
    /// Open cores by kind in each cache, node and package.
    pub free: Vec<[Vec<usize>; LEVELS]>,
    pub cores: Vec<Vec<usize>>,
    pub divided: bool,
}

impl<'a> Layout<'a> {
    /// Fills every order beside programs that have what is `taken`.
    pub fn new(shape: &'a Shape, orders: &'a [Order], taken: &[bool], way: Way) -> Layout<'a> {
        let mut layout = Layout {
            shape,
            orders,
            way,
            load: taken.iter().map(|&taken| usize::from(taken)).collect(),
            owner: vec![None; shape.os.len()],
            has: vec![Vec::new(); orders.len()],
            open: Vec::new(),
            free: vec![shape.domains.map(|domains| vec![0; domains]); shape.kinds.len()],
            cores: vec![Vec::new(); orders.len()],
            divided: false,
        };
        let mut whole = vec![0; shape.kinds.len()];
        for core in &shape.cores {
            let open = core.pus.iter().all(|&pu| !taken[pu]);
            layout.open.push(open);
            if open {
                whole[core.kind] += 1;
                (0..LEVELS).for_each(|level| layout.free[core.kind][level][core.at[level]] += 1);
            }
        }
        let mut cores = plan(shape, orders, &whole, way.gradual, true);
        // Programs that can go to few places first, then the large ones.
        let mut turns: Vec<usize> = (0..orders.len()).collect();
        turns.sort_by_key(|&who| {
            (orders[who].allowed.is_none(), Reverse(cores[who].iter().sum::<usize>()), who)
        });
        let mut packed = false;
        if way.packed && shape.kinds.len() == 1 {
            packed = layout.assign_caches(&turns, &cores, way.gradual);
            if !packed {
                // With fewer cores each; the caches' open cores are added at the end.
                let narrow = plan(shape, orders, &whole, way.gradual, false);
                packed = narrow != cores && layout.assign_caches(&turns, &narrow, way.gradual);
                if packed {
                    cores = narrow;
                }
            }
            if !packed && way.gradual {
                packed = layout.assign_caches(&turns, &cores, false);
            }
        }
        if way.gradual && !packed {
            turns.iter().for_each(|&who| layout.keep(who, &cores[who]));
        }
        for &who in &turns {
            for (kind, &planned) in cores[who].iter().enumerate() {
                let of_kind = |&&core: &&usize| shape.cores[core].kind == kind;
                let held = layout.cores[who].iter().filter(of_kind).count();
                layout.take_cores(who, kind, planned.saturating_sub(held));
            }
        }
        layout.divided = (0..orders.len()).any(|who| layout.is_divided(who));
        if packed {
            layout.widen_in_cache(&turns);
        }
        turns.iter().for_each(|&who| layout.assign_pus(who));
        layout.fill_up(&turns);
        layout
    }

    pub fn partitions(mut self) -> Vec<Vec<usize>> {
        self.has.iter_mut().for_each(|set| set.sort_unstable());
        self.has
    }

    pub fn missing(&self, who: usize) -> usize {
        self.orders[who].size - self.has[who].len()
    }

    pub fn give(&mut self, who: usize, pu: usize) {
        self.has[who].push(pu);
        self.load[pu] += 1;
        self.owner[pu] = Some(who);
    }

    /// What the program has, if that counts.
    pub fn previous(&self, who: usize) -> &'a [usize] {
        if self.way.gradual { &self.orders[who].previous } else { &[] }
    }

    pub fn may_have(&self, who: usize, core: usize) -> bool {
        self.open[core] && self.shape.cores[core].pus.iter().any(|&pu| self.orders[who].may(pu))
    }

    pub fn hold(&mut self, who: usize, core: usize) {
        self.open[core] = false;
        let Core { kind, at, .. } = &self.shape.cores[core];
        (0..LEVELS).for_each(|level| self.free[*kind][level][at[level]] -= 1);
        self.cores[who].push(core);
    }

    fn is_divided(&self, who: usize) -> bool {
        let cache = |core: usize| self.shape.cores[core].at[0];
        self.cores[who].len() <= self.shape.largest_cache()
            && self.cores[who].windows(2).any(|pair| cache(pair[0]) != cache(pair[1]))
    }

    /// Open cores of which the program has PUs, each with their number; the cache where it has most first.
    pub fn kept(&self, who: usize) -> Vec<(usize, usize)> {
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for &pu in self.previous(who) {
            let core = self.shape.core_of[pu];
            // Siblings may stand apart in the machine's order.
            match kept.iter_mut().rev().take(8).find(|(other, _)| *other == core) {
                Some((_, pus)) => *pus += 1,
                None => kept.push((core, 1)),
            }
        }
        kept.sort_unstable();
        kept.dedup_by(|b, a| {
            a.0 == b.0 && {
                a.1 += b.1;
                true
            }
        });
        let mut in_cache = vec![0; self.shape.domains[0]];
        let cache = |core: usize| self.shape.cores[core].at[0];
        kept.iter().for_each(|&(core, pus)| in_cache[cache(core)] += pus);
        kept.retain(|&(core, _)| self.open[core]);
        kept.sort_by_key(|&(core, pus)| (Reverse(in_cache[cache(core)]), cache(core), Reverse(pus), core));
        kept
    }

    /// The program keeps the cores that it has, as far as planned.
    pub fn keep(&mut self, who: usize, cores: &[usize]) {
        let mut left = cores.to_vec();
        for (core, _) in self.kept(who) {
            let kind = self.shape.cores[core].kind;
            if left[kind] > 0 {
                left[kind] -= 1;
                self.hold(who, core);
            }
        }
    }

    /// Gives the program PUs of its cores: one of each, then second ones; in both cases previous PUs first.
    fn assign_pus(&mut self, who: usize) {
        let (order, previous) = (&self.orders[who], self.previous(who));
        let new = |pu: &usize| previous.binary_search(pu).is_err();
        let mut later = Vec::new();
        for core in self.cores[who].clone() {
            let mut pus: Vec<usize> =
                self.shape.cores[core].pus.iter().copied().filter(|&pu| order.may(pu)).collect();
            pus.sort_by_key(new);
            let mut pus = pus.into_iter();
            if let Some(first) = pus.next().filter(|_| self.missing(who) > 0) {
                self.give(who, first);
            }
            later.extend(pus);
        }
        later.sort_by_key(new);
        later.truncate(self.missing(who));
        later.into_iter().for_each(|pu| self.give(who, pu));
    }
}
