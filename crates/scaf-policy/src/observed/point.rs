//! The times of one region's runs at one DoP.

use crate::estimate::{Estimate, GUESS, PHASE};
use std::collections::VecDeque;

/// Intervals remembered at each DoP of a region: eight seconds. With 8 of them, 5% of noise moved programs.
const SAMPLES: usize = 32;
/// Relative spread below which a region is only disturbed at times; above, its runs are of many sizes.
const ALIKE: f64 = 0.15;
/// Fewest intervals whose spread means something.
const ENOUGH: usize = 4;
/// No estimate is better: instances of a region differ, clocks drift.
const LEAST_ERROR: f64 = 0.01;
/// No estimate is worse: the quotient of hostile numbers may be infinite.
const MOST_ERROR: f64 = 10.0;

#[derive(Clone, Debug, Default)]
pub struct Point {
    /// Mean seconds a run, and the number of runs, by interval.
    pub samples: VecDeque<(f64, f64)>,
    /// Another phase began at another DoP: the point was scaled, not observed since.
    pub stale: bool,
    /// The region's interval that was added last.
    pub latest: u64,
}

impl Point {
    pub fn add(&mut self, mean_s: f64, count: f64) {
        self.stale = false;
        self.samples.push_back((mean_s, count));
        while self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// The values below which these shares of the runs lie.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [f64; N] {
        let mut sorted: Vec<(f64, f64)> = self.samples.iter().copied().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = sorted.iter().map(|sample| sample.1).sum();
        shares.map(|share| {
            let mut below = 0.0;
            let at = sorted.iter().find(|(_, count)| {
                below += count;
                below >= share * all
            });
            at.or(sorted.last()).map_or(0.0, |sample| sample.0)
        })
    }

    pub fn median(&self) -> f64 {
        let [median] = self.quantiles([0.5]);
        median
    }

    pub fn mean(&self) -> f64 {
        let (all, count) =
            self.samples.iter().fold((0.0, 0.0), |(all, count), (mean, n)| (all + mean * n, count + n));
        all / count
    }

    /// Relative standard deviation of the intervals; 0 for few. Where most are alike, the quartiles tell
    /// (1.35 deviations apart in a normal distribution); else each interval counts by its runs.
    pub fn spread(&self) -> f64 {
        let n = self.samples.len();
        if n < ENOUGH {
            return 0.0;
        }
        let [low, median, high] = self.quantiles([0.25, 0.5, 0.75]);
        let quartiles = (high - low) / 1.35 / median;
        if !quartiles.is_finite() {
            return 0.0;
        }
        if quartiles < ALIKE {
            return quartiles;
        }
        let mean = self.mean();
        let count: f64 = self.samples.iter().map(|(_, count)| count).sum();
        let off = |(value, weight): &(f64, f64)| (weight / count * (value / mean - 1.0)).powi(2);
        let deviation = (self.samples.iter().map(off).sum::<f64>() * (n * n) as f64 / (n - 1) as f64).sqrt();
        if deviation.is_finite() { deviation.clamp(ALIKE, MOST_ERROR) } else { MOST_ERROR }
    }

    /// The time of a run, in a region whose intervals differ by `spread` at any DoP.
    pub fn estimate(&self, spread: f64) -> Estimate {
        let n = self.samples.len().max(1) as f64;
        let value = if spread < ALIKE { self.median() } else { self.mean() };
        let few = if self.stale { GUESS } else { 0.1 / n };
        Estimate { value, error: (spread / n.sqrt()).max(LEAST_ERROR) + few }
    }
}

/// The factor by which a region's runs changed, if this interval and the last both say so.
pub fn new_phase(point: &Point, mean_s: f64) -> Option<f64> {
    let (last, before) = (point.samples.len().checked_sub(1)?, point.median());
    if last < 2 {
        return None;
    }
    let factors = [point.samples[last].0 / before, mean_s / before];
    let longer = factors.iter().all(|factor| *factor > PHASE);
    let shorter = factors.iter().all(|factor| *factor < 1.0 / PHASE);
    (longer || shorter).then_some((factors[0] * factors[1]).sqrt())
}
