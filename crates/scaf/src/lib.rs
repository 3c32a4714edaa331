//! The `scaf` command line, as a library for its tests and for packaging.
//!
//! [`cli`] is what can be typed. Each command is one module that resolves the flags into what is meant and
//! carries it out; the modules below them ([`daemon`], [`session`], [`target`]) each know one thing about the
//! system.

pub mod bench;
pub mod cli;
pub mod complete;
pub mod daemon;
pub mod doctor;
pub mod host;
pub mod interleave;
pub mod launch;
pub mod output;
mod picture;
pub mod policy;
pub mod profile;
pub mod ps;
pub mod record;
pub mod session;
pub mod sim;
pub mod target;
pub mod why;
