//! `scaf bench mix`: several programs at once, under one configuration after another.
//!
//! A repetition measures everything once: each program alone with one thread on one PU, each alone with the whole
//! machine, then the mix under every configuration, in an order that is rotated from repetition to repetition.

mod config;
mod corun;
mod file;
mod late;
mod metrics;
mod plot;
mod report;
mod sampler;

use super::child::{self, Outcome, Recipe};
use super::folders::Folders;
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::stats::median;
use super::{kernel, publish};
use crate::{cli, host};
use anyhow::{Context, Result, ensure};
use config::Config;
use corun::{Corun, Part, Run};
use file::{Check, MixFile};
use late::Late;
use metrics::{Alone, Tally};
use report::Report;
use sampler::{Sample, Sampler};
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

/// Carries out `scaf bench mix`. The exit status is 1 if a result was wrong.
///
/// # Errors
/// A mix that can't be read, programs that aren't there or fail alone, no daemon, or an interrupt.
pub fn run(flags: &cli::Mix) -> Result<ExitCode> {
    let mix = MixFile::read(&flags.file)?;
    let configs = configs(&flags.configs)?;
    let folders = Folders::find(Some(&flags.file), flags.common.kernels.as_deref(), flags.python.as_deref());
    let recipes = mix.programs.iter().map(|program| recipe(&folders, program)).collect::<Result<Vec<_>>>()?;
    flags.plot.as_deref().map(check_plot).transpose()?;
    let interrupt = Interrupt::install()?;
    let mut bench = Bench::new(&mix, recipes, configs, flags.repetitions, interrupt)?;
    for repetition in 0..flags.repetitions as usize {
        bench.repeat(repetition)?;
    }
    let (report, traces) = bench.finish(flags.repetitions)?;
    if let Some(path) = &flags.plot {
        let picture = plot::draw(&mix, report.configs(), &traces, host::machine().pus)?;
        std::fs::write(path, picture).with_context(|| format!("can't write {}", path.display()))?;
    }
    publish(flags.common.json, &report.table(), &report)?;
    Ok(if report.right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn configs(names: &[String]) -> Result<Vec<Config>> {
    let mut seen = HashSet::new();
    names.iter().filter(|name| seen.insert(name.as_str())).map(|name| Config::parse(name)).collect()
}

fn recipe(folders: &Folders, program: &file::ProgramSpec) -> Result<Recipe> {
    let (path, arguments) =
        folders.command(&program.command).with_context(|| format!("program '{}'", program.name))?;
    Ok(Recipe { program: path, arguments, environment: vec![], pus: None })
}

/// Better now than after minutes of measuring.
fn check_plot(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{} isn't there, so no plot can be written into it", folder.display());
    Ok(())
}

/// What the daemon did in one co-run, for the plot.
pub struct Trace {
    config: String,
    start_ns: u64,
    samples: Vec<Sample>,
}

/// What has been measured of one configuration.
struct Measured {
    config: Config,
    repetitions: Vec<(Vec<Tally>, f64)>,
    lates: Vec<Late>,
    trace: Option<Trace>,
}

/// A mix being measured.
struct Bench<'a> {
    mix: &'a MixFile,
    recipes: Vec<Recipe>,
    pus: Vec<u32>,
    interrupt: Interrupt,
    progress: Progress,
    /// Seconds with one thread, and with the whole machine, of each program.
    serial: Vec<Vec<f64>>,
    solo: Vec<Vec<f64>>,
    /// Outputs of each program alone, which are right by definition.
    outputs: Vec<HashSet<String>>,
    measured: Vec<Measured>,
}

impl<'a> Bench<'a> {
    fn new(
        mix: &'a MixFile,
        recipes: Vec<Recipe>,
        configs: Vec<Config>,
        repetitions: u32,
        interrupt: Interrupt,
    ) -> Result<Bench<'a>> {
        let pus = host::allowed_by_neighbourhood();
        ensure!(!pus.is_empty(), "can't tell which PUs there are");
        // A daemon that doesn't come up is to be known before anything is measured.
        if let Some(config) = configs.iter().find(|config| matches!(config, Config::Managed(_))) {
            config.daemon(&interrupt)?;
        }
        let count = mix.programs.len();
        Ok(Bench {
            progress: Progress::new(repetitions as usize * (2 * count + configs.len())),
            mix,
            recipes,
            pus,
            interrupt,
            serial: vec![vec![]; count],
            solo: vec![vec![]; count],
            outputs: vec![HashSet::new(); count],
            measured: configs
                .into_iter()
                .map(|config| Measured { config, repetitions: vec![], lates: vec![], trace: None })
                .collect(),
        })
    }

    /// Measures everything once.
    fn repeat(&mut self, repetition: usize) -> Result<()> {
        for index in 0..self.recipes.len() {
            self.alone(index)?;
        }
        let count = self.measured.len();
        for turn in 0..count {
            self.together((turn + repetition) % count)?;
        }
        Ok(())
    }

    fn alone(&mut self, index: usize) -> Result<()> {
        let program = &self.mix.programs[index];
        let one = self.recipes[index]
            .with(vec![("OMP_NUM_THREADS", Some("1".into()))], Some(self.pus[..1].to_vec()));
        for (recipe, times, what) in [
            (&one, &mut self.serial[index], "one thread"),
            (&self.recipes[index], &mut self.solo[index], "alone"),
        ] {
            self.progress.at(format!("{}, {what}", program.name));
            let outcome = child::run(recipe, program.cap_s, &self.interrupt)
                .with_context(|| format!("program '{}', {what}", program.name))?;
            self.outputs[index].insert(outcome.stdout.clone());
            let right = right(program.result, &self.outputs[index], &outcome);
            ensure!(
                right,
                "program '{}' gives a wrong result, {what}: {}",
                program.name,
                outcome.stdout.trim()
            );
            times.push(outcome.seconds);
            self.progress.step();
        }
        Ok(())
    }

    fn together(&mut self, number: usize) -> Result<()> {
        let config = self.measured[number].config.clone();
        self.progress.at(config.to_string());
        let daemon = config.daemon(&self.interrupt)?;
        let count = self.mix.programs.len();
        let parts: Vec<Part> = self
            .mix
            .programs
            .iter()
            .zip(&self.recipes)
            .enumerate()
            .map(|(index, (program, recipe))| {
                let (environment, pus) =
                    config.setting(&program.name, (index, count), &self.pus, daemon.as_ref());
                Part {
                    recipe: recipe.with(environment, pus),
                    start_s: program.start_s,
                    cap_s: program.cap_s,
                    restart: program.restarts(),
                }
            })
            .collect();
        let sampler = daemon.as_ref().map(|daemon| Sampler::start(daemon.socket()));
        let corun = corun::corun(&parts, &self.interrupt)?;
        let samples = sampler.map(Sampler::finish);
        drop(daemon);
        let tallies = self.tallies(&config, &corun);
        let late = samples.as_ref().and_then(|samples| self.late(samples, &corun));
        let measured = &mut self.measured[number];
        measured.repetitions.push((tallies, corun.makespan_s));
        measured.lates.extend(late);
        if let (None, Some(samples)) = (&measured.trace, samples) {
            measured.trace = Some(Trace { config: config.to_string(), start_ns: corun.start_ns, samples });
        }
        self.progress.step();
        Ok(())
    }

    fn tallies(&self, config: &Config, corun: &Corun) -> Vec<Tally> {
        let programs = self.mix.programs.iter().zip(&corun.runs).zip(&self.outputs);
        programs
            .map(|((program, runs), outputs)| {
                let tally = metrics::tally(runs, |outcome| right(program.result, outputs, outcome));
                if let Some(how) = &tally.failure {
                    self.progress.say(&format!("{config}: program '{}' {how}", program.name));
                }
                tally
            })
            .collect()
    }

    /// Reaction times, in a mix with a late program: to the latest one, of the one that was there first.
    fn late(&self, samples: &[Sample], corun: &Corun) -> Option<Late> {
        let by_start = |a: &&file::ProgramSpec, b: &&file::ProgramSpec| a.start_s.total_cmp(&b.start_s);
        let first = self.mix.programs.iter().min_by(by_start)?;
        let (index, latest) = self.mix.programs.iter().enumerate().max_by(|(_, a), (_, b)| by_start(a, b))?;
        if latest.start_s <= first.start_s {
            return None;
        }
        let end_ns = match corun.runs[index].last() {
            Some(Run::Ended(outcome)) => Some(outcome.ended_ns),
            _ => None,
        };
        Some(late::late(samples, &first.name, &latest.name, end_ns))
    }

    fn finish(self, repetitions: u32) -> Result<(Report, Vec<Trace>)> {
        let of = |times: &[f64]| median(times).context("nothing was measured");
        let alone = self
            .serial
            .iter()
            .zip(&self.solo)
            .map(|(serial, solo)| Ok(Alone { serial_s: of(serial)?, solo_s: of(solo)? }))
            .collect::<Result<Vec<_>>>()?;
        let mut results = Vec::new();
        let mut traces = Vec::new();
        for measured in self.measured {
            let result =
                metrics::config_result(&alone, &measured.repetitions).context("nothing was measured")?;
            results.push((measured.config, result, measured.lates));
            traces.extend(measured.trace);
        }
        Ok((Report::new(self.mix, repetitions, &alone, &results), traces))
    }
}

fn right(check: Check, outputs: &HashSet<String>, outcome: &Outcome) -> bool {
    match check {
        Check::JsonLine => kernel::line(&outcome.stdout).is_ok_and(|line| line.verified),
        Check::StdoutHash => outputs.contains(&outcome.stdout),
    }
}
