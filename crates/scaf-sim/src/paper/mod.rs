//! The papers' experiments, simulated: ours beside theirs.
//!
//! What the papers give stands in tables (fixtures/papers), what they don't is assumed in scenario files (fixtures/scenarios) or
//! here, and is told with the results. Only what concerns unmodified programs is ever fitted.

mod pairs;
mod scalo;
mod schedule;
mod tables;
mod taco;
mod three_way;

use crate::scenario::Scenario;
use crate::{Options, Outcome, simulate};
use scaf_policy::{Objective, Settings, Topology, by_name};
use serde::Serialize;

/// One number of ours beside one of theirs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The policy or system.
    pub configuration: String,
    /// The program or set of programs.
    pub process: String,
    /// What is measured, with its unit.
    pub what: &'static str,
    /// Ours.
    pub ours: f64,
    /// Theirs, where the paper has it.
    pub paper: Option<f64>,
}

/// A picture, as data.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// File name without ending.
    pub file: String,
    /// Above it.
    pub title: String,
    /// What the vertical axis shows.
    pub axis: &'static str,
    /// What is in it.
    pub kind: Kind,
}

/// What is in a picture.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Groups of bars: names of the groups, and for each series a value for each group.
    Bars {
        /// Names below the bars.
        groups: Vec<String>,
        /// Name and values of each series.
        series: Vec<(String, Vec<Option<f64>>)>,
    },
    /// Something over time: for each series (seconds, value) where it changes.
    Steps {
        /// Name and changes of each program.
        series: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Who runs where when: one schedule beside the other.
    Schedules {
        /// Contexts of the machine.
        contexts: u32,
        /// The schedules.
        schedules: Vec<Schedule>,
    },
}

/// A round of time slices.
#[derive(Clone, PartialEq, Debug)]
pub struct Schedule {
    /// What it is of.
    pub name: String,
    /// Time slices in a round.
    pub slices: u32,
    /// Who runs.
    pub blocks: Vec<Block>,
}

/// One program on some neighbouring contexts for some slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// Which program, from 1.
    pub program: u64,
    /// From this slice on, and for how many.
    pub slices: (u32, u32),
    /// From this context on, and how many.
    pub contexts: (u32, u32),
}

/// An experiment, re-run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, and where in which paper.
    pub title: &'static str,
    /// Ours and theirs.
    pub rows: Vec<Row>,
    /// What is assumed.
    pub assumptions: Vec<String>,
    /// Pictures.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// Why an experiment can't be re-run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A table of this build is damaged.
    #[error("table {0}: {1}")]
    Table(&'static str, csv::Error),
    /// A scenario of this build is damaged.
    #[error(transparent)]
    Scenario(#[from] crate::scenario::Error),
    /// A policy is missing that it needs.
    #[error("there is no policy '{0}' in this build")]
    Policy(String),
}

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

/// Policies among these that this build has.
fn available(names: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().filter(|name| by_name(name, &Settings::default()).is_some()).collect()
}

/// Simulates a scenario under the policy of that name.
///
/// # Errors
/// If there is no such policy.
pub fn under(
    policy: &str,
    scenario: &Scenario,
    topology: &Topology,
    options: Options,
) -> Result<Outcome, Error> {
    let settings = Settings { objective: Objective::Throughput, floor: scenario.daemon.floor };
    let mut policy = by_name(policy, &settings).ok_or_else(|| Error::Policy(policy.to_owned()))?;
    Ok(simulate(scenario, topology, &mut *policy, options))
}

/// What becomes of each of `items`, in their order; on all cores, for an experiment is thousands of simulations that know nothing of
/// each other. Each core takes every so manieth, so that long ones, which stand together, are shared.
fn each<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let part = |first: usize| -> Vec<R> { items.iter().skip(first).step_by(cores).map(&of).collect() };
    let mut parts: Vec<_> = std::thread::scope(|scope| {
        let part = &part;
        let others: Vec<_> = (1..cores).map(|first| scope.spawn(move || part(first))).collect();
        let own = part(0);
        let join = |it: std::thread::ScopedJoinHandle<'_, Vec<R>>| {
            it.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        [own].into_iter().chain(others.into_iter().map(join)).map(Vec::into_iter).collect()
    });
    (0..items.len()).filter_map(|at| parts[at % cores].next()).collect()
}

/// The programs' contexts over time, as a picture.
pub fn steps(file: String, title: String, outcome: &Outcome) -> Figure {
    let series = outcome.programs.iter().zip(1..).map(|(program, id)| {
        let of = outcome.steps.iter().filter(|step| step.program == id);
        (program.name.clone(), of.map(|step| (step.at_s, f64::from(step.contexts))).collect())
    });
    Figure { file, title, axis: "contexts", kind: Kind::Steps { series: series.collect() } }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_becomes_of_each_is_in_order() {
        for count in [0, 1, 2, 7] {
            let items: Vec<usize> = (0..count).collect();
            assert!(super::each(&items, |item| item * 3).into_iter().eq((0..count).map(|item| item * 3)));
        }
    }
}
