//! `scaf bench solo`: what being managed costs a program that is alone on the machine.

use super::child::{self, Child, Outcome, Recipe};
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
use std::time::{Duration, Instant};

/// Longest time of a kernel, in seconds.
const CAP_S: f64 = 600.0;

/// One turn of a run. Caches are filled anew in each, which takes less than a millisecond.
const TURN: Duration = Duration::from_millis(100);

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
    let mut lines: Vec<kernel::Line> = Vec::new();
    let mut seconds: [Vec<f64>; 2] = [vec![], vec![]];
    for repetition in 0..repetitions {
        // The plain run is load that nobody manages: a daemon that counted it would take a context away.
        let private = Private::configured("scaf", "count_load = false\n", interrupt)?;
        let recipes = [recipe.clone(), recipe.with(private.environment(name, 1), None)];
        let runs = in_turns(&recipes, (repetition % 2) as usize, interrupt)?;
        for (kind, (taken_s, outcome)) in runs.into_iter().enumerate() {
            seconds[kind].push(taken_s);
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

/// Runs two programs by turns, each stopped while the other runs, so that a machine whose speed drifts from second to second
/// is as fast for one as for the other. Returns the time that each ran, in seconds, and how it ended.
fn in_turns(recipes: &[Recipe; 2], first: usize, interrupt: &Interrupt) -> Result<Vec<(f64, Outcome)>> {
    let mut children: [Option<Child>; 2] = [None, None];
    let mut ended: [Option<Outcome>; 2] = [None, None];
    let mut taken = [Duration::ZERO; 2];
    for turn in first.. {
        let kind = turn % 2;
        if ended[kind].is_some() {
            if ended[1 - kind].is_some() {
                break;
            }
            continue;
        }
        let start = Instant::now();
        let child = match &mut children[kind] {
            Some(child) => {
                child.go_on(true);
                child
            }
            none => none.insert(Child::start(&recipes[kind])?),
        };
        let until = start + TURN;
        while Instant::now() < until && ended[kind].is_none() {
            interrupt.wait(&[child.end()], until.saturating_duration_since(Instant::now()))?;
            ended[kind] = child.ended()?;
        }
        if ended[kind].is_none() {
            child.go_on(false);
        }
        taken[kind] += start.elapsed();
        let name = recipes[kind].program.display();
        if taken[kind].as_secs_f64() > CAP_S {
            bail!("{name} took more than {CAP_S} s; give it a smaller class");
        }
        if let Some(how) = ended[kind].as_ref().and_then(Outcome::failure) {
            bail!("{name} {how}");
        }
    }
    Ok(ended.into_iter().zip(taken).filter_map(|(end, taken)| Some((taken.as_secs_f64(), end?))).collect())
}

fn table(report: &Report) -> String {
    let mut table = ps::plain_table(&["PROGRAM", "PLAIN S", "MANAGED S", "RATIO", "VERIFIED"]);
    for it in &report.programs {
        table.add_row([
            it.name.clone(),
            format!("{:.3}", it.plain_s),
            format!("{:.3}", it.managed_s),
            format!("{:.4}", it.ratio),
            if it.verified { "yes" } else { "NO" }.to_owned(),
        ]);
    }
    ps::align_right(&mut table, &[1, 2, 3]);
    format!(
        "{}\ngeometric mean {:.4}, worst {:.4} (managed/plain; medians of {} pairs, class {})\n",
        ps::trimmed(&table),
        report.geomean_ratio,
        report.worst_ratio,
        report.header.repetitions,
        report.class
    )
}
