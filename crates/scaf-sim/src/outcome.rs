use scaf_policy::{Decision, metrics};
use serde::Serialize;

/// One program's fate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ProgramOutcome {
    /// Its name.
    pub name: String,
    /// When it came, in seconds.
    pub arrived_s: f64,
    /// When it ended, in seconds.
    pub ended_s: f64,
    /// Its work: seconds on one context alone.
    pub work_s: f64,
    /// Its work done when it ended: all, but for rounding.
    #[serde(skip)]
    pub done_s: f64,
    /// Its work over the time that it took.
    pub speedup: f64,
    /// Its time over that on the whole machine alone.
    pub slowdown: f64,
}

impl ProgramOutcome {
    /// Seconds from arrival to end.
    pub fn time_s(&self) -> f64 {
        self.ended_s - self.arrived_s
    }
}

/// A change of a program's contexts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Step {
    /// When, in seconds.
    pub at_s: f64,
    /// The program's place in the scenario, from 1.
    pub program: u64,
    /// Contexts from now on; 0 when it has ended.
    pub contexts: u32,
}

/// The result of a simulation.
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
    /// Number of decisions.
    pub decisions: u64,
    /// Percentage of the contexts' time that was busy while any program was there.
    pub busy_pct: f64,
    /// The most contexts that were busy at once.
    pub most_busy: f64,
    /// Work a second of all programs while all were there; `None` if they never were.
    pub stp_together: Option<f64>,
    /// Seconds in which any program was there.
    pub occupied_s: f64,
    /// Contexts of programs over time.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Decisions, if asked for.
    #[serde(skip)]
    pub recorded: Vec<Decision>,
}

impl Outcome {
    /// The sum of speedups.
    pub fn stp(&self) -> f64 {
        metrics::stp(&self.programs.iter().map(|program| program.speedup).collect::<Vec<_>>())
    }

    /// The number of programs present, as (seconds, number) at each change.
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
