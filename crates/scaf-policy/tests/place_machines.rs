//! What placement promises on 200 machines: 1 to 4,096 PUs, hybrid, with and without SMT, odd, lopsided.

use scaf_policy::place::{Cost, Style, Want, cost, place};
use scaf_policy::{ProgramId, Pu, PuSet, Topology};
use std::collections::{BTreeMap, BTreeSet};

struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % u64::from(n.max(1))) as u32
    }

    fn among(&mut self, low: u32, high: u32) -> u32 {
        low + self.below(high - low + 1)
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A machine with at most `most` PUs: lopsided caches, hybrid cores, or holes here and there.
fn machine(dice: &mut Dice, most: u32) -> Topology {
    let most = dice.among(1, most);
    let (lopsided, hybrid, holes) = (dice.one_in(4), dice.one_in(4), dice.one_in(8));
    let smt = [1, 1, 2, 2, 4][dice.below(5) as usize];
    let (numas, cores) = (dice.among(1, 3), dice.among(1, 24));
    let caches = dice.among(1, 4) + most / (16 * numas * cores);
    let mut pus = Vec::new();
    let (mut core, mut cache) = (0, 0);
    'machine: for package in 0.. {
        for numa in 0..numas {
            for _ in 0..caches {
                let here = if lopsided { dice.among(1, cores) } else { cores };
                for number in 0..here {
                    let strong = hybrid && number < here / 2;
                    for _ in 0..if hybrid && !strong { 1 } else { smt } {
                        if pus.len() as u32 >= most {
                            break 'machine;
                        }
                        let os = pus.len() as u32;
                        pus.push(Pu {
                            os,
                            core,
                            l3: cache,
                            numa: package * numas + numa,
                            package,
                            class: u32::from(strong),
                        });
                    }
                    core += 1;
                }
                cache += 1;
            }
        }
    }
    if holes {
        let kept: Vec<Pu> = pus.iter().copied().filter(|_| !dice.one_in(5)).collect();
        if !kept.is_empty() {
            pus = kept;
        }
    }
    Topology { pus }
}

fn programs(dice: &mut Dice, topology: &Topology) -> Vec<Want> {
    let mut left = topology.pus.len() as u32;
    let largest = dice.among(1, left);
    let mut wants = Vec::new();
    while left > 0 && wants.len() < 64 && (wants.is_empty() || !dice.one_in(12)) {
        let dop = dice.among(1, largest.min(left));
        left -= dop;
        let weight = if dice.one_in(3) { f64::from(dice.among(1, 3)) } else { 1.0 };
        let id = ProgramId(wants.len() as u64);
        wants.push(Want { weight, ..Want::new(id, dop, topology) });
    }
    wants
}

fn having(wants: &[Want], previous: &[PuSet]) -> Vec<Want> {
    let with = |(want, previous): (&Want, &PuSet)| Want { previous: previous.clone(), ..want.clone() };
    wants.iter().zip(previous).map(with).collect()
}

fn count(topology: &Topology, set: &PuSet, level: impl Fn(&Pu) -> u32) -> usize {
    topology.pus.iter().filter(|pu| set.contains(pu.os)).map(level).collect::<BTreeSet<_>>().len()
}

fn of(what: fn(Cost) -> usize, topology: &Topology, wants: &[Want], sets: &[PuSet]) -> usize {
    what(cost(topology, wants, sets, Style::Compact))
}

const STYLES: [Style; 3] = [Style::Compact, Style::Spread, Style::Along];

fn on_200_machines(mut check: impl FnMut(&mut Dice, &Topology, &[Want])) {
    let mut dice = Dice(0x5ca1ab1e);
    for round in 0..200 {
        let most = [16, 64, 256, 4_096][round % 4];
        let topology = machine(&mut dice, most);
        let wants = programs(&mut dice, &topology);
        check(&mut dice, &topology, &wants);
    }
}

#[test]
fn partitions_are_disjoint_and_of_the_right_size_and_stay_where_they_are() {
    let mut largest = 0;
    on_200_machines(|_, topology, wants| {
        largest = largest.max(topology.pus.len());
        for style in STYLES {
            let sets = place(topology, wants, style);
            let sizes: Vec<usize> = wants.iter().map(|want| want.dop as usize).collect();
            assert_eq!(sets.iter().map(PuSet::len).collect::<Vec<_>>(), sizes);
            let all = sets.iter().fold(PuSet::new(), |all, set| all.union(set));
            assert_eq!(all.len(), sizes.iter().sum::<usize>());
            assert!(all.is_subset(&topology.all()));
            assert!(place(topology, &having(wants, &sets), style) == sets, "{style:?}: nothing should move");
        }
    });
    assert!(largest > 2_000);
}

#[test]
fn programs_stay_within_what_they_are_allowed() {
    on_200_machines(|dice, topology, wants| {
        let mut wants = wants.to_vec();
        for want in &mut wants {
            if dice.one_in(2) {
                want.allowed = topology.pus.iter().map(|pu| pu.os).filter(|_| dice.one_in(2)).collect();
            }
        }
        for (set, want) in place(topology, &wants, Style::Compact).iter().zip(&wants) {
            assert!(want.allowed.is_empty() || set.is_subset(&want.allowed));
        }
    });
}

#[test]
fn siblings_go_to_one_program_wherever_whole_cores_suffice() {
    on_200_machines(|_, topology, wants| {
        let mut cores: BTreeMap<u32, usize> = BTreeMap::new();
        topology.pus.iter().for_each(|pu| *cores.entry(pu.core).or_default() += 1);
        let smt = cores.values().copied().max().unwrap_or(1);
        let needed: usize = wants.iter().map(|want| (want.dop as usize).div_ceil(smt)).sum();
        let alike = cores.values().all(|pus| *pus == smt);
        let split = of(|cost| cost.split, topology, wants, &place(topology, wants, Style::Compact));
        if alike {
            let scraps: Vec<usize> =
                wants.iter().map(|want| want.dop as usize % smt).filter(|rest| *rest > 0).collect();
            if needed <= cores.len() {
                assert_eq!(split, 0);
            } else if smt == 2 {
                // Each core that is too few makes two scraps share one.
                assert_eq!(split, needed - cores.len());
            } else {
                assert!(split <= scraps.len(), "{split} split cores of {smt} PUs, {} scraps", scraps.len());
            }
        }
    });
}

#[test]
fn it_costs_no_more_than_from_scratch_nor_than_staying() {
    on_200_machines(|dice, topology, wants| {
        for style in STYLES {
            let mut before = place(topology, wants, style);
            before.rotate_left(usize::from(dice.one_in(2)));
            let mut wants = having(wants, &before);
            for want in &mut wants {
                if dice.one_in(4) {
                    want.previous = PuSet::new();
                }
            }
            let total = |sets: &[PuSet]| cost(topology, &wants, sets, style).total();
            let fresh: Vec<Want> =
                wants.iter().map(|want| Want { previous: PuSet::new(), ..want.clone() }).collect();
            let result = total(&place(topology, &wants, style));
            assert!(result <= total(&place(topology, &fresh, style)));
            if wants.iter().all(|want| want.previous.len() == want.dop as usize) {
                assert!(result <= total(&before));
            }
        }
    });
}

#[test]
fn no_program_that_fits_into_a_cache_has_parts_of_two_where_a_packing_is_known() {
    let mut dice = Dice(0xfeed);
    for round in 0..200 {
        let (caches, cores, smt) = (dice.among(1, 32), dice.among(1, 16), dice.among(1, 2));
        let pu = |i: u32| {
            let core = i / smt;
            let (l3, numa) = (core / cores, core / cores / 4);
            Pu { os: i, core, l3, numa, package: numa / 2, class: 0 }
        };
        let topology = Topology { pus: (0..caches * cores * smt).map(pu).collect() };
        let mut sizes = Vec::new();
        let free = if round % 2 == 0 { 0 } else { 3 };
        for _ in 0..caches {
            let mut left = cores;
            while left > 0 {
                let take = dice.among(1, left);
                left -= take;
                if !(free > 0 && dice.one_in(free)) {
                    sizes.push((dice.below(1 << 30), take * smt));
                }
            }
        }
        sizes.sort_unstable();
        let want = |(&(_, dop), id): (&(u32, u32), u64)| Want::new(ProgramId(id), dop, &topology);
        let wants: Vec<Want> = sizes.iter().zip(0..).map(want).collect();
        let sets = place(&topology, &wants, Style::Compact);
        assert_eq!(cost(&topology, &wants, &sets, Style::Compact).split, 0);
        let divided = sets.iter().filter(|set| count(&topology, set, |pu| pu.l3) > 1).count();
        if smt == 1 || free == 0 {
            assert_eq!(divided, 0, "round {round}: {caches} x {cores} x {smt}: {sizes:?}");
        }
    }
}
