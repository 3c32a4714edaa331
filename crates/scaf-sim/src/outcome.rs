//! What came of a simulation.

use scaf_policy::{Decision, metrics};
use serde::Serialize;

/// One program's fate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProgramOutcome {
    /// Its name.
    pub name: String,
    /// When it came, in seconds.
    pub arrived_s: f64,
    /// When it ended.
    pub ended_s: f64,
    /// Its work: seconds on one context alone.
    pub work_s: f64,
    /// What it had done of it when it ended: all, but for rounding.
    #[serde(skip)]
    pub done_s: f64,
    /// Its work over the time that it took.
    pub speedup: f64,
    /// The time that it took over that on the whole machine alone.
    pub slowdown: f64,
}

impl ProgramOutcome {
    /// Seconds from coming to going.
    pub fn time_s(&self) -> f64 {
        self.ended_s - self.arrived_s
    }
}

/// From this moment on a program has so many contexts; 0 when it has ended.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Step {
    /// When, in seconds.
    pub at_s: f64,
    /// Whose: its place in the scenario, from 1.
    pub program: u64,
    /// How many.
    pub contexts: u32,
}

/// What came of a simulation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Outcome {
    /// The policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// All programs, in the scenario's order.
    pub programs: Vec<ProgramOutcome>,
    /// How often a program that had a DoP got another.
    pub changes: u64,
    /// Decisions.
    pub decisions: u64,
    /// Of the contexts' time while anybody was there, the share that they were busy.
    pub busy_pct: f64,
    /// The most contexts that were busy at once.
    pub most_busy: f64,
    /// The work a second that all programs did while all of them were there: the sum of speedups without what
    /// who ends first is worth to those who stay. `None` if they never were.
    pub stp_together: Option<f64>,
    /// Seconds in which anybody was there.
    pub occupied_s: f64,
    /// Who had how many contexts when.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Decisions, where they were asked for.
    #[serde(skip)]
    pub recorded: Vec<Decision>,
}

impl Outcome {
    /// The sum of speedups.
    pub fn stp(&self) -> f64 {
        metrics::stp(&self.programs.iter().map(|program| program.speedup).collect::<Vec<_>>())
    }

    /// How many programs were there: (seconds, number) where it changes.
    pub fn present(&self) -> Vec<(f64, f64)> {
        let changes = self.programs.iter().flat_map(|p| [(p.arrived_s, 1.0), (p.ended_s, -1.0)]);
        let mut changes: Vec<(f64, f64)> = changes.collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut now = 0.0;
        for (_, change) in &mut changes {
            now += *change;
            *change = now;
        }
        changes
    }

    /// The mean slowdown.
    pub fn antt(&self) -> f64 {
        metrics::antt(&self.programs.iter().map(|program| program.slowdown).collect::<Vec<_>>())
    }

    /// From the first arrival to the last end, in seconds.
    pub fn makespan_s(&self) -> f64 {
        let first = self.programs.iter().map(|program| program.arrived_s).fold(f64::INFINITY, f64::min);
        let last = self.programs.iter().map(|program| program.ended_s).fold(0.0, f64::max);
        (last - first).max(0.0)
    }
}
