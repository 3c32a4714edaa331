//! The `scaf` command line, as a library for its tests and for packaging. [`cli`] defines it; each command is
//! one module. [`daemon`], [`session`], [`target`] and others know one thing about the system each.

pub mod advise;
pub mod bench;
pub mod cdi;
pub mod check;
pub mod cli;
pub mod complete;
pub mod daemon;
mod details;
pub mod doctor;
mod environment;
pub mod feed;
mod filters;
#[cfg(test)]
mod generated;
pub mod host;
mod inherited;
pub mod interleave;
pub mod launch;
mod mend;
mod mold;
pub mod output;
mod picture;
pub mod policy;
pub mod profile;
pub mod ps;
pub mod record;
pub mod session;
pub mod sim;
pub mod slurm;
mod tally;
pub mod target;
pub mod top;
mod users;
mod verbose;
pub mod web;
mod whole_file;
pub mod why;
mod wish;
pub mod worth;
