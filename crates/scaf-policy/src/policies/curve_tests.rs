use super::curve::Curve;
use crate::estimate::Estimate;
use crate::fusion::Measured;
use crate::{Dop, Machine, Policy, Program, ProgramId, Settings, Share};

/// A program that scales up to 12 contexts, with speedups known to `error`.
fn program(id: u64, profile: bool, error: f64) -> Program {
    let points: Vec<Measured> = [4, 8, 12].map(|dop| at(dop, f64::from(dop), error)).to_vec();
    let profile = if profile { points.clone() } else { vec![] };
    Program { dop: 8, efficiency: Some(0.9), curve: points, profile, ..Program::new(ProgramId(id), 16) }
}

fn at(dop: u32, value: f64, error: f64) -> Measured {
    Measured { dop, speedup: Estimate { value, error } }
}

fn unknown(id: u64) -> Program {
    Program { efficiency: None, curve: vec![], profile: vec![], ..program(id, false, 0.0) }
}

fn is_measured_first(share: &Share) -> bool {
    share.reason.starts_with("nothing measured yet")
}

/// Whether the second of two programs is measured first at each moment.
fn measured_first<const N: usize>(moments: [(f64, Program); N]) -> [bool; N] {
    let mut policy = Curve::new(&Settings::default());
    let first = program(1, false, 0.01);
    policy.allocate(&Machine::new(16, 1.0), std::slice::from_ref(&first));
    moments.map(|(now_s, second)| {
        let programs = [first.clone(), second];
        is_measured_first(&policy.allocate(&Machine::new(16, now_s), &programs).shares[1])
    })
}

#[test]
fn a_newcomer_is_measured_for_a_while_however_sure_it_soon_seems() {
    let sure = || program(2, false, 0.02);
    assert_eq!(measured_first([(9.0, unknown(2)), (9.5, sure()), (11.0, sure())]), [true, true, false]);
}

#[test]
fn one_that_is_known_from_earlier_runs_is_not_even_if_that_is_heard_of_later() {
    assert_eq!(measured_first([(9.0, program(2, true, 0.2))]), [false]);
    assert_eq!(measured_first([(9.0, unknown(2)), (9.03, program(2, true, 0.2))]), [true, false]);
    assert_eq!(measured_first([(9.0, unknown(2)), (9.03, program(2, true, 0.6))]), [true, true]);
}

#[test]
fn one_whose_first_region_comes_late_is_measured_then() {
    let reading = || Program { efficiency: Some(0.125), curve: vec![at(8, 1.0, 0.01)], ..unknown(2) };
    let sure = || program(2, false, 0.02);
    let moments = [
        (9.0, unknown(2)),
        (9.5, reading()),
        (20.0, reading()),
        (30.0, unknown(2)),
        (30.3, sure()),
        (32.0, sure()),
    ];
    assert_eq!(measured_first(moments), [true, true, false, true, true, false]);
    // Only once: what goes on being forgotten keeps nobody curious.
    let moments = [(9.0, reading()), (20.0, unknown(2)), (30.0, sure()), (40.0, unknown(2)), (40.5, sure())];
    assert_eq!(measured_first(moments), [false, true, false, true, false]);
}

fn known(id: u64, natural: u32, speedup: impl Fn(f64) -> f64, error: f64) -> Program {
    let curve: Vec<Measured> = (2..=natural).map(|dop| at(dop, speedup(f64::from(dop)), error)).collect();
    Program { profile: curve.clone(), curve, ..Program::new(ProgramId(id), natural) }
}

fn dops(policy: &mut Curve, capacity: u32, tick: u32, programs: &[Program]) -> Vec<u32> {
    let allocation = policy.allocate(&Machine::new(capacity, 0.25 * f64::from(tick)), programs);
    let dop = |share: &Share| if let Dop::Contexts(dop) = share.dop { dop } else { 0 };
    allocation.shares.iter().map(dop).collect()
}

#[test]
fn what_one_gives_up_goes_to_whom_it_helps_however_little_that_is_of_all() {
    let mut programs: Vec<Program> = (1..=31).map(|id| known(id, 4, |p| p, 0.02)).collect();
    programs.push(known(32, 8, |p| p, 0.02));
    programs.push(known(33, 8, |p| p.powf(0.3), 0.02));
    let mut policy = Curve::new(&Settings::default());
    let before = (0..40).map(|tick| dops(&mut policy, 136, tick, &programs)).last().unwrap();
    assert_eq!((before[31], before[32]), (8, 4));
    programs[31] = known(32, 8, |p| if p > 2.0 { 1.5 } else { p }, 0.02);
    let after = dops(&mut policy, 136, 41, &programs);
    assert_eq!((after[31], after[32]), (2, 8));
}

#[test]
fn a_context_that_comes_and_goes_moves_no_others() {
    // By measurements that differ by 4% some contexts would move each time.
    let noisy = |id: u64, tick: u32| {
        let off = if (u64::from(tick / 16) + id).is_multiple_of(2) { 1.04 } else { 1.0 };
        known(id, 16, |p| off * p.powf(0.9), 0.04)
    };
    let mut policy = Curve::new(&Settings::default());
    let mut before: Option<Vec<u32>> = None;
    for tick in 0..160 {
        let programs = [noisy(1, tick), noisy(2, tick)];
        let capacity = if tick / 8 % 2 == 0 { 16 } else { 15 };
        let now = dops(&mut policy, capacity, tick, &programs);
        assert_eq!(now.iter().sum::<u32>(), capacity);
        if let Some(before) = before.filter(|_| tick > 24) {
            let moved: u32 = now.iter().zip(before).map(|(now, before)| now.abs_diff(before)).sum();
            assert!(moved <= 1, "{now:?} at {tick}");
        }
        before = Some(now);
    }
}

/// The final DoPs on a machine that first has `from` contexts and then `to`.
fn resized(floor: f64, from: u32, to: u32, programs: &[Program]) -> Vec<u32> {
    let mut policy = Curve::new(&Settings { floor, ..Settings::default() });
    (0..40).for_each(|tick| drop(dops(&mut policy, from, tick, programs)));
    (40..80).map(|tick| dops(&mut policy, to, tick, programs)).last().unwrap()
}

#[test]
fn a_context_that_comes_is_had_by_somebody_even_where_one_is_tolerated_below_its_floor() {
    let root = |id: u64, power: f64| known(id, 64, move |p| p.powf(power), 0.04);
    assert_eq!(resized(0.8, 6, 7, &[root(1, 0.75), root(2, 0.75)]).iter().sum::<u32>(), 7);
    assert_eq!(resized(0.5, 14, 16, &[root(1, 0.5), root(2, 1.0)]).iter().sum::<u32>(), 16);
    let many: Vec<Program> = (1..=8).map(|id| root(id, if id < 8 { 0.5 } else { 1.0 })).collect();
    let dops = resized(0.5, 56, 64, &many);
    assert!(dops.iter().sum::<u32>() == 64 && dops[..7].iter().all(|p| *p >= 3), "{dops:?}");
}

#[test]
fn another_context_of_few_is_tried_again() {
    let step = |p: u32| if p < 3 { 1.0 } else { 3.0 };
    let mut program = unknown(1);
    (program.natural, program.dop) = (4, 0);
    let mut policy = Curve::new(&Settings::default());
    let mut last = 0;
    for tick in 0..120 {
        last = dops(&mut policy, if tick < 60 { 2 } else { 3 }, tick, std::slice::from_ref(&program))[0];
        program.dop = last;
        program.curve.retain(|point| point.dop != last);
        program.curve.push(at(last, step(last), 0.02));
    }
    assert_eq!(last, 3);
}

#[test]
fn who_may_gain_by_chance_only_does_not_keep_others_from_what_is_left_over() {
    let big = |p: f64| if p <= 40.0 { p } else { 40.0 + 0.05 * (p - 40.0) };
    let small = known(1, 2, |p| if p > 1.0 { 1.5 } else { 1.0 }, 0.02);
    let third =
        |after: f64| known(3, 57, move |p| if p > 8.0 && after > 0.0 { after } else { p.min(16.0) }, 0.02);
    let mut policy = Curve::new(&Settings { floor: 0.0, ..Settings::default() });
    let programs = [small.clone(), known(2, 57, big, 0.05), third(0.0)];
    (0..40).for_each(|tick| drop(dops(&mut policy, 57, tick, &programs)));
    let programs = [small, known(2, 57, big, 0.05), third(4.0)];
    let after = (40..80).map(|tick| dops(&mut policy, 57, tick, &programs)).last().unwrap();
    assert_eq!((after[0], after[2]), (2, 8), "{after:?}");
}
