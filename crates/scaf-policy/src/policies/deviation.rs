//! How far a division may be from equal parts, by what was measured.
//!
//! SCAF's model (section 3.3, equation 2) takes a program that is fast where it was seen for one that gets
//! faster by more contexts. Of one that doesn't, it takes more and more from the others, and each new
//! measurement confirms the C: 6 of 8 contexts and still 6 of 11 is a C of 2.4, then of 2.1, where another
//! program's is 1.2 and 1.0. So measured speedups decide how much of the way from equal parts to the model's
//! division is gone: all, none, or quarters of it. Equal parts win unless more is gained than measurements
//! there are off by, and after a deviation that gained nothing they are kept for a while.

use super::known_curve::{At, KnownCurve};
use crate::apportion::{Claim, Part, apportion};
use crate::model::LogModel;
use crate::{Machine, Program, ProgramId, steps};
use std::collections::BTreeMap;

/// Parts of the way that are tried.
const WAYS: [f64; 4] = [1.0, 0.75, 0.5, 0.25];
/// The least relative gain over equal parts.
const LEAST_GAIN: f64 = 0.01;
/// Relative standard deviation of what is measured in a quarter of a second, and that time.
const NOISE: f64 = 0.05;
const MEASURED_S: f64 = 0.25;
/// Errors of the sum on equal parts by which it has to be exceeded besides.
const ERRORS: f64 = 1.0;
/// Seconds for which equal parts are kept after a deviation that gained nothing; twice as many each time.
const REST_S: f64 = 1.0;
const LONGEST_REST_S: f64 = 15.0;
/// Seconds of measurements that the mean on an equal part is of, and for which it is remembered.
const MEAN_S: f64 = 8.0;
const KEPT_S: f64 = 30.0;

/// What was measured on equal parts, and since when they are kept.
#[derive(Debug)]
pub(super) struct Deviations {
    on_equal: BTreeMap<ProgramId, OnEqual>,
    now_s: f64,
    /// Until when equal parts are kept, and for how long the next time.
    rest: (f64, f64),
}

#[derive(Clone, Copy, Debug)]
struct OnEqual {
    dop: u32,
    mean: f64,
    /// For how long it was measured, and when last.
    seconds: f64,
    last_s: f64,
}

/// A division, and what part of the way it is from equal parts to the model's, 0 to 1.
pub(super) struct Deviation {
    pub dops: Vec<u32>,
    pub way: f64,
}

/// What there is to divide: the model's `parts` by `claims`, in the order of `programs`.
pub(super) struct Asked<'a> {
    pub machine: &'a Machine,
    pub programs: &'a [&'a Program],
    pub models: &'a [LogModel],
    pub claims: &'a [Claim],
    pub parts: &'a [Part],
}

/// What is known of everyone's speedup.
pub(super) struct Known<'a> {
    programs: &'a [&'a Program],
    curves: Vec<Option<KnownCurve>>,
    on_equal: Vec<Option<OnEqual>>,
    /// For those of whom nothing is known.
    models: &'a [LogModel],
}

impl Deviations {
    pub fn new() -> Deviations {
        Deviations { on_equal: BTreeMap::new(), now_s: 0.0, rest: (f64::NEG_INFINITY, REST_S) }
    }

    /// Programs came or went, or the machine changed.
    pub fn anew(&mut self) {
        self.rest = (f64::NEG_INFINITY, REST_S);
    }

    /// The best division on the way from equal parts to the model's.
    pub fn choose<'a>(&mut self, asked: &Asked<'a>) -> (Deviation, Known<'a>) {
        let Asked { machine, programs, models, claims, parts } = *asked;
        let even: Vec<Claim> = programs.iter().map(|program| Claim::new(program, 1.0)).collect();
        let even = apportion(machine.capacity, &even);
        let equal: Vec<u32> = even.iter().map(|part| part.contexts).collect();
        self.measure(machine.now_s, programs, &equal);
        let on_equal = programs.iter().map(|program| self.on_equal.get(&program.id).copied()).collect();
        let curves = programs.iter().map(|program| KnownCurve::observed(program)).collect();
        let known = Known { programs, curves, on_equal, models };
        let whole: Vec<u32> = parts.iter().map(|part| part.contexts).collect();
        if whole == equal {
            return (Deviation { dops: whole, way: 0.0 }, known);
        }
        let (sum, mut best) = (known.sum(&equal), None);
        let mut most = f64::NEG_INFINITY;
        for way in WAYS {
            let between = |((claim, part), even): ((&Claim, &Part), &Part)| Claim {
                share: (way * part.ideal + (1.0 - way) * even.ideal).max(f64::MIN_POSITIVE),
                ..*claim
            };
            let dops = if way < 1.0 {
                let claims: Vec<Claim> = claims.iter().zip(parts).zip(&even).map(between).collect();
                apportion(machine.capacity, &claims).iter().map(|part| part.contexts).collect()
            } else {
                whole.clone()
            };
            // Of those that are as good the farthest; the sums of one division differ by rounding.
            let gain = known.sum(&dops) - sum - known.doubt(&dops, &equal);
            if gain > most + 1e-9 * sum {
                (best, most) = (Some(Deviation { dops, way }), gain);
            }
        }
        let pays = most > LEAST_GAIN * sum && machine.now_s >= self.rest.0;
        if let Some(best) = best.filter(|_| pays) {
            return (best, known);
        }
        let deviates = programs.iter().zip(&equal).any(|(program, equal)| program.dop != *equal);
        let measured = programs.iter().all(|program| program.efficiency.is_some());
        if deviates && measured && machine.now_s >= self.rest.0 {
            self.rest = (machine.now_s + self.rest.1, (2.0 * self.rest.1).min(LONGEST_REST_S));
        }
        (Deviation { dops: equal, way: 0.0 }, known)
    }

    fn measure(&mut self, now_s: f64, programs: &[&Program], equal: &[u32]) {
        let dt_s = (now_s - self.now_s).clamp(0.0, MEASURED_S);
        self.now_s = now_s;
        let mut on_equal = BTreeMap::new();
        for (program, &dop) in programs.iter().zip(equal) {
            let before = self.on_equal.remove(&program.id).filter(|it| it.dop == dop);
            let before = before.filter(|it| now_s - it.last_s < KEPT_S);
            let here = program.efficiency.filter(|e| e.is_finite() && program.dop == dop);
            let after = match (before, here) {
                (before, None) => before,
                (before, Some(e)) => {
                    let value = e.clamp(0.0, 1.0) * f64::from(dop);
                    let OnEqual { mean, seconds, .. } =
                        before.unwrap_or(OnEqual { dop, mean: value, seconds: 0.0, last_s: now_s });
                    let all_s = seconds + dt_s;
                    let mean = if all_s > 0.0 { mean + (value - mean) * dt_s / all_s } else { value };
                    Some(OnEqual { dop, mean, seconds: all_s.min(MEAN_S), last_s: now_s })
                }
            };
            on_equal.extend(after.map(|it| (program.id, it)));
        }
        self.on_equal = on_equal;
    }
}

impl Known<'_> {
    /// The weighted sum of speedups by what was measured.
    pub fn sum(&self, dops: &[u32]) -> f64 {
        (0..dops.len()).map(|i| self.programs[i].sane_weight() * self.speedup(i, dops[i])).sum()
    }

    fn speedup(&self, i: usize, dop: u32) -> f64 {
        if let Some(equal) = self.on_equal[i].filter(|equal| equal.dop == dop) {
            return equal.mean;
        }
        match &self.curves[i] {
            Some(known) => known.at(At::new(dop)).value,
            None => self.models[i].speedup_of(self.programs[i], dop),
        }
    }

    /// By how much the sum on equal parts may be too low for those who'd leave them.
    fn doubt(&self, dops: &[u32], equal: &[u32]) -> f64 {
        let error = |i: usize| {
            let seconds = self.on_equal[i].map_or(0.0, |it| it.seconds).max(MEASURED_S);
            let weighted = self.programs[i].sane_weight() * self.speedup(i, equal[i]);
            weighted * NOISE * (MEASURED_S / seconds).sqrt()
        };
        let leaves = (0..dops.len()).filter(|&i| dops[i] != equal[i]);
        ERRORS * leaves.map(|i| error(i).powi(2)).sum::<f64>().sqrt()
    }
}

/// Whether a program may stay with the DoP in effect: it is a useful one, or its user's minimum.
pub(super) fn may_stay(program: &Program, dop: u32) -> bool {
    dop == program.floor() || steps::useful(program.fixed_team, dop) == dop
}
