//! The flags of `scaf slurm`, which the Slurm plug-in calls.

use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

/// The subcommands of `scaf slurm`.
#[derive(Debug, Subcommand)]
pub enum Slurm {
    /// Print the changes to the environment of a step's tasks
    Env(SlurmEnv),
    /// Add up a step's contexts and speedup until standard input ends, and write them into the job's record
    Watch(SlurmWatch),
}

/// `scaf slurm env`.
#[derive(Debug, Args)]
pub struct SlurmEnv {
    /// The daemon's socket [default: that of the daemon for all users]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub socket: Option<PathBuf>,
    /// Slurm's numbers of job and step
    #[arg(long, value_name = "JOB.STEP", value_parser = step)]
    pub job: (u32, u32),
    /// As in `scaf run`
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32)
        .range(1..=65_535))]
    pub min: u32,
    /// As in `scaf run`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_535))]
    pub max: Option<u32>,
    /// As in `scaf run`
    #[arg(long, value_name = "W", default_value_t = 1.0, value_parser = weight)]
    pub weight: f64,
    /// As in `scaf run`
    #[arg(long)]
    pub exact: bool,
    /// Print what undoes an outer step's changes
    #[arg(long)]
    pub off: bool,
}

/// `scaf slurm watch`.
#[derive(Debug, Args)]
pub struct SlurmWatch {
    /// The daemon's socket [default: that of the daemon for all users]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub socket: Option<PathBuf>,
    /// Slurm's numbers of job and step
    #[arg(long, value_name = "JOB.STEP", value_parser = step)]
    pub job: (u32, u32),
    /// User id of the job
    #[arg(long)]
    pub uid: u32,
    /// This node's name in the record
    #[arg(long)]
    pub node: String,
    /// Slurm's command that changes the job's record; squeue is beside it
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath, default_value = "scontrol")]
    pub scontrol: PathBuf,
}

/// A weight, 0.001 to 1000.
pub(super) fn weight(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(weight) if (0.001..=1000.0).contains(&weight) => Ok(weight),
        _ => Err("not a number from 0.001 to 1000".into()),
    }
}

fn step(text: &str) -> Result<(u32, u32), String> {
    let numbers = text.split_once('.').and_then(|(job, step)| Some((job.parse().ok()?, step.parse().ok()?)));
    numbers.filter(|(job, _)| *job != 0).ok_or_else(|| "not JOB.STEP, of numbers".into())
}
