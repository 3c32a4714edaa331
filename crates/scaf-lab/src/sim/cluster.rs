//! `scaf sim cluster`: what it is worth to share the nodes of a cluster, and to divide them by a policy.

use super::cluster_plot::{self, Row};
use super::list;
use crate::cli::SimCluster;
use anyhow::{Context, Result, anyhow};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_sim::cluster::{self, Setting, Sharing};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    seed: u64,
    nodes: u32,
    contexts: u32,
    jobs: u32,
    oversubscription: u32,
    partner_loss_ratio: f64,
    assumptions: Vec<String>,
    rows: Vec<Row>,
}

/// Carries out `scaf sim cluster`.
/// # Errors
/// An unknown way to share, or a picture that can't be written.
pub fn run(flags: &SimCluster) -> Result<ExitCode> {
    let named = |name: &String| Sharing::named(name).map_err(|message| anyhow!(message));
    let sharings = flags.sharing.iter().map(named).collect::<Result<Vec<Sharing>>>()?;
    let programs = cluster::programs(flags.contexts)?;
    let mut rows = Vec::new();
    for load in &flags.load {
        let setting = setting(flags, *load);
        let jobs = cluster::jobs(&setting, programs.len());
        for sharing in &sharings {
            let ended = cluster::simulate(&setting, &programs, &jobs, *sharing);
            let figures = cluster::figures(&setting, &jobs, &ended);
            rows.push(Row { load: *load, sharing: sharing.to_string(), figures });
        }
    }
    if let Some(file) = &flags.plot {
        let picture = cluster_plot::draw(&rows)?;
        std::fs::write(file, picture).with_context(|| file.display().to_string())?;
    }
    let report = Report {
        header: Header::new(1),
        seed: flags.common.seed,
        nodes: flags.nodes,
        contexts: flags.contexts,
        jobs: flags.jobs,
        oversubscription: flags.oversubscription,
        partner_loss_ratio: flags.partner_loss,
        assumptions: assumptions(flags, programs.len()),
        rows,
    };
    publish(flags.common.json, &table(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

fn setting(flags: &SimCluster, load: f64) -> Setting {
    Setting {
        nodes: flags.nodes,
        contexts: flags.contexts,
        jobs: flags.jobs,
        load,
        oversubscription: flags.oversubscription,
        partner_loss: flags.partner_loss,
        seed: flags.common.seed,
    }
}

fn assumptions(flags: &SimCluster, programs: usize) -> Vec<String> {
    let (times, loss) = (flags.oversubscription, 100.0 * flags.partner_loss);
    vec![
        "Arrivals, sizes and run times: Lublin and Feitelson's model (JPDC 63(11), 2003) with its published \
         parameters; the largest job has a node's contexts, and gaps are scaled to the load."
            .into(),
        format!(
            "Programs: the {programs} of TACO's table 1 and SCALO's table 2 by their speedups, all as \
             likely. A job never has more contexts than it asks for, but for \"whole\"."
        ),
        "Queue: first come, first served, with backfilling and nodes kept for the first 32 jobs. Jobs that \
         span nodes are left out, and so is memory as a limit."
            .into(),
        format!(
            "Policies: a node's jobs ask together for up to {times} times its contexts; the division is the \
             one that the policy settles on with known curves, at once."
        ),
        format!("A job whose partners have all other contexts takes {loss:.0}% longer (memory, caches)."),
    ]
}

fn table(report: &Report) -> String {
    let mut table = output::plain_table(&[
        "LOAD",
        "SHARING",
        "JOBS/H",
        "BUSY %",
        "WAIT S",
        "P90 S",
        "SLOWDOWN",
        "MEDIAN",
        "WORST 10TH",
        "STRETCH",
        "WORST 10TH",
    ]);
    for Row { load, sharing, figures } in &report.rows {
        table.add_row([
            format!("{load}"),
            sharing.clone(),
            format!("{:.0}", figures.jobs_per_h),
            format!("{:.0}", figures.busy_pct),
            format!("{:.0}", figures.wait_mean_s),
            format!("{:.0}", figures.wait_p90_s),
            format!("{:.2}", figures.slowdown_mean),
            format!("{:.2}", figures.slowdown_median),
            format!("{:.1}", figures.slowdown_worst_tenth),
            format!("{:.2}", figures.stretch_mean),
            format!("{:.2}", figures.stretch_worst_tenth),
        ]);
    }
    output::align_right(&mut table, &[0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    format!(
        "{} jobs on {} nodes of {} contexts\n{}\n{}",
        report.jobs,
        report.nodes,
        report.contexts,
        output::trimmed(&table),
        list("Assumed:", &report.assumptions)
    )
}
