//! `scaf bench`: what can be typed.

use clap::{Args, Subcommand, ValueHint};
use std::ffi::OsString;
use std::path::PathBuf;

/// `scaf bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// What users measure on their own machine.
    #[command(flatten)]
    Ours(Measure),
    /// What scaf-lab measures.
    #[command(external_subcommand)]
    Lab(Vec<OsString>),
}

/// What is measured of a machine and its programs.
#[derive(Debug, Subcommand)]
pub enum Measure {
    /// What an empty parallel region and a start cost, plain and managed
    Overhead(Overhead),
    /// Every kernel alone on the machine, plain and managed
    Solo(Solo),
    /// Several programs at once, under one configuration after another
    Mix(Mix),
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
    /// In slow motion: N hardware contexts on the cores that there are, by control groups; needs root and
    /// scaf-lab
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub contexts: Option<u32>,
    /// Times that everything is measured, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// Run each program once before anything is measured: its files are read from disk then, and its code has
    /// been inspected
    #[arg(long)]
    pub warm: bool,
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
