//! `scaf sim`: scenarios ([`scenario`]), the papers' experiments ([`paper`]), recorded traces ([`replay`])
//! policies in a closed loop ([`mixes`]) and a whole cluster ([`cluster`]), on a virtual clock.
//! docs/internals/simulator.md and docs/guide/cluster.md say what is simulated.

pub mod cluster;
mod cluster_plot;
mod figures;
pub mod mixes;
pub mod paper;
pub mod replay;
pub mod scenario;
mod teams;

use crate::cli::SimMixes;
use anyhow::{Context, Result, bail};
use scaf_policy::POLICIES;
use scaf_sim::Outcome;
use scaf_sim::mixes::{Curve, curves};
use scaf_sim::paper::Figure;
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Summary {
    stp: f64,
    antt: f64,
    makespan_s: f64,
    #[serde(flatten)]
    outcome: Outcome,
}

impl Summary {
    fn new(outcome: Outcome) -> Summary {
        Summary { stp: outcome.stp(), antt: outcome.antt(), makespan_s: outcome.makespan_s(), outcome }
    }
}

/// Checks the policies' names.
fn known(policies: &[String]) -> Result<&[String]> {
    for name in policies {
        if !POLICIES.iter().any(|entry| entry.name == name) {
            let names: Vec<&str> = POLICIES.iter().map(|entry| entry.name).collect();
            bail!("there is no policy '{name}'; there are {}", names.join(", "));
        }
    }
    Ok(policies)
}

/// Draws pictures into a folder, made if missing.
fn draw(folder: &Path, figures: &[Figure]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("{}", folder.display()))?;
    for figure in figures {
        let file = folder.join(format!("{}.svg", figure.file));
        std::fs::write(&file, figures::draw(figure)?).with_context(|| format!("{}", file.display()))?;
    }
    Ok(())
}

fn list(heading: &str, lines: &[String]) -> String {
    let mut text = String::new();
    if !lines.is_empty() {
        text += &format!("\n{heading}\n");
    }
    for line in lines {
        text += &format!("  - {line}\n");
    }
    text
}

/// The rows of the file's table, on so many contexts.
fn table_of_curves(flags: &SimMixes, contexts: u32) -> Result<Vec<Curve>> {
    let file = flags.curves.as_ref().context("say --curves FILE or --family NAME")?;
    let text = std::fs::read_to_string(file).with_context(|| format!("{}", file.display()))?;
    curves::from_csv(&text, &flags.kind, contexts).with_context(|| format!("{}", file.display()))
}
