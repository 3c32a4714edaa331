//! What is remembered, as plain values.

use scaf_policy::estimate::Estimate;
use scaf_policy::past::{Past, PastRegion};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Key {
    /// The kind of machine: times of one say nothing about another, and a home may be shared by several.
    pub machine: String,
    /// The executable's build-id, else a hash of it.
    pub executable: String,
    /// A hash of its arguments.
    pub arguments: u64,
}

/// Which region.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RegionKey {
    /// The build-id of the file that its outlined function is in, else a hash of its code.
    pub module: String,
    /// The function's address in that file, below 2^47.
    pub address: u64,
    /// Whether these are its marks (its barriers, from one to the next) instead of its runs.
    pub marks: bool,
}

/// What is remembered of a program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// Which program.
    pub key: Key,
    /// What people call it.
    pub name: String,
    /// Runs that contributed.
    pub runs: u32,
    /// When the latest of them was kept, in seconds since 1970.
    pub seen_s: u64,
    /// Serial seconds in a second of running, 0 to 1.
    pub serial: f64,
    /// Seconds in regions of which no run ended, in a second of running, by the DoP that they were spent at.
    pub other: BTreeMap<u32, f64>,
    /// Its regions.
    pub regions: Vec<ProfiledRegion>,
}

/// What is remembered of one of its regions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfiledRegion {
    /// Which one.
    #[serde(flatten)]
    pub key: RegionKey,
    /// Runs in a second of the program's running.
    pub runs_per_s: f64,
    /// How long a run takes at each DoP that occurred, in order.
    pub points: Vec<Point>,
}

/// How long a region's runs take at one DoP.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// The DoP.
    pub dop: u32,
    /// Seconds a run.
    pub seconds: f64,
    /// Standard error of that over its value.
    pub error_ratio: f64,
}

/// What is remembered that may be of use to a program that starts.
#[derive(Clone, PartialEq, Debug)]
pub struct Recalled {
    /// Of it, or of the same executable with other arguments.
    pub profile: Profile,
    /// Whether the arguments are the same.
    pub same: bool,
}

/// A line of a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// Its number in this file.
    pub id: i64,
    /// What people call it.
    pub name: String,
    /// Runs that contributed.
    pub runs: u32,
    /// When the latest of them was kept, in seconds since 1970.
    pub seen_s: u64,
    /// Regions that are known.
    pub regions: u32,
}

impl Recalled {
    /// In the form in which a policy's estimate takes it in; `number` gives a region's number in this run.
    pub fn past(&self, number: impl Fn(usize, &RegionKey) -> u64) -> Past {
        let estimate = |point: &Point| Estimate { value: point.seconds, error: point.error_ratio };
        let region = |region: &ProfiledRegion| PastRegion {
            runs_per_s: region.runs_per_s,
            points: region.points.iter().map(|point| (point.dop, estimate(point))).collect(),
            same: self.same,
        };
        let regions = self.profile.regions.iter().enumerate();
        Past {
            regions: regions.map(|(at, known)| (number(at, &known.key), region(known))).collect(),
            mix: scaf_policy::past::Mix { serial: self.profile.serial, other: self.profile.other.clone() },
        }
    }
}

impl ProfiledRegion {
    /// A region as an estimate gives it away.
    pub fn of(key: RegionKey, past: &PastRegion) -> ProfiledRegion {
        let point = |(dop, estimate): (&u32, &Estimate)| Point {
            dop: *dop,
            seconds: estimate.value,
            error_ratio: estimate.error,
        };
        ProfiledRegion { key, runs_per_s: past.runs_per_s, points: past.points.iter().map(point).collect() }
    }
}
