//! `scaf bench`: what scaf costs ([`overhead`], [`solo`], [`decide`], [`gang`]), what it knows
//! ([`estimate`]), what company does to a program ([`effective`]), and what scaf is worth ([`mix`]).
//!
//! A *repetition* measures everything once; the kinds of runs are interleaved, so that a slower machine
//! affects all of them. A *plain* run has nothing of scaf in it. A *managed* run has the environment of `scaf
//! run` and a *private daemon*, which serves only this benchmark. Results are medians.
//! docs/internals/bench.md defines every number.

mod child;
pub(crate) mod clock;
mod corun;
pub mod decide;
pub mod effective;
pub mod estimate;
mod folders;
pub mod gang;
pub(crate) mod interrupt;
mod kernel;
pub mod mix;
pub mod noise;
pub mod overhead;
mod place;
pub(crate) mod private;
pub(crate) mod progress;
mod seat;
mod slow;
pub mod solo;
pub(crate) mod stats;

use crate::host::{self, Machine};
use crate::output;
use anyhow::Result;
use serde::Serialize;

pub use interrupt::is_interrupt;

/// The fields of every JSON object that make results of different days and machines comparable.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    machine: Machine,
    version: &'static str,
    repetitions: u32,
    date: String,
}

impl Header {
    pub(crate) fn new(repetitions: u32) -> Header {
        Header {
            machine: host::machine(),
            version: env!("CARGO_PKG_VERSION"),
            repetitions,
            date: clock::date(),
        }
    }
}

/// Prints the table and, if asked for, the JSON; the table then goes to standard error.
pub(crate) fn publish(json: bool, table: &str, result: &impl Serialize) -> Result<()> {
    if json {
        eprint!("{table}");
        output::print(&(serde_json::to_string_pretty(result)? + "\n"))?;
    } else {
        output::print(table)?;
    }
    Ok(())
}
