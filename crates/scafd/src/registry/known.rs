//! What is known of a program's speedup, as a policy and as people are told of it.

use super::Program;
use crate::control;
use scaf_policy::fusion::{self, Fused, Measured, Said, Source};
use scaf_policy::observed::{Estimate, Observed};
use scaf_policy::past::Past;
use std::collections::BTreeSet;

/// A remembered speedup with a larger error says nothing: what is not known at all is taken for an equal part's worth.
const WORTHLESS: f64 = 0.5;

/// Points of a curve that are told.
const MOST_POINTS: usize = 64;

/// The speedup at a DoP that the program had, and what it rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// The DoP, and the speedup there.
    pub measured: Measured,
    /// Sources that have a tenth of it or more.
    pub sources: Vec<Source>,
}

impl Program {
    /// The program as a policy sees it.
    pub fn request(&self) -> scaf_policy::Program {
        let judged = self.judged();
        scaf_policy::Program {
            id: self.id,
            min: self.wishes.min,
            max: if self.wishes.max == 0 { u32::MAX } else { self.wishes.max },
            weight: self.wishes.weight,
            natural: self.natural(),
            dop: judged.map_or(self.grant.dop.unwrap_or(0), |(dop, _)| dop),
            efficiency: judged.map(|(_, efficiency)| efficiency),
            curve: self.known.iter().map(|known| known.measured).collect(),
            profile: self.profile.clone(),
            serial: self.serial,
            rigid: false,
        }
    }

    /// The DoP that it is judged by, and its efficiency there: where it was measured, by all sources; before that, what earlier
    /// runs promise for the DoP that it would have alone.
    fn judged(&self) -> Option<(u32, f64)> {
        let measured = self.measured_dop > 0;
        let dop = if measured { self.measured_dop } else { self.natural() };
        let known =
            if measured { self.efficiency.value().is_some() } else { dop > 1 && self.observed.remembers() };
        if !known {
            return None;
        }
        let (Fused { speedup: Estimate { value, error }, .. }, _) = self.speedup(dop)?;
        (measured || error < WORTHLESS).then(|| (dop, (value / f64::from(dop)).min(1.0)))
    }

    /// Makes `known` anew: once a tick, for decisions may be many more. It holds DoPs that this run or an earlier one really
    /// had, and of which more can be said than a guess: some region ran at them and on one context, or at the DoP that the program
    /// is measured at now.
    pub fn know(&mut self) {
        let useful = self.useful();
        let now = useful.map_or_else(|| self.contexts(), |useful| useful.dop);
        let mut dops = self.observed.dops_beside(1);
        dops.append(&mut self.observed.dops_beside(now));
        dops.extend(useful.map(|useful| useful.dop));
        let most = self.natural();
        let dops: Vec<u32> = dops.into_iter().filter(|dop| (1..=most).contains(dop)).collect();
        let point = |dop: u32| {
            let (Fused { speedup, sources }, _) = self.speedup(dop)?;
            (speedup.value > 0.0).then_some(Known { measured: Measured { dop, speedup }, sources })
        };
        self.known = thinned(&dops, now).into_iter().filter_map(point).collect();
    }

    /// Takes in what earlier runs taught. What they promise as a whole stays the program's profile, unless one was given.
    pub fn remember(&mut self, past: Past) {
        if !self.profile_given {
            self.profile = promised(past.clone());
        }
        self.observed.remember(past);
        self.know();
    }

    /// It isn't the program whose earlier runs these were.
    pub fn forget_past(&mut self) {
        if !self.profile_given {
            self.profile.clear();
        }
        self.observed.forget_past();
        self.know();
    }

    /// What useful over wall says.
    fn useful(&self) -> Option<Measured> {
        let dop = self.measured_dop.max(1);
        self.efficiency.value().map(|e| Measured::useful(dop, e * f64::from(dop)))
    }

    /// The speedup at `dop`, by all sources, and what was observed of it.
    fn speedup(&self, dop: u32) -> Option<(Fused, Option<Estimate>)> {
        let useful = self.useful();
        let counters = self.counters.speedup().map(|(dop, speedup)| Measured { dop, speedup });
        let curve = self.observed.speedup(dop, useful.map_or(1.0, Measured::exponent));
        let fused = fusion::speedup(dop, &Said { useful, curve, counters })?;
        (fused.speedup.value.is_finite() && fused.speedup.error.is_finite()).then_some((fused, curve))
    }

    /// What is known of its speedup, for people.
    pub(super) fn curve(&self) -> Vec<control::CurvePoint> {
        let ran_at = self.observed.dops();
        if self.useful().is_none() && ran_at.is_empty() {
            return Vec::new();
        }
        let point = |dop: u32| {
            let (fused, curve) = self.speedup(dop)?;
            let comparable = || self.observed.dops_beside(dop).contains(&1);
            Some(control::CurvePoint {
                dop,
                speedup: fused.speedup.value,
                error_ratio: fused.speedup.error,
                observed: curve.filter(|_| comparable()).map(|curve| curve.value),
                sources: fused.sources,
            })
        };
        let all: BTreeSet<u32> = ran_at.iter().copied().chain([1, self.natural()]).collect();
        all.into_iter().take(MOST_POINTS).filter_map(point).collect()
    }
}

/// At most [`MOST_POINTS`] of the DoPs, which are in their order: as far apart as they were, with the first, the last and `kept`.
fn thinned(dops: &[u32], kept: u32) -> Vec<u32> {
    let surplus = dops.len() > MOST_POINTS;
    let step = if surplus { (dops.len() - 1) as f64 / (MOST_POINTS - 3) as f64 } else { 1.0 };
    let even = |at: usize| at + 1 == dops.len() || (at as f64 % step) < 1.0;
    let chosen = dops.iter().enumerate().filter(|(at, dop)| !surplus || even(*at) || **dop == kept);
    chosen.map(|(_, dop)| *dop).collect()
}

/// The curve that earlier runs alone promise.
fn promised(past: Past) -> Vec<Measured> {
    let mut observed = Observed::default();
    observed.remember(past);
    let dops: Vec<u32> = observed.dops().into_iter().collect();
    let point = |dop: u32| Some(Measured { dop, speedup: observed.speedup(dop, 1.0)? });
    let good = |it: &Measured| it.speedup.value > 0.0 && it.speedup.error.is_finite();
    thinned(&dops, 1).into_iter().filter_map(point).filter(good).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn of_many_dops_a_few_are_told_with_the_first_the_last_and_the_present_one(
            dops in proptest::collection::btree_set(1u32..70_000, 1..400), at in any::<prop::sample::Index>(),
        ) {
            let dops: Vec<u32> = dops.into_iter().collect();
            let kept = *at.get(&dops);
            let told = thinned(&dops, kept);
            prop_assert!(told.len() <= MOST_POINTS && told.len() >= dops.len().min(MOST_POINTS / 2));
            prop_assert!(told.is_sorted() && told.contains(&kept));
            prop_assert_eq!((told.first(), told.last()), (dops.first(), dops.last()));
        }
    }
}
