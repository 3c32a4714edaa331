use crate::Outcome;
use serde::Serialize;

/// One number of ours beside one of theirs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
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
    /// The title.
    pub title: String,
    /// What the vertical axis shows.
    pub axis: &'static str,
    /// The content.
    pub kind: Kind,
}

/// The content of a picture.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Groups of bars.
    Bars {
        /// Names below the bars.
        groups: Vec<String>,
        /// Name of each series, and its value for each group.
        series: Vec<(String, Vec<Option<f64>>)>,
    },
    /// Values over time.
    Steps {
        /// Name of each program, and (seconds, value) at each change.
        series: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Schedules side by side.
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
    /// Its title.
    pub name: String,
    /// Time slices in a round.
    pub slices: u32,
    /// The programs in it.
    pub blocks: Vec<Block>,
}

/// One program on neighbouring contexts for some slices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The program's number, from 1.
    pub program: u64,
    /// First slice and number of slices.
    pub slices: (u32, u32),
    /// First context and number of contexts.
    pub contexts: (u32, u32),
}

/// An experiment, re-run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, and where in which paper.
    pub title: &'static str,
    /// Our numbers and the paper's.
    pub rows: Vec<Comparison>,
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
    /// A policy that it needs is missing.
    #[error("there is no policy '{0}' in this build")]
    Policy(String),
}

/// The programs' contexts over time, as a picture.
pub fn steps(file: String, title: String, outcome: &Outcome) -> Figure {
    let series = outcome.programs.iter().zip(1..).map(|(program, id)| {
        let of = outcome.steps.iter().filter(|step| step.program == id);
        (program.name.clone(), of.map(|step| (step.at_s, f64::from(step.contexts))).collect())
    });
    Figure { file, title, axis: "contexts", kind: Kind::Steps { series: series.collect() } }
}
