//! `scaf bench solo`: what being managed costs a program that is alone on the machine.

use super::child::{self, Recipe};
use super::corun::{self, Part, Run};
use super::folders::Folders;
use super::interrupt::Interrupt;
use super::private::Private;
use super::progress::Progress;
use super::stats::median;
use super::{Header, kernel, publish};
use crate::{cli, output};
use anyhow::{Context, Result, bail};
use scaf_policy::metrics::geomean;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;

const CAP_S: f64 = 600.0;
/// Length of a turn. With turns of 0.1 s a managed run of `cg` lost 1.5 to 2.3%, with turns of 1 s nothing
/// (two plain runs differed by 0.5 and 0.1%): the stops cost this, not the management.
const TURN: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    class: String,
    programs: Vec<Program>,
    geomean_ratio: f64,
    worst_ratio: f64,
}

#[derive(Serialize)]
struct Program {
    name: String,
    plain_s: f64,
    managed_s: f64,
    ratio: f64,
    verified: bool,
    same_value: bool,
}

/// Carries out `scaf bench solo`. The exit status is 1 if a result was wrong.
/// # Errors
/// Kernels that aren't built or fail, no daemon, or an interrupt.
pub fn run(flags: &cli::Solo) -> Result<ExitCode> {
    let folders = Folders::find(None, flags.common.kernels.as_deref(), None);
    let names = if flags.programs.is_empty() { all(&folders)? } else { flags.programs.clone() };
    let recipes =
        names.iter().map(|name| recipe(&folders, name, &flags.class)).collect::<Result<Vec<_>>>()?;
    let interrupt = Interrupt::install()?;
    drop(Private::start("scaf", &interrupt)?);
    let progress = Progress::new(names.len() * flags.repetitions as usize);
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
        worst_ratio: ratios.iter().copied().fold(0.0, f64::max),
        programs,
    };
    publish(flags.common.json, &table(&report), &report)?;
    let right = report.programs.iter().all(|program| program.verified);
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every kernel: an executable with a source of its name.
fn all(folders: &Folders) -> Result<Vec<String>> {
    let sources = folders.bench.join("kernels");
    let entries = std::fs::read_dir(&folders.kernels).with_context(|| {
        format!("{} isn't there; build the kernels: make -C {}", folders.kernels.display(), sources.display())
    })?;
    // The last one is scaf-lab's.
    let probes = [super::overhead::PROBE, super::overhead::members::PROBE, "gang"];
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !probes.contains(&name.as_str()))
        .filter(|name| sources.join(format!("{name}.c")).is_file())
        .collect();
    names.sort();
    if names.is_empty() {
        bail!("no kernels in {}; build them: make -C {}", folders.kernels.display(), sources.display());
    }
    Ok(names)
}

fn recipe(folders: &Folders, name: &str, class: &str) -> Result<Recipe> {
    let program = folders.kernel(name)?;
    Ok(Recipe::new(program, vec![format!("--class={class}").into()]))
}

/// The recipe with enough repeats for a run of `seconds`. Attachment and inspection cost 10 to 20 ms of a
/// core per run and are not measured here.
pub fn lengthened(recipe: &Recipe, seconds: f64, interrupt: &Interrupt) -> Result<Recipe> {
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
    let mut lines: Vec<kernel::Line> = Vec::new();
    let mut seconds: [Vec<f64>; 2] = [vec![], vec![]];
    for repetition in 0..repetitions {
        let private = Private::beside_others("scaf", interrupt)?;
        let recipes = [recipe.clone(), recipe.with(private.environment(name, 1), None)];
        let parts = recipes.map(|recipe| vec![Part { recipe, start_s: 0.0, cap_s: CAP_S, restart: false }]);
        let runs = corun::by_turns(&parts, repetition as usize, TURN, interrupt)?;
        for (corun, seconds) in runs.into_iter().zip(&mut seconds) {
            let Some(Run::Ended(outcome)) = corun.runs.into_iter().flatten().next() else {
                bail!("{name} took more than {CAP_S} s; give it a smaller class");
            };
            if let Some(how) = outcome.failure() {
                bail!("{name} {how}");
            }
            seconds.push(outcome.seconds);
            lines.push(kernel::line(&outcome.stdout).with_context(|| recipe.program.display().to_string())?);
        }
        progress.step();
    }
    let [plain, managed] = seconds;
    let ratios: Vec<f64> = managed.iter().zip(&plain).map(|(managed, plain)| managed / plain).collect();
    Ok(Program {
        name: name.to_owned(),
        plain_s: median(&plain).context("no runs")?,
        managed_s: median(&managed).context("no runs")?,
        ratio: median(&ratios).context("no runs")?,
        verified: lines.iter().all(|line| line.verified),
        same_value: lines.iter().all(|line| line.value == lines[0].value),
    })
}

fn table(report: &Report) -> String {
    let mut table = output::plain_table(&["PROGRAM", "PLAIN S", "MANAGED S", "RATIO", "VERIFIED"]);
    for it in &report.programs {
        table.add_row([
            it.name.clone(),
            format!("{:.3}", it.plain_s),
            format!("{:.3}", it.managed_s),
            format!("{:.4}", it.ratio),
            if it.verified { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    output::align_right(&mut table, &[1, 2, 3]);
    format!(
        "{}\ngeometric mean {:.4}, worst {:.4} (managed/plain; medians of {} pairs, class {})\n",
        output::trimmed(&table),
        report.geomean_ratio,
        report.worst_ratio,
        report.header.repetitions,
        report.class
    )
}
