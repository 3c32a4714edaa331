//! `scaf sim run`: a scenario under one policy after another.

use super::{Summary, draw, known, list};
use crate::cli::SimRun;
use anyhow::{Context, Result};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_sim::trace::Line;
use scaf_sim::{Options, Outcome, Scenario, paper};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    scenario: String,
    seed: u64,
    assumptions: Vec<String>,
    policies: Vec<Summary>,
}

/// Carries out `scaf sim run`.
/// # Errors
/// A file that is no scenario, or an unknown policy.
pub fn run(flags: &SimRun) -> Result<ExitCode> {
    let path = flags.file.display();
    let text = std::fs::read_to_string(&flags.file).with_context(|| format!("{path}"))?;
    let scenario = Scenario::parse(&text).with_context(|| format!("{path}"))?;
    let topology = scenario.topology().with_context(|| format!("{path}"))?;
    let options = Options { seed: flags.common.seed, record: flags.record.is_some() };
    let mut outcomes = Vec::new();
    for policy in known(&flags.policy)? {
        outcomes.push(paper::under(policy, &scenario, &topology, options)?);
    }
    if let Some(folder) = &flags.svg {
        let figure = |outcome: &Outcome| {
            let title = format!("{}, under {}: contexts over time", scenario.name, outcome.policy);
            paper::steps(format!("{}-{}", scenario.name, outcome.policy), title, outcome)
        };
        draw(folder, &outcomes.iter().map(figure).collect::<Vec<_>>())?;
    }
    if let (Some(file), Some(outcome)) = (&flags.record, outcomes.last()) {
        std::fs::write(file, trace(&scenario, outcome)?).with_context(|| format!("{}", file.display()))?;
    }
    let table = table(&scenario, &outcomes);
    let report = Report {
        header: Header::new(1),
        scenario: scenario.name,
        seed: flags.common.seed,
        assumptions: scenario.assumptions,
        policies: outcomes.into_iter().map(Summary::new).collect(),
    };
    publish(flags.common.json, &table, &report)?;
    Ok(ExitCode::SUCCESS)
}

fn table(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let mut table = output::plain_table(&[
        "POLICY",
        "STP",
        "ANTT",
        "MAKESPAN S",
        "BUSY %",
        "CHANGES",
        "SPEEDUPS (SECONDS)",
    ]);
    for outcome in outcomes {
        let programs = outcome.programs.iter();
        let programs = programs.map(|p| format!("{} {:.2} ({:.1})", p.name, p.speedup, p.time_s()));
        table.add_row([
            outcome.policy.clone(),
            format!("{:.2}", outcome.stp()),
            format!("{:.2}", outcome.antt()),
            format!("{:.1}", outcome.makespan_s()),
            format!("{:.0}", outcome.busy_pct),
            outcome.changes.to_string(),
            programs.collect::<Vec<_>>().join(", "),
        ]);
    }
    output::align_right(&mut table, &[1, 2, 3, 4, 5]);
    let assumed = list("Assumed:", &scenario.assumptions);
    format!("{}: {}\n{}\n{assumed}", scenario.name, scenario.description, output::trimmed(&table))
}

fn trace(scenario: &Scenario, outcome: &Outcome) -> Result<String> {
    let mut text = String::new();
    for decision in &outcome.recorded {
        let there = |id: u64| decision.programs.iter().any(|program| program.id.0 == id);
        let names = (1..).zip(&scenario.programs).filter(|(id, _)| there(*id));
        let names = names.map(|(id, program)| (id, program.name.clone())).collect();
        let line = Line { names, ..Line::of(decision.clone()) };
        text += &serde_json::to_string(&line)?;
        text.push('\n');
    }
    Ok(text)
}
