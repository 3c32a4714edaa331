//! The clap definitions; help, completions and man pages are generated from them. Defaults and ranges that
//! clap can check are here; the commands' modules check combinations of flags.

mod bench;
mod slurm;

pub use bench::{Bench, Common, Measure, Mix, Overhead, Solo};
pub use slurm::{Slurm, SlurmEnv, SlurmWatch};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
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
    /// Manage programs that run already, and what they start, from outside
    Adopt(Adopt),
    /// Show the managed programs
    Ps(Ps),
    /// Watch the managed programs: which contexts each has, since when, why, and what the division is worth
    Top(Top),
    /// Serve the same as a web page on this machine, and as metrics for Prometheus
    Web(Web),
    /// Show the policy in force, or decide by another one from now on
    Policy(Policy),
    /// Show a decision: its inputs, its result, and whether it can be reproduced
    Why(Why),
    /// Record every decision from now on, as lines of JSON
    Record(Record),
    /// Test whether a program's teams may be resized: run it resized, and compare its output
    Check(Check),
    /// Show or forget the profiles of programs' earlier runs
    Profile(Profile),
    /// Say how many CPUs are worth asking for in a job script, from the profiles of earlier runs
    Advise(Advise),
    /// Check this machine, and how a program can be managed
    Doctor(Doctor),
    /// Print a device specification (CDI) that gives podman, Docker or containerd the daemon
    Cdi(Cdi),
    /// Measure what scaf costs and what it is worth here
    #[command(
        subcommand,
        after_help = "With scaf-lab beside scaf, there are estimate, effective, decide and gang as well \
        (docs/internals/bench.md)."
    )]
    Bench(Bench),
    /// Simulate machines and programs that aren't here, by scaf-lab
    #[command(hide = true, disable_help_flag = true)]
    Sim {
        /// Arguments of scaf-lab
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
    /// Commands of the Slurm plug-in (docs/guide/slurm.md)
    #[command(subcommand, hide = true)]
    Slurm(Slurm),
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
    /// Its name in scaf's output [default: the executable's name]
    #[arg(long)]
    pub name: Option<String>,
    /// Fewest hardware contexts it needs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32)
        .range(1..=65_535))]
    pub min: u32,
    /// Most hardware contexts it may get [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub max: Option<u32>,
    /// Its weight against other programs, 0.001 to 1000; 1 is normal
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = slurm::weight)]
    pub weight: f64,
    /// Take its memory from all NUMA nodes in turn (MPOL_INTERLEAVE) [default: as the system does]
    #[arg(long)]
    pub interleave: bool,
    /// It has what others leave, and takes no context from them (SCHED_IDLE); `nice -n 19` says the same
    #[arg(long)]
    pub background: bool,
    /// It needs all its contexts at once, since its threads spin while they wait: if contexts don't suffice
    /// for all programs, it and others take turns
    #[arg(long)]
    pub rigid: bool,
    /// It may be stopped for others' turns even while others may wait for it: it listens on a socket, or was
    /// woken by the network, a terminal or a timer in the last second. Where it can't be seen whether threads
    /// of its own spin while they wait, they do
    #[arg(long, conflicts_with = "no_turns")]
    pub turns: bool,
    /// It is never stopped for others' turns
    #[arg(long, conflicts_with = "rigid")]
    pub no_turns: bool,
    /// Its results stay the same bit for bit: nothing may change the order of additions, so its teams and
    /// BLAS threads keep their numbers, and it may be slower beside others
    #[arg(long, conflicts_with_all = ["malleable", "mold"])]
    pub exact: bool,
    /// Its teams may be smaller than it asks for, whatever code analysis finds: it computes the same with any
    /// team size. OMP_DYNAMIC=true says the same by the standard
    #[arg(long)]
    pub malleable: bool,
    /// Beside other programs, start with as many threads as it would be granted now, and never have more: for
    /// programs that can't follow a grant, such as those whose spinning isn't recognised
    #[arg(long)]
    pub mold: bool,
    /// Each program that it starts has its own share of the contexts [default: all have one together]
    #[arg(long)]
    pub each: bool,
    /// At its end, print a line on standard error: its contexts, its speedup, and its speedup with equal
    /// parts
    #[arg(short, long)]
    pub verbose: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM",
        value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

/// What `--turns` and `--no-turns` say together.
pub fn turns(turns: bool, no_turns: bool) -> Option<bool> {
    (turns || no_turns).then_some(turns)
}

/// `scaf adopt`.
#[derive(Debug, Args)]
pub struct Adopt {
    /// Manage them no more: they have the affinity that they had
    #[arg(long)]
    pub release: bool,
    /// Each program that they start has its own share of the contexts [default: a process and all that it
    /// starts have one]
    #[arg(long, conflicts_with = "release")]
    pub each: bool,
    /// They may be stopped for others' turns even while others may wait for them; and where it can't be seen
    /// whether their threads spin while they wait, they do
    #[arg(long, conflicts_with_all = ["release", "no_turns"])]
    pub turns: bool,
    /// They are never stopped for others' turns
    #[arg(long, conflicts_with = "release")]
    pub no_turns: bool,
    /// Process ids
    #[arg(required = true, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pub pids: Vec<u32>,
}

/// `scaf ps`.
#[derive(Debug, Args)]
pub struct Ps {
    /// Print the daemon's snapshot as JSON
    #[arg(long)]
    pub json: bool,
    /// Explain each program's contexts and mechanism in words
    #[arg(short, long)]
    pub verbose: bool,
    /// The same, with the numbers behind the decision
    #[arg(long)]
    pub why: bool,
    /// Print it every S seconds [default: 1]; as JSON, one line each time
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "1", require_equals = true,
        value_parser = period)]
    pub watch: Option<f64>,
    /// Only this user's programs, by name or number
    #[arg(long)]
    pub user: Option<String>,
    /// Sort by contexts, speedup, efficiency, age, name, user, pid, mechanism or weight [default: as they
    /// came]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
}

fn period(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.05..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.05 to 86,400".into()),
    }
}

/// `scaf top`.
#[derive(Debug, Args)]
#[command(
    after_help = "Keys: ? for all of them; arrows, / filter, t users, space pause, left and right through \
    the last ten minutes, q quit."
)]
pub struct Top {
    /// Show a recording of `scaf record`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub replay: Option<PathBuf>,
}

/// `scaf web`.
#[derive(Debug, Args)]
pub struct Web {
    /// Port on 127.0.0.1; 0: any that is free
    #[arg(long, value_name = "PORT", default_value_t = 7223)]
    pub port: u16,
    /// Serve on this UNIX socket instead, which only you can open
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "token_file"],
        value_hint = ValueHint::FilePath)]
    pub socket: Option<PathBuf>,
    /// File with the access token, made if missing [default: a new token each time]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub token_file: Option<PathBuf>,
    /// Serve nothing; write metrics into this file (FOLDER/scaf.prom) for node_exporter
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "socket", "token_file"],
        value_hint = ValueHint::FilePath)]
    pub textfile: Option<PathBuf>,
    /// Time between two writes of that file, in seconds
    #[arg(long, value_name = "S", requires = "textfile", default_value_t = 15.0, value_parser = pause)]
    pub every: f64,
    /// Most program names with metrics of their own; the others are added up
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub programs: usize,
}

fn pause(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.1..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("not a number of seconds from 0.1 to 3,600".into()),
    }
}

/// `scaf why`.
#[derive(Debug, Args)]
pub struct Why {
    /// Name or number of a program: show the latest decision about it, and only its part
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
    /// End after S seconds [default: with Ctrl-C]
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
    /// Policy to decide by from now on; only root and the daemon's own user may set it
    pub name: Option<String>,
}

/// `scaf check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Runs with teams resized at random
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32)
        .range(2..=10_000))]
    pub runs: u32,
    /// File that it writes, compared like its standard output; can be given more than once
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Vec<PathBuf>,
    /// Don't compare lines with this text, such as those with times; can be given more than once
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub ignore: Vec<String>,
    /// Relative difference that numbers may have [default: none if plain runs agree, else ten times
    /// theirs]
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, hide_default_value = true, value_parser = share)]
    pub tolerance: f64,
    /// Only print the results of earlier checks, as a file of verdicts for scafd's configuration
    #[arg(long, exclusive = true)]
    pub export: bool,
    /// The program and its arguments
    #[arg(required_unless_present = "export", trailing_var_arg = true, value_name = "PROGRAM",
        value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to less than 1".into()),
    }
}

/// `scaf profile`.
#[derive(Debug, Args)]
pub struct Profile {
    /// The action; `list` by default.
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
    /// Print everything that is remembered, and for each executable what a job scheduler can use: knee,
    /// memory use, and what partners cost it
    Export {
        /// All as JSON, each executable as a table, or known knees for a batch system's plug-in
        #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
        format: ExportFormat,
    },
    /// Forget a program; one that runs now is remembered again when it ends
    #[command(group = ArgGroup::new("what").required(true).args(["program", "all"]))]
    Forget {
        /// Name or ID; of several of one name, all, and what scaf check found out about it
        program: Option<String>,
        /// Forget them all
        #[arg(long)]
        all: bool,
    },
}

/// What `scaf profile export` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Everything, as JSON
    Json,
    /// A table of the executables
    Table,
    /// Known knees, a line each: knee, name and executable, separated by tabs
    Knees,
}

/// `scaf advise`.
#[derive(Debug, Args)]
pub struct Advise {
    /// The job script: its #SBATCH lines and commands are read, nothing is run
    #[arg(long, value_name = "JOBSCRIPT", value_hint = ValueHint::FilePath)]
    pub slurm: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `scaf doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Program to examine as well
    #[arg(value_hint = ValueHint::CommandName)]
    pub program: Option<OsString>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `scaf cdi`.
#[derive(Debug, Args)]
#[command(after_help = "Then: podman run --device scaf.dev/host=all IMAGE PROGRAM")]
pub struct Cdi {
    /// Write it into this file instead [default: /etc/cdi/scaf.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "/etc/cdi/scaf.json",
        require_equals = true, value_hint = ValueHint::FilePath)]
    pub write: Option<PathBuf>,
    /// The daemon's socket on this machine [default: the system's]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub socket: Option<PathBuf>,
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
            assert!(slurm::weight(text).is_err(), "{text}");
        }
        assert_eq!(slurm::weight("0.5"), Ok(0.5));
    }
}
