//! Which open cores a program gets: near what it has, in the smallest part of the machine that has room.

use super::layout::Layout;
use super::shape::LEVELS;
use super::want::Style;
use std::cmp::Reverse;

type Counts = [Vec<usize>; LEVELS];

impl Layout<'_> {
    pub(super) fn take_cores(&mut self, who: usize, kind: usize, mut need: usize) {
        if need == 0 {
            return;
        }
        let shape = self.shape;
        // Free cores, if the program may not run everywhere.
        let mut inside = self.orders[who].allowed.as_ref().map(|_| self.inside(who, kind));
        let mut own = shape.domains.map(|domains| vec![0usize; domains]);
        for &core in &self.cores[who] {
            (0..LEVELS).for_each(|level| own[level][shape.cores[core].at[level]] += 1);
        }
        while need > 0 {
            let free = inside.as_ref().unwrap_or(&self.free[kind]);
            let caches = self.best_caches(free, &own, need);
            let before = need;
            for (number, cache) in caches.into_iter().enumerate() {
                let most = if self.way.style == Style::Spread { 1 } else { need };
                let mine = |&core: &usize| shape.cores[core].kind == kind && self.may_have(who, core);
                let cores: Vec<usize> = shape.caches[cache].iter().copied().filter(mine).collect();
                // What doesn't need a whole cache goes where it leaves least.
                if need == 0 || number > 0 && most > 1 && cores.len() > need {
                    break;
                }
                for core in cores.into_iter().take(most) {
                    self.hold(who, core);
                    need -= 1;
                    for level in 0..LEVELS {
                        let domain = shape.cores[core].at[level];
                        own[level][domain] += 1;
                        if let Some(inside) = &mut inside {
                            inside[level][domain] = inside[level][domain].saturating_sub(1);
                        }
                    }
                }
            }
            if need == before {
                return;
            }
        }
    }

    fn inside(&self, who: usize, kind: usize) -> Counts {
        let mut inside = self.shape.domains.map(|domains| vec![0usize; domains]);
        for (index, core) in self.shape.cores.iter().enumerate() {
            if core.kind == kind && self.may_have(who, index) {
                (0..LEVELS).for_each(|level| inside[level][core.at[level]] += 1);
            }
        }
        inside
    }

    /// The cache to take cores from, and others of its node if needed; to be spread, those with least of it.
    fn best_caches(&self, free: &Counts, own: &Counts, need: usize) -> Vec<usize> {
        let shape = self.shape;
        if self.way.style == Style::Spread {
            let open = shape.far_apart.iter().copied().filter(|&cache| free[0][cache] > 0);
            let least = open.clone().map(|cache| own[0][cache]).min();
            return open.filter(|&cache| Some(own[0][cache]) == least).collect();
        }
        let place = |cache: usize| shape.caches[cache].first().map(|&core| shape.cores[core].at);
        let open = |cache: &usize| free[0][*cache] > 0;
        let rank =
            |&cache: &usize| place(cache).map_or(u128::MAX, |at| self.rank(cache, at, free, own, need));
        let Some(best) = (0..shape.domains[0]).filter(open).min_by_key(rank) else { return Vec::new() };
        let Some(at) = place(best) else { return Vec::new() };
        let mut caches = vec![best];
        if free[0][best] < need {
            let beside =
                |&cache: &usize| cache != best && place(cache).is_some_and(|other| other[1] == at[1]);
            let mut others: Vec<usize> = (0..shape.domains[0]).filter(open).filter(beside).collect();
            others.sort_by_key(|&cache| (self.beside(cache, own), Reverse(free[0][cache])));
            caches.extend(others);
        }
        caches
    }

    /// Cores of a cache that others have, where that matters.
    fn beside(&self, cache: usize, own: &Counts) -> usize {
        if self.way.style != Style::Along {
            return 0;
        }
        let open: usize = self.free.iter().map(|free| free[0][cache]).sum();
        self.shape.caches[cache].len().saturating_sub(open + own[0][cache])
    }

    /// How good a cache is for the program's next cores; less is better. One number is fast to compare.
    fn rank(&self, cache: usize, at: [usize; LEVELS], free: &Counts, own: &Counts, need: usize) -> u128 {
        let room = free[0][cache];
        // The smallest neighbourhood with room for all, of these the one with least left over; in a
        // neighbourhood larger than a cache, caches with most room first.
        let (level, left, room) = match (0..LEVELS).find(|&level| free[level][at[level]] >= need) {
            Some(0) => (0, room - need, 0),
            Some(level) => (level, free[level][at[level]] - need, usize::MAX - room),
            None => (LEVELS, 0, usize::MAX - room),
        };
        // Most important first, 16 bits each: there are fewer than 65,536 cores.
        let near = [0, 1, 2].map(|level| usize::MAX - own[level][at[level]]);
        let digits = [near[0], near[1], near[2], self.beside(cache, own), level, left, room];
        digits.into_iter().fold(0, |rank, digit| rank << 16 | (digit & 0xffff) as u128)
    }
}
