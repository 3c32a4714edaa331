//! Makes one layout: PU by PU, the largest partitions first, each time the PU that fits best.

use super::Order;
use crate::Topology;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A layout in the making.
pub(super) struct Layout<'a> {
    orders: &'a [Order],
    /// For each PU: its core, cache, node and package, numbered from 0 within their kind.
    levels: Vec<[usize; 4]>,
    /// How many caches, nodes and packages there are.
    domains: [usize; 3],
    /// PUs of each core.
    siblings: Vec<Vec<usize>>,
    /// PUs a core, at most.
    smt: usize,
    /// How many programs have each PU.
    load: Vec<usize>,
    /// Which program has each PU; the latest one where it is shared.
    owner: Vec<Option<usize>>,
    has: Vec<Vec<usize>>,
}

impl<'a> Layout<'a> {
    /// Fills every order beside those who have what is `taken`; `gradual` starts from what the programs have.
    pub fn new(topology: &Topology, orders: &'a [Order], taken: &[bool], gradual: bool) -> Layout<'a> {
        let mut numbers: [BTreeMap<u32, usize>; 4] = Default::default();
        let mut number = |kind: usize, id: u32| {
            let next = numbers[kind].len();
            *numbers[kind].entry(id).or_insert(next)
        };
        let levels: Vec<[usize; 4]> = topology
            .pus
            .iter()
            .map(|pu| [number(0, pu.core), number(1, pu.l3), number(2, pu.numa), number(3, pu.package)])
            .collect();
        let mut siblings = vec![Vec::new(); numbers[0].len()];
        for (pu, level) in levels.iter().enumerate() {
            siblings[level[0]].push(pu);
        }
        let domains = [1, 2, 3].map(|kind| numbers[kind].len());
        let smt = siblings.iter().map(Vec::len).max().unwrap_or(1);
        let load = taken.iter().map(|&taken| usize::from(taken)).collect();
        let (owner, has) = (vec![None; levels.len()], vec![Vec::new(); orders.len()]);
        let mut layout = Layout { orders, levels, domains, siblings, smt, load, owner, has };

        // Large partitions have the fewest places where they fit, so they go first.
        let mut turns: Vec<usize> = (0..orders.len()).collect();
        turns.sort_by_key(|&who| Reverse(orders[who].size));
        if gradual {
            for &who in &turns {
                layout.fill(who, |pu| orders[who].previous.contains(&pu));
            }
        }
        for &who in &turns {
            layout.fill(who, |_| true);
        }
        for &who in &turns {
            layout.make_room(who);
        }
        for &who in &turns {
            layout.share(who);
        }
        layout
    }

    /// The partitions, each in the topology's order.
    pub fn partitions(mut self) -> Vec<Vec<usize>> {
        self.has.iter_mut().for_each(|set| set.sort_unstable());
        self.has
    }

    fn missing(&self, who: usize) -> usize {
        self.orders[who].size - self.has[who].len()
    }

    fn give(&mut self, who: usize, pu: usize) {
        self.has[who].push(pu);
        self.load[pu] += 1;
        self.owner[pu] = Some(who);
    }

    /// Gives `who` free PUs out of `from`, the best first, until it has enough or none is left.
    fn fill(&mut self, who: usize, from: impl Fn(usize) -> bool) {
        let candidates: Vec<usize> =
            (0..self.load.len()).filter(|&pu| self.orders[who].allowed[pu] && from(pu)).collect();
        while self.missing(who) > 0 {
            let spare_core = self.can_open_a_core(who);
            let near = self.neighbourhood(who, &candidates);
            let free = candidates.iter().copied().filter(|&pu| self.load[pu] == 0);
            let Some(best) =
                free.min_by_key(|&pu| (self.core_rank(who, pu, spare_core), near.rank(self.levels[pu]), pu))
            else {
                return;
            };
            self.give(who, best);
        }
    }

    /// How welcome a free PU is for the sake of its core alone; less is better.
    fn core_rank(&self, who: usize, pu: usize, spare_core: bool) -> u8 {
        let core = &self.siblings[self.levels[pu][0]];
        let untouched = core.iter().all(|&sibling| self.load[sibling] == 0);
        let own = core.iter().any(|&sibling| self.owner[sibling] == Some(who));
        match (untouched, own) {
            (true, _) if spare_core => 0,
            (_, true) => 1,
            // A whole core for one that fills it; a half used one for one that would not.
            (true, _) => {
                if self.missing(who) >= self.smt {
                    2
                } else {
                    4
                }
            }
            (false, false) => 3,
        }
    }

    /// Whether `who` can start on another core and still leave whole cores for all that is missing.
    fn can_open_a_core(&self, who: usize) -> bool {
        if self.smt == 1 {
            return true;
        }
        let untouched =
            self.siblings.iter().filter(|core| core.iter().all(|&sibling| self.load[sibling] == 0)).count();
        let needed = |other: usize| {
            let extra = usize::from(other == who);
            let held: BTreeSet<usize> = self.has[other].iter().map(|&pu| self.levels[pu][0]).collect();
            let room: usize =
                held.iter().flat_map(|&core| &self.siblings[core]).filter(|&&pu| self.load[pu] == 0).count();
            // The core to be opened brings its other PUs as room.
            let room = room + extra * (self.smt - 1);
            (self.missing(other) - extra).saturating_sub(room).div_ceil(self.smt)
        };
        let needed: usize = (0..self.orders.len()).filter(|&other| self.missing(other) > 0).map(needed).sum();
        untouched > needed
    }

    fn neighbourhood(&self, who: usize, candidates: &[usize]) -> Neighbourhood {
        let count = |pus: &mut dyn Iterator<Item = usize>| {
            let mut counts = self.domains.map(|domains| vec![0; domains]);
            for pu in pus {
                for (kind, counts) in counts.iter_mut().enumerate() {
                    counts[self.levels[pu][kind + 1]] += 1;
                }
            }
            counts
        };
        Neighbourhood {
            own: count(&mut self.has[who].iter().copied()),
            free: count(&mut candidates.iter().copied().filter(|&pu| self.load[pu] == 0)),
            missing: self.missing(who),
        }
    }

    /// Where `who` lacks PUs although some are free elsewhere: has others move over, along the shortest chain of
    /// programs that can (an augmenting path, so that a disjoint layout is found wherever there is one).
    fn make_room(&mut self, who: usize) {
        while self.missing(who) > 0 {
            // For each PU reached: who would take it. For each program reached: the PU that it would lose.
            let mut taker: Vec<Option<usize>> = vec![None; self.load.len()];
            let mut loses: BTreeMap<usize, usize> = BTreeMap::new();
            let mut queue = VecDeque::from([who]);
            let mut end = None;
            'search: while let Some(program) = queue.pop_front() {
                for (pu, &owner) in self.owner.iter().enumerate() {
                    let theirs = owner.is_none() && self.load[pu] > 0;
                    if theirs || taker[pu].is_some() || !self.orders[program].allowed[pu] {
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
        while self.missing(who) > 0 {
            let near = self.neighbourhood(who, &[]);
            let order = &self.orders[who];
            let open = (0..self.load.len()).filter(|&pu| order.allowed[pu] && !self.has[who].contains(&pu));
            let rank =
                |&pu: &usize| (self.load[pu], !order.previous.contains(&pu), near.rank(self.levels[pu]), pu);
            let Some(best) = open.min_by_key(rank) else { return };
            self.give(who, best);
        }
    }
}

/// What a program has and could have around each PU.
struct Neighbourhood {
    /// Its PUs by cache, node and package.
    own: [Vec<usize>; 3],
    /// Free PUs that it could take, likewise.
    free: [Vec<usize>; 3],
    missing: usize,
}

impl Neighbourhood {
    /// How far a PU lies from the rest of the partition; less is better. Among PUs equally near, the part of the
    /// machine that holds what is missing with the least left over; if none does, the one that holds most.
    fn rank(&self, levels: [usize; 4]) -> ([Reverse<usize>; 3], usize, usize) {
        let near = [0, 1, 2].map(|kind| Reverse(self.own[kind][levels[kind + 1]]));
        let free = |kind: usize| self.free[kind][levels[kind + 1]];
        match (0..3).find(|&kind| free(kind) >= self.missing) {
            Some(kind) => (near, kind, free(kind)),
            None => (near, 3, usize::MAX - free(2)),
        }
    }
}
