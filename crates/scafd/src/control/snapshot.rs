//! The one type of all views: the state of everything at one moment.

use crate::apply::stop::Way;
use scaf_policy::counters::Rates;
use scaf_policy::fusion::Source;
use scaf_policy::{PuSet, Turn};
use scaf_team::choice::Mechanism;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The state of everything at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Version of the daemon.
    pub version: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// "system" or "session".
    pub scope: String,
    /// When this was taken, in nanoseconds of CLOCK_MONOTONIC.
    pub now_ns: u64,
    /// Policy in force.
    pub policy: String,
    /// PUs that the daemon may give away, as its affinity and cpuset allow.
    pub pus: PuSet,
    /// Contexts that can be given away now: PUs and CPU quota less unmanaged load, at least 1.
    pub capacity: u32,
    /// Contexts that unmanaged processes use on these PUs, smoothed.
    pub unmanaged_load: f64,
    /// CPU quota of the daemon's cgroup in contexts, where there is one.
    pub quota: Option<f64>,
    /// Decisions since the daemon started.
    pub decisions: u64,
    /// How long the latest pass took that decided anything, in nanoseconds: from reading pages and clocks
    /// until all programs were told. 0 if there was none yet.
    #[serde(default)]
    pub decision_ns: u64,
    /// Warnings and errors that the daemon has logged since it started.
    #[serde(default)]
    pub warnings: u64,
    /// Number of this moment in the daemon's history; 0 if it isn't kept there.
    #[serde(default)]
    pub moment: u64,
    /// Whether hardware counters are read.
    pub counters: CountersAre,
    /// Whose turn it is, by what and for how long; `None` where everyone runs all the time.
    #[serde(default)]
    pub turns: Option<Turns>,
    /// Managed programs in order of their arrival, as far as whoever asks may see them.
    pub programs: Vec<Program>,
    /// Other users' programs that aren't among these.
    #[serde(default)]
    pub others: Others,
    /// What `scaf check` tried out in programs that have left lately, the latest last.
    #[serde(default)]
    pub tried: Vec<Tried>,
    /// Programs that run unmanaged because they speak another version of the protocol.
    #[serde(default)]
    pub other_versions: Vec<OtherVersion>,
    /// The program that asks, if it is managed. In a container it doesn't know which process id it has here.
    #[serde(default)]
    pub asker: Option<u64>,
}

/// A program whose client library is of another version than the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherVersion {
    /// Process id.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// The version of the protocol that it speaks.
    pub protocol: u32,
}

/// Programs of which no more is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Others {
    /// How many there are.
    pub programs: u32,
    /// Contexts that they have together.
    pub contexts: u32,
}

/// A program that was tried out by `scaf check`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Process id.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// The path of its executable.
    pub executable: PathBuf,
    /// Sizes, modulo 32, that resized teams had in its own code.
    pub sizes: Vec<u32>,
    /// Whether teams in the code of its libraries may have been resized as well.
    pub elsewhere: bool,
}

/// Programs that share in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// How programs out of turn are stopped.
    pub by: Way,
    /// Time between two switches, in milliseconds.
    pub slice_ms: u64,
    /// A round. Programs that are in no turn run all the time.
    pub round: Vec<Turn>,
}

/// Whether the daemon reads hardware counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountersAre {
    /// The configuration says no.
    Off,
    /// There was no program yet to read them for.
    Unknown,
    /// They are read.
    There,
    /// The machine has none.
    Absent,
    /// The daemon isn't permitted to read them; `scaf doctor` says what mends that.
    Forbidden,
}

/// What is known of a program's speedup at one DoP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The DoP.
    pub dop: u32,
    /// Speedup S(dop) over one context, from all sources.
    pub speedup: f64,
    /// Standard error of `speedup` over its value: small if measured at this DoP and at 1, large if a guess.
    pub error_ratio: f64,
    /// The measured speedup, if the program ran at this DoP and at 1.
    pub observed: Option<f64>,
    /// What the speedup rests on: sources that have a tenth of it or more.
    pub sources: Vec<Source>,
}

/// Hardware counters of a program's latest interval: all threads, in user space; `None`: not counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// What was counted.
    #[serde(flatten)]
    pub rates: Rates,
    /// Speedup over one context by counters, smoothed; `None` before there is one.
    pub speedup: Option<f64>,
    /// The DoP of this speedup.
    pub speedup_dop: Option<u32>,
    /// Standard error of `speedup` over its value.
    pub error_ratio: Option<f64>,
}

/// Serial experiments of a program, as it tells.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Experiments {
    /// How many there were, those ended early or not begun included.
    pub made: u64,
    /// How many of them gave a time.
    pub measured: u64,
    /// What became of the latest one, in a sentence; empty if there was none.
    pub latest: String,
}

/// A runtime that a program was found to have, as it tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Its name.
    pub name: String,
    /// The file it was loaded from, without control characters; if its name is long, the end of it.
    pub file: String,
    /// Threads that it may use now; 0 if unknown.
    pub threads: u32,
    /// Threads that it would use without scaf; 0 if unknown.
    pub most: u32,
    /// What is promised of it, in a sentence.
    pub promise: String,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// Number, unique for the life of the daemon.
    pub id: u64,
    /// Process id in the daemon's namespace.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// What the user calls it, else its executable's name.
    pub name: String,
    /// The step of Slurm's that it belongs to, as sacct writes it (`4711.0`, `4711.batch`), by its control
    /// group, else as it says.
    #[serde(default)]
    pub job: Option<String>,
    /// When it attached, in nanoseconds of CLOCK_MONOTONIC.
    pub attached_ns: u64,
    /// How its DoP is carried out now.
    #[serde(with = "crate::mechanism_names")]
    pub mechanism: Mechanism,
    /// Why not by resizing, in a sentence; empty where it is resized.
    pub mechanism_reason: String,
    /// Who permits its teams to be resized, where it isn't the judge of code; else empty.
    #[serde(default)]
    pub permission: String,
    /// Why its teams aren't gathered, if that is switched on and they aren't; else empty.
    #[serde(default)]
    pub ungathered: String,
    /// Contexts granted; `None` while unmanaged.
    pub dop: Option<u32>,
    /// When this DoP was granted, in nanoseconds of CLOCK_MONOTONIC.
    pub granted_ns: u64,
    /// When its affinity was set and, if resized, a team of at most this size ran; `None` before that.
    pub effective_ns: Option<u64>,
    /// PUs granted (its own affinity while unmanaged).
    pub pus: PuSet,
    /// Threads of the team that is running or ran last; 0 if unknown.
    pub team: u32,
    /// Whether a parallel region is running.
    pub in_region: bool,
    /// Team size that the program would have without scaf.
    pub natural: u32,
    /// Fewest contexts wanted.
    pub min: u32,
    /// Most contexts wanted; 0 for no limit.
    pub max: u32,
    /// Weight; 1 is normal.
    pub weight: f64,
    /// CPU quota of its control groups, in contexts; `None` without one.
    #[serde(default)]
    pub quota: Option<f64>,
    /// Efficiency E = S/p, smoothed, 0 to 1; `None` before anything was measured.
    pub efficiency: Option<f64>,
    /// Speedup E * p at the DoP in effect.
    pub speedup: Option<f64>,
    /// Its speedup at each DoP that it ran at, at 1 and at its natural one. Empty before any measurement.
    pub curve: Vec<CurvePoint>,
    /// How many earlier runs the curve comes from, besides this one.
    pub earlier_runs: u32,
    /// What hardware counters say; `None` without any, before the second tick, and for other users.
    pub counters: Option<Counters>,
    /// Its serial experiments.
    pub experiments: Experiments,
    /// Whether results must keep their bits (`scaf run --exact`).
    #[serde(default)]
    pub exact: bool,
    /// Runtimes found in the program.
    #[serde(default)]
    pub runtimes: Vec<Runtime>,
    /// Parallel regions left since it attached.
    pub regions: u64,
    /// Regions among them whose team size the program fixed itself.
    pub promised_regions: u64,
    /// Why it got this DoP, in a sentence.
    pub reason: String,
}
