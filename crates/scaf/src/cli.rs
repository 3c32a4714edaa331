//! What can be typed: the clap definitions, from which help, completions and man pages come as well.
//!
//! Defaults and ranges that clap can check are stated here; what a combination of flags means is resolved in the
//! module that carries the command out.

use clap::{ArgGroup, Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use scafd::apply::gang::stop::Wish;
use std::ffi::OsString;
use std::path::PathBuf;

/// Lets several multi-threaded programs share one machine without fighting over it.
#[derive(Debug, Parser)]
#[command(name = "scaf", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a program with its share of the machine
    Run(Run),
    /// Show the managed programs
    Ps(Ps),
    /// Show the policy in force, or decide by another one from now on
    Policy(Policy),
    /// Show a decision: what it was made from, what came out, and whether it would again
    Why(Why),
    /// Write down every decision from now on, as lines of JSON
    Record(Record),
    /// Show or forget what programs' earlier runs taught
    Profile(Profile),
    /// Check this machine, and what can be done with a program
    Doctor(Doctor),
    /// Measure what scaf costs and what it is worth
    #[command(subcommand)]
    Bench(Bench),
    /// Simulate machines and programs that aren't here, under the daemon's own policies
    #[command(subcommand)]
    Sim(Sim),
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete in
        shell: Shell,
    },
    /// Write the man pages into a folder
    #[command(hide = true)]
    Man {
        /// Folder, made if missing
        #[arg(value_hint = ValueHint::DirPath)]
        dir: PathBuf,
    },
}

/// `scaf run`.
#[derive(Debug, Args)]
pub struct Run {
    /// What to call it [default: the executable's name]
    #[arg(long)]
    pub name: Option<String>,
    /// Fewest hardware contexts it is content with
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub min: u32,
    /// Most hardware contexts it shall get [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub max: Option<u32>,
    /// How much it counts against the others, 0.001 to 1000; 1 is normal
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = weight)]
    pub weight: f64,
    /// Take its memory from all NUMA nodes in turn (MPOL_INTERLEAVE) [default: as the system does]
    #[arg(long)]
    pub interleave: bool,
    /// It needs all its contexts at once whenever it runs, since it waits by spinning: where they don't suffice for all, it and
    /// others take turns
    #[arg(long)]
    pub rigid: bool,
    /// Its results keep their bits: only what can't have sums added up in another order is done to it, so its teams and
    /// BLAS threads keep their numbers, and it may be slower beside others
    #[arg(long)]
    pub exact: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

fn weight(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(weight) if (0.001..=1000.0).contains(&weight) => Ok(weight),
        _ => Err("not a number from 0.001 to 1000".into()),
    }
}

/// `scaf ps`.
#[derive(Debug, Args)]
pub struct Ps {
    /// Print the daemon's snapshot as JSON
    #[arg(long)]
    pub json: bool,
    /// Say how each program has what it has, in words
    #[arg(short, long)]
    pub verbose: bool,
    /// The same, and by which numbers that was decided
    #[arg(long)]
    pub why: bool,
}

/// `scaf why`.
#[derive(Debug, Args)]
pub struct Why {
    /// Name or number of a program: only what concerns it, in the latest decision about it
    pub program: Option<String>,
    /// Number of the decision [default: the latest]
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `scaf record`.
#[derive(Debug, Args)]
pub struct Record {
    /// Write into this file [default: standard output]
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// End after so many seconds [default: with Ctrl-C]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub seconds: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.0..=1e9).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0 to 1,000,000,000".into()),
    }
}

/// `scaf policy`.
#[derive(Debug, Args)]
pub struct Policy {
    /// Policy to decide by from now on; needs to be root or the daemon's own user
    pub name: Option<String>,
}

/// `scaf profile`.
#[derive(Debug, Args)]
pub struct Profile {
    /// What to do with it; `list` if nothing is said.
    #[command(subcommand)]
    pub command: Option<ProfileCommand>,
}

/// What can be done with profiles.
#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// List the programs that are remembered
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a program's speedup and its regions'
    Show {
        /// Name or ID; of several of one name, the one that was seen last
        program: String,
        /// Draw what was measured, the fit and the knee into this SVG file
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        plot: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print everything that is remembered as JSON
    Export,
    /// Forget a program; one that runs now is remembered again when it ends
    #[command(group = ArgGroup::new("what").required(true).args(["program", "all"]))]
    Forget {
        /// Name or ID; of several of one name, all
        program: Option<String>,
        /// Forget them all
        #[arg(long)]
        all: bool,
    },
}

/// `scaf doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Program to look at as well
    #[arg(value_hint = ValueHint::CommandName)]
    pub program: Option<OsString>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

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
    /// Fill the other contexts with what eats caches and memory bandwidth (the kernel triad), instead of with copies
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
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// `scaf bench mix`.
#[derive(Debug, Args)]
pub struct Mix {
    /// The mix, as described in docs/bench.md
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Options of every benchmark.
    #[command(flatten)]
    pub common: Common,
    /// What to compare: unmanaged, passive, dynamic, pinned, or the name of a policy [default: these four, equi and scaf]
    #[arg(long, value_delimiter = ',')]
    pub configs: Vec<String>,
    /// In slow motion: N hardware contexts on the cores that there are, by control groups; needs root
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub contexts: Option<u32>,
    /// Times that everything is measured, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repetitions: u32,
    /// Let daemons remember what programs teach, and have them taught by a co-run that isn't counted: as it is from the second time on
    #[arg(long, conflicts_with = "turns")]
    pub remember: bool,
    /// Let all that is compared take turns of 0.1 s, instead of one after the other: for machines whose speed drifts
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
    #[arg(long, value_name = "MS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(20..=1000))]
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

/// `scaf sim`.
#[derive(Debug, Subcommand)]
pub enum Sim {
    /// Simulate a scenario, as described in docs/simulator.md
    Run(SimRun),
    /// Re-run an experiment of the papers, ours beside theirs
    Paper(SimPaper),
    /// Ask what would have happened in a trace of `scaf record` under another policy
    Replay(SimReplay),
    /// Compare policies with the best possible, on all mixes of two to four programs of known speedups
    Mixes(SimMixes),
}

/// Options of every simulation.
#[derive(Debug, Args)]
pub struct SimCommon {
    /// Print JSON on standard output (the table goes to standard error)
    #[arg(long)]
    pub json: bool,
    /// What all randomness comes from
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
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(scaf_sim::paper::PAPERS.iter().map(|paper| paper.0)))]
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
    /// Contexts
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u32).range(2..=1024))]
    pub pus: u32,
    /// By how much each measurement is off: a standard deviation in percent
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn options_after_the_program_belong_to_the_program() {
        let cli = Cli::parse_from(["scaf", "run", "--min", "2", "ls", "--name", "x"]);
        let Command::Run(run) = cli.command else { panic!("not run") };
        assert_eq!((run.min, run.name), (2, None));
        assert_eq!(run.command, ["ls", "--name", "x"]);
    }

    #[test]
    fn weights_out_of_range_are_refused() {
        for text in ["0", "-1", "NaN", "inf", "1001", "x"] {
            assert!(weight(text).is_err(), "{text}");
        }
        assert_eq!(weight("0.5"), Ok(0.5));
    }
}
