//! `scaf sim paper`: an experiment of the papers, ours beside theirs.

use super::{draw, list};
use crate::cli::SimPaper;
use anyhow::{Result, anyhow};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_sim::paper::{PAPERS, Paper};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    seed: u64,
    #[serde(flatten)]
    paper: Paper,
}

/// Carries out `scaf sim paper`.
/// # Errors
/// A damaged table in this build.
pub fn run(flags: &SimPaper) -> Result<ExitCode> {
    let (_, rerun) = PAPERS
        .iter()
        .find(|(name, _)| *name == flags.name)
        .ok_or_else(|| anyhow!("there is no experiment '{}'", flags.name))?;
    let paper = rerun(flags.common.seed)?;
    if let Some(folder) = &flags.svg {
        draw(folder, &paper.figures)?;
    }
    let table = table(&paper, flags.all);
    let report = Report { header: Header::new(1), seed: flags.common.seed, paper };
    publish(flags.common.json, &table, &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Most rows of a table that is shown whole unless asked for all.
const MOST_ROWS: usize = 60;

fn table(paper: &Paper, all: bool) -> String {
    let mut table = output::plain_table(&["CONFIGURATION", "PROCESS", "WHAT", "OURS", "PAPER"]);
    let all = all || paper.rows.len() <= MOST_ROWS;
    // Individual workloads only with a number of the paper; sets of workloads always.
    let shown = paper.rows.iter().filter(|row| all || row.paper.is_some() || !row.process.contains('+'));
    for row in shown {
        table.add_row([
            row.configuration.clone(),
            row.process.clone(),
            row.what.to_owned(),
            format!("{:.1}", row.ours),
            row.paper.map_or_else(|| "-".into(), |value| format!("{value:.1}")),
        ]);
    }
    output::align_right(&mut table, &[3, 4]);
    format!("{}\n{}\n{}", paper.title, output::trimmed(&table), list("Assumed:", &paper.assumptions))
}
