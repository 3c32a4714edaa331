use super::*;
use proptest::prelude::*;

/// `regions`: runs a second of work, seconds at one context, share that scales; and the serial share.
struct Model {
    regions: Vec<(f64, f64, f64)>,
    serial: f64,
}

impl Model {
    fn seconds(&self, region: usize, p: u32) -> f64 {
        let (_, one, scales) = self.regions[region];
        one * (1.0 - scales + scales / f64::from(p))
    }

    fn round(&self, p: u32) -> f64 {
        let parallel: f64 = (0..self.regions.len()).map(|r| self.regions[r].0 * self.seconds(r, p)).sum();
        self.serial + parallel
    }

    fn speedup(&self, p: u32) -> f64 {
        self.round(1) / self.round(p)
    }

    fn run(&self, observed: &mut Observed, p: u32, intervals: u32, noise: f64) {
        for interval in 0..intervals {
            let off = 1.0 + noise * (f64::from(interval % 5) - 2.0) / 2.0;
            let rounds = 0.25 / self.round(p) / off;
            let of = |r: usize| {
                let count = rounds * self.regions[r].0;
                Runs::of(r as u64, p, count, count * self.seconds(r, p) * off)
            };
            let runs: Vec<Runs> = (0..self.regions.len()).map(of).collect();
            let parallel_s = runs.iter().map(|runs| runs.wall_s).sum();
            observed.add(&Spell { dop: p, dt_s: 0.25, parallel_s, runs: &runs });
        }
    }
}

fn model() -> Model {
    Model { regions: vec![(3.0, 1e-3, 0.95), (1.0, 4e-3, 0.6)], serial: 5e-4 }
}

#[test]
fn two_dops_give_the_speedup_between_them() {
    let (model, mut observed) = (model(), Observed::default());
    model.run(&mut observed, 4, 4, 0.1);
    model.run(&mut observed, 1, 4, 0.1);
    let found = observed.speedup(4, 1.0).unwrap();
    assert!((found.value / model.speedup(4) - 1.0).abs() < 0.03, "{found:?} {}", model.speedup(4));
    assert!(found.error < 0.15, "{found:?}");
    assert_eq!(observed.speedup(1, 1.0), Some(Estimate { value: 1.0, error: 0.0 }));
}

#[test]
fn what_lies_between_two_dops_is_guessed_well_and_beyond_them_with_a_larger_error() {
    let (model, mut observed) = (model(), Observed::default());
    for p in [1, 4, 16] {
        model.run(&mut observed, p, 4, 0.0);
    }
    let between = observed.speedup(8, 1.0).unwrap();
    assert!((between.value / model.speedup(8) - 1.0).abs() < 0.1, "{between:?} {}", model.speedup(8));
    let beyond = observed.speedup(64, 1.0).unwrap();
    assert!(beyond.error > between.error && between.error > observed.speedup(4, 1.0).unwrap().error);
}

#[test]
fn one_dop_alone_is_as_good_as_what_is_known_besides() {
    let (model, mut observed) = (model(), Observed::default());
    model.run(&mut observed, 4, 4, 0.0);
    let exponent = 0.7;
    let found = observed.speedup(4, exponent).unwrap();
    let parallel = 1.0 - model.serial / model.round(4);
    let expected = 1.0 - parallel + parallel * 4f64.powf(exponent);
    assert!((found.value - expected).abs() < 0.01 && found.error > 0.2, "{found:?} {expected}");
}

#[test]
fn regions_whose_runs_differ_in_size_are_compared_by_their_mean() {
    // A multigrid cycle: the same region at four levels.
    let level = |p: u32| (0..4).map(|l| 1e-3 / f64::from(1 << l) / f64::from(p)).sum::<f64>();
    let mut observed = Observed::default();
    for p in [2, 1] {
        let cycles = 0.25 / level(p);
        let runs = [Runs::of(7, p, 4.0 * cycles, 0.25)];
        (0..4).for_each(|_| observed.add(&Spell { dop: p, dt_s: 0.25, parallel_s: 0.25, runs: &runs }));
    }
    assert!((observed.speedup(2, 0.0).unwrap().value - 2.0).abs() < 0.01);
}

#[test]
fn a_phase_change_scales_what_was_seen_elsewhere() {
    let mut model = Model { regions: vec![(1.0, 1e-3, 0.8)], serial: 0.0 };
    let mut observed = Observed::default();
    model.run(&mut observed, 1, 4, 0.0);
    model.run(&mut observed, 4, 4, 0.0);
    let before = observed.speedup(4, 1.0).unwrap();
    model.regions[0].1 *= 3.0;
    model.run(&mut observed, 4, 4, 0.0);
    let after = observed.speedup(4, 1.0).unwrap();
    assert!(
        (after.value / before.value - 1.0).abs() < 0.05 && after.error > before.error,
        "{before:?} {after:?}"
    );
}

#[test]
fn one_interval_that_was_disturbed_changes_little() {
    let (model, mut observed) = (model(), Observed::default());
    model.run(&mut observed, 1, 6, 0.02);
    model.run(&mut observed, 4, 6, 0.02);
    let slow = [Runs::of(0, 4, 10.0, 0.25)];
    observed.add(&Spell { dop: 4, dt_s: 0.25, parallel_s: 0.25, runs: &slow });
    let found = observed.speedup(4, 1.0).unwrap();
    assert!((found.value / model.speedup(4) - 1.0).abs() < 0.1, "{found:?} {}", model.speedup(4));
}

#[test]
fn nothing_observed_is_no_estimate() {
    assert_eq!(Observed::default().speedup(4, 1.0), None);
}

proptest! {
    #[test]
    fn whatever_a_client_says_estimates_are_numbers(
        spells in proptest::collection::vec(
            (0u32..70_000, proptest::num::f64::ANY, proptest::num::f64::ANY,
             proptest::collection::vec((0u64..4, proptest::num::f64::ANY, proptest::num::f64::ANY), 0..4)),
                 0..30),
        p in 0u32..100_000, exponent in proptest::num::f64::ANY,
    ) {
        let mut observed = Observed::default();
        for (dop, dt_s, parallel_s, runs) in spells {
            let of = |(region, runs, wall_s)| Runs::of(region, dop, runs, wall_s);
            let runs: Vec<Runs> = runs.into_iter().map(of).collect();
            observed.add(&Spell { dop, dt_s, parallel_s, runs: &runs });
        }
        if let Some(found) = observed.speedup(p, exponent) {
            prop_assert!(found.value.is_finite() && found.value >= 0.0, "{found:?}");
            prop_assert!(found.error >= 0.0, "{found:?}");
        }
    }

    #[test]
    fn memory_is_bounded(regions in proptest::collection::vec(0u64..u64::MAX, 0..600)) {
        let mut observed = Observed::default();
        for (i, region) in regions.iter().enumerate() {
            let dop = 1 + i as u32;
            let runs = [Runs::of(*region % 300, dop, 1.0, 0.1)];
            observed.add(&Spell { dop, dt_s: 0.25, parallel_s: 0.2, runs: &runs });
        }
        prop_assert!(observed.regions.len() <= REGIONS);
        prop_assert!(observed.regions.values().all(|region| region.points.len() <= POINTS));
    }
}
