//! Runs scaf-lab, which is beside this command in a checkout, for `scaf bench decide`, `scaf sim` and others.

use crate::daemon;
use anyhow::{Context, Result, bail};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// Executes scaf-lab with the same command line.
/// # Errors
/// It isn't here.
pub fn become_it() -> Result<ExitCode> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let Some(lab) = daemon::beside_us("scaf-lab") else {
        let typed: Vec<_> = words.iter().take(2).map(|word| word.to_string_lossy()).collect();
        bail!(
            "'{}' belongs to scaf-lab, which isn't in the package: `make build` in a checkout puts it beside \
             scaf",
            typed.join(" ")
        );
    };
    Err(Command::new(&lab).args(words).exec()).with_context(|| format!("can't start {}", lab.display()))
}
