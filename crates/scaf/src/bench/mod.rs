//! `scaf bench`: what scaf costs ([`overhead`], [`solo`], [`decide`], [`gang`]), what it knows
//! ([`estimate`]), what company does to a program ([`effective`]) and what it is worth ([`mix`]).
//!
//! Words: a *repetition* is one round in which everything is measured once; the kinds of runs are
//! interleaved, so that a machine that slows down meanwhile slows all of them. A *plain* run has nothing of
//! scaf in it. A *managed* run has the environment that `scaf run` makes and a *private daemon*, which serves
//! only this benchmark. Results are medians. docs/bench.md defines every number.

mod child;
mod clock;
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
mod private;
mod progress;
mod seat;
mod slow;
pub mod solo;
pub(crate) mod stats;

use crate::host::{self, Machine};
use crate::output;
use anyhow::Result;
use serde::Serialize;

pub use interrupt::is_interrupt;

/// What every JSON object has, so that results of different days and machines can be compared.
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

/// Prints the table for people and, if asked for, the JSON for programs: then standard output is the JSON's
/// alone.
pub(crate) fn publish(json: bool, table: &str, result: &impl Serialize) -> Result<()> {
    if json {
        eprint!("{table}");
        output::print(&(serde_json::to_string_pretty(result)? + "\n"))?;
    } else {
        output::print(table)?;
    }
    Ok(())
}
