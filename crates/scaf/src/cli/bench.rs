//! `scaf bench`: what can be typed.

use clap::{Args, Subcommand, ValueHint};
use scafd::apply::gang::stop::Wish;
use std::ffi::OsString;
use std::path::PathBuf;

/// `scaf bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// What an empty parallel region and a start cost, plain and managed
    Overhead(Overhead),
    /// Every kernel alone on the machine, plain and managed
    Solo(Solo),
    /// How right the daemon's estimates of speedups are
    Estimate(Estimate),
    /// A program's speedup while the other contexts are busy
    Effective(Effective),
    /// Several programs at once, under one configuration after another
    Mix(Mix),
    /// How long one decision takes, by policy, programs and contexts
    Decide(Decide),
    /// What turns are worth to programs that spin, and what they cost
    Gang(Gang),
}

/// Options of every benchmark.
#[derive(Debug, Args)]
pub struct Common {
    /// Print JSON on standard output (the table goes to standard error)
    #[arg(long)]
    pub json: bool,
    /// Folder of the built kernels [default: build/kernels beside the bench folder]
    #[arg(long, value_name = "DIR", env = "SCAF_BENCH_KERNELS", value_hint = ValueHint::DirPath)]
    pub kernels: Option<PathBuf>,
}

/// `scaf bench overhead`.
#[derive(Debug, Args)]
pub struct Overhead {
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// Runs of each kind, interleaved
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
}

/// `scaf bench solo`.
#[derive(Debug, Args)]
pub struct Solo {
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// Problem size: S, W or A
    #[arg(long, default_value = "W")]
    pub class: String,
    /// Kernels, separated by commas [default: all of them]
    #[arg(long, value_delimiter = ',')]
    pub programs: Vec<String>,
    /// Pairs of runs, plain and managed, which take turns
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// How long a run shall take at least, in seconds: kernels repeat their timed section until then
    #[arg(long, value_name = "S", default_value_t = 3.0)]
    pub seconds: f64,
}

/// `scaf bench estimate`.
#[derive(Debug, Args)]
pub struct Estimate {
    /// Options of every benchmark.
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
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// Fill the other contexts with what eats caches and memory bandwidth (the kernel triad), instead of with
    /// copies
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

/// `scaf bench mix`.
#[derive(Debug, Args)]
pub struct Mix {
    /// The mix, as described in docs/internals/bench.md
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// What to compare: unmanaged, passive, dynamic, pinned, or the name of a policy [default: these four,
    /// equi and scaf; with --contexts unmanaged, pinned, equi and scaf]
    #[arg(long, value_delimiter = ',')]
    pub configs: Vec<String>,
    /// In slow motion: N hardware contexts on the cores that there are, by control groups; needs root
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub contexts: Option<u32>,
    /// Times that everything is measured, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// Let daemons remember what programs teach, and have them taught by a co-run that isn't counted: as it
    /// is from the second time on
    #[arg(long, conflicts_with = "turns")]
    pub remember: bool,
    /// Let all that is compared take turns of 0.1 s, instead of one after the other: for machines whose speed
    /// drifts
    #[arg(long, conflicts_with = "plot")]
    pub turns: bool,
    /// Draw DoPs over time and throughputs into this SVG file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,
    /// Python for {python} in commands [default: .venv/bin/python beside the bench folder, else python3]
    #[arg(long, value_name = "PATH", env = "SCAF_BENCH_PYTHON", value_hint = ValueHint::ExecutablePath)]
    pub python: Option<PathBuf>,
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
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// How programs are stopped: auto, freezer, idle or signal
    #[arg(long, default_value = "auto", value_parser = wish)]
    pub by: Wish,
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

fn wish(text: &str) -> Result<Wish, String> {
    let wish = serde_json::from_value(text.into());
    wish.map_err(|_| "there are auto, freezer, idle and signal".into())
}
