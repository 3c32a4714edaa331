//! Speedup as observed: how long the same work took at each DoP that occurred. The ratio of a region's mean
//! wall times at two DoPs is a speedup that includes memory bandwidth, caches and the runtime itself. A
//! program is its regions, each as often as it ran lately, and its serial time (docs/internals/estimates.md).
//!
//! Earlier runs ([`EarlierRuns`]) count like observations, a little less sure: they give a region's curve its
//! shape, which hardly depends on the problem size; this run gives its scale.

mod point;

use crate::earlier_runs::{EarlierRegion, EarlierRuns, Mix};
use crate::estimate::{Estimate, GUESS, POINTS, seconds};
use point::{Point, new_phase};
use std::collections::{BTreeMap, BTreeSet};

/// Regions remembered of a program; those that ran least make room.
const REGIONS: usize = 256;
/// Half-life of what a program did in its mix of regions, in seconds of running.
const HALF_LIFE_S: f64 = 5.0;
/// Seconds of this run that earlier runs count for at first: as many as the fading sums hold.
const PAST_S: f64 = HALF_LIFE_S / std::f64::consts::LN_2;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Runs {
    /// The region's number, the same in every interval.
    pub region: u64,
    pub dop: u32,
    pub runs: f64,
    /// Runs or, where they are counted, their iterations: each stands for much the same work.
    pub count: f64,
    pub wall_s: f64,
}

impl Runs {
    /// Runs that are counted as such, not by their iterations.
    pub fn of(region: u64, dop: u32, runs: f64, wall_s: f64) -> Runs {
        Runs { region, dop, runs, count: runs, wall_s }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spell<'a> {
    /// The DoP of the interval, but for runs that say another.
    pub dop: u32,
    pub dt_s: f64,
    pub parallel_s: f64,
    pub runs: &'a [Runs],
}

#[derive(Clone, Debug, Default)]
struct ObservedRegion {
    points: BTreeMap<u32, Point>,
    intervals: u64,
    lately: f64,
    /// All runs so far, and all of what is counted: runs or iterations.
    runs: f64,
    counted: f64,
    past: Option<EarlierRegion>,
    /// What a run takes now over what it took in the past.
    scale: f64,
    /// Seconds a run at each known DoP, in order; made from `points` and `past` whenever one of them changes.
    known: Vec<(u32, Estimate)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RegionAt {
    pub region: u64,
    pub mean_s: f64,
    /// Seconds spent in its runs lately, fading.
    pub lately_s: f64,
    /// Whether it also ran on one context since it last changed.
    pub alone: bool,
}

impl ObservedRegion {
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

    fn know(&mut self) {
        // Runs may differ in size, like the levels of a multigrid cycle, and then do at every DoP: DoPs with
        // many intervals tell the spread of those with few.
        let spread = self.points.values().map(Point::spread).fold(0.0, f64::max);
        let observed: Vec<_> =
            self.points.iter().map(|(dop, point)| (*dop, point.estimate(spread))).collect();
        (self.scale, self.known) = match &self.past {
            Some(past) => past.with(&observed),
            None => (1.0, observed),
        };
    }

    fn knows(&self, dop: u32) -> bool {
        self.known.binary_search_by_key(&dop, |(dop, _)| *dop).is_ok()
    }

    /// A known point as saved for later runs.
    fn for_later(&self, dop: u32, known: Estimate) -> Estimate {
        let before = self.past.as_ref().filter(|_| !self.points.contains_key(&dop));
        Estimate { error: before.and_then(|past| past.error_of(dop)).unwrap_or(known.error), ..known }
    }

    fn each(&self) -> f64 {
        self.counted / self.runs
    }

    /// Seconds of running lately, roughly: by this, regions make room.
    fn worth(&self, past_s: f64) -> f64 {
        self.weight(past_s) * self.known.last().map_or(0.0, |(_, one)| one.value)
    }

    /// Recent count, with that of the past for `weight_s` seconds of running.
    fn weight(&self, weight_s: f64) -> f64 {
        self.lately + self.past.as_ref().map_or(0.0, |past| past.runs_per_s * weight_s / self.scale)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Observed {
    regions: BTreeMap<u64, ObservedRegion>,
    /// Serial seconds lately, fading as the regions' runs do.
    serial_s: f64,
    /// Recent seconds in regions of which no run ended, by their DoP.
    other_s: BTreeMap<u32, f64>,
    /// The same sums without fading.
    all: Sums,
    /// What the program did in earlier runs, and its weight: 1 at first, fading.
    past: Option<(Mix, f64)>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    seconds: f64,
    serial_s: f64,
    other_s: BTreeMap<u32, f64>,
}

impl Observed {
    /// Takes in an interval. Values in it that aren't finite and positive are left out.
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
        self.past.iter_mut().for_each(|(_, weight)| *weight *= fade);
        let parallel_s = if good(spell.parallel_s) { spell.parallel_s.min(spell.dt_s) } else { 0.0 };
        self.serial_s += spell.dt_s - parallel_s;
        let (mut known_s, mut touched) = (0.0, BTreeSet::new());
        for runs in spell
            .runs
            .iter()
            .filter(|runs| runs.dop > 0 && [runs.runs, runs.count, runs.wall_s].into_iter().all(good))
        {
            let region = self.regions.entry(runs.region).or_default();
            region.add(runs.dop, runs.wall_s / runs.count, runs.count);
            touched.insert(runs.region);
            region.lately += runs.count;
            region.counted += runs.count;
            region.runs += runs.runs;
            known_s += runs.wall_s;
        }
        for number in touched {
            self.regions.get_mut(&number).into_iter().for_each(ObservedRegion::know);
        }
        *self.other_s.entry(spell.dop).or_default() += (parallel_s - known_s).max(0.0);
        self.all.seconds += spell.dt_s;
        self.all.serial_s += spell.dt_s - parallel_s;
        if self.all.other_s.len() < POINTS || self.all.other_s.contains_key(&spell.dop) {
            // A run that ends takes off the seconds that earlier intervals added for it.
            *self.all.other_s.entry(spell.dop).or_default() += parallel_s - known_s;
        }
        self.forget_surplus();
    }

    fn forget_surplus(&mut self) {
        let Some(surplus) = self.regions.len().checked_sub(REGIONS) else { return };
        let weight_s = self.past_s();
        let mut least: Vec<(f64, u64)> =
            self.regions.iter().map(|(number, region)| (region.worth(weight_s), *number)).collect();
        least.sort_by(|a, b| a.0.total_cmp(&b.0));
        least.iter().take(surplus).for_each(|(_, number)| drop(self.regions.remove(number)));
    }

    /// Takes in what earlier runs taught, in place of an earlier past.
    pub fn remember(&mut self, past: EarlierRuns) {
        let weight = self.past.as_ref().map_or(1.0, |(_, weight)| *weight);
        self.forget_past();
        self.past = Some((past.mix.sane(), weight));
        for (number, region) in past.regions.into_iter().take(REGIONS) {
            let Some(region) = region.sane() else { continue };
            self.regions.entry(number).or_default().past = Some(region);
        }
        self.regions.values_mut().for_each(ObservedRegion::know);
        self.regions.retain(|_, region| !region.known.is_empty());
        self.forget_surplus();
    }

    pub fn forget_past(&mut self) {
        self.past = None;
        self.regions.values_mut().for_each(|region| region.past = None);
        self.regions.values_mut().for_each(ObservedRegion::know);
        self.regions.retain(|_, region| !region.known.is_empty());
    }

    /// What a later run may start from: this run, and a little of those before.
    pub fn past(&self) -> EarlierRuns {
        let before_s = self.past.as_ref().map_or(0.0, |_| PAST_S);
        let all_s = (self.all.seconds + before_s).max(f64::MIN_POSITIVE);
        let rate = |region: &ObservedRegion| {
            let before = region.past.as_ref().map_or(0.0, |past| past.runs_per_s / region.scale);
            (region.counted + before * before_s) / all_s
        };
        let before = self.past.as_ref().map(|(mix, _)| mix.clone()).unwrap_or_default();
        let mut other = self.all.other_s.clone();
        for (dop, share) in &before.other {
            *other.entry(*dop).or_default() += share * before_s;
        }
        let mix = Mix {
            serial: (self.all.serial_s + before.serial * before_s) / all_s,
            other: other.into_iter().map(|(dop, seconds)| (dop, (seconds / all_s).max(0.0))).collect(),
        };
        let regions = self.regions.iter().map(|(number, region)| {
            let points = region.known.iter().map(|(dop, estimate)| (*dop, region.for_later(*dop, *estimate)));
            (*number, EarlierRegion { runs_per_s: rate(region), points: points.collect(), same: true })
        });
        EarlierRuns { regions: regions.collect(), mix: mix.sane() }
    }

    /// Seconds of running that the past counts for now.
    fn past_s(&self) -> f64 {
        self.past.as_ref().map_or(0.0, |(_, weight)| weight * PAST_S)
    }

    pub fn remembers(&self) -> bool {
        self.past.is_some()
    }

    /// The DoPs that some region has run at, in order.
    pub fn dops(&self) -> BTreeSet<u32> {
        self.regions.values().flat_map(|region| region.known.iter().map(|(dop, _)| *dop)).collect()
    }

    /// The DoPs that can be compared with `dop`: some region ran at both.
    pub fn dops_beside(&self, dop: u32) -> BTreeSet<u32> {
        let there = self.regions.values().filter(|region| region.knows(dop));
        there.flat_map(|region| region.known.iter().map(|(dop, _)| *dop)).collect()
    }

    /// Regions that ran at `dop` since they last changed.
    pub fn regions_at(&self, dop: u32) -> impl Iterator<Item = RegionAt> + '_ {
        self.regions.iter().filter_map(move |(number, region)| {
            let fresh = |dop: &u32| region.points.get(dop).filter(|point| !point.stale);
            let mean_s = fresh(&dop)?.median() * region.each();
            Some(RegionAt {
                region: *number,
                mean_s,
                lately_s: mean_s * region.lately / region.each(),
                alone: fresh(&1).is_some(),
            })
        })
    }

    /// Takes in that a known region ran on one context in `seconds` beside the program, not as a part of it.
    pub fn tried_alone(&mut self, region: u64, seconds: f64) {
        if let Some(region) = self.regions.get_mut(&region)
            && region.runs > 0.0
            && seconds.is_finite()
            && seconds > 0.0
        {
            region.add(1, seconds / region.each(), region.each());
            region.know();
        }
    }

    /// The speedup at `p`; that of a region known at one DoP is p to the power `exponent` (0 to 1).
    pub fn speedup(&self, p: u32, exponent: f64) -> Option<Estimate> {
        let exponent = if exponent.is_finite() { exponent.clamp(0.0, 1.0) } else { 1.0 };
        let (alone, here) = (self.seconds(1, exponent)?, self.seconds(p.max(1), exponent)?);
        if p <= 1 {
            return Some(Estimate { value: 1.0, error: 0.0 });
        }
        let value = alone.value / here.value;
        value.is_finite().then_some(Estimate { value, error: alone.error.hypot(here.error) })
    }

    /// Seconds that the program's recent work takes at `p`.
    fn seconds(&self, p: u32, exponent: f64) -> Option<Estimate> {
        let (past_s, before) = (self.past_s(), self.past.as_ref().map(|(mix, _)| mix));
        let mut sum = self.serial_s + before.map_or(0.0, |mix| mix.serial * past_s);
        let mut error = 0.0;
        for region in self.regions.values() {
            let (one, runs) = (seconds(&region.known, p, exponent)?, region.weight(past_s));
            sum += runs * one.value;
            error += runs * one.value * one.error;
        }
        let before = before.into_iter().flat_map(|mix| &mix.other).map(|(dop, share)| (dop, share * past_s));
        for (dop, seconds) in self.other_s.iter().map(|(dop, seconds)| (dop, *seconds)).chain(before) {
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
