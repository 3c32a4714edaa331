//! What every managing policy promises, whatever it is given and was given before.

use proptest::prelude::*;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{
    Allocation, Dop, Machine, Objective, POLICIES, Policy, PolicyEntry, Program, ProgramId, Settings, by_name,
};

fn machine(capacity: u32) -> Machine {
    at(capacity, 0.0)
}

fn at(capacity: u32, now_s: f64) -> Machine {
    Machine::new(capacity, now_s)
}

fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0..1.5f64,
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, -0.0, f64::MIN_POSITIVE, 1e-300, 1e300,
                f64::MAX,
        ]),
    ]
}

fn any_count() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..40, 1 => Just(u32::MAX), 1 => any::<u32>()]
}

fn any_curve() -> impl Strategy<Value = Vec<Measured>> {
    let point = (any_count(), prop_oneof![3 => 0.0..30.0f64, 1 => any_float()], any_float());
    let measured = |(dop, value, error)| Measured { dop, speedup: Estimate { value, error } };
    prop::collection::vec(point.prop_map(measured), 0..5)
}

prop_compose! {
    fn any_program()(
        min in any_count(), max in any_count(), natural in any_count(), dop in any_count(),
        weight in any_float(), efficiency in prop::option::of(any_float()),
        curve in any_curve(), profile in any_curve(), serial in prop::bool::weighted(0.2),
        team in any_count(), rigid in prop::bool::weighted(0.2),
    ) -> Program {
        Program { min, max, weight, dop, efficiency, curve, profile, serial, team, rigid,
            ..Program::new(ProgramId(0), natural) }
    }
}

prop_compose! {
    fn any_programs()(list in prop::collection::vec(any_program(), 0..12),
        seed in any::<u64>()) -> Vec<Program> {
        let id = |i: usize| ProgramId((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed);
        list.into_iter().enumerate().map(|(i, p)| Program { id: id(i), ..p }).collect()
    }
}

fn orderly() -> impl Iterator<Item = &'static PolicyEntry> {
    POLICIES.iter().filter(|entry| entry.name != "chaos")
}

fn managing(settings: Settings) -> impl Iterator<Item = Box<dyn Policy>> {
    orderly().filter(|entry| entry.name != "unmanaged").map(move |entry| (entry.new)(&settings))
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let objective = prop::sample::select(vec![Objective::Throughput, Objective::Fair]);
    let floor = prop_oneof![2 => Just(0.5), 2 => 0.0..=1.0f64, 1 => any_float()];
    (objective, floor).prop_map(|(objective, floor)| Settings { objective, floor })
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
    if name == "taco" {
        return check_turns(capacity, programs, allocation);
    }
    prop_assert!(allocation.turns.is_empty() && allocation.keeps.is_empty());
    let capacity = u64::from(capacity.max(1));
    let caps: u64 = programs.iter().map(|p| u64::from(p.cap())).sum();
    let floors: u64 = programs.iter().map(|p| u64::from(p.floor())).sum();
    let sum: u64 = dops.iter().map(|&d| u64::from(d)).sum();
    let expected = capacity.min(caps).max(programs.len() as u64);
    if ["curve", "offline"].contains(&name) {
        prop_assert!(sum <= expected, "{}: {:?}", name, dops);
    } else {
        prop_assert_eq!(sum, expected, "{}: {:?}", name, dops);
    }
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

/// Each turn fits the machine, and everyone runs with as many contexts as it needs.
fn check_turns(capacity: u32, programs: &[Program], allocation: &Allocation) -> Result<(), TestCaseError> {
    let capacity = capacity.max(1);
    let turns = &allocation.turns;
    let contexts = |id| u64::from(allocation.contexts(id).unwrap());
    let all = programs.iter().map(|p| p.id);
    let always: Vec<ProgramId> =
        all.filter(|id| !turns.iter().any(|turn| turn.members.contains(id))).collect();
    let always_taken: u64 = always.iter().map(|id| contexts(*id)).sum();
    prop_assert!(always_taken <= u64::from(capacity), "{allocation:?}");
    prop_assert!(turns.len() != 1, "{turns:?}");
    for turn in turns {
        let taken: u64 = turn.members.iter().map(|id| contexts(*id)).sum();
        prop_assert!(taken + always_taken <= u64::from(capacity), "{allocation:?}");
        let mut members = turn.members.clone();
        members.sort();
        members.dedup();
        prop_assert!(turn.slices >= 1 && !members.is_empty() && members.len() == turn.members.len());
        prop_assert!(members.iter().all(|id| programs.iter().any(|p| p.id == *id)));
    }
    let floors: u64 = programs.iter().map(|p| u64::from(p.floor())).sum();
    for (p, share) in programs.iter().zip(&allocation.shares) {
        prop_assert_eq!(p.id, share.id);
        prop_assert!(!share.reason.is_empty() && share.reason.len() < 160, "{}", share.reason);
        let Dop::Contexts(dop) = share.dop else { panic!("unmanaged") };
        prop_assert!(dop >= 1 && dop <= p.cap());
        if p.rigid {
            prop_assert_eq!(dop, p.cap().min(capacity));
        } else if floors <= u64::from(capacity) {
            prop_assert!(dop >= p.floor(), "{allocation:?}");
        }
    }
    Ok(())
}

fn any_units() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![
        prop::sample::select(vec![vec![], vec![6, 24], vec![1, 2, 4], vec![2, 16, 64], vec![7, 56]]),
        prop::collection::vec(any_count(), 0..5),
    ]
}

proptest! {
    #[test]
    fn by_turns_everyone_gets_the_same_time_times_contexts(
        units in prop::sample::select(vec![vec![6, 24], vec![1, 2, 4], vec![2, 8, 16], vec![4, 12],
        vec![32]]),
        count in 1u64..80,
    ) {
        let whole = units.iter().copied().max().unwrap();
        let programs: Vec<Program> = (1..=count).map(|id| Program::new(ProgramId(id), whole)).collect();
        let machine = Machine { units, ..machine(whole) };
        let allocation = by_name("taco", &Settings::default()).unwrap().allocate(&machine, &programs);
        check_turns(whole, &programs, &allocation)?;
        for p in &programs {
            let had = allocation.time_share(p.id) * f64::from(allocation.contexts(p.id).unwrap());
            prop_assert!((had * count as f64 / f64::from(whole) - 1.0).abs() < 1e-9, "{allocation:?}");
        }
    }

    #[test]
    fn sums_caps_and_floors_hold_whatever_comes(
        history in prop::collection::vec((0u32..200, any_float(), any_programs()), 1..6),
        units in any_units(),
        settings in any_settings(),
    ) {
        for mut policy in managing(settings) {
            for (capacity, now_s, programs) in &history {
                let machine = Machine { units: units.clone(), ..at(*capacity, *now_s) };
                let allocation = policy.allocate(&machine, programs);
                check(policy.name(), *capacity, programs, &allocation)?;
            }
        }
    }

    #[test]
    fn they_hold_in_a_closed_loop_with_hostile_feedback_too(
        capacity in 1u32..80,
        start in any_programs(),
        feedback in prop::collection::vec(prop::option::of(any_float()), 40),
        settings in any_settings(),
    ) {
        for mut policy in managing(settings) {
            let mut programs = start.clone();
            let mut feedback = feedback.iter().cycle();
            for tick in 0..30 {
                let allocation = policy.allocate(&at(capacity, 0.25 * f64::from(tick)), &programs);
                check(policy.name(), capacity, &programs, &allocation)?;
                for (p, dop) in programs.iter_mut().zip(dops(&allocation)) {
                    p.dop = dop;
                    p.efficiency = feedback.next().copied().flatten();
                    let value = feedback.next().copied().flatten().unwrap_or(1.0) * f64::from(dop);
                    p.curve.insert(0, Measured { dop, speedup: Estimate { value, error: 0.05 } });
                    p.serial = value < 1.0;
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_programs_does_not_matter(
        capacity in 1u32..80,
        history in prop::collection::vec(any_programs(), 1..4),
        turn in 0usize..12,
        units in any_units(),
        settings in any_settings(),
    ) {
        for entry in orderly() {
            let [mut one, mut other] = [(entry.new)(&settings), (entry.new)(&settings)];
            for (tick, programs) in (0..).zip(&history) {
                let machine = Machine { units: units.clone(), ..at(capacity, 3.0 * f64::from(tick)) };
                let mut turned = programs.clone();
                turned.reverse();
                let middle = turn.min(turned.len());
                turned.rotate_left(middle);
                let [mut one, mut other] = [one.allocate(&machine, programs), other.allocate(&machine,
                    &turned)];
                for allocation in [&mut one, &mut other] {
                    allocation.shares.sort_by_key(|share| share.id);
                    allocation.keeps.sort();
                }
                prop_assert_eq!(one, other);
            }
        }
    }

    #[test]
    fn asked_the_same_again_a_policy_answers_the_same(
        capacity in 1u32..80,
        history in prop::collection::vec(any_programs(), 1..5),
        settings in any_settings(),
    ) {
        for entry in orderly() {
            let mut policy = (entry.new)(&settings);
            for programs in &history {
                let first = policy.allocate(&machine(capacity), programs);
                prop_assert_eq!(&policy.allocate(&machine(capacity), programs), &first);
            }
        }
    }

    #[test]
    fn curve_comes_to_rest_where_nothing_changes(
        capacity in 1u32..80, programs in any_programs(), settings in any_settings(),
    ) {
        let mut policy = by_name("curve", &settings).unwrap();
        let mut decide = |tick: u32| policy.allocate(&at(capacity, 0.25 * f64::from(tick)), &programs);
        let shares = |allocation: Allocation| dops(&allocation);
        let rest = (0..32).map(&mut decide).last().map(shares);
        prop_assert_eq!(rest, Some(shares((32..40).map(&mut decide).last().unwrap())));
    }

    #[test]
    fn programs_that_are_alike_get_alike_under_every_policy(
        capacity in 1u32..80,
        count in 1usize..9,
        e in 0.0..1.0f64,
    ) {
        let program = |i| Program { efficiency: Some(e), dop: 4, ..Program::new(ProgramId(i), 99) };
        let programs: Vec<Program> = (0..count as u64).map(program).collect();
        // Not curve, which tries one of them first, nor those that equalise units and fractions.
        for mut policy in managing(Settings::default()).filter(|policy| !["curve", "ta",
            "taco"].contains(&policy.name())) {
            let dops = dops(&policy.allocate(&machine(capacity), &programs));
            prop_assert!(dops[0] - dops[count - 1] <= 1, "{}: {:?}", policy.name(), dops);
            prop_assert!(dops.is_sorted_by(|a, b| a >= b), "what is left over goes to the earlier: \
                {:?}", dops);
        }
    }
}

fn settled(name: &str, settings: &Settings, capacity: u32, programs: &mut [Program]) -> Vec<u32> {
    let mut policy = by_name(name, settings).unwrap();
    let mut last = Vec::new();
    for tick in 0..40 {
        last = dops(&policy.allocate(&at(capacity, 0.25 * f64::from(tick)), programs));
    }
    last
}

fn curve(speedup: impl Fn(f64) -> f64) -> Vec<Measured> {
    let point = |dop| Measured { dop, speedup: Estimate { value: speedup(f64::from(dop)), error: 0.0 } };
    (2..=32).map(point).collect()
}

fn with_curve(id: u64, speedup: impl Fn(f64) -> f64) -> Program {
    let curve = curve(speedup);
    Program { profile: curve.clone(), curve, ..Program::new(ProgramId(id), 32) }
}

proptest! {
    #[test]
    fn nothing_is_idle_while_speedups_grow_and_floors_hold(
        capacity in 1u32..=32, powers in prop::collection::vec(0.05..1.0f64, 1..6), floor in 0.0..1.0f64,
    ) {
        for name in ["curve", "offline"] {
            let mut programs: Vec<Program> =
                powers.iter().zip(1..).map(|(power, id)| with_curve(id, |p| p.powf(*power))).collect();
            let settings = Settings { floor, ..Settings::default() };
            let dops = settled(name, &settings, capacity, &mut programs);
            prop_assert_eq!(dops.iter().sum::<u32>(), capacity.max(dops.len() as u32));
            let equal = by_name("equi", &settings).unwrap().allocate(&machine(capacity), &programs);
            for ((dop, equal), power) in dops.iter().zip(self::dops(&equal)).zip(&powers) {
                let [has, asked] = [f64::from(*dop).powf(*power), floor * f64::from(equal).powf(*power)];
                prop_assert!(has >= asked * (1.0 - 1e-9), "{name}: {has} of {asked}");
            }
        }
    }
}

/// Teaches a policy exact speedups, `p` to some power, at the DoPs that programs had.
fn taught(name: &str, capacity: u32, programs: &mut [Program], powers: &[f64], ticks: u32) -> Vec<u32> {
    let mut policy = by_name(name, &Settings::default()).unwrap();
    let mut last = Vec::new();
    for tick in 0..ticks {
        last = dops(&policy.allocate(&at(capacity, 0.25 * f64::from(tick)), programs));
        for ((program, dop), power) in programs.iter_mut().zip(&last).zip(powers) {
            let value = f64::from(*dop).powf(*power);
            (program.dop, program.efficiency) = (*dop, Some(value / f64::from(*dop)));
            program.curve.retain(|point| point.dop != *dop);
            program.curve.push(Measured { dop: *dop, speedup: Estimate { value, error: 0.02 } });
        }
    }
    last
}

fn any_grower() -> impl Strategy<Value = (f64, u32, u32, f64)> {
    let power = prop_oneof![Just(0.0), 0.2..1.0f64];
    let min = prop_oneof![3 => Just(1u32), 1 => 2u32..4];
    let max = prop_oneof![1 => 1u32..8, 1 => Just(32u32)];
    (power, min, max, prop::sample::select(vec![0.01, 0.5, 1.0, 1.5, 4.0]))
}

proptest! {
    #[test]
    fn strangers_leave_nothing_idle_that_any_of_them_could_use(
        programs in prop::collection::vec(any_grower(), 1..9),
        more in 0u32..12,
    ) {
        let powers: Vec<f64> = programs.iter().map(|program| program.0).collect();
        let program = |(id, (_, min, max, weight)): (u64, &(f64, u32, u32, f64))| {
            Program { min: *min, max: *max, weight: *weight, ..Program::new(ProgramId(id), 32) }
        };
        let programs: Vec<Program> = (1..).zip(&programs).map(program).collect();
        let capacity = programs.iter().map(Program::floor).sum::<u32>() + more;
        let caps = programs.iter().map(Program::cap).sum::<u32>();
        for name in ["curve", "scaf", "logm", "spdp", "equi"] {
            let dops = taught(name, capacity, &mut programs.clone(), &powers, 60);
            let full = dops.iter().sum::<u32>() == capacity.min(caps);
            let none_is_helped =
                programs.iter().zip(&powers).zip(&dops).all(|((p, power),
                    dop)| *power == 0.0 || *dop == p.cap());
            prop_assert!(full || name == "curve" && none_is_helped, "{name}: {dops:?} of {capacity}");
        }
    }
}

#[test]
fn a_profile_of_one_context_does_not_hide_what_was_observed() {
    let on_one = vec![Measured { dop: 1, speedup: Estimate { value: 1.0, error: 0.0 } }];
    for name in ["curve", "offline"] {
        let flat = Program { profile: on_one.clone(), ..with_curve(1, |_| 1.0) };
        let mut programs = [flat, Program { profile: on_one.clone(), ..with_curve(2, |p| p) }];
        assert_eq!(settled(name, &Settings::default(), 32, &mut programs), [1, 31], "{name}");
    }
}

#[test]
fn contexts_beyond_the_knee_are_left_idle() {
    for name in ["curve", "offline"] {
        let mut programs = [with_curve(1, |p| p / (1.0 + 0.01 * p * (p - 1.0))), with_curve(2, |_| 1.0)];
        assert_eq!(settled(name, &Settings::default(), 32, &mut programs), [10, 1], "{name}");
    }
}

#[test]
fn the_fair_objective_counts_every_factor_alike() {
    for name in ["curve", "offline"] {
        let mut programs = [with_curve(1, |p| p), with_curve(2, |p| p.sqrt())];
        let sum = settled(name, &Settings { floor: 0.0, ..Settings::default() }, 24, &mut programs);
        let fair = Settings { objective: Objective::Fair, floor: 0.0 };
        // p and the root of q: the product is largest where p is twice q.
        assert_eq!((sum, settled(name, &fair, 24, &mut programs)), (vec![23, 1], vec![16, 8]), "{name}");
    }
}

#[test]
fn weights_and_minima_count() {
    for name in ["curve", "offline"] {
        let mut programs =
            [with_curve(1, |p| p.sqrt()), Program { weight: 3.0, ..with_curve(2, |p| p.sqrt()) }];
        let dops = settled(name, &Settings::default(), 20, &mut programs);
        assert!(dops[1] > 2 * dops[0], "{name}: {dops:?}");
        programs[0].min = 12;
        assert_eq!(settled(name, &Settings::default(), 20, &mut programs), [12, 8], "{name}");
    }
}

#[test]
fn contexts_of_a_serial_phase_are_lent_and_come_back_at_once() {
    let mut policy = by_name("curve", &Settings::default()).unwrap();
    let mut programs =
        [with_curve(1, |p| p.powf(0.9)), with_curve(2, |p| p.powf(0.8)), with_curve(3, |p| p.powf(0.5))];
    let mut decide =
        |tick: u32, programs: &[Program]| dops(&policy.allocate(&at(32, 0.25 * f64::from(tick)), programs));
    let before = (0..40).map(|tick| decide(tick, &programs)).last().unwrap();
    programs[0].serial = true;
    let lent = decide(40, &programs);
    assert_eq!((lent[0], lent.iter().sum::<u32>()), (1, 32));
    assert!(lent[1] > before[1] && lent[2] >= before[2], "{lent:?} after {before:?}");
    programs[0].serial = false;
    assert_eq!(decide(41, &programs), before);
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
