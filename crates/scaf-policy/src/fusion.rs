//! One estimate of a speedup from several sources, weighted by their errors.
//!
//! Useful time over wall time ([`crate::efficiency`]) has little noise, but doesn't see the memory system: an
//! upper bound. The observed curve ([`crate::observed`]) and hardware counters see everything, with noise.
//! What they say beyond the bound counts half. The bound counts, too, unless they are clearly lower.

use crate::estimate::{Estimate, GUESS};
use serde::{Deserialize, Serialize};

/// Relative error of useful over wall where it was measured.
const USEFUL_ERROR: f64 = 0.15;
/// How far useful over wall may be below the truth, and a speedup above p: teams start late and share caches.
const BOUND_SLACK: f64 = 0.1;
/// What part of a speedup beyond the bound and its slack counts, in logarithms.
const BEYOND: f64 = 0.5;
/// Sources that are this many of their errors below the bound contradict it.
const CLEARLY: f64 = 3.0;
/// From this error on, what was seen overrules nothing. One that took as long on 24 contexts as on 36 was
/// taken for a program with 1.2 on them, 0.95 off, though its useful time said 23.
const WORTHLESS: f64 = 0.5;
/// An estimate rests on sources that have at least this share of its weight.
const SHARE: f64 = 0.1;

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    pub dop: u32,
    pub speedup: Estimate,
}

impl Measured {
    pub fn useful(dop: u32, speedup: f64) -> Measured {
        Measured { dop, speedup: Estimate { value: speedup, error: USEFUL_ERROR } }
    }

    /// The power of p that the speedup corresponds to, 0 to 1.
    pub fn exponent(self) -> f64 {
        let p = f64::from(self.dop);
        let exponent = self.speedup.value.ln() / p.ln();
        if p > 1.0 && exponent.is_finite() { exponent.clamp(0.0, 1.0) } else { 1.0 }
    }

    fn at(self, p: u32) -> Estimate {
        let away = (f64::from(p) / f64::from(self.dop.max(1))).ln().abs();
        let error = if self.speedup.error.is_finite() { self.speedup.error.max(0.0) } else { 1.0 };
        Estimate { value: f64::from(p).powf(self.exponent()), error: error + GUESS * away }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Useful over wall time.
    #[serde(rename = "useful_over_wall")]
    Useful,
    /// Times of the same regions at other DoPs.
    Curve,
    Counters,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Inputs {
    pub useful: Option<Measured>,
    pub counters: Option<Measured>,
    /// The observed curve, at the DoP in question.
    pub curve: Option<Estimate>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Fused {
    pub speedup: Estimate,
    /// Sources that have a tenth of its weight or more.
    pub sources: Vec<Source>,
}

/// The speedup at `p`; `None` if no source says anything.
pub fn speedup(p: u32, inputs: &Inputs) -> Option<Fused> {
    if p <= 1 {
        return Some(Fused { speedup: Estimate { value: 1.0, error: 0.0 }, sources: Vec::new() });
    }
    let bound = inputs.useful.map(|useful| useful.at(p));
    let bounded = |estimate: Estimate| {
        let most = estimate.value.min(f64::from(p) * (1.0 + BOUND_SLACK));
        let value = bound.map_or(most, |bound| {
            let sure = bound.value * (1.0 + BOUND_SLACK);
            if most > sure { sure * (most / sure).powf(BEYOND) } else { most }
        });
        Estimate { value, ..estimate }
    };
    let curve = inputs.curve.map(|curve| (Source::Curve, bounded(curve)));
    let counters = inputs.counters.map(|counters| (Source::Counters, bounded(counters.at(p))));
    let mut sources: Vec<(Source, Estimate)> = curve.into_iter().chain(counters).collect();
    let seen = mean(&sources);
    let below = |bound: Estimate, seen: Estimate| (bound.value / seen.value).ln() > CLEARLY * seen.error;
    let blind = |bound: Estimate| seen.is_some_and(|seen| seen.error < WORTHLESS && below(bound, seen));
    sources.extend(bound.filter(|bound| !blind(*bound)).map(|bound| (Source::Useful, bound)));
    let speedup = mean(&sources)?;
    let all: f64 = sources.iter().map(|(_, estimate)| weight(*estimate)).sum();
    sources.retain(|(_, estimate)| weight(*estimate) >= SHARE * all);
    let mut sources: Vec<Source> = sources.into_iter().map(|(source, _)| source).collect();
    sources.sort();
    Some(Fused { speedup, sources })
}

fn weight(estimate: Estimate) -> f64 {
    estimate.error.max(1e-6).powi(-2)
}

fn mean(sources: &[(Source, Estimate)]) -> Option<Estimate> {
    if let [(_, one)] = sources {
        return Some(*one);
    }
    let all: f64 = sources.iter().map(|(_, estimate)| weight(*estimate)).sum();
    let sum: f64 = sources.iter().map(|(_, estimate)| estimate.value * weight(*estimate)).sum();
    (all > 0.0).then(|| Estimate { value: sum / all, error: all.sqrt().recip() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(curve: Option<Estimate>) -> Inputs {
        Inputs { useful: Some(Measured::useful(4, 3.8)), curve, counters: None }
    }

    fn is(value: f64, error: f64) -> Option<Estimate> {
        Some(Estimate { value, error })
    }

    fn at_4(said: &Inputs) -> Fused {
        speedup(4, said).unwrap()
    }

    #[test]
    fn a_curve_that_is_clearly_lower_counts_alone() {
        let found = at_4(&said(is(2.0, 0.1)));
        assert_eq!((Some(found.speedup), found.sources), (is(2.0, 0.1), vec![Source::Curve]));
    }

    #[test]
    fn a_guess_far_from_what_was_observed_overrules_no_useful_time() {
        let of = |error| {
            let useful = Some(Measured::useful(24, 23.0));
            speedup(24, &Inputs { useful, curve: is(1.2, error), counters: None }).unwrap().speedup.value
        };
        assert!(of(0.95) > 22.0 && of(0.3) < 1.3, "{} {}", of(0.95), of(0.3));
    }

    #[test]
    fn sources_that_agree_count_by_their_errors_and_are_better_together() {
        let both = at_4(&said(is(3.4, 0.1)));
        assert!(both.speedup.value > 3.4 && both.speedup.value < 3.6 && both.speedup.error < 0.1, "{both:?}");
        assert_eq!(both.sources, [Source::Useful, Source::Curve]);
        let guess = at_4(&said(is(3.0, 0.6)));
        assert!((guess.speedup.value - 3.8).abs() < 0.1, "{guess:?}");
        assert_eq!(guess.sources, [Source::Useful]);
    }

    #[test]
    fn counters_stand_in_for_a_curve_and_beside_it() {
        let counters = |value, error| Measured { dop: 4, speedup: Estimate { value, error } };
        let alone = Inputs { counters: Some(counters(2.0, 0.15)), ..said(None) };
        assert_eq!((at_4(&alone).speedup.value, at_4(&alone).sources), (2.0, vec![Source::Counters]));
        let both = Inputs { counters: Some(counters(2.4, 0.1)), ..said(is(2.0, 0.1)) };
        let found = at_4(&both);
        assert!((found.speedup.value - 2.2).abs() < 1e-9 && found.speedup.error < 0.08, "{found:?}");
        assert_eq!(found.sources, [Source::Curve, Source::Counters]);
    }

    #[test]
    fn no_curve_is_believed_far_beyond_the_useful_time_or_p() {
        let slowly =
            Inputs { useful: Some(Measured::useful(2, 1.77)), curve: is(2.97, 0.03), counters: None };
        let found = speedup(2, &slowly).unwrap();
        assert!(found.speedup.value < 2.1, "{found:?}");
        let alone = Inputs { useful: None, ..said(is(8.0, 0.01)) };
        assert!(at_4(&alone).speedup.value <= 4.0 * 1.1 + 1e-9);
        assert!(at_4(&said(is(8.0, 0.5))).speedup.value < 3.8 * 1.1);
    }

    #[test]
    fn useful_time_that_one_late_thread_spoilt_does_not_cut_a_sure_curve_to_itself() {
        let late = Inputs { useful: Some(Measured::useful(2, 1.54)), curve: is(2.25, 0.03), counters: None };
        let found = speedup(2, &late).unwrap();
        assert!(found.speedup.value > 1.85, "{found:?}");
    }

    #[test]
    fn one_source_is_enough_and_none_says_nothing() {
        let curve = Inputs { useful: None, ..said(is(2.0, 0.1)) };
        assert_eq!(Some(at_4(&curve).speedup), is(2.0, 0.1));
        assert!((at_4(&said(None)).speedup.value - 3.8).abs() < 1e-9);
        let error = |p| speedup(p, &said(None)).unwrap().speedup.error;
        assert!(error(16) > error(4));
        assert_eq!(speedup(4, &Inputs::default()), None);
        assert_eq!(speedup(1, &Inputs::default()).map(|it| it.speedup.value), Some(1.0));
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_number(
            p in 0u32..100_000, dop in 0u32..100_000, useful in proptest::num::f64::ANY,
            counted in proptest::num::f64::ANY, off in proptest::num::f64::ANY,
            value in 1e-9f64..1e9, error in 0.0f64..1e3,
        ) {
            let counters = Measured { dop, speedup: Estimate { value: counted, error: off } };
            let said = Inputs {
                useful: Some(Measured::useful(dop, useful)),
                counters: Some(counters),
                curve: is(value, error),
            };
            let found = speedup(p, &said).unwrap().speedup;
            prop_assert!(found.value.is_finite() && found.value > 0.0, "{found:?}");
            prop_assert!(found.error.is_finite() && found.error >= 0.0, "{found:?}");
        }
    }
}
