//! The papers' tables, read from the files in fixtures/papers.

use super::report::Error;
use serde::Deserialize;
use serde::de::DeserializeOwned;

fn read<T: DeserializeOwned>(name: &'static str, text: &str) -> Result<Vec<T>, Error> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<Vec<T>, _>>().map_err(|error| Error::Table(name, error))
}

macro_rules! table {
    ($function:ident, $row:ty, $file:literal) => {
        pub(super) fn $function() -> Result<Vec<$row>, Error> {
            read($file, include_str!(concat!("../../../../fixtures/papers/", $file)))
        }
    };
}

/// SCAF's table 5a.
#[derive(Debug, Deserialize)]
pub(super) struct ThreeWay {
    pub configuration: String,
    pub process: String,
    pub runtime_s: f64,
    pub speedup: f64,
}
table!(three_way, ThreeWay, "scaf_three_way.csv");

/// SCALO's headlines: changes of the sum of speedups against equipartition.
#[derive(Debug, Deserialize)]
pub(super) struct ScaloHeadline {
    pub workloads: String,
    pub allocator: String,
    pub stp_change_pct: String,
}
table!(scalo_headlines, ScaloHeadline, "scalo_headlines.csv");

#[derive(Debug, Deserialize)]
pub(super) struct ScaloProgram {
    pub class: String,
    pub program: String,
}
table!(scalo_programs, ScaloProgram, "scalo_table2_programs.csv");

#[derive(Debug, Deserialize)]
pub(super) struct Speedups {
    pub benchmark: String,
    pub kind: String,
    pub p2: f64,
    pub p3: f64,
    pub p6: f64,
    pub p12: f64,
    pub p24: f64,
}
table!(speedups, Speedups, "taco_table1_speedups.csv");

#[derive(Debug, Deserialize)]
pub(super) struct Set {
    pub set: String,
    pub workloads: u64,
    pub jobs_per_workload: usize,
    pub arrivals_per_minute: f64,
    pub mix: String,
}
table!(sets, Set, "taco_table3_sets.csv");

#[derive(Debug, Deserialize)]
pub(super) struct SetResult {
    pub set: String,
    pub approach: String,
    pub makespan_pct: f64,
    pub avg_slowdown: f64,
    pub reconfigurations: Option<f64>,
}
table!(set_results, SetResult, "taco_table4_results.csv");

#[derive(Debug, Deserialize)]
pub(super) struct Pair {
    pub system: String,
    pub sp_speedup: f64,
    pub lu_speedup: f64,
    pub sum_speedup: f64,
}
table!(pair, Pair, "scaf_sp_lu_pair.csv");

#[derive(Debug, Deserialize)]
pub(super) struct PairsHeadline {
    pub contexts: u32,
    pub pairs_improved_pct: f64,
    pub mean_improvement_of_those_pct: f64,
}
table!(pairs_headlines, PairsHeadline, "scaf_headlines.csv");
