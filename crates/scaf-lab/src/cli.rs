//! The clap definitions.

use clap::{ArgGroup, Args, Parser, Subcommand, ValueHint};
use scaf_cli::cli::{Common, Measure};
use scafd::apply::gang::stop::GangBy;
use std::ffi::OsString;
use std::path::PathBuf;

/// Measures scaf, and simulates what it does on machines that aren't here.
#[derive(Debug, Parser)]
#[command(name = "scaf-lab", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what scaf costs and what it is worth
    #[command(subcommand)]
    Bench(Bench),
    /// Simulate machines and programs that aren't here, under the daemon's own policies
    #[command(subcommand)]
    Sim(Sim),
}

/// `scaf-lab bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// What `scaf bench` measures, too.
    #[command(flatten)]
    Users(Measure),
    /// How accurate the daemon's estimates of speedups are
    Estimate(Estimate),
    /// A program's speedup while the other contexts are busy
    Effective(Effective),
    /// How long one decision takes, by policy, programs and contexts
    Decide(Decide),
    /// What turns are worth to programs that spin, and what they cost
    Gang(Gang),
}

/// `scaf bench estimate`.
#[derive(Debug, Args)]
pub struct Estimate {
    /// Options of all benchmarks.
    #[command(flatten)]
    pub common: Common,
    /// Programs, separated by commas [default: all of them]
    #[arg(long, value_delimiter = ',')]
    pub programs: Vec<String>,
    /// Rounds of runs by turns that the truth is the median of
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// How long a program runs until the daemon is asked about it, in seconds
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub seconds: f64,
}

/// `scaf bench effective`.
#[derive(Debug, Args)]
pub struct Effective {
    /// Options of all benchmarks.
    #[command(flatten)]
    pub common: Common,
    /// Fill the other contexts with a memory-bound kernel (triad) instead of copies
    #[arg(long)]
    pub eater: bool,
    /// Runs of each kind, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// Partition sizes, separated by commas [default: units of the topology and fractions of them]
    #[arg(long, value_name = "P", value_delimiter = ',')]
    pub sizes: Vec<u32>,
    /// Write the effective speedups into this file, as scafd's configuration takes them
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub profile: Option<PathBuf>,
    /// The program's name there [default: that of its file]
    #[arg(long)]
    pub name: Option<String>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM",
        value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// `scaf bench decide`.
#[derive(Debug, Args)]
pub struct Decide {
    /// Print JSON on standard output (the table goes to standard error)
    #[arg(long)]
    pub json: bool,
    /// Policies, separated by commas [default: all but chaos]
    #[arg(long, value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Time choosing which contexts instead of how many
    #[arg(long, conflicts_with = "policies")]
    pub place: bool,
    /// Decisions that the median is taken of
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
}

/// `scaf bench gang`.
#[derive(Debug, Args)]
pub struct Gang {
    /// Options of all benchmarks.
    #[command(flatten)]
    pub common: Common,
    /// How programs are stopped: auto, freezer, idle or signal
    #[arg(long, default_value = "auto", value_parser = gang_by)]
    pub by: GangBy,
    /// Time between two switches, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u32)
        .range(20..=1000))]
    pub slice_ms: u32,
    /// Times that everything is measured, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// How long each run counts, in seconds
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub seconds: f64,
}

fn gang_by(text: &str) -> Result<GangBy, String> {
    let by = serde_json::from_value(text.into());
    by.map_err(|_| "there are auto, freezer, idle and signal".into())
}

/// `scaf sim`.
#[derive(Debug, Subcommand)]
pub enum Sim {
    /// Simulate a scenario, as described in docs/internals/simulator.md
    Run(SimRun),
    /// Re-run an experiment of the papers, ours beside theirs
    Paper(SimPaper),
    /// Replay a trace of `scaf record` under another policy
    Replay(SimReplay),
    /// Compare policies with the best possible, on all mixes of two to four programs of known speedups
    Mixes(SimMixes),
    /// Compare ways to share the nodes of a cluster, under jobs like those of published logs
    Cluster(SimCluster),
}

/// Options of every simulation.
#[derive(Debug, Args)]
pub struct SimCommon {
    /// Print JSON on standard output (the table goes to standard error)
    #[arg(long)]
    pub json: bool,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// `scaf sim run`.
#[derive(Debug, Args)]
pub struct SimRun {
    /// The scenario, a TOML file
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Options of every simulation.
    #[command(flatten)]
    pub common: SimCommon,
    /// Policies, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "unmanaged,equi,scaf")]
    pub policy: Vec<String>,
    /// Draw contexts over time, a picture for each policy, into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Write the last policy's decisions into this file, as `scaf record` would
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub record: Option<PathBuf>,
}

/// `scaf sim paper`.
#[derive(Debug, Args)]
pub struct SimPaper {
    /// Which
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(scaf_sim::paper::PAPERS.iter()
        .map(|paper| paper.0)))]
    pub name: String,
    /// Options of every simulation.
    #[command(flatten)]
    pub common: SimCommon,
    /// Draw the figures into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub svg: Option<PathBuf>,
    /// Print every row, those without a number in the paper as well
    #[arg(long)]
    pub all: bool,
}

/// `scaf sim mixes`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("from").required(true).args(["curves", "family"]))]
pub struct SimMixes {
    /// Options of every simulation.
    #[command(flatten)]
    pub common: SimCommon,
    /// Table of speedups: CSV with columns benchmark, kind and p2, p3, ...
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub curves: Option<PathBuf>,
    /// Curves by a formula instead: amdahl, usl, ...
    #[arg(long, value_name = "NAME")]
    pub family: Option<String>,
    /// Which rows of the table
    #[arg(long, default_value = "traditional")]
    pub kind: String,
    /// So many random mixes of programs that keep their teams and programs that don't, on 16 to 1,024
    /// contexts, half of them with short programs that come and go
    #[arg(long, value_name = "MIXES", num_args = 0..=1, default_missing_value = "1000",
        requires = "curves", conflicts_with = "pus", value_parser = clap::value_parser!(u32)
        .range(1..=100_000))]
    pub teams: Option<u32>,
    /// Do as if the daemon didn't know which teams are kept
    #[arg(long, requires = "teams")]
    pub untold: bool,
    /// Contexts
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32)
        .range(2..=1024))]
    pub pus: u32,
    /// Standard deviation of each measurement, in percent
    #[arg(long, value_name = "PCT", default_value_t = 5.0)]
    pub noise_pct: f64,
    /// Policies, separated by commas
    #[arg(long, value_delimiter = ',', default_value = "equi,scaf,logm,spdp,curve")]
    pub policies: Vec<String>,
}

/// `scaf sim replay`.
#[derive(Debug, Args)]
pub struct SimReplay {
    /// The trace
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Options of every simulation.
    #[command(flatten)]
    pub common: SimCommon,
    /// Policies, separated by commas
    #[arg(long, value_delimiter = ',', required = true)]
    pub policy: Vec<String>,
}

/// `scaf sim cluster`.
#[derive(Debug, Args)]
pub struct SimCluster {
    /// Options of every simulation.
    #[command(flatten)]
    pub common: SimCommon,
    /// Nodes
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32)
        .range(1..=100_000))]
    pub nodes: u32,
    /// Hardware contexts of each node
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32)
        .range(2..=1_024))]
    pub contexts: u32,
    /// Jobs
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32)
        .range(1..=10_000_000))]
    pub jobs: u32,
    /// Contexts asked for times run time, over what the cluster has while jobs come; several by commas
    #[arg(long, value_name = "L", value_delimiter = ',', default_value = "0.9", value_parser = load)]
    pub load: Vec<f64>,
    /// Ways to share nodes, separated by commas: exclusive, whole, packed, knee, or a policy's name
    #[arg(
        long,
        value_name = "WAY",
        value_delimiter = ',',
        default_value = "exclusive,whole,packed,knee,equi,scaf,curve"
    )]
    pub sharing: Vec<String>,
    /// Under a policy, a node's jobs ask together for up to so many times its contexts
    #[arg(long, value_name = "TIMES", default_value_t = 2, value_parser = clap::value_parser!(u32)
        .range(1..=16))]
    pub oversubscription: u32,
    /// By how much a job takes longer if partners have all other contexts, as a share of its time
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = loss)]
    pub partner_loss: f64,
    /// Draw throughput, waiting and slowdown by load into this SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
}

fn load(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(load) if (0.01..=10.0).contains(&load) => Ok(load),
        _ => Err("not a number from 0.01 to 10".into()),
    }
}

fn loss(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(loss) if (0.0..=10.0).contains(&loss) => Ok(loss),
        _ => Err("not a number from 0 to 10".into()),
    }
}
