//! What is remembered, as plain values.

use scaf_policy::earlier_runs::{EarlierRegion, EarlierRuns};
use scaf_policy::estimate::Estimate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which program, on which kind of machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Key {
    /// The kind of machine: a home may be shared by several, and times differ between them.
    pub machine: String,
    /// The executable's build-id, else a hash of it.
    pub executable: String,
    /// A hash of its arguments, which may hold secrets.
    pub arguments: u64,
}

/// Which region, in whichever program: an outlined function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct RegionKey {
    /// The build-id of the file that its outlined function is in, else a hash of its code.
    pub module: String,
    /// The function's address in that file, below 2^47.
    pub address: u64,
    /// Whether this stands for its marks (from one barrier to the next) instead of its runs.
    pub marks: bool,
}

/// What a program's runs taught.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Profile {
    /// Which program.
    pub key: Key,
    /// Its name, for people.
    pub name: String,
    /// How many runs it was made of.
    pub runs: u32,
    /// When the latest run was kept, in seconds since 1970.
    pub seen_s: u64,
    /// Serial seconds per second of running, 0 to 1.
    pub serial: f64,
    /// Seconds per second of running in regions of which no run ended, by their DoP.
    pub other: BTreeMap<u32, f64>,
    /// Its regions, but for those with next to no share of the time.
    pub regions: Vec<ProfiledRegion>,
}

/// What runs taught of one region.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProfiledRegion {
    /// Which region.
    #[serde(flatten)]
    pub key: RegionKey,
    /// How often it ran, per second of the program's running.
    pub runs_per_s: f64,
    /// How long a run takes at each DoP that occurred, sorted by DoP.
    pub points: Vec<Point>,
}

/// How long a region's runs take at one DoP.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Contexts, 1 or more.
    pub dop: u32,
    /// Of one run, from start to end.
    pub seconds: f64,
    /// Standard error of `seconds`, relative to it.
    pub error_ratio: f64,
}

/// What is remembered for a program that starts.
#[derive(Clone, PartialEq, Debug)]
pub struct Recalled {
    /// The program's own profile, or that of the same executable with other arguments.
    pub profile: Profile,
    /// Whether it is the program's own.
    pub same: bool,
}

/// A line of the list of programs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// The program's number in the file.
    pub id: i64,
    /// Its name, for people.
    pub name: String,
    /// How many runs its profile was made of.
    pub runs: u32,
    /// When the latest run was kept, in seconds since 1970.
    pub seen_s: u64,
    /// How many regions the profile has.
    pub regions: u32,
}

impl Recalled {
    /// The profile as a policy's estimate takes it in; `number` gives a region's number in this run.
    pub fn past(&self, number: impl Fn(usize, &RegionKey) -> u64) -> EarlierRuns {
        let estimate = |point: &Point| Estimate { value: point.seconds, error: point.error_ratio };
        let region = |region: &ProfiledRegion| EarlierRegion {
            runs_per_s: region.runs_per_s,
            points: region.points.iter().map(|point| (point.dop, estimate(point))).collect(),
            same: self.same,
        };
        let regions = self.profile.regions.iter().enumerate();
        EarlierRuns {
            regions: regions.map(|(at, known)| (number(at, &known.key), region(known))).collect(),
            mix: scaf_policy::earlier_runs::Mix {
                serial: self.profile.serial,
                other: self.profile.other.clone(),
            },
        }
    }
}

impl ProfiledRegion {
    /// Converts a region from an estimate's form.
    pub fn of(key: RegionKey, past: &EarlierRegion) -> ProfiledRegion {
        let point = |(dop, estimate): (&u32, &Estimate)| Point {
            dop: *dop,
            seconds: estimate.value,
            error_ratio: estimate.error,
        };
        ProfiledRegion { key, runs_per_s: past.runs_per_s, points: past.points.iter().map(point).collect() }
    }
}
