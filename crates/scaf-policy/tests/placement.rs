//! What placement promises, on chosen and on random machines.

use proptest::prelude::*;
use scaf_policy::place::{Style, Want, place_allocation, place_turns};
use scaf_policy::{Allocation, Pool, ProgramId, Pu, PuSet, Topology, Turn};
use std::collections::BTreeMap;

/// So many packages, and nodes, caches, cores and PUs in each; PUs are numbered as Linux does on x86.
fn machine(packages: u32, numas: u32, l3s: u32, cores: u32, smt: u32) -> Topology {
    let all_cores = packages * numas * l3s * cores;
    let pu = |i: u32| {
        let (core, thread) = (i / smt, i % smt);
        let l3 = core / cores;
        Pu { os: thread * all_cores + core, core, l3, numa: l3 / l3s, package: l3 / l3s / numas, class: 0 }
    };
    Topology { pus: (0..all_cores * smt).map(pu).collect() }
}

fn place(topology: &Topology, wants: &[Want]) -> Vec<PuSet> {
    scaf_policy::place::place(topology, wants, Style::Compact)
}

fn set(text: &str) -> PuSet {
    text.parse().unwrap()
}

fn wants(topology: &Topology, dops: &[u32]) -> Vec<Want> {
    dops.iter().zip(0..).map(|(&dop, i)| Want::new(ProgramId(i), dop, topology)).collect()
}

fn having(mut wants: Vec<Want>, previous: &[PuSet]) -> Vec<Want> {
    for (want, previous) in wants.iter_mut().zip(previous) {
        want.previous = previous.clone();
    }
    wants
}

fn split_cores(topology: &Topology, sets: &[PuSet]) -> usize {
    let mut programs: BTreeMap<u32, std::collections::BTreeSet<usize>> = BTreeMap::new();
    for pu in &topology.pus {
        for (i, _) in sets.iter().enumerate().filter(|(_, set)| set.contains(pu.os)) {
            programs.entry(pu.core).or_default().insert(i);
        }
    }
    programs.values().filter(|p| p.len() > 1).count()
}

fn domains(topology: &Topology, set: &PuSet, level: impl Fn(&Pu) -> u32) -> usize {
    let inside = topology.pus.iter().filter(|pu| set.contains(pu.os));
    inside.map(level).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn each_program_gets_a_package_of_its_own_where_it_fits() {
    let opteron = machine(4, 1, 1, 6, 1);
    for set in place(&opteron, &wants(&opteron, &[6, 6, 6, 6])) {
        assert_eq!(domains(&opteron, &set, |pu| pu.package), 1, "{set}");
    }
    let sets = place(&opteron, &wants(&opteron, &[12, 6, 4, 2]));
    let packages: Vec<usize> = sets.iter().map(|s| domains(&opteron, s, |pu| pu.package)).collect();
    assert_eq!(packages, [2, 1, 1, 1]);
}

#[test]
fn levels_need_not_lie_within_each_other() {
    // Packages and nodes in one cache, as where caches aren't described; and caches across both.
    let untold = machine(2, 2, 1, 2, 1);
    let one = |pu: &Pu| Pu { l3: 0, ..*pu };
    let odd = |pu: &Pu| Pu { l3: pu.os % 5, numa: pu.os % 3, package: pu.os % 4, ..*pu };
    for topology in [untold.pus.iter().map(one).collect::<Vec<_>>(), untold.pus.iter().map(odd).collect()]
        .map(|pus| Topology { pus })
    {
        for style in [Style::Compact, Style::Spread, Style::Along] {
            let first = scaf_policy::place::place(&topology, &wants(&topology, &[4, 2, 1]), style);
            let grown = having(wants(&topology, &[3, 3, 2]), &first);
            for sets in [first, scaf_policy::place::place(&topology, &grown, style)] {
                let all = sets.iter().fold(PuSet::new(), |all, set| all.union(set));
                assert_eq!(all.len(), sets.iter().map(PuSet::len).sum::<usize>(), "{style:?}: {sets:?}");
            }
        }
    }
}

#[test]
fn smt_siblings_go_to_one_program() {
    let laptop = machine(1, 1, 1, 4, 2);
    assert_eq!(split_cores(&laptop, &place(&laptop, &wants(&laptop, &[4, 4]))), 0);
    assert_eq!(
        split_cores(&laptop, &place(&laptop, &wants(&laptop, &[1, 6, 1]))),
        1,
        "the two ones share a core"
    );
}

#[test]
fn while_there_are_cores_to_spare_one_pu_a_core_is_used() {
    let laptop = machine(1, 1, 1, 4, 2);
    assert_eq!(place(&laptop, &wants(&laptop, &[4])), [set("0-3")]);
    let two = place(&laptop, &wants(&laptop, &[2, 2]));
    assert!(two.iter().all(|s| domains(&laptop, s, |pu| pu.core) == 2), "{two:?}");
    assert_eq!(split_cores(&laptop, &place(&laptop, &wants(&laptop, &[3, 3]))), 0);
}

#[test]
fn a_newcomer_gets_whole_cores_although_the_first_one_had_spread_out() {
    let laptop = machine(1, 1, 1, 4, 2);
    let alone = place(&laptop, &wants(&laptop, &[4]));
    let sets = place(&laptop, &having(wants(&laptop, &[4, 4]), &alone));
    assert_eq!(split_cores(&laptop, &sets), 0);
    assert_eq!(sets[0].intersection(&alone[0]).len(), 2, "two of its four stay: {sets:?}");
}

#[test]
fn a_program_that_shrinks_stays_and_one_that_grows_keeps_what_it_has() {
    let opteron = machine(4, 1, 1, 6, 1);
    let before = place(&opteron, &wants(&opteron, &[12, 12]));
    let after = place(&opteron, &having(wants(&opteron, &[6, 18]), &before));
    assert!(after[0].is_subset(&before[0]) && before[1].is_subset(&after[1]));
    assert_eq!(domains(&opteron, &after[0], |pu| pu.package), 1);
}

#[test]
fn programs_make_room_for_one_that_can_only_run_in_few_places() {
    let small = machine(1, 1, 1, 4, 1);
    let mut wants = wants(&small, &[2, 1, 1]);
    wants[1].allowed = set("0");
    wants[2].allowed = set("0-1");
    let sets = place(&small, &wants);
    assert_eq!(sets, [set("2-3"), set("0"), set("1")]);
}

#[test]
fn a_program_whose_pus_are_not_there_may_run_anywhere() {
    let small = machine(1, 1, 1, 2, 1);
    let mut wants = wants(&small, &[1, 1]);
    wants[0].allowed = set("7");
    assert_eq!(place(&small, &wants), [set("0"), set("1")]);
}

#[test]
fn more_programs_than_pus_share_evenly_and_stay_where_they_are() {
    let small = machine(1, 1, 1, 2, 1);
    let sets = place(&small, &wants(&small, &[1; 5]));
    let on_0 = sets.iter().filter(|s| s.contains(0)).count();
    assert!(on_0 == 2 || on_0 == 3, "{sets:?}");
    assert_eq!(place(&small, &having(wants(&small, &[1; 5]), &sets)), sets);
}

fn turns(all: &[Vec<usize>]) -> Vec<Turn> {
    let id = |who: &usize| ProgramId(*who as u64);
    all.iter().map(|members| Turn { slices: 1, members: members.iter().map(id).collect() }).collect()
}

#[test]
fn programs_of_different_turns_may_have_the_same_pus_and_those_of_one_turn_may_not() {
    let machine = machine(4, 1, 1, 6, 1);
    let wants = wants(&machine, &[6, 6, 12, 18]);
    let sets = place_turns(&machine, &wants, &turns(&[vec![1, 2], vec![3, 1]]), Style::Compact);
    assert_eq!(sets.iter().map(PuSet::len).collect::<Vec<_>>(), [6, 6, 12, 18]);
    let shared = |a: usize, b: usize| sets[a].intersection(&sets[b]).len();
    assert_eq!([shared(0, 1), shared(0, 2), shared(1, 2)], [0, 0, 0]);
    assert_eq!(shared(0, 3) + shared(1, 3), 6, "there are 6 too few for the second turn");
    assert!(sets[..3].iter().all(|set| domains(&machine, set, |pu| pu.package) == set.len() / 6));
}

#[test]
fn with_turns_too_nothing_moves_where_everybody_has_what_fits() {
    let machine = machine(2, 1, 2, 4, 2);
    let wants = wants(&machine, &[8, 24, 12, 12, 5]);
    let turns = turns(&[vec![1], vec![2, 3], vec![4, 2], vec![9]]);
    let sets = place_turns(&machine, &wants, &turns, Style::Compact);
    assert_eq!(place_turns(&machine, &having(wants, &sets), &turns, Style::Compact), sets);
}

fn pools(all: &[(u32, &[u64])], idle: &[u64]) -> Allocation {
    let ids = |ids: &[u64]| ids.iter().copied().map(ProgramId).collect();
    let pool = |(contexts, members): &(u32, &[u64])| Pool { contexts: *contexts, members: ids(members) };
    Allocation { pools: all.iter().map(pool).collect(), idle: ids(idle), ..Allocation::default() }
}

#[test]
fn programs_share_their_own_users_pus_only() {
    let machine = machine(2, 1, 1, 8, 1);
    let wants = wants(&machine, &[8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    let allocation = pools(&[(8, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])], &[]);
    let sets = place_allocation(&machine, &wants, &allocation, Style::Compact);
    assert_eq!(domains(&machine, &sets[0], |pu| pu.package), 1);
    let shared = sets[1..].iter().fold(PuSet::new(), |all, set| all.union(set));
    assert_eq!((shared.len(), shared.intersection(&sets[0]).len()), (8, 0));
    let most = |pu: u32| sets[1..].iter().filter(|set| set.contains(pu)).count() <= 2;
    assert!(sets.iter().all(|set| !set.is_empty()) && shared.iter().all(most), "{sets:?}");
    assert_eq!(place_allocation(&machine, &having(wants, &sets), &allocation, Style::Compact), sets);
}

#[test]
fn a_member_that_may_not_run_in_its_pool_has_a_pu_where_it_may() {
    let machine = machine(1, 1, 1, 4, 1);
    let mut wants = wants(&machine, &[3, 1, 1]);
    wants[0].allowed = set("1-3");
    wants[2].allowed = set("3");
    let sets = place_allocation(&machine, &wants, &pools(&[(1, &[1, 2])], &[]), Style::Compact);
    assert_eq!(sets, [set("1-3"), set("0"), set("3")]);
}

#[test]
fn idle_programs_move_nobody_and_have_what_is_free() {
    let machine = machine(1, 1, 1, 4, 1);
    let four = wants(&machine, &[1, 3, 1, 1]);
    let sets = place_allocation(&machine, &four, &pools(&[], &[0, 2, 3]), Style::Compact);
    assert_eq!(sets[1].len(), 3);
    let free = machine.all().difference(&sets[1]);
    assert!([0, 2, 3].iter().any(|who: &usize| sets[*who] == free), "{sets:?}");
    let full = wants(&machine, &[1, 4]);
    let sets = place_allocation(&machine, &full, &pools(&[], &[0]), Style::Compact);
    assert_eq!([sets[0].len(), sets[1].len()], [1, 4]);
}

#[test]
fn a_machine_without_pus_gives_empty_partitions_and_no_programs_give_none() {
    let none = Topology::default();
    assert_eq!(place(&none, &wants(&none, &[3])), [PuSet::new()]);
    assert!(place(&machine(1, 1, 1, 2, 2), &[]).is_empty());
}

#[test]
fn a_thousand_contexts_are_placed() {
    let big = machine(4, 2, 8, 8, 2);
    let dops = [300, 200, 124, 100, 100, 100, 50, 50];
    let sets = place(&big, &wants(&big, &dops));
    assert_eq!(split_cores(&big, &sets), 0);
    assert_eq!(sets.iter().map(PuSet::len).sum::<usize>(), 1024);
}

prop_compose! {
    fn any_machine()(packages in 1u32..3, numas in 1u32..3, l3s in 1u32..3, cores in 1u32..5, smt in 1u32..4)
        -> Topology { machine(packages, numas, l3s, cores, smt) }
}

fn any_set() -> impl Strategy<Value = PuSet> {
    prop_oneof![Just(PuSet::new()), prop::collection::vec(0u32..110, 1..40).prop_map(PuSet::from_iter)]
}

proptest! {
    #[test]
    fn whatever_is_wanted_every_partition_is_allowed_and_of_the_right_size(
        topology in any_machine(),
        raw in prop::collection::vec((0u32..40, any_set(), any_set()), 0..9),
    ) {
        let wants: Vec<Want> = raw.into_iter().enumerate().map(|(i, (dop, allowed, previous))| {
            Want { id: ProgramId(i as u64), dop, allowed, previous, weight: 1.0 }
        }).collect();
        let sets = place(&topology, &wants);
        prop_assert_eq!(sets.len(), wants.len());
        for (want, set) in wants.iter().zip(&sets) {
            let mut allowed = want.allowed.intersection(&topology.all());
            if allowed.is_empty() { allowed = topology.all(); }
            prop_assert!(set.is_subset(&allowed));
            prop_assert_eq!(set.len(), (want.dop.max(1) as usize).min(allowed.len()));
        }
        prop_assert_eq!(place(&topology, &wants), sets);
    }

    #[test]
    fn partitions_are_disjoint_while_there_is_enough_and_then_nothing_moves_again(
        topology in any_machine(),
        dops in prop::collection::vec(1u32..12, 1..9),
        previous in prop::collection::vec(any_set(), 9),
    ) {
        prop_assume!(dops.iter().sum::<u32>() as usize <= topology.pus.len());
        let sets = place(&topology, &having(wants(&topology, &dops), &previous));
        let all = sets.iter().fold(PuSet::new(), |all, set| all.union(set));
        prop_assert_eq!(all.len(), dops.iter().sum::<u32>() as usize);
        prop_assert_eq!(place(&topology, &having(wants(&topology, &dops), &sets)), sets);
    }

    #[test]
    fn whoever_runs_at_the_same_time_has_pus_of_its_own(
        topology in any_machine(),
        raw in prop::collection::vec((1u32..12, 0u8..8), 1..9),
        previous in prop::collection::vec(any_set(), 9),
    ) {
        let dops: Vec<u32> = raw.iter().map(|(dop, _)| *dop).collect();
        let together = |runs: &dyn Fn(u8) -> bool| -> u32 {
            raw.iter().filter(|(_, turns)| runs(*turns)).map(|(dop, _)| *dop).sum()
        };
        let fits = |needed: u32| needed as usize <= topology.pus.len();
        prop_assume!(fits(together(&|turns| turns.count_ones() != 1)));
        prop_assume!((0..3).all(|turn| fits(together(&|turns| turns == 0 || turns >> turn & 1 == 1))));
        let members = |turn: u8| (0..raw.len()).filter(|who| raw[*who].1 >> turn & 1 == 1).collect();
        let turns = turns(&(0..3).map(members).collect::<Vec<Vec<usize>>>());
        let wants = having(wants(&topology, &dops), &previous);
        let sets = place_turns(&topology, &wants, &turns, Style::Compact);
        for (a, (dop, in_a)) in raw.iter().enumerate() {
            prop_assert_eq!(sets[a].len() as u32, *dop);
            for (b, (_, in_b)) in raw.iter().enumerate().skip(a + 1) {
                let at_once = *in_a == 0 || *in_b == 0 || in_a & in_b != 0;
                prop_assert!(!at_once || sets[a].intersection(&sets[b]).is_empty());
            }
        }
    }

    #[test]
    fn programs_of_whole_cores_split_none(
        topology in any_machine(),
        cores in prop::collection::vec(1u32..5, 1..9),
    ) {
        let smt = topology.pus.iter().filter(|pu| pu.core == 0).count() as u32;
        let dops: Vec<u32> = cores.iter().map(|c| c * smt).collect();
        prop_assume!(dops.iter().sum::<u32>() as usize <= topology.pus.len());
        prop_assert_eq!(split_cores(&topology, &place(&topology, &wants(&topology, &dops))), 0);
    }

    #[test]
    fn with_restrictions_partitions_are_disjoint_wherever_there_is_a_way(
        homes in prop::collection::vec(0u32..6, 24),
        extra in prop::collection::vec(any_set(), 6),
    ) {
        // Every PU belongs to one of six programs, so a disjoint layout exists; each may run on more.
        let topology = machine(2, 1, 2, 3, 2);
        let own = |i: u32| (0..24u32).filter(|&pu| homes[pu as usize] == i).collect::<PuSet>();
        let wants: Vec<Want> = (0..6).map(|i| (i, own(i))).filter(|(_, own)| !own.is_empty()).map(|(i, own)| {
            let allowed = own.union(&extra[i as usize]);
            Want { allowed, ..Want::new(ProgramId(u64::from(i)), own.len() as u32, &topology) }
        }).collect();
        let sets = place(&topology, &wants);
        let all = sets.iter().fold(PuSet::new(), |all, set| all.union(set));
        prop_assert_eq!(all.len(), 24);
    }
}

/// A word for each cache: a letter for each PU, by program; a dot for a free one.
fn picture(topology: &Topology, sets: &[PuSet]) -> String {
    let mut caches: BTreeMap<u32, String> = BTreeMap::new();
    for pu in &topology.pus {
        let owner = sets.iter().position(|set| set.contains(pu.os));
        let letter = owner.map_or('.', |program| char::from(b'A' + program as u8));
        caches.entry(pu.l3).or_default().push(letter);
    }
    caches.into_values().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_three_styles_lie_as_their_page_shows() {
    let opteron = machine(4, 1, 1, 6, 1);
    let wants = wants(&opteron, &[8, 4, 3, 2]);
    let drawn = |style| picture(&opteron, &scaf_policy::place::place(&opteron, &wants, style));
    assert_eq!(drawn(Style::Compact), "AAAAAA AABBBB CCCDD. ......");
    assert_eq!(drawn(Style::Spread), "AABCD. AABCD. AABC.. AAB...");
    assert_eq!(drawn(Style::Along), "AAAAAA AADD.. BBBB.. CCC...");
}

#[test]
fn heavier_programs_get_the_stronger_cores_and_equal_ones_as_many_each() {
    let pu = |os: u32| Pu {
        os,
        core: if os < 4 { os / 2 } else { os - 2 },
        l3: 0,
        numa: 0,
        package: 0,
        class: u32::from(os < 4),
    };
    let hybrid = Topology { pus: (0..8).map(pu).collect() };
    let mut two = wants(&hybrid, &[2, 2]);
    assert_eq!(place(&hybrid, &two), [set("0,4"), set("2,5")], "one strong core each");
    two[1].weight = 2.0;
    assert_eq!(place(&hybrid, &two), [set("4-5"), set("0,2")]);
    let mut having = having(wants(&hybrid, &[2, 2]), &[set("4-5"), set("0,2")]);
    assert_eq!(place(&hybrid, &having), [set("4-5"), set("0,2")]);
    having[0].weight = 3.0;
    assert_eq!(place(&hybrid, &having), [set("0,2"), set("4-5")]);
}

#[test]
fn a_newcomer_that_fits_into_a_cache_gets_one_although_others_have_to_move() {
    let opteron = machine(2, 1, 1, 6, 1);
    let old = [set("0-2"), set("6-8"), set("3-4")];
    let sets = place(&opteron, &having(wants(&opteron, &[3, 3, 2, 4]), &old));
    assert!(sets.iter().all(|s| domains(&opteron, s, |pu| pu.l3) == 1), "{sets:?}");
    let moved: usize = sets.iter().zip(&old).map(|(set, old)| set.difference(old).len()).sum();
    assert_eq!(moved, 3, "{sets:?}");
}

#[test]
fn a_program_that_leaves_gives_the_others_their_whole_cores_back() {
    let laptop = machine(1, 1, 1, 4, 2);
    let both = place(&laptop, &wants(&laptop, &[4, 4]));
    let left = place(&laptop, &having(wants(&laptop, &[4]), &both));
    assert_eq!(domains(&laptop, &left[0], |pu| pu.core), 4);
    assert_eq!(left[0].intersection(&both[0]).len(), 2);
}

#[test]
fn the_cost_of_a_placement_counts_each_of_its_faults() {
    use scaf_policy::place::cost;
    // 16 PUs: two packages of one cache of four cores; PU i + 8 is the sibling of PU i.
    let machine = machine(2, 1, 1, 4, 2);
    let of = |sets: &[&str], previous: &[&str]| {
        let sets: Vec<PuSet> = sets.iter().map(|text| set(text)).collect();
        let dops: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let previous: Vec<PuSet> = previous.iter().map(|text| set(text)).collect();
        cost(&machine, &having(wants(&machine, &dops), &previous), &sets, Style::Compact)
    };
    assert_eq!(of(&["0-3", "4-7"], &[]).total(), 0);
    let shared = of(&["0-3", "3-6"], &[]);
    assert_eq!(
        (shared.shared, shared.split, shared.apart),
        (1, 1, 3),
        "PU 3, its core, and cache, node and package"
    );
    assert_eq!(shared.total(), 64 + 16 + 3 * 5);
    assert_eq!(of(&["0-1", "8-9"], &[]).total(), 2 * 16, "two split cores");
    assert_eq!(of(&["0-1,8-9"], &[]).total(), 2 * 16, "two second PUs while there are six idle cores");
    assert_eq!(of(&["0-7,8-9"], &[]).total(), 3 * 5, "there is no idle core");
    assert_eq!(of(&["0-3"], &["1-4"]).total(), 1, "one PU moved");
    assert_eq!(of(&["0-3"], &["0-7"]).total(), 0, "it only lost some");
    let spread = cost(&machine, &wants(&machine, &[4]), &[set("0-3")], Style::Spread);
    assert_eq!((spread.apart, spread.total()), (3, 15));
    let along = cost(&machine, &wants(&machine, &[2, 2]), &[set("0-1"), set("2-3")], Style::Along);
    assert_eq!((along.beside, along.total()), (1, 5));
}
