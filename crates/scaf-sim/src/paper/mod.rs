//! The papers' experiments, simulated. The papers' numbers stand in tables (fixtures/papers), assumptions in
//! scenario files (fixtures/scenarios) or here. Only what concerns unmodified programs is fitted.

mod pairs;
mod report;
mod scalo;
mod schedule;
mod simulated;
mod tables;
mod taco;
mod three_way;

pub use report::{Block, Comparison, Error, Figure, Kind, Paper, Schedule, steps};
pub use simulated::under;

/// Re-runs an experiment from a seed.
pub type Rerun = fn(u64) -> Result<Paper, Error>;

/// All experiments, by their names on the command line.
pub const PAPERS: &[(&str, Rerun)] = &[
    ("scaf-three-way", three_way::run),
    ("scaf-pairs", pairs::run),
    ("scalo-pairs", scalo::pairs),
    ("scalo-mixes", scalo::mixes),
    ("taco-sets", taco::sets),
    ("effective-speedup", taco::effective),
];
