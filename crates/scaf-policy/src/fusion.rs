//! One estimate of a speedup from several sources, with its error.
//!
//! Useful time over wall time ([`crate::efficiency`]) is calm and blind to the memory system; an observed curve
//! ([`crate::observed`]) sees everything, the machine's noise included. The first is an upper bound, so the second isn't
//! believed beyond it. Where they agree within what the curve may be off by, each counts by its error; where the curve is clearly
//! lower, the useful time is blind to something, and the curve counts alone.

use crate::observed::Estimate;

/// Relative error of useful over wall where it was measured.
const USEFUL_ERROR: f64 = 0.15;
/// The same for each factor e in contexts that it is away from there.
const USEFUL_GUESS: f64 = 0.3;
/// How far useful over wall may be below the truth: threads take a moment to start, and share less cache than they have.
const BOUND_SLACK: f64 = 0.1;
/// A curve that is this many of its errors below is no coincidence.
const CLEARLY: f64 = 2.0;

/// Useful over wall at one DoP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Useful {
    /// The DoP that it was measured at.
    pub dop: u32,
    /// The speedup there.
    pub speedup: f64,
}

impl Useful {
    /// The power of p that it takes speedups for.
    pub fn exponent(self) -> f64 {
        let p = f64::from(self.dop);
        let exponent = self.speedup.ln() / p.ln();
        if p > 1.0 && exponent.is_finite() { exponent.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// What it says at `p`.
    fn at(self, p: u32) -> Estimate {
        let away = (f64::from(p) / f64::from(self.dop.max(1))).ln().abs();
        let error = USEFUL_ERROR + USEFUL_GUESS * away;
        Estimate { value: f64::from(p).powf(self.exponent()), error }
    }
}

/// The speedup at `p`; `None` if no source says anything.
pub fn speedup(p: u32, useful: Option<Useful>, curve: Option<Estimate>) -> Option<Estimate> {
    if p <= 1 {
        return Some(Estimate { value: 1.0, error: 0.0 });
    }
    let useful = useful.map(|useful| useful.at(p));
    let (useful, curve) = match (useful, curve) {
        (Some(useful), Some(curve)) => (useful, curve),
        (one, other) => return one.or(other),
    };
    let bounded = Estimate { value: curve.value.min(useful.value * (1.0 + BOUND_SLACK)), ..curve };
    if (useful.value / bounded.value).ln() > CLEARLY * curve.error {
        return Some(bounded);
    }
    let weight = |estimate: Estimate| 1.0 / estimate.error.max(1e-6).powi(2);
    let (of_useful, of_curve) = (weight(useful), weight(bounded));
    let value = (useful.value * of_useful + bounded.value * of_curve) / (of_useful + of_curve);
    Some(Estimate { value, error: (of_useful + of_curve).sqrt().recip() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USEFUL: Option<Useful> = Some(Useful { dop: 4, speedup: 3.8 });

    fn curve(value: f64, error: f64) -> Option<Estimate> {
        Some(Estimate { value, error })
    }

    #[test]
    fn a_curve_that_is_clearly_lower_counts_alone() {
        assert_eq!(speedup(4, USEFUL, curve(2.0, 0.1)), curve(2.0, 0.1));
    }

    #[test]
    fn sources_that_agree_count_by_their_errors_and_are_better_together() {
        let both = speedup(4, USEFUL, curve(3.4, 0.1)).unwrap();
        assert!(both.value > 3.4 && both.value < 3.6 && both.error < 0.1, "{both:?}");
        // A guess leaves it to the useful time.
        let guess = speedup(4, USEFUL, curve(3.0, 0.6)).unwrap();
        assert!((guess.value - 3.8).abs() < 0.1, "{guess:?}");
    }

    #[test]
    fn no_curve_is_believed_far_beyond_the_useful_time() {
        let both = speedup(4, USEFUL, curve(8.0, 0.01)).unwrap();
        assert!(both.value <= 3.8 * 1.1 + 1e-9, "{both:?}");
    }

    #[test]
    fn one_source_is_enough_and_none_says_nothing() {
        assert_eq!(speedup(4, None, curve(2.0, 0.1)), curve(2.0, 0.1));
        assert!((speedup(4, USEFUL, None).unwrap().value - 3.8).abs() < 1e-9);
        assert!(speedup(16, USEFUL, None).unwrap().error > speedup(4, USEFUL, None).unwrap().error);
        assert_eq!(speedup(4, None, None), None);
        assert_eq!(speedup(1, None, None).map(|it| it.value), Some(1.0));
    }

    proptest! {
        #[test]
        fn any_numbers_give_a_number(
            p in 0u32..100_000, dop in 0u32..100_000, useful in proptest::num::f64::ANY,
            value in 1e-9f64..1e9, error in 0.0f64..1e3,
        ) {
            let found = speedup(p, Some(Useful { dop, speedup: useful }), curve(value, error)).unwrap();
            prop_assert!(found.value.is_finite() && found.value > 0.0, "{found:?}");
            prop_assert!(found.error.is_finite() && found.error >= 0.0, "{found:?}");
        }
    }
}
