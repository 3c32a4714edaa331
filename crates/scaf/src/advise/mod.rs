//! `scaf advise`: how many CPUs are worth asking for in a job script, from its programs' profiles. All
//! commands share the job's CPUs, so the largest knee counts, and only if all are known.

mod script;

use crate::output::{self, printable};
use crate::profile::{Source, Traits};
use crate::{cli, target};
use anyhow::{Context, Result};
use script::{Command, Script, base};
use serde::Serialize;
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is known of a command's program.
#[derive(Serialize, Debug)]
struct Found {
    program: String,
    /// Whether the file itself was seen, not another of its name.
    same_file: bool,
    /// The number of CPUs that OMP_NUM_THREADS or srun's own option fix.
    fixed: Option<u32>,
    exact: bool,
    min: Option<u32>,
    traits: Traits,
}

#[derive(Serialize, Debug, Default)]
struct Advice {
    asked: Option<u32>,
    exclusive: bool,
    /// CPUs per task worth asking for; `None` if that isn't known.
    cpus_per_task: Option<u32>,
    known: Vec<Found>,
    unknown: Vec<String>,
}

/// Carries out `scaf advise`.
/// # Errors
/// A script or memory that can't be read.
pub fn run(flags: &cli::Advise) -> Result<ExitCode> {
    let path = &flags.slurm;
    let text = std::fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
    let script = Script::read(&String::from_utf8_lossy(&text));
    let advice = advise(&script, &Source::find()?.executables()?);
    let said = if flags.json { serde_json::to_string_pretty(&advice)? + "\n" } else { say(path, &advice) };
    output::print(&said)?;
    Ok(ExitCode::SUCCESS)
}

fn advise(script: &Script, known: &[Traits]) -> Advice {
    let folder = script.folder.as_deref().unwrap_or(".");
    let mut advice = Advice { asked: script.cpus, exclusive: script.exclusive, ..Advice::default() };
    for command in &script.commands {
        match find(command, Path::new(folder), known) {
            Some(found) if !advice.known.iter().any(|one| one.program == found.program) => {
                advice.known.push(found);
            }
            Some(_) => {}
            None => {
                let name = command.candidates().find(|word| word.contains('/'));
                let name = name.or_else(|| command.candidates().next()).map(str::to_owned);
                advice.unknown.extend(name.filter(|name| !advice.unknown.contains(name)));
            }
        }
    }
    let worth = |found: &Found| {
        let knee = found.traits.scaling.knee.filter(|_| !found.exact)?;
        Some(knee.max(found.min.unwrap_or(1)))
    };
    let all: Option<Vec<u32>> = advice.known.iter().map(worth).collect();
    advice.cpus_per_task = all.filter(|_| advice.unknown.is_empty()).and_then(|all| all.into_iter().max());
    advice
}

/// What is known of a command's file, or else of a file of its name.
fn find(command: &Command, folder: &Path, known: &[Traits]) -> Option<Found> {
    let found = |word: &str, traits: &Traits, same_file| Found {
        program: word.to_owned(),
        same_file,
        fixed: command.threads.or(command.cpus),
        exact: command.exact,
        min: command.min,
        traits: traits.clone(),
    };
    let largest = |of: &dyn Fn(&&Traits) -> bool| {
        known.iter().filter(of).max_by_key(|one| one.scaling.knee.or(one.scaling.knee_at_least))
    };
    command.candidates().find_map(|word| {
        let executable = fingerprint(word, folder);
        let same = executable.as_ref().and_then(|id| largest(&|one| one.executable == *id));
        let named = || largest(&|one| one.name == base(word));
        same.map(|traits| found(word, traits, true)).or_else(|| Some(found(word, named()?, false)))
    })
}

fn fingerprint(word: &str, folder: &Path) -> Option<String> {
    let path: PathBuf =
        if word.contains('/') { folder.join(word) } else { target::resolve(OsStr::new(word)).ok()? };
    scaf_inspect::fingerprint(&path).ok()
}

fn say(path: &Path, advice: &Advice) -> String {
    let unknown = advice.unknown.iter().map(|name| printable(name)).collect::<Vec<_>>().join(", ");
    if advice.known.is_empty() {
        let what =
            if unknown.is_empty() { "it starts no program that could be found".into() } else { unknown };
        return format!(
            "{}: nothing is known of its programs ({what}); run them with `scaf run` and ask again\n",
            path.display()
        );
    }
    let mut text = String::new();
    for found in &advice.known {
        text += &line(found, advice.asked);
    }
    if !unknown.is_empty() {
        let _ = writeln!(text, "{unknown}: nothing is known; run it with `scaf run` and ask again");
    }
    match (advice.cpus_per_task, advice.asked) {
        (Some(worth), Some(asked)) if worth == asked => {
            let _ = writeln!(text, "worth asking for: --cpus-per-task={worth}, as it does");
        }
        (Some(worth), Some(asked)) => {
            let _ = writeln!(text, "worth asking for: --cpus-per-task={worth} instead of {asked}");
        }
        (Some(worth), None) => {
            let _ = writeln!(text, "worth asking for: --cpus-per-task={worth}");
        }
        (None, _) => text += "worth asking for: not known for the whole job, so keep what it asks for\n",
    }
    if advice.exclusive && advice.cpus_per_task.is_some() {
        text += "with --exclusive the job takes the whole node all the same; leave that out to share it\n";
    }
    text
}

fn line(found: &Found, asked: Option<u32>) -> String {
    let scaling = &found.traits.scaling;
    let mut text = format!("{}: ", printable(&found.program));
    let (best, most) = (scaling.best_speedup.unwrap_or(1.0), scaling.most_contexts.unwrap_or(1));
    match (scaling.knee, scaling.knee_at_least) {
        (Some(knee), _) => {
            let _ = write!(
                text,
                "{knee} CPUs bring 95% or more of its best speedup ({best:.2}, seen on up to {most})"
            );
        }
        (None, Some(least)) => {
            let _ =
                write!(text, "it still gained at {least} CPUs (speedup {best:.2}), and more wasn't tried");
        }
        (None, None) => text += "it was seen on one number of CPUs only, which says nothing of others",
    }
    if scaling.knee.is_some() && asked.is_some_and(|asked| asked > most) {
        text += "; as many as are asked for weren't tried";
    }
    if !found.same_file {
        let _ = write!(text, "; known by its name only ({})", printable(&found.traits.executable));
    }
    if found.exact {
        text += "; its results are to keep their bits, so keep its number of threads";
    }
    if let Some(min) = found.min {
        let _ = write!(text, "; it wants {min} or more");
    }
    if let Some(fixed) = found.fixed.filter(|fixed| scaling.knee.is_some_and(|knee| knee < *fixed)) {
        let _ = write!(text, "; the script says {fixed} threads or CPUs for it, to be lowered as well");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Scaling;

    fn known(name: &str, knee: Option<u32>, least: Option<u32>) -> Traits {
        let best_speedup = knee.or(least).map(f64::from);
        let most_contexts = knee.map(|knee| knee * 2).or(least);
        let scaling =
            Scaling { knee, knee_at_least: least, best_speedup, most_contexts, ..Scaling::default() };
        let (executable, machine) = (format!("id of {name}"), "m".into());
        Traits { name: name.into(), executable, machine, profiles: 1, runs: 3, scaling }
    }

    fn said(text: &str) -> (Option<u32>, String) {
        let list = [known("a", Some(6), None), known("b", Some(9), None), known("c", None, Some(4))];
        let advice = advise(&Script::read(text), &list);
        (advice.cpus_per_task, say(Path::new("job.sh"), &advice))
    }

    #[test]
    fn the_largest_knee_of_all_commands_counts() {
        let (cpus, text) = said("#SBATCH -c 32\nsrun ./a\nsrun ./b x\nsrun ./a again\n");
        assert_eq!(cpus, Some(9));
        assert!(text.contains("--cpus-per-task=9 instead of 32"), "{text}");
        assert_eq!(text.matches("./a:").count(), 1);
        assert!(text.contains("by its name only") && text.contains("weren't tried"), "{text}");
    }

    #[test]
    fn where_one_program_is_not_known_nothing_is_advised() {
        for script in ["./a\n./what\n", "./a\n./c\n", "scaf run --exact ./a\n"] {
            let (cpus, text) = said(script);
            assert_eq!(cpus, None, "{script}");
            assert!(text.contains("keep what it asks for"), "{text}");
        }
        let (_, text) = said("#SBATCH -c 4\nsrun ./what 5\nprog\n");
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains("nothing is known of its programs (./what, prog)"), "{text}");
        assert!(said("#SBATCH -c 4\n").1.contains("no program that could be found"));
    }

    #[test]
    fn a_minimum_is_kept_and_fixed_threads_are_mentioned() {
        let (cpus, text) = said("export OMP_NUM_THREADS=16\nscaf run --min 8 ./a\n");
        assert_eq!(cpus, Some(8));
        assert!(text.contains("16 threads") && text.contains("8 or more"), "{text}");
        let (_, text) = said("#SBATCH --exclusive -c 6\n./a\n");
        assert!(text.contains("as it does") && text.contains("whole node"), "{text}");
    }
}
