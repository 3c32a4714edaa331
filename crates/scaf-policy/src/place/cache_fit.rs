//! Assigns a cache to each program that fits into one, before anything else is placed.

use super::layout::Layout;
use super::pack::pack;
use super::plan::Plan;
use std::cmp::Reverse;

impl Layout<'_> {
    /// Finds caches, and cores in them, for the programs that fit into one. With `stay`, programs whose cores
    /// are in one cache stay; else they go where there is room, preferably where they are. False if none.
    pub(super) fn assign_caches(&mut self, turns: &[usize], cores: &Plan, stay: bool) -> bool {
        let before = (self.open.clone(), self.free.clone(), self.cores.clone());
        let largest = self.shape.largest_cache();
        let fits = |who: usize| self.orders[who].allowed.is_none() && (1..=largest).contains(&cores[who][0]);
        let (mut small, large): (Vec<usize>, Vec<usize>) = turns.iter().partition(|&&who| fits(who));
        small.sort_by_key(|&who| Reverse(cores[who][0]));
        if stay {
            small.retain(|&who| {
                let (need, in_cache) = (cores[who][0], self.in_cache(who));
                let stays = in_cache.len() >= need;
                in_cache.into_iter().take(if stays { need } else { 0 }).for_each(|core| self.hold(who, core));
                !stays
            });
        }
        large.iter().for_each(|&who| self.keep(who, &cores[who]));
        let had: Vec<Vec<usize>> =
            small.iter().map(|&who| self.kept(who).iter().map(|&(core, _)| core).collect()).collect();
        let cache = |core: usize| self.shape.cores[core].at[0];
        let prefer = |item: usize, bin: usize| had[item].iter().filter(|&&core| cache(core) == bin).count();
        let sizes: Vec<usize> = small.iter().map(|&who| cores[who][0]).collect();
        let Some(bins) = pack(&sizes, &mut self.free[0][0].clone(), &prefer) else {
            (self.open, self.free, self.cores) = before;
            return false;
        };
        let mut wanted = vec![false; self.shape.cores.len()];
        had.iter().flatten().for_each(|&core| wanted[core] = true);
        for ((&who, &bin), had) in small.iter().zip(&bins).zip(&had) {
            let mut inside: Vec<usize> =
                self.shape.caches[bin].iter().copied().filter(|&core| self.open[core]).collect();
            // Its own ones first, then those that nobody else would like to keep.
            inside.sort_by_key(|&core| (!had.contains(&core), wanted[core]));
            inside.into_iter().take(cores[who][0]).for_each(|core| self.hold(who, core));
        }
        true
    }

    /// The program's cores in the cache where it has most.
    fn in_cache(&self, who: usize) -> Vec<usize> {
        let kept = self.kept(who);
        let cache = |core: usize| self.shape.cores[core].at[0];
        let bin = kept.first().map(|&(core, _)| cache(core));
        kept.into_iter().map(|(core, _)| core).filter(|&core| Some(cache(core)) == bin).collect()
    }

    /// Gives open cores to programs in the same cache that have more PUs than cores.
    pub(super) fn widen_in_cache(&mut self, turns: &[usize]) {
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
}
