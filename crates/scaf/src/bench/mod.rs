//! `scaf bench`: what scaf costs ([`overhead`], [`solo`]), and what it is worth ([`mix`]). The other
//! benchmarks are in `crates/scaf-lab`, which uses what is here.
//!
//! A *repetition* measures everything once; the kinds of runs are interleaved, so that a slower machine
//! affects all of them. A *plain* run has nothing of scaf in it. A *managed* run has the environment of `scaf
//! run` and a *private daemon*, which serves only this benchmark. Results are medians.
//! docs/internals/bench.md defines every number.

#![allow(missing_docs)] // for scaf-lab only

pub mod child;
pub mod clock;
pub mod corun;
pub mod folders;
pub mod interrupt;
pub mod kernel;
pub mod mix;
pub mod overhead;
pub mod private;
pub mod progress;
pub mod solo;
pub mod stats;

use crate::host::{self, Machine};
use crate::output;
use anyhow::Result;
use serde::Serialize;

/// The fields of every JSON object that make results of different days and machines comparable.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    machine: Machine,
    version: &'static str,
    pub repetitions: u32,
    date: String,
}

impl Header {
    pub fn new(repetitions: u32) -> Header {
        Header {
            machine: host::machine(),
            version: env!("CARGO_PKG_VERSION"),
            repetitions,
            date: clock::date(),
        }
    }
}

/// Prints the table and, if asked for, the JSON; the table then goes to standard error.
pub fn publish(json: bool, table: &str, result: &impl Serialize) -> Result<()> {
    if json {
        eprint!("{table}");
        output::print(&(serde_json::to_string_pretty(result)? + "\n"))?;
    } else {
        output::print(table)?;
    }
    Ok(())
}
