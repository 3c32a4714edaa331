//! `scaf bench estimate`: how accurate the daemon's speedup estimates are after a given time.
//!
//! The truth is the program alone at each DoP, with as many PUs, against one thread on one PU; these runs
//! take turns. The estimates come from a managed run, alone, under a daemon that explores. Those by
//! experiments come from another run, under a daemon that makes experiments but doesn't explore. All are
//! repeated by turns, and each number is the median.

use crate::cli;
use anyhow::{Context, Result, bail, ensure};
use scaf_cli::bench::child::{Child, Recipe};
use scaf_cli::bench::corun::{self, Part, Run};
use scaf_cli::bench::folders::Folders;
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::private::Private;
use scaf_cli::bench::progress::Progress;
use scaf_cli::bench::solo;
use scaf_cli::bench::stats::median;
use scaf_cli::bench::{Header, publish};
use scaf_cli::{daemon, host, output};
use scafd::control;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Duration;

const CAP_S: f64 = 120.0;
const EXPLORES: &str = "explore = true\n";
const EXPERIMENTS: &str = "experiments = \"always\"\nrate_hz = 10\n";

/// What is estimated: a name, a kernel and its arguments. The cases scale well, or badly in different ways.
const CASES: [(&str, &str, &[&str]); 12] = [
    ("compute", "phases", &["--serial-us=0", "--parallel-us=1000"]),
    ("serial", "phases", &["--serial-us=500", "--parallel-us=1000"]),
    ("imbalance-static", "phases", &["--serial-us=0", "--parallel-us=1000", "--imbalance=0.9"]),
    (
        "imbalance-dynamic",
        "phases",
        &["--serial-us=0", "--parallel-us=1000", "--imbalance=0.9", "--schedule=dynamic"],
    ),
    ("critical", "phases", &["--serial-us=0", "--parallel-us=500", "--critical-us=8"]),
    ("barriers", "phases", &["--serial-us=0", "--parallel-us=1000", "--barriers-per-region=20"]),
    ("triad", "triad", &[]),
    ("read", "triad", &["--form=read"]),
    ("tasks", "sort", &[]),
    ("cg", "cg", &[]),
    ("cg-region", "cg", &["--form=region"]),
    ("mg", "mg", &[]),
];

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    after_s: f64,
    programs: Vec<ByProgram>,
    mean_abs_error_pct: Option<f64>,
    worst_abs_error_pct: Option<f64>,
    /// The largest error of any one run's estimate.
    worst_run_abs_error_pct: Option<f64>,
    useful_over_wall_mean_abs_error_pct: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ByProgram {
    name: String,
    p: u32,
    true_speedup: f64,
    #[serde(flatten)]
    said: Said,
    error_pct: Option<f64>,
    /// The estimate of the run that was furthest off.
    fused_worst: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Said {
    useful_over_wall: Option<f64>,
    curve: Option<f64>,
    experiment: Option<f64>,
    counters: Option<f64>,
    fused: Option<f64>,
}

/// Carries out `scaf bench estimate`.
/// # Errors
/// Kernels that aren't built or fail, no daemon, or an interrupt.
pub fn run(flags: &cli::Estimate) -> Result<ExitCode> {
    ensure!((0.1..=600.0).contains(&flags.seconds), "--seconds has to be within 0.1 and 600");
    let folders = Folders::find(None, flags.common.kernels.as_deref(), None);
    let pus = host::allowed_by_neighbourhood();
    let dops = dops(u32::try_from(pus.len()).unwrap_or(u32::MAX));
    let interrupt = Interrupt::install()?;
    let cases: Vec<_> = CASES
        .iter()
        .filter(|(name, ..)| flags.programs.is_empty() || flags.programs.iter().any(|it| it == name))
        .collect();
    if cases.len() < flags.programs.len().max(1) {
        let known: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
        bail!("there is no such program among {:?}; there are {}", flags.programs, known.join(", "));
    }
    let progress = Progress::new(cases.len() * flags.repetitions as usize);
    let mut programs = Vec::new();
    for (name, kernel, arguments) in cases {
        progress.at(*name);
        let class = std::iter::once("--class=W").chain(arguments.iter().copied()).map(Into::into);
        let recipe = Recipe::new(folders.kernel(kernel)?, class.collect());
        let alone = Alone::new(&recipe, &dops, &pus, flags, &interrupt)?;
        // The program has to run still when the daemon is asked.
        let longer = solo::lengthened(&recipe, 4.0 * flags.seconds, &interrupt)?;
        let said = |private: Private| managed(&private, name, &longer, flags.seconds, &interrupt);
        let mut rounds: Vec<Vec<(f64, Said)>> = vec![vec![]; dops.len()];
        for repetition in 0..flags.repetitions as usize {
            let truth = alone.round(repetition, &interrupt)?;
            let explored = said(Private::configured("equi", EXPLORES, &interrupt)?)?;
            let tried = said(Private::configured("equi", EXPERIMENTS, &interrupt)?)?;
            for ((rounds, p), truth) in rounds.iter_mut().zip(&dops).zip(truth) {
                rounds.push((truth, Said::of(*p, &explored, &tried)));
            }
            progress.step();
        }
        for (p, rounds) in dops.iter().zip(&rounds) {
            programs.push(row(name, *p, rounds).context("no runs")?);
        }
    }
    drop(progress);
    let report = report(flags, programs);
    publish(flags.common.json, &table(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The DoPs to measure: all of a small machine, else powers of two and all PUs.
fn dops(pus: u32) -> Vec<u32> {
    let mut dops: Vec<u32> = (1..=pus).filter(|p| pus <= 4 || p.is_power_of_two() || *p == pus).collect();
    dops.dedup();
    dops
}

struct Alone {
    parts: Vec<Vec<Part>>,
}

impl Alone {
    fn new(
        recipe: &Recipe,
        dops: &[u32],
        pus: &[u32],
        flags: &cli::Estimate,
        interrupt: &Interrupt,
    ) -> Result<Alone> {
        let recipe = solo::lengthened(recipe, flags.seconds, interrupt)?;
        let part = |p: &u32| {
            let threads = vec![("OMP_NUM_THREADS", Some(p.to_string().into()))];
            let recipe = recipe.with(threads, Some(pus[..*p as usize].to_vec()));
            // With one thread, a run may take as many times longer as there are PUs.
            let cap_s = CAP_S.max(2.0 * flags.seconds * pus.len() as f64);
            vec![Part { recipe, start_s: 0.0, cap_s, restart: false }]
        };
        Ok(Alone { parts: dops.iter().map(part).collect() })
    }

    /// The speedups at all DoPs, against the first of them.
    fn round(&self, repetition: usize, interrupt: &Interrupt) -> Result<Vec<f64>> {
        let mut seconds = Vec::new();
        for corun in corun::by_turns(&self.parts, repetition, corun::TURN, interrupt)? {
            match corun.runs.into_iter().flatten().next() {
                Some(Run::Ended(outcome)) if outcome.status.success() => seconds.push(outcome.seconds),
                other => bail!("a run failed: {other:?}"),
            }
        }
        Ok(seconds.iter().map(|time| seconds[0] / time).collect())
    }
}

fn managed(
    private: &Private,
    name: &str,
    recipe: &Recipe,
    seconds: f64,
    interrupt: &Interrupt,
) -> Result<control::Program> {
    let mut child = Child::start(&recipe.with(private.environment(name, 1), None))?;
    while child.age() < seconds {
        interrupt.wait(&[child.end()], Duration::from_secs_f64((seconds - child.age()).max(0.0)))?;
        if let Some(outcome) = child.ended()? {
            let how = outcome.failure().unwrap_or_else(|| "ended before it could be asked about".into());
            bail!("{name} {how}");
        }
    }
    let snapshot = daemon::snapshot(&private.socket())?;
    snapshot.programs.into_iter().find(|program| program.name == name).context("it isn't managed")
}

impl Said {
    /// `explored` ran under the exploring daemon, `tried` under the one with experiments.
    fn of(p: u32, explored: &control::Program, tried: &control::Program) -> Said {
        fn at(program: &control::Program, p: u32) -> Option<&control::CurvePoint> {
            program.curve.iter().find(|point| point.dop == p)
        }
        Said {
            // Useful-over-wall is measured at the DoP that the program mostly has, its natural one.
            useful_over_wall: explored.speedup.filter(|_| p == explored.natural),
            curve: at(explored, p).and_then(|point| point.observed),
            experiment: at(tried, p)
                .and_then(|point| point.observed)
                .filter(|_| tried.experiments.measured > 0),
            counters: explored
                .counters
                .and_then(|counters| counters.speedup.filter(|_| counters.speedup_dop == Some(p))),
            fused: at(explored, p).map(|point| point.speedup),
        }
    }
}

fn row(name: &str, p: u32, rounds: &[(f64, Said)]) -> Option<ByProgram> {
    let true_speedup = median(&rounds.iter().map(|(truth, _)| *truth).collect::<Vec<_>>())?;
    let all =
        |of: fn(&Said) -> Option<f64>| rounds.iter().filter_map(|(_, said)| of(said)).collect::<Vec<_>>();
    let off = |said: &f64| (said / true_speedup - 1.0).abs();
    let said = Said {
        useful_over_wall: median(&all(|said| said.useful_over_wall)),
        curve: median(&all(|said| said.curve)),
        experiment: median(&all(|said| said.experiment)),
        counters: median(&all(|said| said.counters)),
        fused: median(&all(|said| said.fused)),
    };
    Some(ByProgram {
        name: name.to_owned(),
        p,
        true_speedup,
        said,
        error_pct: said.fused.map(|fused| error_pct(fused, true_speedup)),
        fused_worst: all(|said| said.fused).into_iter().max_by(|a, b| off(a).total_cmp(&off(b))),
    })
}

fn error_pct(estimate: f64, truth: f64) -> f64 {
    100.0 * (estimate / truth - 1.0)
}

fn report(flags: &cli::Estimate, programs: Vec<ByProgram>) -> Report {
    let of = |error: &dyn Fn(&ByProgram) -> Option<f64>| -> Vec<f64> {
        programs.iter().filter(|row| row.p > 1).filter_map(error).map(f64::abs).collect()
    };
    let mean =
        |errors: &[f64]| (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
    let fused = of(&|row| row.error_pct);
    let useful = of(&|row| Some(error_pct(row.said.useful_over_wall?, row.true_speedup)));
    let single = of(&|row| Some(error_pct(row.fused_worst?, row.true_speedup)));
    let worst = |errors: &[f64]| errors.iter().copied().reduce(f64::max);
    Report {
        header: Header::new(flags.repetitions),
        after_s: flags.seconds,
        mean_abs_error_pct: mean(&fused),
        worst_abs_error_pct: worst(&fused),
        worst_run_abs_error_pct: worst(&single),
        useful_over_wall_mean_abs_error_pct: mean(&useful),
        programs,
    }
}

fn table(report: &Report) -> String {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let mut table = output::plain_table(&[
        "PROGRAM",
        "P",
        "TRUE S",
        "USEFUL/WALL",
        "CURVE",
        "EXPERIMENT",
        "COUNTERS",
        "FUSED",
        "ERROR %",
        "WORST RUN",
    ]);
    for it in report.programs.iter().filter(|row| row.p > 1) {
        table.add_row([
            it.name.clone(),
            it.p.to_string(),
            format!("{:.2}", it.true_speedup),
            number(it.said.useful_over_wall),
            number(it.said.curve),
            number(it.said.experiment),
            number(it.said.counters),
            number(it.said.fused),
            it.error_pct.map_or("-".to_owned(), |error| format!("{error:+.1}")),
            number(it.fused_worst),
        ]);
    }
    output::align_right(&mut table, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    format!(
        "{}\nmean absolute error {} %, worst {} %, of any one run {} %; of useful over wall alone {} % \
         (after {} s)\n",
        output::trimmed(&table),
        number(report.mean_abs_error_pct),
        number(report.worst_abs_error_pct),
        number(report.worst_run_abs_error_pct),
        number(report.useful_over_wall_mean_abs_error_pct),
        report.after_s
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_medians_and_the_run_that_was_furthest_off() {
        let said = |fused: Option<f64>| Said {
            useful_over_wall: None,
            curve: Some(2.0),
            experiment: None,
            counters: None,
            fused,
        };
        let rounds =
            [(2.0, said(Some(1.9))), (3.0, said(Some(2.2))), (1.0, said(Some(1.4))), (2.0, said(None))];
        let row = row("it", 2, &rounds).unwrap();
        assert_eq!((row.true_speedup, row.said.curve, row.said.useful_over_wall), (2.0, Some(2.0), None));
        assert_eq!((row.said.fused, row.fused_worst), (Some(1.9), Some(1.4)));
        assert!((row.error_pct.unwrap() + 5.0).abs() < 1e-9);
        assert!(super::row("it", 2, &[]).is_none());
    }

    #[test]
    fn small_machines_are_looked_at_in_full_and_large_ones_in_powers_of_two() {
        assert_eq!(dops(1), [1]);
        assert_eq!(dops(3), [1, 2, 3]);
        assert_eq!(dops(24), [1, 2, 4, 8, 16, 24]);
        assert_eq!(dops(16), [1, 2, 4, 8, 16]);
    }
}
