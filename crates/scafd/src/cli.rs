//! `scafd`'s command line.

use crate::inspect::User;
use clap::{CommandFactory, Parser};
use std::path::PathBuf;

/// Shares a machine among multi-threaded programs: observes the programs that attach, decides how many
/// hardware contexts each gets and which, and applies it while they run.
///
/// Runs in the foreground and logs to standard error. SIGTERM gives every program its own affinity back.
#[derive(Parser, Debug)]
#[command(name = "scafd", version)]
pub struct Args {
    /// Serve all users, on /run/scaf/scafd.sock.
    #[arg(long, conflicts_with = "session", required_unless_present_any = ["session", "inspect"])]
    pub system: bool,

    /// Serve one user, on $XDG_RUNTIME_DIR/scaf/scafd.sock (else /tmp/scaf-UID/scafd.sock); leave when idle.
    #[arg(long)]
    pub session: bool,

    /// Read this configuration [default: /etc/scaf/scafd.toml where it exists].
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Decide by this policy, whatever the configuration says.
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,

    /// What the policy 'chaos' draws its numbers from.
    #[arg(long, value_name = "N", requires = "policy")]
    pub seed: Option<u64>,

    /// Listen here instead.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,

    /// Pretend to be another machine: a synthetic description ('pack:2 core:4 pu:2') or a file saved by
    /// lstopo.
    #[arg(long, value_name = "SYNTH|FILE.xml", requires = "dry_run")]
    pub topology: Option<String>,

    /// Decide and publish grants, but leave every affinity as it is.
    #[arg(long)]
    pub dry_run: bool,

    /// Decide as on a machine whose contexts have this share of a core's speed, and remember programs all the
    /// same; scaf-lab moves their threads (slow motion).
    #[arg(long, value_name = "SHARE", requires = "topology", value_parser = pace, hide = true)]
    pub pace: Option<f64>,

    /// Leave after this long without a client; 0 never [default: 10 with --session, 0 with --system].
    #[arg(long, value_name = "SECONDS")]
    pub idle_exit: Option<u64>,

    /// Log every decision.
    #[arg(long, short)]
    pub verbose: bool,

    /// Print as JSON whether that process's regions may be resized, and end.
    #[arg(long, value_name = "PID", hide = true)]
    pub inspect: Option<u32>,

    /// Open its files as that user (UID:GID).
    #[arg(long, value_name = "UID:GID", requires = "inspect", hide = true)]
    pub inspect_as: Option<User>,
}

fn pace(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|pace| *pace > 0.0 && *pace <= 1.0).ok_or_else(|| "not a share of 1".into())
}

/// The command as clap knows it, for man pages and completions.
pub fn cli() -> clap::Command {
    Args::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_consistent() {
        cli().debug_assert();
    }

    #[test]
    fn a_scope_has_to_be_named_and_only_one() {
        let parse = |args: &[&str]| Args::try_parse_from([&["scafd"], args].concat());
        assert!(parse(&[]).is_err());
        assert!(parse(&["--system", "--session"]).is_err());
        assert!(parse(&["--session"]).unwrap().session);
        assert_eq!(parse(&["--inspect", "7"]).unwrap().inspect, Some(7));
    }

    #[test]
    fn another_machine_is_pretended_in_a_dry_run_only() {
        let parse = |args: &[&str]| Args::try_parse_from([&["scafd", "--session"], args].concat());
        assert!(parse(&["--topology", "core:4"]).is_err());
        assert!(parse(&["--topology", "core:4", "--dry-run"]).is_ok());
        assert!(parse(&["--topology", "core:4", "--dry-run", "--pace", "0.2"]).is_ok());
        assert!(parse(&["--dry-run", "--pace", "0.2"]).is_err());
        assert!(parse(&["--topology", "core:4", "--dry-run", "--pace", "2"]).is_err());
    }
}
