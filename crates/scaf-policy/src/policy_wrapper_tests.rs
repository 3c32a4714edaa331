use super::round::MOST_SLICES;
use super::*;
use crate::{Settings, by_name};
use proptest::prelude::*;

fn malleable(id: u64, natural: u32) -> Program {
    Program::new(ProgramId(id), natural)
}

fn rigid(id: u64, natural: u32) -> Program {
    Program { rigid: true, ..malleable(id, natural) }
}

fn divided(capacity: u32, programs: &[Program]) -> Allocation {
    under("equi", Gang::Auto, capacity, programs)
}

fn under(policy: &str, gang: Gang, capacity: u32, programs: &[Program]) -> Allocation {
    let mut policy = by_name(policy, &Settings::default()).unwrap();
    allocate(policy.as_mut(), &Machine { gang, ..Machine::new(capacity, 0.0) }, programs)
}

fn dops(allocation: &Allocation) -> Vec<u32> {
    let dop = |share: &Share| if let Dop::Contexts(dop) = share.dop { dop } else { 0 };
    allocation.shares.iter().map(dop).collect()
}

fn round_of(allocation: &Allocation) -> Vec<(u32, Vec<u64>)> {
    allocation.turns.iter().map(|turn| (turn.slices, turn.members.iter().map(|id| id.0).collect())).collect()
}

fn time(allocation: &Allocation, id: u64) -> (u32, u32) {
    let all = allocation.turns.iter().map(|turn| turn.slices).sum();
    let mine = allocation.turns.iter().filter(|turn| turn.members.contains(&ProgramId(id)));
    (mine.map(|turn| turn.slices).sum(), all)
}

#[test]
fn who_can_share_in_space_takes_no_turns() {
    let plain = divided(8, &[malleable(1, 8), malleable(2, 8)]);
    assert_eq!((dops(&plain), plain.turns.len()), (vec![4, 4], 0));
    let beside = divided(8, &[rigid(1, 4), malleable(2, 8), malleable(3, 8)]);
    assert_eq!((dops(&beside), beside.turns.len()), (vec![4, 2, 2], 0));
    assert!(divided(2, &[rigid(1, 2)]).turns.is_empty());
}

#[test]
fn rigid_programs_that_need_the_whole_machine_and_the_others_alternate() {
    let both = divided(2, &[rigid(1, 2), rigid(2, 2)]);
    assert_eq!((dops(&both), round_of(&both)), (vec![2, 2], vec![(1, vec![1]), (1, vec![2])]));
    let three = divided(2, &[rigid(1, 2), malleable(3, 2), rigid(2, 2)]);
    assert_eq!(dops(&three), [2, 2, 2]);
    assert_eq!(round_of(&three), [(1, vec![1]), (1, vec![2]), (1, vec![3])]);
    // The malleable ones share a turn, and have twice the time.
    let four = divided(2, &[rigid(1, 2), rigid(2, 2), malleable(3, 2), malleable(4, 2)]);
    assert_eq!(dops(&four), [2, 2, 1, 1]);
    assert_eq!((time(&four, 1), time(&four, 3), time(&four, 4)), ((1, 4), (2, 4), (2, 4)));
}

#[test]
fn malleable_programs_keep_contexts_of_their_own_beside_turns_where_there_are_enough() {
    // 24 contexts, seven programs: 3.4 are due to each. Five rigid ones at once leave 4.
    let programs: Vec<Program> = (1..=6).map(|id| rigid(id, 4)).chain([malleable(7, 24)]).collect();
    let allocation = divided(24, &programs);
    assert_eq!(dops(&allocation), [4, 4, 4, 4, 4, 4, 4]);
    assert_eq!(time(&allocation, 7), (0, 6));
    assert!((1..=6).all(|id| time(&allocation, id) == (5, 6)), "{:?}", round_of(&allocation));
    // Six are due to each of four, and no two rigid ones fit beside them.
    let programs: Vec<Program> = (1..=3).map(|id| rigid(id, 10)).chain([malleable(4, 24)]).collect();
    assert_eq!(dops(&divided(24, &programs)), [10, 10, 10, 14]);
}

#[test]
fn minima_are_set_aside_too() {
    let mut programs: Vec<Program> = (1..=6).map(|id| rigid(id, 4)).chain([malleable(7, 24)]).collect();
    programs[6].min = 8;
    let allocation = divided(24, &programs);
    assert_eq!(dops(&allocation), [4, 4, 4, 4, 4, 4, 8]);
    assert_eq!(time(&allocation, 7), (0, 3));
    // More than is left beside the largest: they have turns of their own.
    programs[6].min = 21;
    let allocation = divided(24, &programs);
    assert!(dops(&allocation)[6] >= 21 && time(&allocation, 7).0 > 0, "{:?}", round_of(&allocation));
}

#[test]
fn a_rigid_program_of_nearly_all_contexts_leaves_the_others_their_time() {
    // One context would be left for the malleable one, of the 12 due to it.
    let allocation = divided(24, &[rigid(1, 23), malleable(2, 24)]);
    assert_eq!(dops(&allocation), [23, 24]);
    assert_eq!(allocation.turns.len(), 2);
}

#[test]
fn more_programs_than_contexts_go_round() {
    let three = divided(2, &[malleable(1, 2), malleable(2, 2), malleable(3, 2)]);
    assert_eq!(dops(&three), [1, 1, 1]);
    assert!((1..=3).all(|id| time(&three, id) == (2, 3)), "{:?}", round_of(&three));
}

#[test]
fn weights_are_time() {
    let heavy = Program { weight: 3.0, ..rigid(1, 2) };
    let allocation = divided(2, &[heavy, rigid(2, 2)]);
    assert_eq!((time(&allocation, 1), time(&allocation, 2)), ((3, 4), (1, 4)));
    let light = Program { weight: 0.001, ..rigid(1, 2) };
    let allocation = divided(2, &[light, rigid(2, 2)]);
    assert_eq!((time(&allocation, 1), time(&allocation, 2)), ((1, 20), (19, 20)));
}

#[test]
fn a_rigid_program_has_what_it_needs_even_of_a_machine_that_others_keep_busy() {
    let allocation = divided(1, &[rigid(1, 2), malleable(2, 2)]);
    assert_eq!((dops(&allocation), allocation.turns.len()), (vec![2, 1], 2));
}

#[test]
fn a_policy_that_leaves_everyone_alone_has_no_turns() {
    let mut policy = by_name("unmanaged", &Settings::default()).unwrap();
    let machine = Machine::new(2, 0.0);
    let allocation = allocate(policy.as_mut(), &machine, &[rigid(1, 2), rigid(2, 2)]);
    assert!(allocation.turns.is_empty() && allocation.shares.iter().all(|share| share.dop == Dop::Unmanaged));
}

#[test]
fn who_may_take_turns_is_for_the_machine_to_say() {
    let many = [malleable(1, 2), malleable(2, 2), malleable(3, 2)];
    let rigid = [rigid(1, 2), rigid(2, 2), malleable(3, 2)];
    let turns = |policy, gang, programs| under(policy, gang, 2, programs).turns.len();
    let all = [Gang::Off, Gang::Asked, Gang::Spinning, Gang::Auto];
    assert_eq!(all.map(|gang| turns("equi", gang, &many)), [0, 0, 0, 3]);
    assert_eq!(all.map(|gang| turns("equi", gang, &rigid)), [0, 3, 3, 3]);
    // A policy that makes turns was asked for by its name.
    assert_eq!([Gang::Off, Gang::Asked, Gang::Auto].map(|gang| turns("taco", gang, &many)), [0, 2, 2]);
    let side_by_side = under("ta", Gang::Off, 2, &many);
    assert_eq!(under("taco", Gang::Off, 2, &many), side_by_side);
}

#[test]
fn weights_are_space_where_even_taco_makes_no_turns() {
    let machine = Machine { gang: Gang::Asked, units: vec![6, 24], ..Machine::new(24, 0.0) };
    let divided = |programs: &[Program]| {
        allocate(by_name("taco", &Settings::default()).unwrap().as_mut(), &machine, programs)
    };
    let weighed = divided(&[malleable(1, 24), Program { weight: 3.0, ..malleable(2, 24) }]);
    assert_eq!((dops(&weighed), weighed.turns.len()), (vec![6, 18], 0));
    // Two users are due the same, and a user's part is cut along the topology.
    let owned = (1..=4).map(|id| Program { user: u32::from(id > 1), ..malleable(id, 24) });
    assert_eq!(dops(&divided(&owned.collect::<Vec<_>>())), [12, 6, 3, 3]);
}

fn of_users(owners: &[u32]) -> Vec<Program> {
    (1..).zip(owners).map(|(id, user)| Program { user: *user, ..rigid(id, 2) }).collect()
}

fn shares(allocation: &Allocation, programs: &[Program]) -> BTreeMap<u32, f64> {
    let mut shares = BTreeMap::new();
    for program in programs {
        *shares.entry(program.user).or_default() += allocation.time_share(program.id);
    }
    shares
}

#[test]
fn each_user_has_as_much_time_as_any_other_however_many_programs_he_starts() {
    for policy in ["equi", "taco"] {
        for many in [2, 10, 60] {
            let programs = of_users(&[vec![7; many], vec![8]].concat());
            let shares = shares(&under(policy, Gang::Asked, 2, &programs), &programs);
            assert!((shares[&8] - 0.5).abs() < 0.03, "{policy}, {many}: {shares:?}");
        }
    }
    // With 900 what is due is right to an eighth.
    let programs = of_users(&[vec![7; 900], vec![8], vec![9]].concat());
    let shares = shares(&divided(2, &programs), &programs);
    assert!(shares[&8] > 0.29 && shares[&9] > 0.29, "{shares:?}");
}

#[test]
fn a_user_s_malleable_programs_are_due_no_more_beside_another_s_rigid_one() {
    let mut programs = vec![rigid(1, 2)];
    programs.extend((2..6).map(|id| Program { user: 1, ..malleable(id, 2) }));
    programs.truncate(3);
    let allocation = divided(2, &programs);
    assert_eq!((time(&allocation, 1), time(&allocation, 2)), ((1, 2), (1, 2)));
}

#[test]
fn a_thousand_rigid_programs_have_a_turn_each() {
    let programs: Vec<Program> = (1..=1000).map(|id| rigid(id, 2)).collect();
    let allocation = divided(2, &programs);
    assert_eq!(allocation.turns.len(), 1000);
    assert!(programs.iter().all(|program| time(&allocation, program.id.0) == (1, 1000)));
}

#[test]
fn a_thousand_programs_that_fit_beside_each_other_have_equal_time() {
    let programs: Vec<Program> = (1..=1000).map(|id| malleable(id, 4)).collect();
    for capacity in [2, 63, 64, 999] {
        let allocation = divided(capacity, &programs);
        let due = f64::from(capacity) / 1000.0;
        for program in &programs {
            let share = allocation.time_share(program.id);
            assert!((share / due - 1.0).abs() <= 0.15, "{share} of {due}, {capacity} contexts");
        }
        let places: usize = allocation.turns.iter().map(|turn| turn.members.len()).sum();
        assert!(places <= 20_000, "{places}");
    }
}

fn programs() -> impl Strategy<Value = Vec<Program>> {
    let program = (1u32..40, any::<bool>(), 0.25f64..4.0, 0u32..9);
    proptest::collection::vec(program, 0..12).prop_map(|all| {
        let program =
            |(id, (natural, rigid, weight, min))| Program { rigid, weight, min, ..malleable(id, natural) };
        (1..).zip(all).map(program).collect()
    })
}

proptest! {
    #[test]
    fn every_turn_fits_and_everyone_has_one(capacity in 0u32..40, programs in programs()) {
        let allocation = divided(capacity, &programs);
        let capacity = capacity.max(1);
        prop_assert_eq!(allocation.shares.len(), programs.len());
        let dops = dops(&allocation);
        let minima: u32 = programs.iter().filter(|program| !program.rigid).map(Program::floor).sum();
        for (program, dop) in programs.iter().zip(&dops) {
            prop_assert!((1..=program.cap()).contains(dop));
            prop_assert!(!program.rigid || *dop == program.cap());
            prop_assert!(program.rigid || minima > capacity || *dop >= program.floor(), "{dops:?}");
        }
        let mut most = 0;
        let all: Vec<Turn> = if allocation.turns.is_empty() { vec![Turn { slices: 1,
            members: vec![] }] } else { allocation.turns.clone() };
        let takes = |id: ProgramId| allocation.turns.iter().any(|turn| turn.members.contains(&id));
        for turn in &all {
            prop_assert!(turn.slices > 0 && turn.members.is_sorted());
            let running: Vec<u32> = programs.iter().zip(&dops)
                .filter(|(program, _)| turn.members.contains(&program.id) || !takes(program.id))
                .map(|(_, dop)| *dop).collect();
            // One that needs more than there is runs by itself.
            prop_assert!(running.iter().sum::<u32>() <= capacity || running.len() == 1, "{running:?} of \
                {capacity}");
            most = most.max(running.iter().sum());
        }
        // Malleable programs that run all the time have what no turn uses.
        let content = |(program, dop): (&Program,
            &u32)| program.rigid || takes(program.id) || *dop == program.cap();
        prop_assert!(most >= capacity || programs.iter().zip(&dops).all(content), "{most} of {capacity}: \
            {allocation:?}");
        let length: u32 = allocation.turns.iter().map(|turn| turn.slices).sum();
        prop_assert!(length <= 3 * MOST_SLICES);
    }

    #[test]
    fn the_order_of_programs_does_not_matter(capacity in 1u32..40, programs in programs()) {
        let backwards: Vec<Program> = programs.iter().rev().cloned().collect();
        let (one, other) = (divided(capacity, &programs), divided(capacity, &backwards));
        prop_assert_eq!(one.turns, other.turns);
        prop_assert!(one.shares.iter().eq(other.shares.iter().rev()));
    }

    #[test]
    fn among_programs_that_exclude_each_other_time_is_by_weight_within_one_slice(
        weights in proptest::collection::vec(0.5f64..4.0, 2..8),
    ) {
        let programs: Vec<Program> = (1..).zip(&weights).map(|(id, weight)| Program { weight: *weight,
            ..rigid(id, 2) }).collect();
        let allocation = divided(2, &programs);
        for (program, weight) in programs.iter().zip(&weights) {
            let (mine, all) = time(&allocation, program.id.0);
            let due = weight / weights.iter().sum::<f64>() * f64::from(all);
            prop_assert!((f64::from(mine) - due).abs() <= 1.0, "{mine} of {all}, due {due}");
        }
    }

    #[test]
    fn weights_far_apart_give_everyone_a_turn(weights in proptest::collection::vec(prop_oneof![Just(0.001),
        Just(1.0), Just(1000.0), Just(f64::NAN)], 1..30), capacity in 1u32..9) {
        let needs = |id: u64| 1 + id as u32 % capacity;
        let programs: Vec<Program> = (1..).zip(&weights).map(|(id, weight)| Program { weight: *weight,
            ..rigid(id, needs(id)) }).collect();
        let allocation = divided(capacity, &programs);
        let length: u32 = allocation.turns.iter().map(|turn| turn.slices).sum();
        prop_assert!(length <= 200, "{length}");
        for program in &programs {
            prop_assert!(allocation.turns.is_empty() || time(&allocation,
                program.id.0).0 > 0 || !allocation.turns.iter()
                    .any(|turn| turn.members.contains(&program.id)));
        }
    }
}

fn behind(id: u64, natural: u32) -> Program {
    Program { background: true, ..malleable(id, natural) }
}

#[test]
fn who_is_in_the_background_takes_nothing_from_those_in_front() {
    let both = divided(8, &[behind(1, 8), malleable(2, 8)]);
    assert_eq!(
        both.shares.iter().map(|share| share.dop).collect::<Vec<_>>(),
        [Dop::Unmanaged, Dop::Contexts(8)]
    );
    // A front that does nothing is still in front.
    let idle = divided(8, &[behind(1, 8), Program { idle: true, ..malleable(2, 8) }]);
    assert_eq!(idle.shares[0].dop, Dop::Unmanaged);
    // Among themselves they share as others do, and so they do where there is no front.
    assert_eq!(dops(&divided(8, &[behind(1, 8), behind(2, 8)])), [4, 4]);
    let spinning = divided(2, &[Program { rigid: true, ..behind(1, 2) }, rigid(2, 2), rigid(3, 2)]);
    assert_eq!(spinning.shares[0].dop, Dop::Unmanaged);
    assert_eq!(round_of(&spinning), [(1, vec![2]), (1, vec![3])]);
}

proptest! {
    #[test]
    fn others_have_the_same_whoever_is_in_the_background(
        kinds in proptest::collection::vec((any::<bool>(), any::<bool>(), 1_u32..40), 1..9),
        capacity in 1_u32..40,
    ) {
        let program = |(id, (background, idle, natural)): (usize, &(bool, bool, u32))| {
            Program { background: *background, idle: *idle, ..malleable(id as u64, *natural) }
        };
        let all: Vec<Program> = kinds.iter().enumerate().map(program).collect();
        let front: Vec<Program> = all.iter().filter(|program| !program.background).cloned().collect();
        prop_assume!(!front.is_empty());
        let (with, without) = (divided(capacity, &all), divided(capacity, &front));
        let is_left = |share: &&Share| share.dop != Dop::Unmanaged;
        let left: Vec<Share> = with.shares.iter().filter(is_left).cloned().collect();
        prop_assert_eq!(left, without.shares);
        prop_assert_eq!(with.turns, without.turns);
        prop_assert_eq!(with.shares.len(), all.len());
    }
}
