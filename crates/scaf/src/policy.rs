//! `scaf policy`: how the daemon decides.

use crate::{cli, daemon};
use anyhow::{Result, bail};
use scafd::control::{Reply, Request};
use std::process::ExitCode;

/// Carries out `scaf policy`.
/// # Errors
/// No daemon, an unknown policy, or a caller who may not choose.
pub fn run(flags: &cli::Policy) -> Result<ExitCode> {
    let socket = daemon::require()?;
    let policy = match &flags.name {
        None => daemon::snapshot(&socket)?.policy,
        Some(name) => match daemon::ask(&socket, &Request::SetPolicy(name.clone()))? {
            Reply::Policy(name) => name,
            other => bail!("the daemon at {} answered a question not asked: {other:?}", socket.display()),
        },
    };
    crate::output::print(&format!("{policy}\n"))?;
    Ok(ExitCode::SUCCESS)
}
