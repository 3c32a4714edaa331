//! Speedup as observed: how long the same work took at each DoP that occurred.
//!
//! The runs of one region do about the same work, whatever the size of their team. So their mean wall time at one DoP over
//! that at another is a speedup, with all that useful time (SCALO's equations 1 to 5) is blind to: memory bandwidth,
//! caches, the runtime itself. A program is its regions, each as often as it ran lately, and its serial time.
//!
//! Between DoPs that occurred, and beyond them, the time is taken for a power of p: a straight line on double logarithmic
//! paper. What that guess is worth is told with it: the error grows with the distance to what was observed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Intervals remembered at each DoP of a region.
const SAMPLES: usize = 8;
/// DoPs remembered of a region; the ones that weren't seen for longest make room.
const POINTS: usize = 16;
/// Regions remembered of a program; the ones that ran least make room.
const REGIONS: usize = 256;
/// After so many seconds of running, what a program did counts half for its mix of regions.
const HALF_LIFE_S: f64 = 5.0;
/// Two intervals in a row that differ from what was by this factor are another phase of the program.
const PHASE: f64 = 1.3;
/// Relative error of a guess for each factor e in contexts that it is away from what was observed.
const GUESS: f64 = 0.3;
/// No estimate is better than this: instances of a region differ, clocks drift.
const LEAST_ERROR: f64 = 0.01;

/// A number with its relative standard error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error over its value.
    pub error: f64,
}

/// What one region did at one DoP in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Runs {
    /// Which region; the same number in every interval.
    pub region: u64,
    /// The DoP of its runs.
    pub dop: u32,
    /// Runs that ended.
    pub count: f64,
    /// Their wall time, in seconds.
    pub wall_s: f64,
}

/// What a program did in an interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spell<'a> {
    /// The DoP that it had, but for runs that say another.
    pub dop: u32,
    /// Length of the interval, in seconds.
    pub dt_s: f64,
    /// Wall time in parallel regions, in seconds.
    pub parallel_s: f64,
    /// The regions that ended in it.
    pub runs: &'a [Runs],
}

/// The mean time of a region's runs at one DoP, interval by interval.
#[derive(Clone, Debug, Default)]
struct Point {
    /// Mean seconds a run, and the runs that it is the mean of.
    samples: VecDeque<(f64, f64)>,
    /// Set when another phase began elsewhere: the point was scaled, not observed since.
    stale: bool,
    /// The region's interval in which it was added to last.
    latest: u64,
}

impl Point {
    fn add(&mut self, mean_s: f64, count: f64) {
        self.stale = false;
        self.samples.push_back((mean_s, count));
        while self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// The value below which a share `q` of the runs lies.
    fn quantile(&self, q: f64) -> f64 {
        let mut sorted: Vec<(f64, f64)> = self.samples.iter().copied().collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = sorted.iter().map(|sample| sample.1).sum();
        let mut below = 0.0;
        for (mean_s, count) in &sorted {
            below += count;
            if below >= q * all {
                return *mean_s;
            }
        }
        sorted.last().map_or(0.0, |sample| sample.0)
    }

    /// The median, with an error from the quartiles: for a normal distribution their distance is 1.35 standard deviations.
    fn estimate(&self) -> Estimate {
        let value = self.quantile(0.5);
        let spread = (self.quantile(0.75) - self.quantile(0.25)) / 1.35;
        let n = self.samples.len().max(1) as f64;
        // Of one or two intervals the quartiles say little.
        let few = if self.stale { GUESS } else { 0.1 / n };
        Estimate { value, error: (spread / value / n.sqrt()).max(LEAST_ERROR) + few }
    }
}

/// The times of one region's runs.
#[derive(Clone, Debug, Default)]
struct Region {
    points: BTreeMap<u32, Point>,
    /// Intervals so far.
    intervals: u64,
    /// Runs lately, fading.
    lately: f64,
    /// Seconds of all its runs so far.
    spent_s: f64,
}

/// A region as it is known at one DoP.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RegionAt {
    /// Which.
    pub region: u64,
    /// Seconds a run at that DoP.
    pub mean_s: f64,
    /// Seconds of such runs lately, fading.
    pub lately_s: f64,
    /// Seconds of all its runs so far.
    pub spent_s: f64,
    /// Whether it also ran on one context since it last changed.
    pub alone: bool,
}

impl Region {
    fn add(&mut self, dop: u32, mean_s: f64, count: f64) {
        let point = self.points.entry(dop).or_default();
        if let Some(factor) = new_phase(point, mean_s) {
            let last = point.samples.pop_back();
            point.samples.clear();
            point.samples.extend(last);
            for (_, other) in self.points.iter_mut().filter(|(at, _)| **at != dop) {
                other.samples.iter_mut().for_each(|sample| sample.0 *= factor);
                other.stale = true;
            }
        }
        self.intervals += 1;
        let point = self.points.entry(dop).or_default();
        point.add(mean_s, count);
        point.latest = self.intervals;
        if self.points.len() > POINTS
            && let Some(oldest) =
                self.points.iter().min_by_key(|(_, point)| point.latest).map(|(dop, _)| *dop)
        {
            self.points.remove(&oldest);
        }
    }

    /// Seconds a run at `p`, where a DoP alone is known by `exponent`: the speedup is p to that power.
    fn seconds(&self, p: u32, exponent: f64) -> Option<Estimate> {
        if let Some(point) = self.points.get(&p) {
            return Some(point.estimate());
        }
        let below = self.points.range(..p).next_back().map(at);
        let above = self.points.range(p..).next().map(at);
        let known = |from: (f64, Estimate), exponent: f64| {
            let away = (f64::from(p.max(1)) / from.0).ln();
            Estimate {
                value: from.1.value * (-exponent * away).exp(),
                error: from.1.error + GUESS * away.abs(),
            }
        };
        match (below, above) {
            (Some(low), Some(high)) => {
                let slope = slope(low, high);
                let (one, other) = (known(low, slope), known(high, slope));
                Some(if one.error < other.error { one } else { other })
            }
            (Some(nearest), None) => {
                let second = self.points.range(..p).rev().nth(1).map(at);
                Some(known(nearest, second.map_or(exponent, |second| slope(second, nearest).clamp(0.0, 1.0))))
            }
            (None, Some(nearest)) => {
                let second = self.points.range(p..).nth(1).map(at);
                Some(known(nearest, second.map_or(exponent, |second| slope(nearest, second).clamp(0.0, 1.0))))
            }
            (None, None) => None,
        }
    }
}

fn at((dop, point): (&u32, &Point)) -> (f64, Estimate) {
    (f64::from((*dop).max(1)), point.estimate())
}

/// The power of p that the speed grows with from one point to the next.
fn slope(low: (f64, Estimate), high: (f64, Estimate)) -> f64 {
    (low.1.value / high.1.value).ln() / (high.0 / low.0).ln()
}

/// By what a region's runs became longer if this interval and the last both say so.
fn new_phase(point: &Point, mean_s: f64) -> Option<f64> {
    let (last, before) = (point.samples.len().checked_sub(1)?, point.estimate().value);
    if last < 2 {
        return None;
    }
    let factors = [point.samples[last].0 / before, mean_s / before];
    let longer = factors.iter().all(|factor| *factor > PHASE);
    let shorter = factors.iter().all(|factor| *factor < 1.0 / PHASE);
    (longer || shorter).then_some((factors[0] * factors[1]).sqrt())
}

/// What was observed of a program.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    regions: BTreeMap<u64, Region>,
    /// Serial seconds lately, fading as the regions' runs do.
    serial_s: f64,
    /// Seconds lately in regions of which no run ended, by the DoP that they were spent at.
    other_s: BTreeMap<u32, f64>,
}

impl Observed {
    /// Takes in an interval. What isn't finite and positive in it is left out.
    pub fn add(&mut self, spell: &Spell) {
        let good = |value: f64| value.is_finite() && value > 0.0;
        if !good(spell.dt_s) || spell.dop == 0 {
            return;
        }
        let fade = 0.5f64.powf(spell.dt_s / HALF_LIFE_S);
        self.serial_s *= fade;
        self.other_s.values_mut().for_each(|seconds| *seconds *= fade);
        self.other_s.retain(|_, seconds| *seconds > 1e-9);
        self.regions.values_mut().for_each(|region| region.lately *= fade);
        let parallel_s = if good(spell.parallel_s) { spell.parallel_s.min(spell.dt_s) } else { 0.0 };
        self.serial_s += spell.dt_s - parallel_s;
        let mut known_s = 0.0;
        for runs in spell.runs.iter().filter(|runs| runs.dop > 0 && good(runs.count) && good(runs.wall_s)) {
            let region = self.regions.entry(runs.region).or_default();
            region.add(runs.dop, runs.wall_s / runs.count, runs.count);
            region.lately += runs.count;
            region.spent_s += runs.wall_s;
            known_s += runs.wall_s;
        }
        *self.other_s.entry(spell.dop).or_default() += (parallel_s - known_s).max(0.0);
        if let Some(surplus) = self.regions.len().checked_sub(REGIONS) {
            let mut least: Vec<(f64, u64)> =
                self.regions.iter().map(|(number, region)| (region.lately, *number)).collect();
            least.sort_by(|a, b| a.0.total_cmp(&b.0));
            least.iter().take(surplus).for_each(|(_, number)| drop(self.regions.remove(number)));
        }
    }

    /// The DoPs that some region has run at, in order.
    pub fn dops(&self) -> BTreeSet<u32> {
        self.regions.values().flat_map(|region| region.points.keys().copied()).collect()
    }

    /// Those that can be compared with `dop`: some region ran at both.
    pub fn dops_beside(&self, dop: u32) -> BTreeSet<u32> {
        let there = self.regions.values().filter(|region| region.points.contains_key(&dop));
        there.flat_map(|region| region.points.keys().copied()).collect()
    }

    /// Regions that ran at `dop` since they last changed.
    pub fn regions_at(&self, dop: u32) -> impl Iterator<Item = RegionAt> + '_ {
        self.regions.iter().filter_map(move |(number, region)| {
            let fresh = |dop: &u32| region.points.get(dop).filter(|point| !point.stale);
            let mean_s = fresh(&dop)?.estimate().value;
            Some(RegionAt {
                region: *number,
                mean_s,
                lately_s: mean_s * region.lately,
                spent_s: region.spent_s,
                alone: fresh(&1).is_some(),
            })
        })
    }

    /// A region that is known ran on one context beside the program, in `seconds`: it is not among what the program did.
    pub fn tried_alone(&mut self, region: u64, seconds: f64) {
        if let Some(region) = self.regions.get_mut(&region)
            && seconds.is_finite()
            && seconds > 0.0
        {
            region.add(1, seconds, 1.0);
        }
    }

    /// The speedup at `p`, where nothing better is known of a region than that its speedup at its only DoP is that DoP to the
    /// power `exponent` (0 to 1). `None` before anything was observed.
    pub fn speedup(&self, p: u32, exponent: f64) -> Option<Estimate> {
        let exponent = if exponent.is_finite() { exponent.clamp(0.0, 1.0) } else { 1.0 };
        let (alone, here) = (self.seconds(1, exponent)?, self.seconds(p.max(1), exponent)?);
        if p <= 1 {
            return Some(Estimate { value: 1.0, error: 0.0 });
        }
        let value = alone.value / here.value;
        value.is_finite().then_some(Estimate { value, error: alone.error.hypot(here.error) })
    }

    /// How long what it did lately takes at `p`.
    fn seconds(&self, p: u32, exponent: f64) -> Option<Estimate> {
        let (mut sum, mut error) = (self.serial_s, 0.0);
        for region in self.regions.values() {
            let one = region.seconds(p, exponent)?;
            sum += region.lately * one.value;
            error += region.lately * one.value * one.error;
        }
        for (dop, seconds) in &self.other_s {
            let away = (f64::from(p) / f64::from(*dop)).ln();
            let there = seconds * (-exponent * away).exp();
            sum += there;
            error += there * GUESS * away.abs();
        }
        (sum > 0.0 && sum.is_finite()).then_some(Estimate { value: sum, error: error / sum })
    }
}

#[cfg(test)]
#[path = "observed_tests.rs"]
mod tests;
