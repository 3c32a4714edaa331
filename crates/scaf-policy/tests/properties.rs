//! What every managing policy promises, whatever it is given and whatever it was given before.

use proptest::prelude::*;
use scaf_policy::{
    Allocation, Dop, Machine, POLICIES, Policy, PolicyEntry, Program, ProgramId, Settings, by_name,
};

fn machine(capacity: u32) -> Machine {
    Machine { capacity, now_s: 0.0 }
}

/// Numbers as a broken or hostile client may send them.
fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..1.5f64,
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, f64::MIN_POSITIVE, 1e-300, 1e300, f64::MAX,
        ]),
    ]
}

fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..40, 1 => Just(u32::MAX), 1 => any::<u32>()]
}

prop_compose! {
    fn any_program()(
        min in any_count(), max in any_count(), natural in any_count(), dop in any_count(),
        weight in any_float(), efficiency in prop::option::of(any_float()),
    ) -> Program {
        Program { min, max, weight, dop, efficiency, ..Program::new(ProgramId(0), natural) }
    }
}

prop_compose! {
    /// Programs with ids of their own, not in order.
    fn any_programs()(list in prop::collection::vec(any_program(), 0..12), seed in any::<u64>()) -> Vec<Program> {
        let id = |i: usize| ProgramId((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed);
        list.into_iter().enumerate().map(|(i, p)| Program { id: id(i), ..p }).collect()
    }
}

/// All but chaos, of which nothing is to be expected.
fn orderly() -> impl Iterator<Item = &'static PolicyEntry> {
    POLICIES.iter().filter(|entry| entry.name != "chaos")
}

fn managing() -> impl Iterator<Item = Box<dyn Policy>> {
    orderly().filter(|entry| entry.name != "unmanaged").map(|entry| (entry.new)(&Settings::default()))
}

fn dops(allocation: &Allocation) -> Vec<u32> {
    let dop = |dop: Dop| match dop {
        Dop::Contexts(contexts) => contexts,
        Dop::Unmanaged => panic!("a managing policy left a program unmanaged"),
    };
    allocation.shares.iter().map(|share| dop(share.dop)).collect()
}

fn check(
    name: &str,
    capacity: u32,
    programs: &[Program],
    allocation: &Allocation,
) -> Result<(), TestCaseError> {
    let dops = dops(allocation);
    prop_assert_eq!(dops.len(), programs.len());
    let capacity = u64::from(capacity.max(1));
    let caps: u64 = programs.iter().map(|p| u64::from(p.cap())).sum();
    let floors: u64 = programs.iter().map(|p| u64::from(p.floor())).sum();
    let sum: u64 = dops.iter().map(|&d| u64::from(d)).sum();
    let expected = capacity.min(caps).max(programs.len() as u64);
    prop_assert_eq!(sum, expected, "{}: {:?}", name, dops);
    for ((p, share), &dop) in programs.iter().zip(&allocation.shares).zip(&dops) {
        prop_assert_eq!(p.id, share.id);
        prop_assert!(!share.reason.is_empty() && share.reason.len() < 160, "{}", share.reason);
        prop_assert!(dop >= 1 && dop <= p.cap(), "{}: {} of {:?}", name, dop, p);
        if floors <= capacity {
            prop_assert!(dop >= p.floor(), "{}: {} of {:?}", name, dop, p);
        } else {
            prop_assert!(dop <= p.floor(), "{}: {} of {:?}", name, dop, p);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn sums_caps_and_floors_hold_whatever_comes(
        history in prop::collection::vec((0u32..200, any_programs()), 1..6),
    ) {
        for mut policy in managing() {
            for (capacity, programs) in &history {
                let allocation = policy.allocate(&machine(*capacity), programs);
                check(policy.name(), *capacity, programs, &allocation)?;
            }
        }
    }

    #[test]
    fn they_hold_in_a_closed_loop_with_hostile_feedback_too(
        capacity in 1u32..80,
        start in any_programs(),
        feedback in prop::collection::vec(prop::option::of(any_float()), 40),
    ) {
        for mut policy in managing() {
            let mut programs = start.clone();
            let mut feedback = feedback.iter().cycle();
            for _ in 0..20 {
                let allocation = policy.allocate(&machine(capacity), &programs);
                check(policy.name(), capacity, &programs, &allocation)?;
                for (p, dop) in programs.iter_mut().zip(dops(&allocation)) {
                    p.dop = dop;
                    p.efficiency = feedback.next().copied().flatten();
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_programs_does_not_matter(
        capacity in 1u32..80,
        programs in any_programs(),
        turn in 0usize..12,
    ) {
        for entry in orderly() {
            let mut turned = programs.clone();
            turned.reverse();
            let middle = turn.min(turned.len());
            turned.rotate_left(middle);
            let mut one = by_name(entry.name, &Settings::default()).unwrap().allocate(&machine(capacity), &programs).shares;
            let mut other = by_name(entry.name, &Settings::default()).unwrap().allocate(&machine(capacity), &turned).shares;
            one.sort_by_key(|share| share.id);
            other.sort_by_key(|share| share.id);
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn asked_the_same_again_a_policy_answers_the_same(
        capacity in 1u32..80,
        history in prop::collection::vec(any_programs(), 1..5),
    ) {
        for entry in orderly() {
            let mut policy = (entry.new)(&Settings::default());
            for programs in &history {
                let first = policy.allocate(&machine(capacity), programs);
                prop_assert_eq!(&policy.allocate(&machine(capacity), programs), &first);
            }
        }
    }

    #[test]
    fn programs_that_are_alike_get_alike_under_every_policy(
        capacity in 1u32..80,
        count in 1usize..9,
        e in 0.0..1.0f64,
    ) {
        let program = |i| Program { efficiency: Some(e), ..Program::new(ProgramId(i), 99) };
        let programs: Vec<Program> = (0..count as u64).map(program).collect();
        for mut policy in managing() {
            let dops = dops(&policy.allocate(&machine(capacity), &programs));
            prop_assert!(dops[0] - dops[count - 1] <= 1, "{:?}", dops);
            prop_assert!(dops.is_sorted_by(|a, b| a >= b), "what is left over goes to the earlier: {:?}", dops);
        }
    }
}

#[test]
fn unmanaged_manages_nobody() {
    let program = Program { min: 2, max: 3, dop: 2, efficiency: Some(0.5), ..Program::new(ProgramId(1), 4) };
    let allocation = by_name("unmanaged", &Settings::default()).unwrap().allocate(&machine(4), &[program]);
    assert_eq!(allocation.shares[0].dop, Dop::Unmanaged);
}

proptest! {
    #[test]
    fn chaos_exceeds_no_cap(capacity in 0u32..80, programs in any_programs(), seed in any::<u64>()) {
        let mut chaos = scaf_policy::chaos(seed);
        for _ in 0..20 {
            let shares = chaos.allocate(&machine(capacity), &programs).shares;
            prop_assert_eq!(shares.len(), programs.len());
            for (program, share) in programs.iter().zip(shares) {
                prop_assert_eq!(program.id, share.id);
                prop_assert!(!matches!(share.dop, Dop::Contexts(dop) if dop == 0 || dop > program.cap()));
            }
        }
    }
}
