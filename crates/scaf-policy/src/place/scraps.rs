//! What is left when everybody has its whole cores: halves of cores, places that others have to make room for, and sharing.

use super::layout::Layout;
use super::shape::LEVELS;
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

impl Layout<'_> {
    /// Gives those who have too few what there is.
    pub(super) fn fill_up(&mut self, turns: &[usize]) {
        let mut free: Vec<usize> = (0..self.load.len()).filter(|&pu| self.load[pu] == 0).collect();
        turns.iter().for_each(|&who| self.take_scraps(who, &mut free));
        turns.iter().for_each(|&who| self.make_room(who));
        turns.iter().for_each(|&who| self.share(who));
    }

    /// For each PU how near it is to what the program has; less is nearer.
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

    /// Free PUs, the best first: of its own cores, then of cores that nobody uses, then those that it had, then near ones. `free` are all
    /// that there are, in their order.
    fn take_scraps(&mut self, who: usize, free: &mut Vec<usize>) {
        while self.missing(who) > 0 {
            let best = if self.has[who].is_empty() {
                self.first_scrap(who, free)
            } else {
                self.best_scrap(who, free)
            };
            let Some(best) = best else { return };
            self.give(who, best);
            if let Ok(at) = free.binary_search(&best) {
                free.remove(at);
            }
        }
    }

    fn is_untouched(&self, pu: usize) -> bool {
        self.shape.cores[self.shape.core_of[pu]].pus.iter().all(|&sibling| self.load[sibling] == 0)
    }

    /// The best for a program that has nothing to be near to: most of those with one PU, of which there may be hundreds.
    fn first_scrap(&self, who: usize, free: &[usize]) -> Option<usize> {
        let had = || self.previous(who).iter().copied().filter(|&pu| self.load[pu] == 0);
        let may = || free.iter().copied().filter(|&pu| self.orders[who].may(pu));
        had()
            .find(|&pu| self.is_untouched(pu))
            .or_else(|| may().find(|&pu| self.is_untouched(pu)))
            .or_else(|| had().next())
            .or_else(|| may().next())
    }

    fn best_scrap(&self, who: usize, free: &[usize]) -> Option<usize> {
        let near = self.nearness(who);
        let rank = |pu: usize| {
            let siblings = &self.shape.cores[self.shape.core_of[pu]].pus;
            let own = siblings.iter().any(|&sibling| self.owner[sibling] == Some(who));
            let had = self.previous(who).binary_search(&pu).is_ok();
            (!own, !self.is_untouched(pu), !had, near(pu), pu)
        };
        free.iter().copied().filter(|&pu| self.orders[who].may(pu)).min_by_key(|&pu| rank(pu))
    }

    /// Where `who` lacks PUs although some are free elsewhere: has others move over, along the shortest chain of
    /// programs that can (an augmenting path, so that a disjoint layout is found wherever there is one).
    fn make_room(&mut self, who: usize) {
        while self.missing(who) > 0 && self.load.contains(&0) {
            // For each PU reached: who would take it. For each program reached: the PU that it would lose.
            let mut taker: Vec<Option<usize>> = vec![None; self.load.len()];
            let mut loses: BTreeMap<usize, usize> = BTreeMap::new();
            let mut queue = VecDeque::from([who]);
            let mut end = None;
            'search: while let Some(program) = queue.pop_front() {
                for (pu, &owner) in self.owner.iter().enumerate() {
                    let taken = owner.is_none() && self.load[pu] > 0;
                    if taken || taker[pu].is_some() || !self.orders[program].may(pu) {
                        continue;
                    }
                    match owner {
                        None => {
                            taker[pu] = Some(program);
                            end = Some(pu);
                            break 'search;
                        }
                        Some(owner) if owner == who || owner == program || loses.contains_key(&owner) => {}
                        Some(owner) => {
                            taker[pu] = Some(program);
                            loses.insert(owner, pu);
                            queue.push_back(owner);
                        }
                    }
                }
            }
            // Back along the chain: each takes the PU that was reached through it and leaves the one that led to it.
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
        while self.missing(who) > 0 {
            let near = self.nearness(who);
            let had = |pu: usize| self.previous(who).binary_search(&pu).is_ok();
            let open = (0..self.load.len()).filter(|&pu| self.orders[who].may(pu) && !has[pu]);
            let best = open.min_by_key(|&pu| (self.load[pu], !had(pu), near(pu), pu));
            drop(near);
            let Some(best) = best else { return };
            has[best] = true;
            self.give(who, best);
        }
    }
}
