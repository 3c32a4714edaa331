//! Makes one layout: each program gets cores as planned, near each other; what is left over is then given out PU by PU.

use super::Style;
use super::pack::pack;
use super::plan::{Plan, plan};
use super::shape::{Core, LEVELS, Order, Shape};
use std::cmp::Reverse;

/// How a layout is made.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub style: Style,
    /// Starts from what the programs have, else from an empty machine.
    pub gradual: bool,
    /// Looks for caches first for the programs that fit into one.
    pub packed: bool,
}

/// A layout in the making.
pub(super) struct Layout<'a> {
    pub shape: &'a Shape,
    pub orders: &'a [Order],
    way: Way,
    /// How many programs have each PU.
    pub load: Vec<usize>,
    /// Which program has each PU; the latest one where it is shared, nobody known where it was taken before.
    pub owner: Vec<Option<usize>>,
    /// PUs of each program.
    pub has: Vec<Vec<usize>>,
    /// Whether nobody has anything of a core.
    open: Vec<bool>,
    /// For each kind, how many open cores there are in each cache, node and package.
    free: Vec<[Vec<usize>; LEVELS]>,
    /// Whole cores of each program.
    cores: Vec<Vec<usize>>,
    /// Some program was divided among caches although it would fit into one.
    pub divided: bool,
}

impl<'a> Layout<'a> {
    /// Fills every order beside those who have what is `taken`.
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
        // Those who can go to few places first, then the large ones, of which the same is true.
        let mut turns: Vec<usize> = (0..orders.len()).collect();
        turns.sort_by_key(|&who| {
            (orders[who].allowed.is_none(), Reverse(cores[who].iter().sum::<usize>()), who)
        });
        let mut packed = false;
        if way.packed && shape.kinds.len() == 1 {
            packed = layout.pack(&turns, &cores);
            if !packed {
                // With fewer cores each; then those that are left over in the same caches.
                let narrow = plan(shape, orders, &whole, way.gradual, false);
                packed = narrow != cores && layout.pack(&turns, &narrow);
                if packed {
                    cores = narrow;
                }
            }
        }
        if way.gradual && !packed {
            turns.iter().for_each(|&who| layout.keep(who, &cores[who]));
        }
        for &who in &turns {
            for kind in 0..shape.kinds.len() {
                let of_kind = |&&core: &&usize| shape.cores[core].kind == kind;
                let held = layout.cores[who].iter().filter(of_kind).count();
                layout.take_cores(who, kind, cores[who][kind].saturating_sub(held));
            }
        }
        layout.divided = (0..orders.len()).any(|who| layout.is_divided(who));
        if packed {
            layout.widen(&turns);
        }
        turns.iter().for_each(|&who| layout.seat(who));
        layout.fill_up(&turns);
        layout
    }

    /// The partitions, each in the machine's order.
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

    /// What the program has that counts.
    pub fn previous(&self, who: usize) -> &'a [usize] {
        if self.way.gradual { &self.orders[who].previous } else { &[] }
    }

    fn may_have(&self, who: usize, core: usize) -> bool {
        self.open[core] && self.shape.cores[core].pus.iter().any(|&pu| self.orders[who].may(pu))
    }

    fn hold(&mut self, who: usize, core: usize) {
        self.open[core] = false;
        let Core { kind, at, .. } = &self.shape.cores[core];
        (0..LEVELS).for_each(|level| self.free[*kind][level][at[level]] -= 1);
        self.cores[who].push(core);
    }

    fn largest_cache(&self) -> usize {
        self.shape.caches.iter().map(Vec::len).max().unwrap_or(0)
    }

    fn is_divided(&self, who: usize) -> bool {
        let cache = |core: usize| self.shape.cores[core].at[0];
        self.cores[who].len() <= self.largest_cache()
            && self.cores[who].windows(2).any(|pair| cache(pair[0]) != cache(pair[1]))
    }

    /// Whole cores that the program has PUs of, each with their number; those of the cache where it has most first.
    fn kept(&self, who: usize) -> Vec<(usize, usize)> {
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

    /// The program keeps what it has, as far as it is planned.
    fn keep(&mut self, who: usize, cores: &[usize]) {
        let mut left = cores.to_vec();
        for (core, _) in self.kept(who) {
            let kind = self.shape.cores[core].kind;
            if left[kind] > 0 {
                left[kind] -= 1;
                self.hold(who, core);
            }
        }
    }

    /// Finds a cache for each program that fits into one; those that are within one and stay as many keep theirs, if that can be.
    /// False, and nothing has happened, if there is no way.
    fn pack(&mut self, turns: &[usize], cores: &Plan) -> bool {
        let before = (self.open.clone(), self.free.clone(), self.cores.clone());
        let largest = self.largest_cache();
        let small = |who: usize| self.orders[who].allowed.is_none() && (1..=largest).contains(&cores[who][0]);
        let (mut small, others): (Vec<usize>, Vec<usize>) = turns.iter().partition(|&&who| small(who));
        small.sort_by_key(|&who| Reverse(cores[who][0]));
        let cache = |layout: &Self, core: usize| layout.shape.cores[core].at[0];
        if self.way.gradual {
            small.retain(|&who| {
                let kept = self.kept(who);
                let home = kept.first().map(|&(core, _)| cache(self, core));
                let at_home: Vec<usize> = kept
                    .iter()
                    .map(|&(core, _)| core)
                    .filter(|&core| Some(cache(self, core)) == home)
                    .collect();
                let stays = at_home.len() >= cores[who][0];
                at_home
                    .into_iter()
                    .take(if stays { cores[who][0] } else { 0 })
                    .for_each(|core| self.hold(who, core));
                !stays
            });
            others.iter().for_each(|&who| self.keep(who, &cores[who]));
        }
        let had: Vec<Vec<usize>> =
            small.iter().map(|&who| self.kept(who).iter().map(|&(core, _)| core).collect()).collect();
        let prefer =
            |item: usize, bin: usize| had[item].iter().filter(|&&core| cache(self, core) == bin).count();
        let sizes: Vec<usize> = small.iter().map(|&who| cores[who][0]).collect();
        let Some(bins) = pack(&sizes, &mut self.free[0][0].clone(), &prefer) else {
            (self.open, self.free, self.cores) = before;
            return false;
        };
        for ((&who, &bin), had) in small.iter().zip(&bins).zip(&had) {
            let mut inside: Vec<usize> =
                self.shape.caches[bin].iter().copied().filter(|&core| self.open[core]).collect();
            inside.sort_by_key(|core| !had.contains(core));
            inside.into_iter().take(cores[who][0]).for_each(|core| self.hold(who, core));
        }
        true
    }

    /// Takes `need` open cores of a kind, each time where they are best.
    fn take_cores(&mut self, who: usize, kind: usize, mut need: usize) {
        if need == 0 {
            return;
        }
        let shape = self.shape;
        // For those who may not run everywhere, what they may have of it.
        let mut inside =
            self.orders[who].allowed.as_ref().map(|_| shape.domains.map(|domains| vec![0usize; domains]));
        if let Some(inside) = &mut inside {
            for (index, core) in shape.cores.iter().enumerate() {
                if core.kind == kind && self.may_have(who, index) {
                    (0..LEVELS).for_each(|level| inside[level][core.at[level]] += 1);
                }
            }
        }
        let mut own = shape.domains.map(|domains| vec![0usize; domains]);
        for &core in &self.cores[who] {
            (0..LEVELS).for_each(|level| own[level][shape.cores[core].at[level]] += 1);
        }
        while need > 0 {
            let free = inside.as_ref().unwrap_or(&self.free[kind]);
            let others = |cache: usize| {
                let open: usize = self.free.iter().map(|free| free[0][cache]).sum();
                shape.caches[cache].len().saturating_sub(open + own[0][cache])
            };
            let best = (0..shape.domains[0]).filter(|&cache| free[0][cache] > 0).min_by_key(|&cache| {
                let Some(&first) = shape.caches[cache].first() else {
                    return ([Reverse(0); LEVELS], 0, 0, 0, cache);
                };
                let at = shape.cores[first].at;
                let near = [0, 1, 2].map(|level| own[level][at[level]]);
                let room = free[0][cache];
                if self.way.style == Style::Spread {
                    // Wherever it has least, packages before nodes before caches.
                    return ([Reverse(0); LEVELS], near[2], near[1], near[0], cache);
                }
                let beside = if self.way.style == Style::Along { others(cache) } else { 0 };
                // The smallest neighbourhood that has room for all, and of these the one with least left over; in a larger one
                // than a cache, whole caches first.
                let level = (0..LEVELS).find(|&level| free[level][at[level]] >= need);
                let left = level.map_or(0, |level| free[level][at[level]] - need);
                let rank = level.unwrap_or(LEVELS);
                let whole = if rank == 0 { left } else { usize::MAX - room };
                (near.map(Reverse), beside, rank, if rank == 0 { 0 } else { left }, whole)
            });
            let Some(cache) = best else { return };
            let most = if self.way.style == Style::Spread { 1 } else { need };
            let cores: Vec<usize> = shape.caches[cache]
                .iter()
                .copied()
                .filter(|&core| shape.cores[core].kind == kind && self.may_have(who, core))
                .take(most)
                .collect();
            need -= cores.len().min(need);
            for core in cores {
                self.hold(who, core);
                for level in 0..LEVELS {
                    let domain = shape.cores[core].at[level];
                    if let Some(inside) = &mut inside {
                        inside[level][domain] = inside[level][domain].saturating_sub(1);
                    }
                    own[level][domain] += 1;
                }
            }
        }
    }

    /// Open cores go to programs in the same cache that have more PUs than cores.
    fn widen(&mut self, turns: &[usize]) {
        let mut more = true;
        while more {
            more = false;
            for &who in turns {
                let (held, order) = (self.cores[who].len(), &self.orders[who]);
                let Some(&first) = self.cores[who].first() else { continue };
                if held >= order.size || order.allowed.is_some() {
                    continue;
                }
                let cache = &self.shape.caches[self.shape.cores[first].at[0]];
                if let Some(&core) = cache.iter().find(|&&core| self.open[core]) {
                    self.hold(who, core);
                    more = true;
                }
            }
        }
    }

    /// Gives the program PUs of its cores: one of each, then the second ones; those that it has first.
    fn seat(&mut self, who: usize) {
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
