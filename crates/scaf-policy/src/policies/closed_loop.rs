//! Policies in a closed loop with programs whose speedups are known: TACO's Table 1, "traditional" curves.
//!
//! All 154 mixes of two to four of its eight programs share 24 contexts. At each decision the policy is told
//! the exact efficiency of each program at the DoP it was given; the best possible allocation is found by
//! trying all of them.

use super::equi::Equi;
use super::scaf::Scaf;
use crate::{Dop, Machine, Policy, Program, ProgramId};

const TABLE: &str = include_str!("../../../../fixtures/papers/taco_table1_speedups.csv");
const CONTEXTS: usize = 24;
const DECISIONS: usize = 60;

/// Speedups on 1 to 24 contexts, at [1] to [24]; straight lines between the measured points.
type Curve = [f64; CONTEXTS + 1];

fn curves() -> Vec<Curve> {
    let rows = TABLE.lines().filter(|row| row.contains(",traditional,"));
    rows.map(|row| {
        let speedups = row.split(',').skip(2).map(|s| s.parse::<f64>().unwrap());
        let points: Vec<(f64, f64)> =
            [1.0, 2.0, 3.0, 6.0, 12.0, 24.0].into_iter().zip([1.0].into_iter().chain(speedups)).collect();
        assert_eq!(points.len(), 6, "{row}");
        let mut curve = [0.0; CONTEXTS + 1];
        for (p, s) in curve.iter_mut().enumerate().skip(1) {
            let p = p as f64;
            let [(p0, s0), (p1, s1)] = *points.windows(2).find(|w| p <= w[1].0).unwrap() else {
                unreachable!()
            };
            *s = s0 + (s1 - s0) * (p - p0) / (p1 - p0);
        }
        curve
    })
    .collect()
}

/// All choices of two to four programs.
fn mixes() -> Vec<Vec<Curve>> {
    let curves = curves();
    let chosen = |bits: u32| (0..curves.len()).filter(move |i| bits >> i & 1 == 1);
    (0u32..1 << curves.len())
        .filter(|bits| (2..=4).contains(&bits.count_ones()))
        .map(|bits| chosen(bits).map(|i| curves[i]).collect())
        .collect()
}

fn best(mix: &[Curve]) -> f64 {
    // After each program, the most that p contexts can bring, for every p.
    let mut most = vec![f64::NEG_INFINITY; CONTEXTS + 1];
    most[0] = 0.0;
    for curve in mix {
        let with = |p: usize| (1..=p).map(|q| most[p - q] + curve[q]).fold(f64::NEG_INFINITY, f64::max);
        most = (0..=CONTEXTS).map(with).collect();
    }
    most[CONTEXTS]
}

/// The allocations of so many decisions in a row, with every efficiency multiplied by a `factor` of its own.
fn run(
    policy: &mut dyn Policy,
    mix: &[Curve],
    decisions: usize,
    factor: &mut dyn FnMut() -> f64,
) -> Vec<Vec<usize>> {
    let natural = CONTEXTS as u32;
    let mut programs: Vec<Program> =
        (0..mix.len() as u64).map(|id| Program::new(ProgramId(id), natural)).collect();
    let mut decision = || {
        let allocation = policy.allocate(&Machine { capacity: natural, now_s: 0.0 }, &programs);
        for ((program, share), curve) in programs.iter_mut().zip(&allocation.shares).zip(mix) {
            let Dop::Contexts(dop) = share.dop else { unreachable!() };
            program.dop = dop;
            program.efficiency = Some(curve[dop as usize] / f64::from(dop) * factor());
        }
        programs.iter().map(|p| p.dop as usize).collect()
    };
    (0..decisions).map(|_| decision()).collect()
}

/// What became of all mixes under one policy.
#[derive(Debug)]
struct Outcome {
    /// Mixes in which the second half of the decisions still changes something.
    restless: usize,
    /// Mean over the mixes of the sum of speedups in that half, in percent of the best possible.
    of_best: f64,
    /// The worst mix.
    worst: f64,
    /// Decisions until the last change, in the mix that took longest.
    settled_after: usize,
}

fn outcome(new: fn() -> Box<dyn Policy>) -> Outcome {
    let mut outcome = Outcome { restless: 0, of_best: 0.0, worst: 100.0, settled_after: 0 };
    let mixes = mixes();
    for mix in &mixes {
        let trace = run(&mut *new(), mix, DECISIONS, &mut || 1.0);
        let late = &trace[DECISIONS / 2..];
        if late.iter().any(|a| a != &late[0]) {
            outcome.restless += 1;
        } else {
            let changed = trace.windows(2).rposition(|w| w[0] != w[1]).map_or(0, |i| i + 1);
            outcome.settled_after = outcome.settled_after.max(changed);
        }
        let stp = |a: &Vec<usize>| a.iter().zip(mix).map(|(&p, curve)| curve[p]).sum::<f64>();
        let percent = 100.0 * late.iter().map(stp).sum::<f64>() / late.len() as f64 / best(mix);
        outcome.of_best += percent / mixes.len() as f64;
        outcome.worst = outcome.worst.min(percent);
    }
    outcome
}

#[test]
fn there_are_154_mixes() {
    assert_eq!(mixes().len(), 154);
}

#[test]
fn the_published_loop_circles_for_ever_in_22_mixes() {
    let outcome = outcome(|| Box::new(Scaf::steadied_by(-1.0, false)));
    println!("plain: {outcome:?}");
    assert_eq!(outcome.restless, 22);
    assert!((88.0..88.5).contains(&outcome.of_best), "{outcome:?}");
}

#[test]
fn hysteresis_alone_stops_the_circling_too_where_nothing_is_noisy() {
    let outcome = outcome(|| Box::new(Scaf::steadied_by(0.0025, false)));
    println!("hysteresis: {outcome:?}");
    assert_eq!(outcome.restless, 0);
}

#[test]
fn cycle_detection_alone_brings_every_mix_to_rest_at_no_cost() {
    let outcome = outcome(|| Box::new(Scaf::steadied_by(-1.0, true)));
    println!("detection: {outcome:?}");
    assert_eq!(outcome.restless, 0);
    assert!((88.0..89.0).contains(&outcome.of_best), "{outcome:?}");
}

#[test]
fn the_policy_as_it_is_comes_to_rest_within_a_second_in_every_mix() {
    let outcome = outcome(|| Box::new(Scaf::default()));
    println!("scaf: {outcome:?}");
    assert_eq!(outcome.restless, 0);
    assert!(outcome.settled_after <= 4 && outcome.of_best > 87.5, "{outcome:?}");
}

/// Changes a mix in `decisions` decisions, each efficiency off by up to `noise` of itself.
fn changes(new: fn() -> Scaf, noise: f64, decisions: usize) -> f64 {
    let mixes = mixes();
    let count = |(i, mix): (usize, &Vec<Curve>)| {
        let mut state = i as u64 + 1;
        let trace = run(&mut new(), mix, decisions, &mut || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            1.0 + noise * ((state >> 33) as f64 / 2f64.powi(30) - 1.0)
        });
        trace.windows(2).filter(|w| w[0] != w[1]).count()
    };
    mixes.iter().enumerate().map(count).sum::<usize>() as f64 / mixes.len() as f64
}

#[test]
fn three_percent_of_noise_moves_the_published_loop_about_but_hardly_this_one() {
    let plain = changes(|| Scaf::steadied_by(-1.0, false), 0.03, DECISIONS);
    let detection = changes(|| Scaf::steadied_by(-1.0, true), 0.03, DECISIONS);
    let hysteresis = changes(|| Scaf::steadied_by(0.0025, false), 0.03, DECISIONS);
    let steady = changes(Scaf::default, 0.03, DECISIONS);
    println!(
        "changes with noise: plain {plain:.1}, detection {detection:.1}, hysteresis {hysteresis:.1}, both {steady:.1}"
    );
    assert!(plain > 15.0 && steady < 2.0, "{plain} and {steady}");
}

#[test]
fn looking_again_at_programs_on_one_context_disturbs_little() {
    let (short, long) = (changes(Scaf::default, 0.0, 60), changes(Scaf::default, 0.0, 660));
    println!("changes without noise: {short:.1} in 60 decisions, {long:.1} in 660");
    assert!(long - short < 10.0 * 2.0, "two changes for each of ten looks at most");
}

#[test]
fn equipartition_is_where_they_start_from() {
    let outcome = outcome(|| Box::new(Equi));
    println!("equi: {outcome:?}");
    assert_eq!((outcome.restless, outcome.settled_after), (0, 0));
}
