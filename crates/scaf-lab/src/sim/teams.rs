//! `scaf sim mixes --teams`: mixes of programs that keep their teams and programs that don't.

use super::{known, table_of_curves};
use crate::cli::SimMixes;
use anyhow::{Context, Result};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_policy::{Settings, by_name};
use scaf_sim::mixes::curves;
use scaf_sim::mixes::teams::{Best, MEASURED, TeamMix, TeamSetting, best, draw, run as run_mix};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    seed: u64,
    noise_pct: f64,
    mixes: usize,
    policies: Vec<PolicyReport>,
}

#[derive(Serialize)]
struct PolicyReport {
    name: String,
    /// All mixes.
    #[serde(flatten)]
    all: Part,
    worst_program_vs_equi_ratio: f64,
    mean_vs_equi_ratio: f64,
    /// Mixes in which all programs stay.
    long: Part,
    /// Mixes in which short ones come and go.
    short: Part,
}

/// Of all work, from the first moment on.
#[derive(Serialize)]
struct Part {
    mean_pct_of_oracle: f64,
    worst_pct_of_oracle: f64,
    mean_pct_of_floored_oracle: f64,
    worst_pct_of_floored_oracle: f64,
    worst_vs_equi_ratio: f64,
}

/// What a policy did in one mix.
struct Row {
    short: bool,
    pct: f64,
    floored_pct: f64,
    vs_equi: f64,
    worst_program: f64,
}

pub(super) fn run(flags: &SimMixes, mixes: u32) -> Result<ExitCode> {
    let setting = TeamSetting {
        mixes: u64::from(mixes),
        noise: flags.noise_pct / 100.0,
        seed: flags.common.seed,
        steps: !flags.untold,
        ..TeamSetting::default()
    };
    let table = table_of_curves(flags, MEASURED)?;
    let families = curves::families(MEASURED);
    let mixes: Vec<TeamMix> =
        (0..setting.mixes).map(|number| draw(number, &table, &families, &setting)).collect();
    let bests: Vec<Best> = mixes.iter().map(|mix| best(mix, &setting)).collect();
    let equal = done("equi", &mixes, &setting)?;
    let policy = |name: &String| -> Result<PolicyReport> {
        let done = done(name, &mixes, &setting)?;
        let row = |i: usize| {
            let sum = |of: &[f64]| of.iter().sum::<f64>();
            let each = done[i].iter().zip(&equal[i]).map(|(done, equal)| done / equal);
            Row {
                short: mixes[i].short,
                pct: 100.0 * sum(&done[i]) / bests[i].free,
                floored_pct: 100.0 * sum(&done[i]) / bests[i].floored,
                vs_equi: sum(&done[i]) / sum(&equal[i]),
                worst_program: each.fold(f64::INFINITY, f64::min),
            }
        };
        Ok(summary(name, &(0..mixes.len()).map(row).collect::<Vec<_>>()))
    };
    let report = Report {
        header: Header::new(1),
        seed: setting.seed,
        noise_pct: flags.noise_pct,
        mixes: mixes.len(),
        policies: known(&flags.policies)?.iter().map(policy).collect::<Result<Vec<_>>>()?,
    };
    publish(flags.common.json, &table_of(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The work of each program of each mix.
fn done(name: &str, mixes: &[TeamMix], setting: &TeamSetting) -> Result<Vec<Vec<f64>>> {
    let settings = Settings { floor: setting.floor, ..Settings::default() };
    let run = |mix: &TeamMix| {
        let mut policy = by_name(name, &settings).with_context(|| format!("there is no policy '{name}'"))?;
        Ok(run_mix(policy.as_mut(), mix, setting))
    };
    mixes.iter().map(run).collect()
}

fn summary(name: &str, rows: &[Row]) -> PolicyReport {
    let all: Vec<&Row> = rows.iter().collect();
    let (short, long): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.short);
    PolicyReport {
        name: name.to_owned(),
        all: part(&all),
        worst_program_vs_equi_ratio: worst(&all, |row| row.worst_program),
        mean_vs_equi_ratio: mean(&all, |row| row.vs_equi),
        long: part(&long),
        short: part(&short),
    }
}

fn part(rows: &[&Row]) -> Part {
    Part {
        mean_pct_of_oracle: mean(rows, |row| row.pct),
        worst_pct_of_oracle: worst(rows, |row| row.pct),
        mean_pct_of_floored_oracle: mean(rows, |row| row.floored_pct),
        worst_pct_of_floored_oracle: worst(rows, |row| row.floored_pct),
        worst_vs_equi_ratio: worst(rows, |row| row.vs_equi),
    }
}

fn mean(rows: &[&Row], of: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len().max(1) as f64
}

fn worst(rows: &[&Row], of: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| of(row)).reduce(f64::min).unwrap_or(0.0)
}

fn table_of(report: &Report) -> String {
    let mut table = output::plain_table(&[
        "POLICY",
        "MEAN %",
        "WORST %",
        "OF FLOORED %",
        "WORST %",
        "LONG %",
        "WORST %",
        "SHORT %",
        "WORST %",
        "/EQUI",
        "WORST",
        "PROGRAM",
    ]);
    for policy in &report.policies {
        let percents = [
            policy.all.mean_pct_of_oracle,
            policy.all.worst_pct_of_oracle,
            policy.all.mean_pct_of_floored_oracle,
            policy.all.worst_pct_of_floored_oracle,
            policy.long.mean_pct_of_oracle,
            policy.long.worst_pct_of_oracle,
            policy.short.mean_pct_of_oracle,
            policy.short.worst_pct_of_oracle,
        ];
        let ratios =
            [policy.mean_vs_equi_ratio, policy.all.worst_vs_equi_ratio, policy.worst_program_vs_equi_ratio];
        let cells = percents.iter().map(|it| format!("{it:.1}"));
        let cells = cells.chain(ratios.iter().map(|it| format!("{it:.3}")));
        table.add_row(std::iter::once(policy.name.clone()).chain(cells).collect::<Vec<_>>());
    }
    output::align_right(&mut table, &(1..12).collect::<Vec<_>>());
    let (mixes, noise) = (report.mixes, report.noise_pct);
    format!(
        "{mixes} mixes of kept and other teams on 16 to 1,024 contexts, measurements {noise}% off: percent \
         of the most work that could be done in a minute\n{}\n",
        output::trimmed(&table)
    )
}
