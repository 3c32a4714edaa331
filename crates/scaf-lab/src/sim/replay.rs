//! `scaf sim replay`: what would have happened in a recorded trace under another policy, beside what did.

use super::{Summary, known, list};
use crate::cli::SimReplay;
use anyhow::{Context, Result};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_policy::metrics;
use scaf_sim::trace::{self, Rebuilt, Recorded};
use scaf_sim::{Options, Outcome, paper};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    seed: u64,
    assumptions: Vec<String>,
    recorded: Happened,
    policies: Vec<Summary>,
}

#[derive(Serialize)]
struct Happened {
    policy: String,
    stp: f64,
    changes: u64,
    programs: Vec<Recorded>,
}

/// Carries out `scaf sim replay`.
/// # Errors
/// A file that is no trace, or an unknown policy.
pub fn run(flags: &SimReplay) -> Result<ExitCode> {
    let path = flags.file.display();
    let text = std::fs::read_to_string(&flags.file).with_context(|| format!("{path}"))?;
    let lines = trace::read(&text).with_context(|| format!("{path}"))?;
    let rebuilt = trace::rebuild(&lines).with_context(|| format!("{path}"))?;
    let topology = rebuilt.scenario.topology()?;
    let options = Options { seed: flags.common.seed, record: false };
    let mut outcomes = Vec::new();
    for policy in known(&flags.policy)? {
        outcomes.push(paper::under(policy, &rebuilt.scenario, &topology, options)?);
    }
    let table = table(&rebuilt, &outcomes);
    let report = Report {
        header: Header::new(1),
        seed: flags.common.seed,
        assumptions: rebuilt.scenario.assumptions,
        recorded: Happened {
            policy: rebuilt.policy,
            stp: stp(&rebuilt.recorded),
            changes: rebuilt.recorded.iter().map(|program| program.changes).sum(),
            programs: rebuilt.recorded,
        },
        policies: outcomes.into_iter().map(Summary::new).collect(),
    };
    publish(flags.common.json, &table, &report)?;
    Ok(ExitCode::SUCCESS)
}

fn stp(programs: &[Recorded]) -> f64 {
    metrics::stp(&programs.iter().map(|program| program.speedup).collect::<Vec<_>>())
}

fn table(rebuilt: &Rebuilt, outcomes: &[Outcome]) -> String {
    let mut table = output::plain_table(&["POLICY", "STP", "CHANGES", "SECONDS (SPEEDUPS)"]);
    let did = rebuilt.recorded.iter().map(|p| {
        let cut = if p.cut { "+" } else { "" };
        format!("{} {:.1}{cut} ({:.2})", p.name, p.time_s, p.speedup)
    });
    table.add_row([
        format!("{}, as it was", rebuilt.policy),
        format!("{:.2}", stp(&rebuilt.recorded)),
        rebuilt.recorded.iter().map(|program| program.changes).sum::<u64>().to_string(),
        did.collect::<Vec<_>>().join(", "),
    ]);
    for outcome in outcomes {
        let programs = outcome.programs.iter();
        let programs = programs.map(|p| format!("{} {:.1} ({:.2})", p.name, p.time_s(), p.speedup));
        table.add_row([
            outcome.policy.clone(),
            format!("{:.2}", outcome.stp()),
            outcome.changes.to_string(),
            programs.collect::<Vec<_>>().join(", "),
        ]);
    }
    output::align_right(&mut table, &[1, 2]);
    format!(
        "{}\n{}",
        output::trimmed(&table),
        list("Assumed (+: still there at the end):", &rebuilt.scenario.assumptions)
    )
}
