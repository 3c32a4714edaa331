//! A profile's speedups: measured, and interpolated.

use scaf_memory::{Profile, ProfiledRegion, Recalled};
use scaf_policy::earlier_runs::EarlierRuns;
use scaf_policy::observed::Observed;
use serde::Serialize;
use std::collections::BTreeSet;

const KNEE: f64 = 0.95;
/// All DoPs up to this one are listed; beyond, one for each 5%.
const ALL: u32 = 64;

#[derive(Serialize, Clone, Debug)]
pub struct Curve {
    pub points: Vec<Point>,
    /// The smallest DoP with 95% of the best speedup.
    pub knee: u32,
    pub best: f64,
}

#[derive(Serialize, Clone, Copy, Debug)]
pub struct Point {
    pub dop: u32,
    pub speedup: f64,
    /// Standard error of `speedup`, relative to it.
    pub error_ratio: f64,
    /// Whether some region ran at this DoP and at 1; else the point is interpolated.
    pub measured: bool,
}

#[derive(Serialize, Clone, Debug)]
pub struct RegionCurve {
    pub name: String,
    /// Runs per second of the program's running.
    pub runs_per_s: f64,
    /// Share of the program's time at the region's largest DoP, 0 to 1.
    pub share: f64,
    /// `None` if the region wasn't seen at 1 and elsewhere.
    pub curve: Option<Curve>,
}

/// A program's curve; `None` if it was never seen at 1 and elsewhere.
pub fn of(profile: &Profile) -> Option<Curve> {
    let recalled = Recalled { profile: profile.clone(), same: true };
    through(recalled.past(|at, _| at as u64))
}

pub fn of_regions(profile: &Profile) -> Vec<RegionCurve> {
    let mut regions: Vec<RegionCurve> = profile.regions.iter().map(|known| region(profile, known)).collect();
    regions.sort_by(|a, b| b.share.total_cmp(&a.share));
    regions
}

fn region(profile: &Profile, known: &ProfiledRegion) -> RegionCurve {
    let mut alone = profile.clone();
    alone.regions = vec![known.clone()];
    alone.other.clear();
    alone.serial = 0.0;
    // The rate doesn't affect the region's own speedup.
    alone.regions[0].runs_per_s = 1.0;
    let module: String = known.key.module.chars().filter(|c| !c.is_control()).take(8).collect();
    let marks = if known.key.marks { " barriers" } else { "" };
    let last = known.points.last().map_or(0.0, |point| point.seconds);
    RegionCurve {
        name: format!("{module}+{:#x}{marks}", known.key.address),
        runs_per_s: known.runs_per_s,
        share: (known.runs_per_s * last).min(1.0),
        curve: of(&alone),
    }
}

fn through(past: EarlierRuns) -> Option<Curve> {
    let mut observed = Observed::default();
    observed.remember(past);
    let measured = observed.dops_beside(1);
    let last = measured.last().copied().filter(|last| *last > 1)?;
    let few = |dop: &u32| *dop <= ALL || f64::from(*dop).ln() % 0.05 < (1.0 / f64::from(*dop));
    let dops: BTreeSet<u32> = (1..=last).filter(few).chain(measured.iter().copied()).collect();
    let points: Vec<Point> = dops
        .into_iter()
        .filter_map(|dop| {
            let speedup = observed.speedup(dop, 1.0)?;
            let measured = measured.contains(&dop);
            Some(Point { dop, speedup: speedup.value, error_ratio: speedup.error, measured })
        })
        .collect();
    let best = points.iter().map(|point| point.speedup).fold(0.0, f64::max);
    let knee = points.iter().find(|point| point.speedup >= KNEE * best)?.dop;
    Some(Curve { points, knee, best })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use scaf_memory::{Key, Point as Told, RegionKey};

    /// A program with one region, whose runs took `seconds` at each DoP.
    pub fn profile(seconds: &[(u32, f64)]) -> Profile {
        let points =
            seconds.iter().map(|(dop, seconds)| Told { dop: *dop, seconds: *seconds, error_ratio: 0.02 });
        Profile {
            key: Key { machine: "m".into(), executable: "e".into(), arguments: 1 },
            name: "p".into(),
            runs: 1,
            seen_s: 1,
            serial: 0.0,
            other: Default::default(),
            regions: vec![ProfiledRegion {
                key: RegionKey { module: "e".into(), address: 16, marks: false },
                runs_per_s: 10.0,
                points: points.collect(),
            }],
        }
    }

    #[test]
    fn the_knee_is_the_smallest_dop_with_nearly_the_best_speedup() {
        let curve = of(&profile(&[(1, 1.0), (4, 0.25), (8, 0.24), (16, 0.3)])).unwrap();
        assert_eq!((curve.points.len(), curve.knee), (16, 4));
        assert!((curve.best - 1.0 / 0.24).abs() < 0.01, "{curve:?}");
        let measured: Vec<u32> = curve.points.iter().filter(|it| it.measured).map(|it| it.dop).collect();
        assert_eq!(measured, [1, 4, 8, 16]);
        assert!(curve.points[4].error_ratio > curve.points[3].error_ratio);
    }

    #[test]
    fn one_dop_is_no_curve() {
        assert!(of(&profile(&[(4, 0.25)])).is_none());
        assert!(of(&profile(&[(1, 0.25)])).is_none());
        assert!(of_regions(&profile(&[(1, 0.25)]))[0].curve.is_none());
    }

    #[test]
    fn large_machines_have_few_points_and_those_that_were_measured() {
        let curve = of(&profile(&[(1, 1.0), (777, 0.01), (1_024, 0.009)])).unwrap();
        assert!(curve.points.len() < 200 && curve.points.iter().any(|it| it.dop == 777 && it.measured));
    }
}
