//! `scaf check`: tests whether a program's teams may be resized, and remembers it if so.
//!
//! The program runs plain a few times, then under private daemons with random grants and team sizes at every
//! region, whatever code analysis says; sizes that the program fixes are kept. If all runs end alike and
//! write the same, the executable is remembered. That is evidence for these arguments, not proof.

mod compare;
mod trial;

use crate::bench::clock;
use crate::bench::interrupt::Interrupt;
use crate::bench::private::Private;
use crate::bench::progress::Progress;
use crate::environment;
use crate::profile::Source;
use crate::program_limits::{Malleable, ProgramLimits};
use crate::{cli, daemon, output, target};
use anyhow::{Context, Result, bail};
use compare::{Difference, Reference, Rule};
use scaf_memory::Checked;
use scafd::control::{Reply, Request, Tried};
use scafd::verdicts::Verdicts;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use trial::{Came, End, Trial};

/// Plain runs.
const PLAIN: usize = 3;
/// Plain runs if these differ, to know by how much.
const PLAIN_VARIED: usize = 10;
/// How much longer than a plain run a resized one may take.
const PATIENCE: f64 = 10.0;
const PATIENCE_S: f64 = 10.0;
/// How long a daemon may take to notice that a program has ended.
const NOTICE: Duration = Duration::from_secs(2);
/// The exit status of an undecided check.
const NOTHING: u8 = 2;

/// Carries out `scaf check`. Exit status: 1 if teams may not be resized, 2 if that stays unknown.
/// # Errors
/// The program can't be run, or fails by itself; no daemon; an interrupt.
pub fn run(flags: &cli::Check) -> Result<ExitCode> {
    if flags.export {
        output::print(&export()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = flags.command.first().context("no program given")?;
    let program = target::resolve(name)?;
    if let Some(why) = target::obstacle(&program) {
        bail!("{} can't be managed, so there is nothing to check: {why}", name.display());
    }
    let interrupt = Interrupt::install()?;
    let check = Check {
        name: output::printable(&name.to_string_lossy()),
        rule: Rule { ignore: flags.ignore.clone(), tolerance: flags.tolerance },
        outputs: flags.output.clone(),
        runs: flags.runs,
        interrupt,
        progress: Progress::new(PLAIN + flags.runs as usize),
    };
    check.progress.at("plain");
    let mut tried = Sizes::default();
    // Fingerprinted first, so that a file changed meanwhile is noticed.
    if let Ok(path) = program.canonicalize() {
        // A script has no fingerprint.
        tried.note(path).ok();
    }
    let trial = Trial::new(program, flags.command.clone(), flags.output.clone())?;
    let (verdict, said) = check.verdict(trial, tried)?;
    drop(check);
    output::print(&said)?;
    Ok(verdict)
}

struct Check {
    name: String,
    rule: Rule,
    outputs: Vec<PathBuf>,
    runs: u32,
    interrupt: Interrupt,
    progress: Progress,
}

struct Plain {
    end: End,
    /// The longest one's seconds.
    seconds: f64,
    /// Standard output and files.
    references: Vec<Reference>,
    runs: usize,
}

impl Check {
    fn verdict(&self, mut trial: Trial, mut tried: Sizes) -> Result<(ExitCode, String)> {
        let name = &self.name;
        let plain = match self.plain(&mut trial)? {
            Ok(plain) => plain,
            Err(why) => return Ok((ExitCode::from(NOTHING), format!("{name}: not known\n{why}"))),
        };
        self.progress.at("resized");
        for seed in 1..=self.runs {
            let (came, these) = self.resized(&mut trial, seed, &plain)?;
            self.progress.step();
            let was_tried = !these.is_empty();
            tried.add(these)?;
            let Some(difference) = self.difference(&plain, &came) else { continue };
            if !was_tried {
                let why = format!(
                    "  {difference}\nBut no team was resized in this run, so that isn't why. If the program \
                     writes something else each time, name what does with --ignore.\n"
                );
                return Ok((ExitCode::from(NOTHING), format!("{name}: not known\n{why}")));
            }
            let mut said =
                format!("{name}: may not be resized\n  run {seed} of {}, {difference}\n", self.runs);
            said.push_str(&tried.forget(&came));
            return Ok((ExitCode::FAILURE, said));
        }
        self.conclude(&plain, &tried)
    }

    /// The plain runs; why nothing can be compared with them, if so.
    fn plain(&self, trial: &mut Trial) -> Result<Result<Plain, String>> {
        let mut came: Vec<Came> = Vec::new();
        // This command may itself run managed.
        let without_us = environment::taken_back(&|name| std::env::var_os(name));
        let mut wanted = PLAIN;
        loop {
            while came.len() < wanted {
                came.push(trial.run(&without_us, None, &self.interrupt)?);
                self.progress.step();
                if came.len() == 1 {
                    let first = &came[0];
                    if let End::Killed(_) = first.end {
                        bail!(
                            "{} {} by itself; check it with arguments with which it works\n{}",
                            self.name,
                            first.end.text(),
                            first.last_words
                        );
                    }
                    trial.keep_outputs()?;
                }
            }
            let end = came[0].end;
            if let Some(other) = came.iter().find(|run| run.end != end) {
                return Ok(Err(format!(
                    "  plain runs end in different ways: one {}, another {}. Check it with arguments with \
                     which it ends well each time.\n",
                    end.text(),
                    other.end.text()
                )));
            }
            let mut references = Vec::new();
            for at in 0..came[0].texts.len() {
                let texts: Vec<Vec<u8>> = came.iter().map(|run| run.texts[at].clone()).collect();
                match Reference::of(&texts, &self.rule) {
                    Ok(reference) => references.push(reference),
                    Err(difference) => return Ok(Err(self.unsteady(at, &difference))),
                }
            }
            let varies = references.iter().any(|reference| !reference.is_exact());
            if varies && self.rule.tolerance == 0.0 && wanted < PLAIN_VARIED {
                wanted = PLAIN_VARIED;
                continue;
            }
            let seconds = came.iter().map(|run| run.seconds).fold(0.0, f64::max);
            return Ok(Ok(Plain { end, seconds, references, runs: came.len() }));
        }
    }

    fn unsteady(&self, at: usize, difference: &Difference) -> String {
        format!(
            "  {}\nPlain runs differ in more than numbers, so that no other run can be compared with them. \
             If it is a line that doesn't matter, leave it out: --ignore TEXT, with a word of that line.\n",
            shown(&self.place(at), "one run", "another", difference)
        )
    }

    fn place(&self, at: usize) -> String {
        match at.checked_sub(1).and_then(|file| self.outputs.get(file)) {
            Some(file) => file.display().to_string(),
            None => "standard output".to_owned(),
        }
    }

    /// A run with teams resized at random, and the sizes that they had.
    fn resized(&self, trial: &mut Trial, seed: u32, plain: &Plain) -> Result<(Came, Vec<Tried>)> {
        let daemon = Private::chaos(seed.into(), &self.interrupt)?;
        let limits = ProgramLimits { malleable: Malleable::Check, ..ProgramLimits::none() };
        let cap_s = PATIENCE * plain.seconds + PATIENCE_S;
        let came = trial.run(&daemon.changes(&limits), Some(cap_s), &self.interrupt)?;
        let until = Instant::now() + NOTICE;
        loop {
            let snapshot = daemon::snapshot(&daemon.socket())?;
            if snapshot.programs.is_empty() || Instant::now() > until {
                return Ok((came, snapshot.tried));
            }
            self.interrupt.wait(&[], Duration::from_millis(5))?;
        }
    }

    /// How a run differs from the plain ones, with both lines.
    fn difference(&self, plain: &Plain, came: &Came) -> Option<String> {
        if came.end != plain.end {
            let words = came.last_words.lines().map(|line| format!("\n    {}", output::printable(line)));
            let words = words.collect::<String>();
            return Some(format!(
                "its end: a plain run {}, this one {}{words}",
                plain.end.text(),
                came.end.text()
            ));
        }
        plain.references.iter().zip(&came.texts).enumerate().find_map(|(at, (reference, text))| {
            let difference = reference.difference(text)?;
            let mut said = shown(&self.place(at), "plain", "resized", &difference);
            if difference.varies {
                said.push_str(
                    "\n  Plain runs differ there as well, but by less. If it says how long something took, \
                     leave that line out: --ignore TEXT; if it may differ by so much: --tolerance SHARE.",
                );
            }
            Some(said)
        })
    }

    fn conclude(&self, plain: &Plain, tried: &Sizes) -> Result<(ExitCode, String)> {
        let name = &self.name;
        let checked = tried.several();
        if checked.is_empty() && !tried.elsewhere {
            let why = if tried.own.values().all(|own| own.sizes.is_empty()) {
                "none of its regions could be resized: it has none, their sizes are fixed (by a num_threads \
                 clause, or omp_set_num_threads), or it didn't run long enough to be managed"
            } else {
                "its teams never had another size: let it have at least two threads and run for longer"
            };
            return Ok((
                ExitCode::from(NOTHING),
                format!(
                    "{name}: nothing was checked\n  {why}.\nNothing is remembered. `scaf run --malleable` \
                     permits smaller teams whatever the program asks for.\n"
                ),
            ));
        }
        if plain.references.iter().all(Reference::is_empty) {
            return Ok((
                ExitCode::from(NOTHING),
                format!(
                    "{name}: not known\n  it wrote nothing that could be compared. Name the files that it \
                     writes: --output FILE.\n"
                ),
            ));
        }
        let how = if plain.references.iter().all(Reference::is_exact) {
            "wrote the same, bit by bit"
        } else {
            "wrote the same words, and numbers that differ no more than plain runs allow"
        };
        let mut said =
            format!("{name}: may be resized\n  {} plain runs and {} with teams ", plain.runs, self.runs);
        let _ = writeln!(said, "resized at random {how}.");
        if checked.is_empty() {
            said.push_str(
                "Its regions are in libraries, which other programs may use in other ways: nothing is \
                 remembered. `scaf run --malleable` permits smaller teams for one run, those of fixed sizes \
                 as well, which were kept here.\n",
            );
            return Ok((ExitCode::SUCCESS, said));
        }
        for (path, own) in checked {
            let _ = writeln!(said, "  Teams in {} had {} sizes.", path.display(), own.sizes.len());
            let found = own.result(path, true);
            let executable = found.executable.clone();
            let kept =
                Source::find().and_then(|mut memory| memory.ask(&Request::KeepChecked(Box::new(found))));
            match kept {
                Ok(_) => {
                    let _ = write!(said, "Remembered for the executable {executable}");
                    said.push_str("; `scaf profile` shows it, and `scaf profile forget` forgets it.\n");
                }
                Err(why) => {
                    let _ = writeln!(said, "It can't be remembered: {why:#}");
                }
            }
        }
        Ok((ExitCode::SUCCESS, said))
    }
}

/// The sizes of resized teams in all runs.
#[derive(Default)]
struct Sizes {
    /// In each executable's own code.
    own: BTreeMap<PathBuf, Own>,
    /// Whether teams in libraries were made smaller.
    elsewhere: bool,
}

struct Own {
    /// Its fingerprint.
    executable: String,
    sizes: BTreeSet<u32>,
    /// In which it had any.
    runs: u32,
}

impl Own {
    fn result(&self, path: &Path, resizable: bool) -> Checked {
        Checked {
            executable: self.executable.clone(),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            resizable,
            date: clock::date().chars().take_while(|letter| *letter != 'T').collect(),
            runs: self.runs,
            ..Checked::default()
        }
    }
}

impl Sizes {
    /// Adds one run's programs. An executable that changed is an error.
    fn add(&mut self, tried: Vec<Tried>) -> Result<()> {
        let mut met = BTreeSet::new();
        for program in tried {
            self.elsewhere |= program.elsewhere;
            if !program.sizes.is_empty() {
                let is_first = met.insert(program.executable.clone());
                let own = self.note(program.executable)?;
                own.sizes.extend(program.sizes);
                own.runs += u32::from(is_first);
            }
        }
        Ok(())
    }

    fn note(&mut self, path: PathBuf) -> Result<&mut Own> {
        let executable = scaf_inspect::fingerprint(&path)?;
        if self.own.get(&path).is_some_and(|own| own.executable != executable) {
            bail!("{} was changed while it was checked; check it again", path.display());
        }
        Ok(self.own.entry(path).or_insert(Own { executable, sizes: BTreeSet::new(), runs: 0 }))
    }

    /// Executables that were checked: their teams had several sizes.
    fn several(&self) -> Vec<(&Path, &Own)> {
        let several = self.own.iter().filter(|(_, own)| own.sizes.len() > 1);
        several.map(|(path, own)| (path.as_path(), own)).collect()
    }

    /// Forgets earlier results for them, and overrules what others have shown; returns advice.
    fn forget(&self, came: &Came) -> String {
        let shown = Verdicts::here();
        let ask = |request: &Request| Source::find().and_then(|mut memory| memory.ask(request));
        let (mut forgotten, mut overruled) = (false, false);
        for (path, own) in self.own.iter().filter(|(_, own)| !own.sizes.is_empty()) {
            if shown.find(&own.executable).is_some_and(|shown| shown.resizable) {
                overruled |= ask(&Request::KeepChecked(Box::new(own.result(path, false)))).is_ok();
            } else {
                let asked = ask(&Request::ForgetChecked(own.executable.clone()));
                forgotten |= matches!(asked, Ok(Reply::Forgotten(1..)));
            }
        }
        let mut said = String::from(
            "Its results depend on the sizes of its teams. Run it with: scaf run, which keeps them unless \
             the inspection of its code finds nothing against resizing; scaf run --exact keeps them in any \
             case.\n",
        );
        if let End::TooLong(_) = came.end {
            said.push_str("It may wait for threads that a smaller team doesn't have.\n");
        }
        if forgotten {
            said.push_str("The result of an earlier check is forgotten.\n");
        }
        if overruled {
            said.push_str(
                "That is remembered, and counts for more than what was shown elsewhere (scaf doctor). Please \
                 tell scaf's authors.\n",
            );
        }
        said
    }
}

fn shown(place: &str, one: &str, other: &str, difference: &Difference) -> String {
    let width = one.len().max(other.len());
    let line = |text: &str| match output::printable(text.trim_end_matches(['\n', '\r'])) {
        text if text.is_empty() => "(nothing)".to_owned(),
        text => text,
    };
    format!(
        "{place}, line {}:\n    {one:<width$}  {}\n    {other:<width$}  {}",
        difference.line,
        line(&difference.plain),
        line(&difference.other)
    )
}

/// The remembered results, as a verdict file for scafd's configuration.
fn export() -> Result<String> {
    #[derive(Serialize)]
    struct File {
        verdict: Vec<Checked>,
    }
    let verdict = Source::find()?.checked()?;
    let about = "# What scaf check found out. To have it hold for all users, name this file in scafd's \
                 configuration:\n# verdicts = \"/etc/scaf/verdicts.toml\"\n\n";
    Ok(format!("{about}{}", toml::to_string(&File { verdict })?))
}
