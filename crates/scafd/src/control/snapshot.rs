//! The state of everything at one moment, of which all views are made. A field is declared here and nowhere
//! else ([`super::field`]); `registry/fill.rs` and `daemon/requests.rs` fill them in.

use super::field::{Field, JSON, Kind, MetricKind, Table, Typed, Value};
use crate::apply::stop::Way;
use crate::shown;
use scaf_policy::counters::Rates;
use scaf_policy::fusion::Source;
use scaf_policy::{PuSet, Turn};
use scaf_team::choice::Mechanism;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use MetricKind::{Counter, Gauge, Sum};

/// What is known of a program's speedup.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveOf {
    /// Number of the program.
    pub id: u64,
    /// As in [`Program`].
    pub points: Vec<CurvePoint>,
}

fn is_default<T: Default + PartialEq>(it: &T) -> bool {
    *it == T::default()
}

shown! {
    /// The state of everything at one moment.
    #[derive(Default)]
    #[serde(default)]
    struct Snapshot {
        /// Version of the daemon.
        version: String;
        /// Process id of the daemon.
        pid: u32;
        /// Whom the daemon serves: "system" or "session".
        scope: String;
    }
    /// What changed from one moment to the next. Of programs it has who came and went, their grants at once,
    /// and smaller changes of numbers, reasons and curves now and then.
    in map Frame [] {
        /// Number of this moment in the daemon's history; 0 if it isn't kept there.
        moment: u64 [AtOnce];
        /// When this was, in nanoseconds of CLOCK_MONOTONIC.
        now_ns: u64 [AtOnce] = JSON.unit("ns");
        /// Contexts that can be granted now: PUs and CPU quota less unmanaged load, at least 1.
        capacity: u32 [AtOnce] = JSON.unit("contexts").metric(Gauge, "scaf_capacity_contexts");
        /// Contexts that unmanaged processes use on the daemon's PUs, smoothed.
        unmanaged_load: f64 [Rounded] = JSON.unit("contexts").metric(Gauge, "scaf_unmanaged_contexts");
        /// Decisions since the daemon started.
        decisions: u64 [AtOnce] = JSON.metric(Counter, "scaf_decisions");
        /// How long the latest decision took, from reading pages and clocks until all grants were published;
        /// 0 if there was none yet.
        decision_ns: u64 [AtOnce] = JSON.unit("ns").metric(Gauge, "scaf_decision_seconds");
        /// Warnings and errors that the daemon has logged since it started.
        warnings: u64 [AtOnce] = JSON.metric(Counter, "scaf_warnings");
    } plus {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub setting: Option<Box<Setting>>,
        #[serde(default, skip_serializing_if = "is_default")]
        pub others: Others,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub arrived: Vec<Program>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub left: Vec<u64>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub grants: Vec<Granted>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub numbers: Vec<Numbers>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub curves: Vec<CurveOf>,
    }
    /// What holds for all programs and seldom changes.
    in map Setting [] {
        /// Policy in force.
        policy: String [AtOnce];
        /// PUs that the daemon may grant, as its affinity and cpuset allow (a CPU list such as 0-3,8).
        pus: PuSet [AtOnce];
        /// CPU quota of the daemon's control group; null without one.
        quota: Option<f64> [AtOnce] = JSON.unit("contexts");
        /// Whether hardware counters are read.
        counters: CountersAre [AtOnce];
        /// Whose turn it is, how others are stopped, and for how long; null where all run all the time.
        turns: Option<Turns> [AtOnce];
    }
    and {
        /// Managed programs in order of their arrival, as far as whoever asks may see them.
        programs: Vec<Program>;
        /// Other users' programs that aren't among these.
        others: Others;
        /// What `scaf check` tried out in programs that have left lately, the latest last.
        tried: Vec<Tried>;
        /// Programs that run unmanaged because they speak another version of the protocol.
        other_versions: Vec<OtherVersion>;
        /// Number of the program that asks, if it is managed: in a container it doesn't know its process id.
        asker: Option<u64>;
    }
}

shown! {
    /// One program.
    #[derive(Default)]
    #[serde(default)]
    struct Program {
        /// Number, unique for the life of the daemon.
        id: u64;
        /// What its user calls it, else its script's, main class's or executable's name; a further one of the
        /// same has #2 and so on.
        name: String = JSON.column("Name").ps("NAME");
        /// Process id in the daemon's namespace.
        pid: u32 = JSON.column("PID").ps("PID");
        /// User id.
        uid: u32 = JSON.column("User");
        /// Step of Slurm's that it belongs to, as sacct writes it (4711.0, 4711.batch), by its control group,
        /// else as it says.
        job: Option<String> = JSON.detail("job");
        /// When it attached.
        attached_ns: u64 = JSON.unit("ns");
    }
    /// What a program has and why.
    in map Granted [id] {
        /// Why it got this DoP.
        reason: String [NowAndThen] = JSON.column("Why").detail("why");
        /// How its DoP is put into effect now.
        #[serde(with = "crate::mechanism_names")]
        mechanism: Mechanism [AtOnce] = JSON.column("How").ps("MECHANISM").detail("how");
        /// Why not by resizing; empty where it is resized.
        mechanism_reason: String [NowAndThen];
        /// Who permits its teams to be resized, where it isn't the code analysis; else empty.
        permission: String [NowAndThen] = JSON.detail("permission");
        /// Why its teams aren't gathered, if that is switched on and they aren't; else empty.
        ungathered: String [NowAndThen] = JSON.detail("not gathered");
        /// Contexts granted; null while unmanaged.
        dop: Option<u32> [AtOnce] = JSON.unit("contexts").column("Contexts").ps("DOP")
            .metric_of(Sum, "scaf_program_contexts", "Contexts that processes of that name have together");
        /// Team size that it would have without scaf.
        natural: u32 [NowAndThen] = JSON.unit("threads").column("Of")
            .metric_of(Sum, "scaf_program_wanted_contexts", "Contexts that processes of that name could use");
        /// PUs granted (a CPU list such as 0-3,8); its own affinity while unmanaged.
        pus: PuSet [AtOnce] = JSON.column("PUs").ps("PUS");
        /// When this DoP was granted.
        granted_ns: u64 [NowAndThen] = JSON.unit("ns");
        /// When it came into effect: its affinity was set and, if resized, a team of at most this size ran;
        /// null before that.
        effective_ns: Option<u64> [AtOnce] = JSON.unit("ns").detail("effect");
        /// Fewest contexts that its user asks for.
        min: u32 [AtOnce] = JSON.unit("contexts").detail("limits");
        /// Most contexts that its user asks for; 0 for no limit.
        max: u32 [AtOnce] = JSON.unit("contexts");
        /// Weight, by its user's word, its nice level and its control groups; 1 is normal.
        weight: f64 [AtOnce];
        /// How many earlier runs the curve comes from, besides this one.
        earlier_runs: u32 [NowAndThen] = JSON.detail("earlier runs");
    }
    /// How a program does. An array in JSON, for there are many.
    in row Numbers [id] {
        /// Efficiency E = S/p, smoothed, 0 to 1; null before anything was measured.
        efficiency: Option<f64> [IfMoved] = JSON.column("Efficiency").ps("EFFICIENCY");
        /// Speedup E * p at the DoP in effect.
        speedup: Option<f64> [IfMoved] = JSON.column("Speedup").ps("SPEEDUP");
        /// Threads of the team that is running or ran last; 0 if unknown.
        team: u32 [AtOnce] = JSON.unit("threads").ps("TEAM");
        /// Whether a parallel region is running.
        in_region: bool [NowAndThen];
        /// Parallel regions left since it attached.
        regions: u64 [NowAndThen] = JSON.detail("regions");
        /// Regions among them whose team size the program fixed itself.
        promised_regions: u64 [NowAndThen];
    }
    and {
        /// CPU quota of its control groups; null without one.
        quota: Option<f64> = JSON.unit("contexts").detail("CPU quota");
        /// Contexts that its threads used or waited for on average in the latest 2 s, where it is managed
        /// from outside and runs all the time; null else.
        demand: Option<f64> = JSON.unit("contexts").detail("demand");
        /// Its speedup at each DoP that it ran at, at 1 and at its natural one; empty before any measurement.
        curve: Vec<CurvePoint>;
        /// What hardware counters say; null without any, before the second tick, and for other users.
        counters: Option<Counters>;
        /// Its serial experiments.
        experiments: Experiments;
        /// Whether results must keep their bits (`scaf run --exact`).
        exact: bool;
        /// Runtimes found in it.
        runtimes: Vec<Runtime> = JSON.detail("runtime");
    }
}

shown! {
    /// A program whose client library is of another version than the daemon.
    #[derive(Copy, Eq)]
    struct OtherVersion {
        /// Process id.
        pid: u32;
        /// User id.
        uid: u32;
        /// The version of the protocol that it speaks.
        protocol: u32;
    }
}

shown! {
    /// Programs of which no more may be seen.
    #[derive(Copy, Eq, Default)]
    struct Others {
        /// Programs of other users of which no more may be seen.
        programs: u32 = JSON.metric(Gauge, "scaf_hidden_programs");
        /// Contexts that programs of other users have of which no more may be seen.
        contexts: u32 = JSON.unit("contexts").metric(Gauge, "scaf_hidden_contexts");
    }
}

shown! {
    /// A program that was tried out by `scaf check`.
    #[derive(Eq)]
    struct Tried {
        /// Process id.
        pid: u32;
        /// User id.
        uid: u32;
        /// The path of its executable.
        executable: PathBuf;
        /// Sizes, modulo 32, that resized teams had in its own code.
        sizes: Vec<u32>;
        /// Whether teams in the code of its libraries may have been resized as well.
        elsewhere: bool;
    }
}

shown! {
    /// Programs that share in time.
    struct Turns {
        /// How programs out of turn are stopped.
        by: Way;
        /// Time between two switches.
        slice_ms: u64 = JSON.unit("ms");
        /// A round. Programs that are in no turn run all the time.
        round: Vec<Turn>;
    }
}

shown! {
    /// What is known of a program's speedup at one DoP.
    struct CurvePoint {
        /// The DoP.
        dop: u32 = JSON.unit("contexts");
        /// Speedup S(dop) over one context, from all sources.
        speedup: f64;
        /// Standard error of `speedup` over its value: small if measured at this DoP, large if a guess.
        error_ratio: f64;
        /// The measured speedup, if the program ran at this DoP and at 1.
        observed: Option<f64>;
        /// What the speedup rests on: sources that have a tenth of it or more.
        sources: Vec<Source>;
    }
}

shown! {
    /// Hardware counters of a program's latest interval: all threads, in user space; null: not counted.
    #[derive(Copy)]
    struct Counters {
        /// What was counted.
        #[serde(flatten)]
        rates: Rates;
        /// Speedup over one context by counters, smoothed; null before there is one.
        speedup: Option<f64>;
        /// The DoP of this speedup.
        speedup_dop: Option<u32> = JSON.unit("contexts");
        /// Standard error of `speedup` over its value.
        error_ratio: Option<f64>;
    }
}

shown! {
    /// Serial experiments of a program, as it reports them.
    #[derive(Eq, Default)]
    struct Experiments {
        /// How many there were, those ended early or not begun included.
        made: u64;
        /// How many of them gave a time.
        measured: u64;
        /// What became of the latest one; empty if there was none.
        latest: String;
    }
}

shown! {
    /// A runtime that a program has, as it reports it.
    #[derive(Eq)]
    struct Runtime {
        /// Its name.
        name: String;
        /// The file it was loaded from, without control characters; if its name is long, the end of it.
        file: String;
        /// Threads that it may use now; 0 if unknown.
        threads: u32 = JSON.unit("threads");
        /// Threads that it would use without scaf; 0 if unknown.
        most: u32 = JSON.unit("threads");
        /// What is promised of it.
        promise: String;
    }
}

/// Whether the daemon reads hardware counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountersAre {
    /// The configuration says no.
    Off,
    /// There was no program yet to read them for.
    #[default]
    Unknown,
    /// They are read.
    There,
    /// The machine has none.
    Absent,
    /// The daemon isn't permitted to read them; `scaf doctor` says what mends that.
    Forbidden,
}

impl Typed for CountersAre {
    const KIND: Kind = Kind::Word(&["off", "unknown", "there", "absent", "forbidden"]);
}

impl Value for CountersAre {}

impl Typed for Way {
    const KIND: Kind = Kind::Word(&["freeze_v2", "freeze_v1", "idle_v1", "shares_v1", "signal"]);
}

impl Value for Way {}

/// A field of a struct that isn't declared here.
const fn field(key: &'static str, kind: Kind, about: &'static str) -> Field {
    Field { key, about, kind, shown: JSON }
}

impl Typed for Turn {
    const KIND: Kind = Kind::Struct(&Table {
        name: "Turn",
        about: "Programs that run while other turns' members don't",
        fields: &[
            field("slices", Kind::Integer, "Its length in time slices, at least 1"),
            field("members", Kind::List(&Kind::Integer), "Numbers of the programs that run"),
        ],
    });
}

impl Value for Turn {
    fn heap_bytes(&self) -> usize {
        8 * self.members.len() + 16
    }
}

const RATE: Kind = Kind::OrNull(&Kind::Number);

impl Typed for Rates {
    const KIND: Kind = Kind::Flat(&Table {
        name: "Rates",
        about: "",
        fields: &[
            field("instructions_per_s", RATE, "Instructions a second of wall time"),
            field("cycles_per_s", RATE, "Cycles a second of wall time, over all contexts"),
            field("ipc", RATE, "Instructions per cycle of a thread"),
            field("stall_ratio", RATE, "Share of cycles that waited for loads beyond private caches, 0 to 1"),
            field("l2_hit_ratio", RATE, "Share of hits in the last private cache, 0 to 1"),
            field("llc_hit_ratio", RATE, "Share of hits in the last-level cache, 0 to 1"),
            field("contention_ratio", RATE, "Share of cycles that threads cost each other in memory, 0 to 1"),
            field("counted_ratio", Kind::Number, "Least share of the time in which an event was counted"),
        ],
    });
}

impl Value for Rates {}
