//! What is left when all whole cores are assigned: parts of cores, moving others, and sharing.

use super::layout::Layout;
use super::shape::LEVELS;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

impl Layout<'_> {
    pub(super) fn fill_up(&mut self, turns: &[usize]) {
        let mut free: Vec<usize> = (0..self.load.len()).filter(|&pu| self.load[pu] == 0).collect();
        turns.iter().for_each(|&who| self.take_scraps(who, &mut free));
        turns.iter().for_each(|&who| self.make_room(who));
        turns.iter().for_each(|&who| self.share(who));
    }

    /// How near each PU is to what the program has; less is nearer.
    fn nearness(&self, who: usize) -> impl Fn(usize) -> [Reverse<usize>; LEVELS] + use<'_> {
        let shape = self.shape;
        let mut own = shape.domains.map(|domains| vec![0usize; domains]);
        for &pu in &self.has[who] {
            let at = shape.cores[shape.core_of[pu]].at;
            (0..LEVELS).for_each(|level| own[level][at[level]] += 1);
        }
        move |pu| {
            let at = shape.cores[shape.core_of[pu]].at;
            [0, 1, 2].map(|level| Reverse(own[level][at[level]]))
        }
    }

    /// Takes PUs of `free`, the best first: of its own cores, of untouched cores, that it had, near ones.
    fn take_scraps(&mut self, who: usize, free: &mut Vec<usize>) {
        if self.missing(who) == 0 {
            return;
        }
        if self.has[who].is_empty() {
            let Some(first) = self.first_scrap(who, free) else { return };
            self.give(who, first);
        }
        if self.missing(who) > 0 {
            for pu in self.best_scraps(who, free) {
                let core = &self.shape.cores[self.shape.core_of[pu]].pus;
                let whole = self.is_untouched(pu);
                let others = core.iter().copied().filter(|&other| whole && other != pu);
                for pu in std::iter::once(pu).chain(others) {
                    if self.missing(who) > 0 && self.load[pu] == 0 && self.orders[who].may(pu) {
                        self.give(who, pu);
                    }
                }
                if self.missing(who) == 0 {
                    break;
                }
            }
        }
        free.retain(|&pu| self.load[pu] == 0);
    }

    fn is_untouched(&self, pu: usize) -> bool {
        self.shape.cores[self.shape.core_of[pu]].pus.iter().all(|&sibling| self.load[sibling] == 0)
    }

    /// For most programs with one PU, of which there may be hundreds: the best PU, without ranking all.
    fn first_scrap(&self, who: usize, free: &[usize]) -> Option<usize> {
        let had = || self.previous(who).iter().copied().filter(|&pu| self.load[pu] == 0);
        let may = || free.iter().copied().filter(|&pu| self.orders[who].may(pu));
        had()
            .find(|&pu| self.is_untouched(pu))
            .or_else(|| may().find(|&pu| self.is_untouched(pu)))
            .or_else(|| had().next())
            .or_else(|| may().next())
    }

    /// The best of the PUs that it may have, as many as are missing; nearness is that before any is taken.
    fn best_scraps(&self, who: usize, free: &[usize]) -> Vec<usize> {
        let near = self.nearness(who);
        let rank = |pu: usize| {
            let siblings = &self.shape.cores[self.shape.core_of[pu]].pus;
            let own = siblings.iter().any(|&sibling| self.owner[sibling] == Some(who));
            let had = self.previous(who).binary_search(&pu).is_ok();
            (!own, !self.is_untouched(pu), !had, near(pu), pu)
        };
        let may = free.iter().copied().filter(|&pu| self.load[pu] == 0 && self.orders[who].may(pu));
        best(may.map(|pu| (rank(pu), pu)).collect(), self.missing(who))
    }

    /// Where `who` lacks PUs although some are free elsewhere: moves others along the shortest chain (an
    /// augmenting path, so that a disjoint layout is found wherever there is one).
    fn make_room(&mut self, who: usize) {
        while self.missing(who) > 0 && self.load.contains(&0) {
            // The program that would take each reached PU, and the PU that each reached program would lose.
            let mut taker: Vec<Option<usize>> = vec![None; self.load.len()];
            let mut loses: BTreeMap<usize, usize> = BTreeMap::new();
            let mut queue = VecDeque::from([who]);
            let mut end = None;
            // PUs that no reached program may have; PUs taken before the layout can't be left by anyone.
            let mut unseen: Vec<usize> =
                (0..self.load.len()).filter(|&pu| self.owner[pu].is_some() || self.load[pu] == 0).collect();
            while let (Some(program), None) = (queue.pop_front(), end) {
                unseen.retain(|&pu| {
                    if end.is_some() || !self.orders[program].may(pu) {
                        return true;
                    }
                    match self.owner[pu] {
                        None => (taker[pu], end) = (Some(program), Some(pu)),
                        Some(owner) if owner == who || owner == program || loses.contains_key(&owner) => {}
                        Some(owner) => {
                            taker[pu] = Some(program);
                            loses.insert(owner, pu);
                            queue.push_back(owner);
                        }
                    }
                    false
                });
            }
            // Back along the chain: each takes the PU reached through it and leaves the one that led to it.
            let Some(mut pu) = end else { return };
            while let Some(program) = taker[pu] {
                self.give(program, pu);
                let Some(&lost) = loses.get(&program) else { break };
                self.has[program].retain(|&own| own != lost);
                self.load[lost] -= 1;
                pu = lost;
            }
        }
    }

    /// Fills up with PUs that others have too, the least shared first.
    fn share(&mut self, who: usize) {
        if self.missing(who) == 0 {
            return;
        }
        let mut has = vec![false; self.load.len()];
        self.has[who].iter().for_each(|&pu| has[pu] = true);
        let had = |layout: &Layout, pu: usize| layout.previous(who).binary_search(&pu).is_ok();
        let mut open: Vec<usize> =
            (0..self.load.len()).filter(|&pu| self.orders[who].may(pu) && !has[pu]).collect();
        if self.has[who].is_empty()
            && let Some(&first) = open.iter().min_by_key(|&&pu| (self.load[pu], !had(self, pu), pu))
        {
            self.give(who, first);
            open.retain(|&pu| pu != first);
        }
        let near = self.nearness(who);
        let rank = |pu: usize| ((self.load[pu], !had(self, pu), near(pu), pu), pu);
        let open = best(open.into_iter().map(rank).collect(), self.missing(who));
        drop(near);
        open.into_iter().for_each(|pu| self.give(who, pu));
    }
}

fn best<R: Ord>(mut ranked: Vec<(R, usize)>, count: usize) -> Vec<usize> {
    if (1..ranked.len()).contains(&count) {
        ranked.select_nth_unstable(count - 1);
    }
    ranked.truncate(count);
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, pu)| pu).collect()
}
