//! The `scaf` command, as a library for tests and scaf-lab. [`cli`] defines the command line; each command is
//! a module. [`daemon`], [`session`], [`target`] and others each cover one part of the system.

pub mod adopt;
pub mod advise;
pub mod background;
pub mod bench;
pub mod cdi;
pub mod check;
pub mod cli;
pub mod complete;
pub mod daemon;
mod details;
pub mod doctor;
pub mod environment;
pub mod feed;
mod filters;
#[cfg(test)]
mod generated;
pub mod host;
mod inherited;
pub mod interleave;
pub mod lab;
pub mod launch;
mod mend;
mod mold;
pub mod output;
pub mod picture;
pub mod policy;
pub mod profile;
mod program_limits;
pub mod ps;
pub mod record;
pub mod session;
pub mod slurm;
mod tally;
pub mod target;
pub mod top;
mod users;
mod verbose;
pub mod web;
mod whole_file;
pub mod why;
pub mod worth;

use std::process::ExitCode;

/// Prints a command's error and returns its exit status.
pub fn failure(command: &str, error: &anyhow::Error) -> ExitCode {
    output::complain(&format!("{command}: {error:#}"));
    if error.chain().any(bench::interrupt::is_interrupt) {
        return ExitCode::from(128 + 2); // the status of SIGINT in shells
    }
    let unstartable = error.chain().find_map(|cause| cause.downcast_ref::<target::Unstartable>());
    ExitCode::from(unstartable.map_or(1, target::Unstartable::exit_status))
}
