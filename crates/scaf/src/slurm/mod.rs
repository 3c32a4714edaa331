//! Commands that the Slurm plug-in (packaging/slurm) calls: the environment of a step's tasks, and the step's
//! contexts and speedup in the job's record.

mod comment;
mod step_watcher;

pub use step_watcher::watch;

use crate::cli::SlurmEnv;
use crate::daemon;
use crate::environment::{self, Change};
use crate::launch;
use crate::program_limits::{self, Malleable, ProgramLimits};
use anyhow::{Result, anyhow, bail};
use scafd::paths::{self, Scope};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which step a program belongs to, for the client library.
const JOB_VARIABLE: &str = "SCAF_JOB";
/// `LD_PRELOAD` of the job, from the plug-in.
const PRELOADED: &str = "SCAF_BEFORE_LD_PRELOAD";

fn socket(named: Option<&PathBuf>) -> PathBuf {
    named.cloned().unwrap_or_else(|| paths::socket(Scope::System))
}

/// Slurm counts its steps with 32 bits; those with names come last, and 16 bits tell all apart in practice.
fn low(step: u32) -> u16 {
    step as u16
}

/// Carries out `scaf slurm env`: `NAME=VALUE` sets a variable and `NAME` removes it, each with a zero byte
/// behind it.
/// # Errors
/// Why the step is to run unmanaged, in a sentence.
pub fn environment(flags: &SlurmEnv) -> Result<ExitCode> {
    // The plug-in keeps from us what would have the dynamic linker run code of the user's.
    let inherited = |name: &str| match name {
        "LD_PRELOAD" => std::env::var_os(PRELOADED).or_else(|| std::env::var_os(name)),
        _ => std::env::var_os(name),
    };
    let changes = if flags.off {
        taken_back(&inherited)
    } else {
        if let Some(max) = flags.max
            && max < flags.min
        {
            bail!("min={} is more than max={max}", flags.min);
        }
        let limits = ProgramLimits {
            min: flags.min,
            max: flags.max,
            weight_milli: program_limits::milli(flags.weight),
            exact: flags.exact,
            malleable: Malleable::Unsaid,
            ..ProgramLimits::none()
        };
        let socket = socket(flags.socket.as_ref());
        let library = launch::library().map_err(|why| anyhow!(why))?;
        daemon::connect(&socket).map_err(|why| anyhow!(daemon::explain(&[(socket.clone(), why)])))?;
        if let Some(other) = daemon::other_version(&socket) {
            bail!("{other}");
        }
        let mut changes = environment::managed(&limits, &socket, &library, &inherited);
        let (job, step) = flags.job;
        changes.push((JOB_VARIABLE, Some(format!("{job}.{}", low(step)).into())));
        changes
    };
    std::io::stdout().write_all(&encoded(&changes))?;
    Ok(ExitCode::SUCCESS)
}

/// What undoes what an outer step set, if one did.
fn taken_back(before: &dyn Fn(&str) -> Option<OsString>) -> Vec<Change> {
    if before(JOB_VARIABLE).is_none() {
        return Vec::new();
    }
    [(JOB_VARIABLE, None)].into_iter().chain(environment::taken_back(before)).collect()
}

fn encoded(changes: &[Change]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, value) in changes {
        bytes.extend_from_slice(name.as_bytes());
        if let Some(value) = value {
            bytes.push(b'=');
            bytes.extend_from_slice(value.as_bytes());
        }
        bytes.push(0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_with_a_zero_byte_behind_each() {
        let changes = [("A", Some("1 2\n".into())), ("B", None), ("C", Some("".into()))];
        assert_eq!(encoded(&changes), b"A=1 2\n\0B\0C=\0");
    }

    #[test]
    fn what_an_outer_step_set_is_taken_back_and_nothing_else() {
        assert_eq!(taken_back(&|_| None), []);
        let before = |name: &str| match name {
            "LD_PRELOAD" => Some("/usr/lib/scaf/libscaf.so:/a.so".into()),
            "SCAF_JOB" => Some("1.0".into()),
            "GOMP_SPINCOUNT" => Some("5".into()),
            _ => None,
        };
        let changes = taken_back(&before);
        assert!(changes.contains(&("LD_PRELOAD", Some("/a.so".into()))));
        assert!(changes.contains(&("SCAF_SOCKET", None)));
        assert!(!changes.iter().any(|(name, _)| *name == "GOMP_SPINCOUNT"));
    }
}
