//! `scaf adopt`: programs that run already.

use crate::{cli, daemon, session};
use anyhow::{Result, anyhow, bail};
use scafd::control::{LimitValues, Reply, Request};
use std::process::ExitCode;

/// Carries out `scaf adopt`.
/// # Errors
/// No daemon, no such process, another user's, or with `--release` one that isn't managed from outside.
pub fn run(flags: &cli::Adopt) -> Result<ExitCode> {
    let socket =
        if flags.release { daemon::require()? } else { session::ensure().map_err(|why| anyhow!(why))?.0 };
    let turns = cli::turns(flags.turns, flags.no_turns);
    for pid in &flags.pids {
        let request = match flags.release {
            true => Request::Release(*pid),
            false => Request::Adopt { pid: *pid, limits: LimitValues::default(), each: flags.each, turns },
        };
        match daemon::ask(&socket, &request)? {
            Reply::Adopted(true) => {}
            Reply::Adopted(false) => bail!("process {pid} isn't managed from outside; scaf ps shows who is"),
            other => bail!("the daemon at {} answered a question not asked: {other:?}", socket.display()),
        }
    }
    Ok(ExitCode::SUCCESS)
}
