//! The papers' experiments, simulated: ours beside theirs.
//!
//! What the papers give stands in tables (fixtures/papers), what they don't is assumed in scenario files
//! (fixtures/scenarios) or here, and is told with the results. Only what concerns unmodified programs is ever
//! fitted.

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

/// All experiments, with the names that the command line has for them.
pub const PAPERS: &[(&str, Rerun)] = &[
    ("scaf-three-way", three_way::run),
    ("scaf-pairs", pairs::run),
    ("scalo-pairs", scalo::pairs),
    ("scalo-mixes", scalo::mixes),
    ("taco-sets", taco::sets),
    ("effective-speedup", taco::effective),
];
