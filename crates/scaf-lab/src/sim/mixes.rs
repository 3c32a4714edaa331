//! `scaf sim mixes`: policies in a closed loop with programs of known speedups, against the best possible;
//! [`super::teams`] has those with kept teams.

use super::{known, table_of_curves, teams};
use crate::cli::SimMixes;
use anyhow::{Context, Result, anyhow};
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_policy::{Settings, by_name};
use scaf_sim::mixes::{self, Curve, Setting, curves};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    seed: u64,
    pus: u32,
    noise_pct: f64,
    mixes: usize,
    policies: Vec<PolicyReport>,
}

#[derive(Serialize)]
struct PolicyReport {
    name: String,
    /// In the second after 5 s, without a floor.
    mean_pct_of_oracle: f64,
    worst_pct_of_oracle: f64,
    /// Against the best possible under the floor.
    mean_pct_of_floored_oracle: f64,
    worst_pct_of_floored_oracle: f64,
    /// Over all 60 s, exploration included.
    mean_pct_of_oracle_60_s: f64,
    worst_program_vs_equi_ratio: f64,
    changes_per_mix: f64,
    late_changes_per_mix: f64,
}

/// Carries out `scaf sim mixes`.
/// # Errors
/// A file that is no table of speedups, or an unknown policy.
pub fn run(flags: &SimMixes) -> Result<ExitCode> {
    if let Some(mixes) = flags.teams {
        return teams::run(flags, mixes);
    }
    let setting = Setting {
        contexts: flags.pus,
        noise: flags.noise_pct / 100.0,
        seed: flags.common.seed,
        ..Setting::default()
    };
    let curves = curves_of(flags)?;
    let policies = known(&flags.policies)?.iter().map(|name| policy(name, &curves, &setting));
    let policies = policies.collect::<Result<Vec<_>>>()?;
    let count = mixes::choices(&curves, &setting.sizes).len();
    let report = Report {
        header: Header::new(1),
        seed: setting.seed,
        pus: setting.contexts,
        noise_pct: flags.noise_pct,
        mixes: count,
        policies,
    };
    publish(flags.common.json, &table(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The curves of the named family of formulas, else of the file.
fn curves_of(flags: &SimMixes) -> Result<Vec<Curve>> {
    if let Some(name) = &flags.family {
        let families = curves::families(flags.pus);
        let names: Vec<&str> = families.iter().map(|family| family.name).collect();
        let unknown = || anyhow!("there is no family '{name}'; there are {}", names.join(", "));
        let family = families.iter().find(|family| family.name == name).ok_or_else(unknown)?;
        return Ok(family.curves.clone());
    }
    table_of_curves(flags, flags.pus)
}

fn policy(name: &str, curves: &[Curve], setting: &Setting) -> Result<PolicyReport> {
    let settings = Settings { floor: setting.floor, ..Settings::default() };
    let made = by_name(name, &settings).map(drop);
    made.with_context(|| format!("there is no policy '{name}'"))?;
    let new = || by_name(name, &settings).unwrap_or_else(|| unreachable!("it was there a moment ago"));
    let outcome = mixes::run(&new, curves, setting);
    let then = outcome.figure(|mix| 100.0 * mix.then / mix.best);
    let floored = outcome.figure(|mix| 100.0 * mix.then / mix.best_floored);
    Ok(PolicyReport {
        name: name.to_owned(),
        mean_pct_of_oracle: then.mean,
        worst_pct_of_oracle: then.worst,
        mean_pct_of_floored_oracle: floored.mean,
        worst_pct_of_floored_oracle: floored.worst,
        mean_pct_of_oracle_60_s: outcome.figure(|mix| 100.0 * mix.whole / mix.best).mean,
        worst_program_vs_equi_ratio: outcome.figure(|mix| mix.least).worst,
        changes_per_mix: outcome.figure(|mix| f64::from(mix.changes)).mean,
        late_changes_per_mix: outcome.figure(|mix| f64::from(mix.late_changes)).mean,
    })
}

fn table(report: &Report) -> String {
    let mut table = output::plain_table(&[
        "POLICY",
        "MEAN %",
        "WORST %",
        "OF FLOORED %",
        "WORST %",
        "60 S %",
        "WORST/EQUI",
        "CHANGES",
        "AFTER 5 S",
    ]);
    for policy in &report.policies {
        table.add_row([
            policy.name.clone(),
            format!("{:.1}", policy.mean_pct_of_oracle),
            format!("{:.1}", policy.worst_pct_of_oracle),
            format!("{:.1}", policy.mean_pct_of_floored_oracle),
            format!("{:.1}", policy.worst_pct_of_floored_oracle),
            format!("{:.1}", policy.mean_pct_of_oracle_60_s),
            format!("{:.2}", policy.worst_program_vs_equi_ratio),
            format!("{:.1}", policy.changes_per_mix),
            format!("{:.1}", policy.late_changes_per_mix),
        ]);
    }
    output::align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let (mixes, pus, noise) = (report.mixes, report.pus, report.noise_pct);
    format!(
        "{mixes} mixes on {pus} contexts, measurements {noise}% off: percent of the best possible sum of \
         speedups\n{}\n",
        output::trimmed(&table)
    )
}
