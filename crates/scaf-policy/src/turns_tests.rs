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
    let mut policy = by_name("equi", &Settings::default()).unwrap();
    with_turns(policy.as_mut(), &Machine::new(capacity, 0.0), programs)
}

fn dops(allocation: &Allocation) -> Vec<u32> {
    let dop = |share: &Share| if let Dop::Contexts(dop) = share.dop { dop } else { 0 };
    allocation.shares.iter().map(dop).collect()
}

fn round_of(allocation: &Allocation) -> Vec<(u32, Vec<u64>)> {
    allocation.turns.iter().map(|turn| (turn.slices, turn.members.iter().map(|id| id.0).collect())).collect()
}

/// Slices of a program in a round, and the round's length.
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
    // The malleable ones have their turn together, and twice the time: each as much of it as the others.
    let four = divided(2, &[rigid(1, 2), rigid(2, 2), malleable(3, 2), malleable(4, 2)]);
    assert_eq!(dops(&four), [2, 2, 1, 1]);
    assert_eq!((time(&four, 1), time(&four, 3), time(&four, 4)), ((1, 4), (2, 4), (2, 4)));
}

#[test]
fn malleable_programs_keep_contexts_of_their_own_beside_turns_where_there_are_enough() {
    // 24 contexts, seven programs: 3.4 are due to each.
    let programs: Vec<Program> = (1..=6).map(|id| rigid(id, 4)).chain([malleable(7, 24)]).collect();
    let allocation = divided(24, &programs);
    assert_eq!(dops(&allocation), [4, 4, 4, 4, 4, 4, 3]);
    assert_eq!(time(&allocation, 7), (0, 6));
    assert!((1..=6).all(|id| time(&allocation, id) == (5, 6)), "{:?}", round_of(&allocation));
}

#[test]
fn a_rigid_program_of_nearly_all_contexts_leaves_the_others_their_time() {
    // One context would be left for the malleable one, of the 12 that are due to it.
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
    let allocation = with_turns(policy.as_mut(), &machine, &[rigid(1, 2), rigid(2, 2)]);
    assert!(allocation.turns.is_empty() && allocation.shares.iter().all(|share| share.dop == Dop::Unmanaged));
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
        for (program, dop) in programs.iter().zip(&dops) {
            prop_assert!((1..=program.cap()).contains(dop));
            prop_assert!(!program.rigid || *dop == program.cap());
        }
        let all: Vec<Turn> = if allocation.turns.is_empty() { vec![Turn { slices: 1, members: vec![] }] } else { allocation.turns.clone() };
        let takes = |id: ProgramId| allocation.turns.iter().any(|turn| turn.members.contains(&id));
        for turn in &all {
            prop_assert!(turn.slices > 0 && turn.members.is_sorted());
            let running: Vec<u32> = programs.iter().zip(&dops)
                .filter(|(program, _)| turn.members.contains(&program.id) || !takes(program.id))
                .map(|(_, dop)| *dop).collect();
            // One that needs more than there is runs by itself.
            prop_assert!(running.iter().sum::<u32>() <= capacity || running.len() == 1, "{running:?} of {capacity}");
        }
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
    fn among_programs_that_exclude_each_other_time_is_by_weight_within_one_slice(weights in proptest::collection::vec(0.5f64..4.0, 2..8)) {
        let programs: Vec<Program> = (1..).zip(&weights).map(|(id, weight)| Program { weight: *weight, ..rigid(id, 2) }).collect();
        let allocation = divided(2, &programs);
        for (program, weight) in programs.iter().zip(&weights) {
            let (mine, all) = time(&allocation, program.id.0);
            let due = weight / weights.iter().sum::<f64>() * f64::from(all);
            prop_assert!((f64::from(mine) - due).abs() <= 1.0, "{mine} of {all}, due {due}");
        }
    }

    #[test]
    fn weights_far_apart_give_everyone_a_turn(weights in proptest::collection::vec(prop_oneof![Just(0.001), Just(1.0), Just(1000.0), Just(f64::NAN)], 1..30), capacity in 1u32..9) {
        let needs = |id: u64| 1 + id as u32 % capacity;
        let programs: Vec<Program> = (1..).zip(&weights).map(|(id, weight)| Program { weight: *weight, ..rigid(id, needs(id)) }).collect();
        let allocation = divided(capacity, &programs);
        let length: u32 = allocation.turns.iter().map(|turn| turn.slices).sum();
        prop_assert!(length <= 200, "{length}");
        for program in &programs {
            prop_assert!(allocation.turns.is_empty() || time(&allocation, program.id.0).0 > 0 || !allocation.turns.iter().any(|turn| turn.members.contains(&program.id)));
        }
    }
}
