//! The programs that jobs run: those of the papers' tables, by their speedups.

use crate::Shape;
use crate::mixes::{Curve, curves};
use serde::Deserialize;

const TACO: &str = include_str!("../../../../fixtures/papers/taco_table1_speedups.csv");
const SCALO: &str = include_str!("../../../../fixtures/papers/scalo_table2_programs.csv");
/// The cores of SCALO's machine, at which its table 2 has speedups.
const SCALO_CORES: u32 = 20;

#[derive(Deserialize)]
struct ScaloLine {
    program: String,
    #[serde(rename = "SP20")]
    speedup: f64,
}

/// TACO's eight programs (table 1, alone: straight lines between points) and SCALO's ten (table 2: Amdahl's
/// law through the speedup on 20 cores), up to so many contexts.
/// # Errors
/// A damaged table in this build.
pub fn programs(contexts: u32) -> Result<Vec<Curve>, curves::TableError> {
    let mut all = curves::from_csv(TACO, "traditional", contexts)?;
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(SCALO.as_bytes());
    for line in reader.deserialize() {
        let ScaloLine { program, speedup } = line?;
        let shape = Shape::AmdahlThrough(SCALO_CORES, speedup);
        all.push(Curve::of(program, contexts, |p| shape.at(p as u32)));
    }
    Ok(all)
}
