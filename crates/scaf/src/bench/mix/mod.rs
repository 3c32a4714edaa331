//! `scaf bench mix`: several programs at once, under one configuration after another.
//!
//! A repetition measures each program alone with one thread on one PU and alone with the whole machine, then
//! the mix under every configuration, in rotated order. With `--turns` all of these take turns instead. With
//! `--warm`, each program's first run isn't counted; with `--remember`, each configuration's first co-run.

mod config;
mod file;
mod late;
mod metrics;
mod plot;
mod report;
mod sampler;
mod stack;
mod testbed;

pub use testbed::{SlowMotion, Testbed, ThisMachine};

use super::child::{self, Outcome, Recipe};
use super::corun::{self, Corun, Part, Run};
use super::folders::Folders;
use super::interrupt::Interrupt;
use super::private::Private;
use super::progress::Progress;
use super::stats::median;
use super::{kernel, publish};
use crate::cli;
use anyhow::{Context, Result, bail, ensure};
use config::Config;
use file::{Check, MixFile};
use late::Late;
use metrics::{Alone, Tally};
use report::Report;
use sampler::{Sample, Sampler};
use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long a daemon may take to inspect the last program that warmed up.
const INSPECTION: Duration = Duration::from_secs(5);

/// Carries out `scaf bench mix` on a testbed. The exit status is 1 if a result was wrong.
/// # Errors
/// A mix that can't be read, programs that aren't there or fail alone, no daemon, or an interrupt.
pub fn run(flags: &cli::Mix, testbed: &dyn Testbed, interrupt: Interrupt) -> Result<ExitCode> {
    let mix = MixFile::read(&flags.file)?;
    let configs = configs(flags, testbed)?;
    let folders = Folders::find(Some(&flags.file), flags.common.kernels.as_deref(), flags.python.as_deref());
    let recipes = mix.programs.iter().map(|program| recipe(&folders, program)).collect::<Result<Vec<_>>>()?;
    flags.plot.as_deref().map(check_plot).transpose()?;
    ensure!(
        !flags.turns || !mix.has_late(),
        "{} has programs that start later than others; what it is about can't be seen with --turns",
        flags.file.display()
    );
    let mut bench = Bench::new(&mix, recipes, configs, testbed, flags, interrupt)?;
    if flags.warm {
        bench.warm()?;
    }
    for repetition in 0..flags.repetitions as usize {
        if flags.turns {
            bench.repeat_by_turns(repetition)?;
        } else {
            bench.repeat(repetition)?;
        }
    }
    let (report, traces) = bench.finish(flags)?;
    if let Some(path) = &flags.plot {
        let picture = plot::draw(&mix, report.configs(), &traces, testbed.pus().len() as u32)?;
        std::fs::write(path, picture).with_context(|| format!("can't write {}", path.display()))?;
    }
    publish(flags.common.json, &report.table(), &report)?;
    Ok(if report.right() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn configs(flags: &cli::Mix, testbed: &dyn Testbed) -> Result<Vec<Config>> {
    let named: Vec<&str> = flags.configs.iter().map(String::as_str).collect();
    let names = if named.is_empty() { testbed.configs() } else { &named };
    let mut seen = HashSet::new();
    let configs: Vec<Config> = names
        .iter()
        .filter(|name| seen.insert(**name))
        .map(|name| Config::parse(name))
        .collect::<Result<_>>()?;
    ensure!(
        testbed.slow_motion().is_none() || !configs.contains(&Config::Dynamic),
        "with OMP_DYNAMIC, the runtime asks how busy the real machine is, which says nothing in slow \
         motion; leave 'dynamic' out"
    );
    Ok(configs)
}

fn recipe(folders: &Folders, program: &file::ProgramSpec) -> Result<Recipe> {
    let (path, arguments) =
        folders.command(&program.command).with_context(|| format!("program '{}'", program.name))?;
    Ok(Recipe::new(path, arguments))
}

/// Called first, so that a missing folder is reported before anything is measured.
fn check_plot(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    ensure!(folder.is_dir(), "{} isn't there, so no plot can be written into it", folder.display());
    Ok(())
}

struct Measured {
    config: Config,
    repetitions: Vec<(Vec<Tally>, f64)>,
    lates: Vec<Late>,
    trace: Option<stack::Trace>,
    /// What the configuration's daemons remember, with `--remember`.
    memory: Option<tempfile::TempDir>,
}

impl Measured {
    fn new(config: Config, remembers: bool) -> Result<Measured> {
        let remembers = remembers && matches!(config, Config::Managed(_));
        let memory = remembers.then(tempfile::tempdir).transpose().context("temporary folder")?;
        Ok(Measured { config, repetitions: vec![], lates: vec![], trace: None, memory })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Serial,
    Solo,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Serial => "one thread",
            Kind::Solo => "alone",
        })
    }
}

struct Bench<'a> {
    mix: &'a MixFile,
    recipes: Vec<Recipe>,
    testbed: &'a dyn Testbed,
    pus: Vec<u32>,
    is_late: bool,
    is_drawn: bool,
    interrupt: Interrupt,
    progress: Progress,
    /// Seconds of each program's runs with one thread, and with the whole machine.
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
        testbed: &'a dyn Testbed,
        flags: &cli::Mix,
        interrupt: Interrupt,
    ) -> Result<Bench<'a>> {
        let pus = testbed.pus();
        ensure!(!pus.is_empty(), "can't tell which PUs there are");
        if let Some(config) = configs.iter().find(|config| matches!(config, Config::Managed(_))) {
            config.daemon(false, testbed, None, &interrupt)?;
        }
        let count = mix.programs.len();
        Ok(Bench {
            progress: Progress::new(
                flags.repetitions as usize * (2 * count + configs.len()) + if flags.warm { count } else { 0 },
            ),
            is_late: mix.has_late(),
            is_drawn: flags.plot.is_some(),
            mix,
            recipes,
            testbed,
            pus,
            interrupt,
            serial: vec![vec![]; count],
            solo: vec![vec![]; count],
            outputs: vec![HashSet::new(); count],
            measured: configs
                .into_iter()
                .map(|config| Measured::new(config, flags.remember))
                .collect::<Result<_>>()?,
        })
    }

    /// Runs each program once, uncounted: then no run that counts has to read its files from disk. It runs
    /// under a daemon, if any configuration has one, which keeps what it found in the program's code.
    fn warm(&self) -> Result<()> {
        let mut configs = self.measured.iter().map(|measured| &measured.config);
        let config =
            configs.find(|config| matches!(config, Config::Managed(_))).unwrap_or(&Config::Unmanaged);
        let daemon = config.daemon(false, self.testbed, None, &self.interrupt)?;
        for (index, program) in self.mix.programs.iter().enumerate() {
            self.progress.at(format!("{}, to warm up", program.name));
            child::run(
                &self.under(config, index, daemon.as_ref()),
                self.lasting(program.cap_s),
                &self.interrupt,
            )
            .with_context(|| format!("program '{}', to warm up", program.name))?;
            self.progress.step();
        }
        if daemon.is_some() {
            self.interrupt.wait(&[], INSPECTION)?;
        }
        Ok(())
    }

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

    fn repeat_by_turns(&mut self, repetition: usize) -> Result<()> {
        let configs: Vec<Config> = self.measured.iter().map(|measured| measured.config.clone()).collect();
        let daemons = configs
            .iter()
            .map(|config| config.daemon(true, self.testbed, None, &self.interrupt))
            .collect::<Result<Vec<Option<Private>>>>()?;
        let alone = (0..self.recipes.len()).flat_map(|index| {
            let part = |recipe| Part { restart: false, ..self.part(index, recipe) };
            [vec![part(self.serially(index))], vec![part(self.solo(index))]]
        });
        let together =
            configs.iter().zip(&daemons).map(|(config, daemon)| self.parts(config, daemon.as_ref()));
        let coruns: Vec<Vec<Part>> = alone.chain(together).collect();
        self.progress.at("all by turns");
        // In slow motion, each turn begins with a fresh quota.
        let turn = corun::TURN.div_f64(self.testbed.pace());
        let done = corun::by_turns(&coruns, repetition, turn, &self.interrupt)?;
        drop(daemons);
        let mut done = done.into_iter();
        for index in 0..self.recipes.len() {
            for kind in [Kind::Serial, Kind::Solo] {
                let run = done.next().and_then(|corun| corun.runs.into_iter().flatten().next());
                let name = &self.mix.programs[index].name;
                let Some(Run::Ended(outcome)) = run else {
                    bail!(
                        "program '{name}', {kind}, took more than its cap_s; give it a smaller size or a \
                         longer one"
                    );
                };
                if let Some(how) = outcome.failure() {
                    bail!("program '{name}', {kind}, {how}");
                }
                self.was_alone(index, kind, &outcome)?;
            }
        }
        for (number, corun) in done.enumerate() {
            self.were_together(number, &corun);
        }
        Ok(())
    }

    fn serially(&self, index: usize) -> Recipe {
        let one = vec![("OMP_NUM_THREADS", Some("1".into()))];
        self.placed(self.recipes[index].with(one, Some(self.pus[..1].to_vec())), index, false)
    }

    fn solo(&self, index: usize) -> Recipe {
        self.placed(self.recipes[index].clone(), index, false)
    }

    /// The recipe on this testbed. Programs begin at different contexts.
    fn placed(&self, recipe: Recipe, index: usize, managed: bool) -> Recipe {
        self.testbed.place(recipe, (index * self.pus.len() / self.recipes.len()) as u32, managed)
    }

    /// A time of the mix in real seconds: in slow motion, the mix counts a context's seconds.
    fn lasting(&self, seconds: f64) -> f64 {
        seconds / self.testbed.pace()
    }

    fn alone(&mut self, index: usize) -> Result<()> {
        let program = &self.mix.programs[index];
        for (kind, recipe) in [(Kind::Serial, self.serially(index)), (Kind::Solo, self.solo(index))] {
            self.progress.at(format!("{}, {kind}", program.name));
            let outcome = child::run(&recipe, self.lasting(program.cap_s), &self.interrupt)
                .with_context(|| format!("program '{}', {kind}", program.name))?;
            self.was_alone(index, kind, &outcome)?;
        }
        Ok(())
    }

    fn was_alone(&mut self, index: usize, kind: Kind, outcome: &Outcome) -> Result<()> {
        let program = &self.mix.programs[index];
        self.outputs[index].insert(outcome.stdout.clone());
        let right = right(program.result, &self.outputs[index], outcome);
        let output = outcome.stdout.trim();
        ensure!(right, "program '{}' gives a wrong result, {kind}: {output}", program.name);
        let times = match kind {
            Kind::Serial => &mut self.serial[index],
            Kind::Solo => &mut self.solo[index],
        };
        times.push(outcome.seconds);
        self.progress.step();
        Ok(())
    }

    fn part(&self, index: usize, recipe: Recipe) -> Part {
        let program = &self.mix.programs[index];
        Part {
            recipe,
            start_s: self.lasting(program.start_s),
            cap_s: self.lasting(program.cap_s),
            restart: program.restarts(),
        }
    }

    fn parts(&self, config: &Config, daemon: Option<&Private>) -> Vec<Part> {
        let part = |index: usize| self.part(index, self.under(config, index, daemon));
        (0..self.mix.programs.len()).map(part).collect()
    }

    /// The program as it runs with others in this configuration.
    fn under(&self, config: &Config, index: usize, daemon: Option<&Private>) -> Recipe {
        let (name, count) = (&self.mix.programs[index].name, self.mix.programs.len());
        let (environment, pus) = config.setting(name, (index, count), &self.pus, daemon);
        self.placed(self.recipes[index].with(environment, pus), index, daemon.is_some())
    }

    fn together(&mut self, number: usize) -> Result<()> {
        let config = self.measured[number].config.clone();
        self.progress.at(config.to_string());
        let Measured { memory, repetitions, .. } = &self.measured[number];
        if memory.is_some() && repetitions.is_empty() {
            let daemon = self.daemon(number)?;
            corun::corun(&self.parts(&config, daemon.as_ref()), &self.interrupt)?;
        }
        let daemon = self.daemon(number)?;
        let parts = self.parts(&config, daemon.as_ref());
        // Watching costs about 1% of the programs' time, so it is done only if needed.
        let watched = self.is_late || (self.is_drawn && self.measured[number].trace.is_none());
        let sampler = daemon.as_ref().filter(|_| watched).map(|daemon| Sampler::start(daemon.socket()));
        let corun = corun::corun(&parts, &self.interrupt)?;
        let samples = sampler.map(Sampler::finish);
        drop(daemon);
        self.were_together(number, &corun);
        let late = samples.as_ref().and_then(|samples| self.late(samples, &corun));
        let measured = &mut self.measured[number];
        measured.lates.extend(late);
        if let (None, Some(samples)) = (&measured.trace, samples) {
            measured.trace =
                Some(stack::Trace { config: config.to_string(), start_ns: corun.start_ns, samples });
        }
        Ok(())
    }

    fn daemon(&self, number: usize) -> Result<Option<Private>> {
        let Measured { config, memory, .. } = &self.measured[number];
        let memory = memory.as_ref().map(tempfile::TempDir::path);
        config.daemon(false, self.testbed, memory, &self.interrupt)
    }

    fn were_together(&mut self, number: usize, corun: &Corun) {
        let tallies = self.tallies(&self.measured[number].config, corun);
        self.measured[number].repetitions.push((tallies, corun.makespan_s));
        self.progress.step();
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

    /// Reaction times of the program that was there first, to the latest one.
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

    fn finish(self, flags: &cli::Mix) -> Result<(Report, Vec<stack::Trace>)> {
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
        Ok((Report::new(self.mix, flags, self.testbed.slow_motion(), &alone, &results), traces))
    }
}

fn right(check: Check, outputs: &HashSet<String>, outcome: &Outcome) -> bool {
    match check {
        Check::JsonLine => kernel::line(&outcome.stdout).is_ok_and(|line| line.verified),
        Check::StdoutHash => outputs.contains(&outcome.stdout),
    }
}
