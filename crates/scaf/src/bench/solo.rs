//! `scaf bench solo`: what being managed costs a program that is alone on the machine.

use super::child::{self, Recipe};
use super::folders::Folders;
use super::interrupt::Interrupt;
use super::private::Private;
use super::progress::Progress;
use super::stats::median;
use super::{Header, kernel, publish};
use crate::{cli, ps};
use anyhow::{Context, Result, bail};
use scaf_policy::metrics::geomean;
use serde::Serialize;
use std::process::ExitCode;

/// Longest time of a kernel, in seconds.
const CAP_S: f64 = 600.0;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    class: String,
    programs: Vec<Program>,
    geomean_ratio: f64,
    worst_ratio: f64,
    geomean_fastest_ratio: f64,
}

#[derive(Serialize)]
struct Program {
    name: String,
    plain_s: f64,
    managed_s: f64,
    ratio: f64,
    fastest_ratio: f64,
    verified: bool,
    same_value: bool,
}

/// Carries out `scaf bench solo`. The exit status is 1 if a result was wrong.
///
/// # Errors
/// Kernels that aren't built or fail, no daemon, or an interrupt.
pub fn run(flags: &cli::Solo) -> Result<ExitCode> {
    let folders = Folders::find(None, flags.common.kernels.as_deref(), None);
    let names = if flags.programs.is_empty() { all(&folders)? } else { flags.programs.clone() };
    let recipes =
        names.iter().map(|name| recipe(&folders, name, &flags.class)).collect::<Result<Vec<_>>>()?;
    let interrupt = Interrupt::install()?;
    drop(Private::start("scaf", &interrupt)?); // if it doesn't come up, that is to be known before anything is measured
    let progress = Progress::new(names.len() * flags.repetitions as usize * 2);
    let mut programs = Vec::new();
    for (name, recipe) in names.iter().zip(&recipes) {
        progress.at(name);
        let recipe = lengthened(recipe, flags.seconds, &interrupt)?;
        programs.push(compare(name, &recipe, flags.repetitions, &interrupt, &progress)?);
    }
    drop(progress);
    let ratios: Vec<f64> = programs.iter().map(|program| program.ratio).collect();
    let report = Report {
        header: Header::new(flags.repetitions),
        class: flags.class.clone(),
        geomean_ratio: geomean(&ratios),
        geomean_fastest_ratio: geomean(
            &programs.iter().map(|program| program.fastest_ratio).collect::<Vec<_>>(),
        ),
        worst_ratio: ratios.iter().copied().fold(0.0, f64::max),
        programs,
    };
    publish(flags.common.json, &table(&report), &report)?;
    let right = report.programs.iter().all(|program| program.verified);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every kernel there is: an executable with a source of its name.
fn all(folders: &Folders) -> Result<Vec<String>> {
    let sources = folders.bench.join("kernels");
    let entries = std::fs::read_dir(&folders.kernels).with_context(|| {
        format!("{} isn't there; build the kernels: make -C {}", folders.kernels.display(), sources.display())
    })?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        // The probe of `bench overhead` is no program to be timed.
        .filter(|name| name != super::overhead::PROBE && sources.join(format!("{name}.c")).is_file())
        .collect();
    names.sort();
    if names.is_empty() {
        bail!("no kernels in {}; build them: make -C {}", folders.kernels.display(), sources.display());
    }
    Ok(names)
}

fn recipe(folders: &Folders, name: &str, class: &str) -> Result<Recipe> {
    let program = folders.kernel(name)?;
    Ok(Recipe { program, arguments: vec![format!("--class={class}").into()], environment: vec![], pus: None })
}

/// The recipe with as many repeats as make a run last for `seconds`: a start (attaching, the inspection of the code)
/// costs the same 10 to 20 ms of one core whatever follows, and is not what this is about.
fn lengthened(recipe: &Recipe, seconds: f64, interrupt: &Interrupt) -> Result<Recipe> {
    let once = kernel::line(&child::run(recipe, CAP_S, interrupt)?.stdout)?.seconds;
    let repeats = (seconds / once.max(1e-4)).ceil().clamp(1.0, 100_000.0) as u32;
    let mut longer = recipe.clone();
    longer.arguments.push(format!("--repeat={repeats}").into());
    Ok(longer)
}

fn compare(
    name: &str,
    recipe: &Recipe,
    repetitions: u32,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<Program> {
    let mut lines: [Vec<kernel::Line>; 2] = [vec![], vec![]];
    for repetition in 0..repetitions {
        // ABBA: a machine that speeds up or slows down steadily favours neither.
        let order = if repetition % 2 == 0 { [0, 1] } else { [1, 0] };
        for kind in order {
            // A daemon that has seen the plain run before would take it for load that goes on for a while.
            let private = if kind == 1 { Some(Private::start("scaf", interrupt)?) } else { None };
            let environment =
                private.as_ref().map(|private| private.environment(name, 1)).unwrap_or_default();
            let outcome = child::run(&recipe.with(environment, None), CAP_S, interrupt)?;
            lines[kind]
                .push(kernel::line(&outcome.stdout).with_context(|| recipe.program.display().to_string())?);
            progress.step();
        }
    }
    let [plain, managed] =
        [0, 1].map(|kind| lines[kind].iter().map(|line| line.seconds).collect::<Vec<f64>>());
    // Within each pair: a machine whose speed drifts in minutes moves both of a pair, but not all runs alike.
    let ratios: Vec<f64> = managed.iter().zip(&plain).map(|(managed, plain)| managed / plain).collect();
    let every = || lines.iter().flatten();
    Ok(Program {
        name: name.to_owned(),
        plain_s: median(&plain).context("no runs")?,
        managed_s: median(&managed).context("no runs")?,
        ratio: median(&ratios).context("no runs")?,
        fastest_ratio: fastest(&managed) / fastest(&plain),
        verified: every().all(|line| line.verified),
        same_value: every().all(|line| line.value == lines[0][0].value),
    })
}

/// What else runs on the machine only ever slows a program down, so the fastest run says most about the program itself.
fn fastest(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
}

fn table(report: &Report) -> String {
    let mut table = ps::plain_table(&["PROGRAM", "PLAIN S", "MANAGED S", "RATIO", "OF FASTEST", "VERIFIED"]);
    for it in &report.programs {
        table.add_row([
            it.name.clone(),
            format!("{:.3}", it.plain_s),
            format!("{:.3}", it.managed_s),
            format!("{:.4}", it.ratio),
            format!("{:.4}", it.fastest_ratio),
            if it.verified { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    ps::align_right(&mut table, &[1, 2, 3, 4]);
    format!(
        "{}\ngeometric mean {:.4}, worst {:.4} (managed/plain; medians of {} pairs, class {}); of the fastest runs {:.4}\n",
        ps::trimmed(&table),
        report.geomean_ratio,
        report.worst_ratio,
        report.header.repetitions,
        report.class,
        report.geomean_fastest_ratio
    )
}
