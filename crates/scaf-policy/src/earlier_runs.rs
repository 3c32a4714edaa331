//! What earlier runs of a program taught about its speedup, as [`crate::observed`] gives and takes it.

use crate::estimate::{Estimate, GUESS, PHASE, POINTS, seconds};
use std::collections::BTreeMap;

/// Added to the error of another run's observations: machines and inputs differ a little from day to day.
const ANOTHER_RUN: f64 = 0.05;
/// Range of plausible seconds for a run of a region.
const SECONDS: std::ops::RangeInclusive<f64> = 1e-9..=1e6;
const MOST_DOP: u32 = 65_535;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct EarlierRuns {
    /// Its regions, by their numbers in [`crate::observed::Runs`].
    pub regions: BTreeMap<u64, EarlierRegion>,
    /// What it did besides.
    pub mix: Mix,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EarlierRegion {
    /// Its runs in a second of the program's running.
    pub runs_per_s: f64,
    /// Seconds a run at the DoPs that it ran at.
    pub points: BTreeMap<u32, Estimate>,
    /// Whether the program had the same arguments; else its times are a guess.
    pub same: bool,
}

/// What a second of running was made of, besides runs of regions.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Mix {
    /// Serial seconds, 0 to 1.
    pub serial: f64,
    /// Seconds in regions of which no run ended, by their DoP.
    pub other: BTreeMap<u32, f64>,
}

impl EarlierRegion {
    /// Without numbers out of range; `None` if no point is left.
    pub(crate) fn sane(self) -> Option<EarlierRegion> {
        let fits = |(dop, point): &(u32, Estimate)| {
            (1..=MOST_DOP).contains(dop) && SECONDS.contains(&point.value) && point.error >= 0.0
        };
        let mut points: Vec<_> = self.points.into_iter().filter(fits).collect();
        points.sort_by(|a, b| a.1.error.total_cmp(&b.1.error));
        points.truncate(POINTS);
        let error = |point: Estimate| Estimate { error: point.error.min(10.0), ..point };
        let points: BTreeMap<u32, Estimate> =
            points.into_iter().map(|(dop, point)| (dop, error(point))).collect();
        let runs_per_s = if self.runs_per_s.is_finite() { self.runs_per_s.clamp(0.0, 1e9) } else { 0.0 };
        (!points.is_empty()).then_some(EarlierRegion { runs_per_s, points, ..self })
    }

    /// The factor by which runs take longer now than then, and what is known of both together.
    pub(crate) fn with(&self, observed: &[(u32, Estimate)]) -> (f64, Vec<(u32, Estimate)>) {
        let scale = self.scale(observed);
        let of_past = |point: &Estimate| Estimate {
            value: point.value * scale,
            error: point.error + if self.same { ANOTHER_RUN } else { GUESS },
        };
        let mut known: BTreeMap<u32, Estimate> = observed.iter().copied().collect();
        // One DoP in common gives the scale only.
        let both = known.keys().filter(|dop| self.points.contains_key(dop)).count() > 1;
        for (dop, then) in &self.points {
            let now = known.get(dop).copied();
            known.insert(
                *dop,
                match now {
                    None => of_past(then),
                    Some(now) if both => together(now, of_past(then)),
                    Some(now) => now,
                },
            );
        }
        (scale, known.into_iter().collect())
    }

    fn scale(&self, observed: &[(u32, Estimate)]) -> f64 {
        let points: Vec<_> = self.points.iter().map(|(dop, point)| (*dop, *point)).collect();
        // (logarithm of the ratio, its error, whether it was observed both times)
        let ratios: Vec<_> = observed
            .iter()
            .filter_map(|(dop, now)| {
                let then = seconds(&points, *dop, 1.0)?;
                let error = now.error.hypot(then.error);
                Some(((now.value / then.value).ln(), error, self.points.contains_key(dop)))
            })
            .collect();
        let common = ratios.iter().any(|ratio| ratio.2);
        let (mut sum, mut weights, mut least_error) = (0.0, 0.0, f64::INFINITY);
        for (ratio, error, _) in ratios.iter().filter(|ratio| ratio.2 || !common) {
            let weight = error.max(1e-3).powi(-2);
            sum += ratio * weight;
            weights += weight;
            least_error = error.min(least_error);
        }
        let mean: f64 = if weights > 0.0 { sum / weights } else { 0.0 };
        // Where only guesses can be compared, the same work is likelier than a right guess.
        let as_it_was = !common && self.same && mean.abs() < PHASE.ln() + least_error;
        if as_it_was || !mean.is_finite() { 1.0 } else { mean.clamp(-14.0, 14.0).exp() }
    }

    /// The error to save of a point that nothing confirmed since: unchanged, so that runs don't add to it.
    pub(crate) fn error_of(&self, dop: u32) -> Option<f64> {
        self.points.get(&dop).filter(|_| self.same).map(|point| point.error)
    }
}

fn together(one: Estimate, other: Estimate) -> Estimate {
    let weight = |estimate: Estimate| estimate.error.max(1e-3).powi(-2);
    let (of_one, of_other) = (weight(one), weight(other));
    let log = (one.value.ln() * of_one + other.value.ln() * of_other) / (of_one + of_other);
    Estimate { value: log.exp(), error: (of_one + of_other).sqrt().recip() }
}

impl Mix {
    pub(crate) fn sane(self) -> Mix {
        let share = |share: f64| if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let other = self.other.into_iter().filter(|(dop, _)| (1..=MOST_DOP).contains(dop));
        let other = other.map(|(dop, seconds)| (dop, share(seconds))).filter(|(_, seconds)| *seconds > 0.0);
        Mix { serial: share(self.serial), other: other.take(POINTS).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Observed, Runs, Spell};
    use proptest::prelude::*;

    /// Region 1 takes `work` / p^0.8 seconds; a tenth of the time on one context is serial.
    fn run(observed: &mut Observed, work: f64, dop: u32, intervals: u32) {
        let one_s = work / f64::from(dop).powf(0.8);
        let serial_s = work / 9.0;
        let rounds = 0.25 / (one_s + serial_s);
        let runs = [Runs::of(1, dop, rounds, rounds * one_s)];
        for _ in 0..intervals {
            observed.add(&Spell { dop, dt_s: 0.25, parallel_s: rounds * one_s, runs: &runs });
        }
    }

    fn first_run() -> Observed {
        let mut observed = Observed::default();
        run(&mut observed, 1e-3, 4, 8);
        run(&mut observed, 1e-3, 1, 8);
        observed
    }

    fn informed(past: EarlierRuns) -> Observed {
        let mut observed = Observed::default();
        observed.remember(past);
        observed
    }

    fn guessed(mut past: EarlierRuns) -> EarlierRuns {
        past.regions.values_mut().for_each(|region| region.same = false);
        past
    }

    fn s4(observed: &Observed) -> f64 {
        observed.speedup(4, 1.0).unwrap().value
    }

    #[test]
    fn a_second_run_starts_with_the_curve_of_the_first_and_a_little_less_sure() {
        let first = first_run();
        let second = informed(first.past());
        for p in [2, 4, 8] {
            let (before, after) = (first.speedup(p, 1.0).unwrap(), second.speedup(p, 1.0).unwrap());
            assert!((after.value / before.value - 1.0).abs() < 0.03, "{p}: {before:?} {after:?}");
            assert!(after.error > before.error && after.error < before.error + 0.1, "{p}: {after:?}");
        }
        assert_eq!(second.dops_beside(4).into_iter().collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn another_problem_size_has_the_same_shape_from_the_first_interval_on() {
        let first = first_run();
        for past in [first.past(), guessed(first.past())] {
            let mut second = informed(past);
            run(&mut second, 30e-3, 4, 1);
            assert!((s4(&second) / s4(&first) - 1.0).abs() < 0.05, "{} {}", s4(&second), s4(&first));
            run(&mut second, 30e-3, 1, 4);
            assert!((s4(&second) / s4(&first) - 1.0).abs() < 0.05, "{} {}", s4(&second), s4(&first));
        }
    }

    #[test]
    fn runs_at_different_dops_make_one_curve() {
        let (mut first, truth) = (Observed::default(), s4(&first_run()));
        run(&mut first, 1e-3, 4, 8);
        let mut second = informed(first.past());
        run(&mut second, 1e-3, 1, 8);
        assert!((s4(&second) / truth - 1.0).abs() < 0.05, "{} {truth}", s4(&second));
        let mut other = informed(guessed(first.past()));
        run(&mut other, 1e-3, 1, 8);
        assert!(other.speedup(4, 1.0).unwrap().error > second.speedup(4, 1.0).unwrap().error + 0.1);
    }

    #[test]
    fn a_program_that_scales_otherwise_now_is_believed() {
        let mut second = informed(first_run().past());
        let runs = |dop: u32, one_s: f64| [Runs::of(1, dop, 0.25 / one_s, 0.25)];
        for _ in 0..8 {
            second.add(&Spell { dop: 4, dt_s: 0.25, parallel_s: 0.25, runs: &runs(4, 0.7e-3) });
            second.add(&Spell { dop: 1, dt_s: 0.25, parallel_s: 0.25, runs: &runs(1, 1e-3) });
        }
        assert!(s4(&second) < 1.65, "{}", s4(&second));
        let third = informed(second.past());
        assert!(s4(&third) < 1.65, "{}", s4(&third));
    }

    #[test]
    fn what_is_kept_of_a_point_grows_no_less_sure_with_every_run_that_does_not_visit_it() {
        let mut past = first_run().past();
        let before = s4(&informed(past.clone()));
        for _ in 0..50 {
            let mut next = informed(past);
            run(&mut next, 1e-3, 4, 4);
            past = next.past();
        }
        let after = informed(past);
        assert!((s4(&after) / before - 1.0).abs() < 0.05, "{} {before}", s4(&after));
        assert!(after.speedup(4, 1.0).unwrap().error < 0.2, "{:?}", after.speedup(4, 1.0));
    }

    #[test]
    fn a_long_region_is_not_counted_twice() {
        let mut observed = Observed::default();
        for _ in 0..39 {
            observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.25, runs: &[] });
        }
        let end = [Runs::of(1, 2, 1.0, 10.0)];
        observed.add(&Spell { dop: 2, dt_s: 0.25, parallel_s: 0.25, runs: &end });
        let past = observed.past();
        assert!((past.regions[&1].runs_per_s - 0.1).abs() < 1e-9, "{past:?}");
        assert!(past.mix.other.is_empty() && past.mix.serial == 0.0, "{past:?}");
    }

    fn any_past() -> impl Strategy<Value = EarlierRuns> {
        let float = || prop_oneof![proptest::num::f64::ANY, 1e-6f64..1e3];
        let estimate = || (float(), float()).prop_map(|(value, error)| Estimate { value, error });
        let points = || proptest::collection::btree_map(0u32..70_000, estimate(), 0..40);
        let region = (float(), points(), any::<bool>())
            .prop_map(|(runs_per_s, points, same)| EarlierRegion { runs_per_s, points, same });
        let mix = (float(), proptest::collection::btree_map(0u32..70_000, float(), 0..40))
            .prop_map(|(serial, other)| Mix { serial, other });
        (proptest::collection::btree_map(0u64..4, region, 0..4), mix)
            .prop_map(|(regions, mix)| EarlierRuns { regions, mix })
    }

    proptest! {
        #[test]
        fn any_past_gives_numbers(
            past in any_past(), again in any_past(), p in 0u32..100_000,
            spells in proptest::collection::vec((1u32..100, 0.01f64..1.0, 0.0f64..1e3), 0..6),
        ) {
            let mut observed = informed(past);
            for (at, (dop, dt_s, count)) in spells.into_iter().enumerate() {
                let runs = [Runs { region: at as u64 % 3, dop, runs: count, count, wall_s: dt_s }];
                observed.add(&Spell { dop, dt_s, parallel_s: dt_s, runs: &runs });
            }
            for round in 0..3 {
                if let Some(found) = observed.speedup(p, 0.7) {
                    prop_assert!(found.value.is_finite() && found.value >= 0.0, "{:?}", found);
                    prop_assert!(found.error.is_finite() && found.error >= 0.0, "{:?}", found);
                }
                let past = observed.past();
                for region in past.regions.values() {
                    prop_assert!(region.runs_per_s.is_finite() && region.runs_per_s >= 0.0, "{:?}", region);
                    prop_assert!(region.points.values().all(|point| point.value.is_finite()), "{:?}", region);
                }
                match round {
                    0 => observed.remember(again.clone()),
                    _ => observed = informed(past),
                }
            }
        }
    }
}
