//! `scaf bench effective`: a program's speedup while the rest of the machine is busy (TACO, section 3.2).
//!
//! On a shared machine, others take caches and memory bandwidth, which a program on few contexts misses most.
//! So the other contexts are filled: with copies of the program on partitions of the same size (table 1 of
//! the paper), or with resource eaters, one thread of the kernel `triad` each. Partitions are units of the
//! topology or fractions of them, as in the policy `taco`.

use crate::cli;
use anyhow::{Context, Result, bail};
use scaf_cli::bench::child::Recipe;
use scaf_cli::bench::corun::{Part, Run, corun};
use scaf_cli::bench::folders::Folders;
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::progress::Progress;
use scaf_cli::bench::stats::median;
use scaf_cli::bench::{Header, publish};
use scaf_cli::{host, output, target};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

const CAP_S: f64 = 3_600.0;
/// Uses up caches and memory bandwidth: reads and writes about 0.3 GB again and again.
const EATER: (&str, &str) = ("triad", "--class=A");

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    program: String,
    filled_with: &'static str,
    points: Vec<Point>,
}

#[derive(Serialize, Debug, PartialEq)]
struct Point {
    p: u32,
    alone_s: f64,
    filled_s: f64,
    traditional_speedup: f64,
    effective_speedup: f64,
}

/// Carries out `scaf bench effective`.
/// # Errors
/// The program isn't there, fails or takes too long; the machine has one context; or an interrupt.
pub fn run(flags: &cli::Effective) -> Result<ExitCode> {
    let (program, arguments) = flags.command.split_first().context("no program")?;
    let recipe = Recipe::new(target::resolve(program)?, arguments.to_vec());
    let name = flags.name.clone().unwrap_or_else(|| {
        recipe.program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    });
    let pus = host::allowed_by_neighbourhood();
    let sizes = sizes(&pus, &flags.sizes)?;
    let eater = match flags.eater {
        true => Some(Recipe::new(
            Folders::find(None, flags.common.kernels.as_deref(), None).kernel(EATER.0)?,
            vec![EATER.1.into()],
        )),
        false => None,
    };
    let interrupt = Interrupt::install()?;
    let progress = Progress::new(2 * sizes.len() * flags.repetitions as usize);
    let mut times = vec![(Vec::new(), Vec::new()); sizes.len()];
    for _ in 0..flags.repetitions {
        for (p, (alone, filled)) in sizes.iter().zip(&mut times) {
            progress.at(format!("{p} of {} contexts", pus.len()));
            alone.push(seconds(&filling(&recipe, None, &pus[..*p], *p), 1, &interrupt)?);
            progress.step();
            let copies = if eater.is_some() { 1 } else { pus.len() / p };
            filled.push(seconds(&filling(&recipe, eater.as_ref(), &pus, *p), copies, &interrupt)?);
            progress.step();
        }
    }
    drop(progress);
    let mut medians = Vec::new();
    for (p, (alone, filled)) in sizes.iter().zip(&times) {
        let [alone, filled] = [alone, filled].map(|times| median(times).context("no runs"));
        medians.push((*p as u32, alone?, filled?));
    }
    let report = Report {
        header: Header::new(flags.repetitions),
        program: name,
        filled_with: if flags.eater { "eaters" } else { "copies" },
        points: points(&medians),
    };
    if let Some(file) = &flags.profile {
        save(file, &profile(&report))?;
    }
    publish(flags.common.json, &table(&report, pus.len()), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// The partition sizes to measure, ascending: 1 and those asked for, else 1 and those of the topology.
fn sizes(pus: &[u32], asked: &[u32]) -> Result<Vec<usize>> {
    let count = pus.len() as u32;
    if count < 2 {
        bail!(
            "this process may use {count} context, so there is nothing to compare; allow it more (taskset)"
        );
    }
    if let Some(bad) = asked.iter().find(|p| **p == 0 || !count.is_multiple_of(**p)) {
        bail!("{count} contexts can't be filled with partitions of {bad}");
    }
    let units = scaf_topology::load(&scaf_topology::Source::ThisMachine)
        .map_or_else(|_| Vec::new(), |topology| topology.restrict(&pus.iter().copied().collect()).units());
    let mut sizes: Vec<usize> = match asked {
        [] => scaf_policy::partition_counts(&units, count)
            .iter()
            .map(|parts| (count / parts) as usize)
            .collect(),
        asked => asked.iter().map(|p| *p as usize).collect(),
    };
    sizes.push(1);
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

/// Copies on partitions of `p` PUs each, or one program and an eater on each other PU.
fn filling(recipe: &Recipe, eater: Option<&Recipe>, pus: &[u32], p: usize) -> Vec<Part> {
    let part = |recipe: &Recipe, pus: &[u32]| {
        let threads = ("OMP_NUM_THREADS", Some(pus.len().to_string().into()));
        Part {
            recipe: recipe.with(vec![threads], Some(pus.to_vec())),
            start_s: 0.0,
            cap_s: CAP_S,
            restart: true,
        }
    };
    match eater {
        None => pus.chunks_exact(p).map(|pus| part(recipe, pus)).collect(),
        Some(eater) => {
            let eaters = pus[p..].chunks(1).map(|pu| part(eater, pu));
            [part(recipe, &pus[..p])].into_iter().chain(eaters).collect()
        }
    }
}

fn seconds(parts: &[Part], programs: usize, interrupt: &Interrupt) -> Result<f64> {
    let mut times = Vec::new();
    for run in corun(parts, interrupt)?.runs.into_iter().take(programs).flatten() {
        match run {
            Run::Ended(outcome) => match outcome.failure() {
                Some(how) => bail!("{} {how}", parts[0].recipe.program.display()),
                None => times.push(outcome.seconds),
            },
            Run::Capped(cap_s) => bail!("{} took more than {cap_s} s", parts[0].recipe.program.display()),
        }
    }
    median(&times).context("no run came to its end")
}

/// Speedups, from (contexts, seconds alone, seconds while the others are busy); the first row is one
/// context's.
fn points(medians: &[(u32, f64, f64)]) -> Vec<Point> {
    let Some((_, one_alone_s, one_filled_s)) = medians.first() else { return Vec::new() };
    let point = |(p, alone_s, filled_s): &(u32, f64, f64)| Point {
        p: *p,
        alone_s: *alone_s,
        filled_s: *filled_s,
        traditional_speedup: one_alone_s / alone_s,
        effective_speedup: one_filled_s / filled_s,
    };
    medians.iter().map(point).collect()
}

fn profile(report: &Report) -> String {
    let more = report.points.iter().filter(|point| point.p > 1);
    let points: Vec<String> =
        more.map(|point| format!("{} = {:.3}", point.p, point.effective_speedup)).collect();
    // A JSON string is a TOML string, too.
    let name = serde_json::Value::from(report.program.as_str());
    format!(
        "# Effective speedups, the other contexts filled with {}, by scaf bench effective: for scafd's \
         configuration.\n\
         [profiles]\n{name} = {{ {} }}\n",
        report.filled_with,
        points.join(", ")
    )
}

/// Writes only a new file: an existing one could be a configuration with more in it.
fn save(file: &Path, text: &str) -> Result<()> {
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).open(file);
    let mut opened = opened.with_context(|| format!("can't make {}", file.display()))?;
    opened.write_all(text.as_bytes()).with_context(|| file.display().to_string())
}

fn table(report: &Report, contexts: usize) -> String {
    let mut table = output::plain_table(&["P", "ALONE S", "FILLED S", "TRADITIONAL", "EFFECTIVE"]);
    for it in &report.points {
        table.add_row([
            it.p.to_string(),
            format!("{:.3}", it.alone_s),
            format!("{:.3}", it.filled_s),
            format!("{:.2}", it.traditional_speedup),
            format!("{:.2}", it.effective_speedup),
        ]);
    }
    output::align_right(&mut table, &[0, 1, 2, 3, 4]);
    format!(
        "{} on P of {contexts} contexts, alone and with the others filled with {}\n{}\n",
        report.program,
        report.filled_with,
        output::trimmed(&table)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Recipe {
        Recipe::new("/bin/true".into(), vec![])
    }

    #[test]
    fn the_machine_is_filled_with_copies_or_with_eaters() {
        let shape = |parts: Vec<Part>| -> Vec<Vec<u32>> {
            parts.into_iter().map(|part| part.recipe.pus.unwrap_or_default()).collect()
        };
        let pus = [0, 2, 1, 3];
        assert_eq!(shape(filling(&recipe(), None, &pus, 2)), [[0, 2], [1, 3]]);
        assert_eq!(shape(filling(&recipe(), Some(&recipe()), &pus, 2)), [vec![0, 2], vec![1], vec![3]]);
        assert_eq!(shape(filling(&recipe(), Some(&recipe()), &pus, 4)), [pus]);
        assert_eq!(sizes(&pus, &[4, 2]).unwrap(), [1, 2, 4]);
        assert!(sizes(&pus, &[3]).is_err() && sizes(&[5], &[]).is_err());
    }

    #[test]
    fn speedups_are_over_one_context_in_the_same_company() {
        let points = points(&[(1, 10.0, 30.0), (2, 8.0, 10.0)]);
        assert_eq!((points[1].traditional_speedup, points[1].effective_speedup), (1.25, 3.0));
        assert_eq!(points[0].effective_speedup, 1.0);
    }

    #[test]
    fn what_is_measured_is_a_configuration() {
        let report = Report {
            header: Header::new(1),
            program: "a \"b\"".into(),
            filled_with: "copies",
            points: points(&[(1, 10.0, 30.0), (2, 8.0, 10.0), (4, 5.0, 5.0)]),
        };
        let config = scafd::config::Config::parse(Path::new("p"), &profile(&report)).unwrap();
        let speedups: Vec<(u32, f64)> =
            config.profiles["a \"b\""].iter().map(|point| (point.dop, point.speedup.value)).collect();
        assert_eq!(speedups, [(2, 3.0), (4, 6.0)]);
        let file = tempfile::tempdir().unwrap();
        let file = file.path().join("profile.toml");
        save(&file, "x").unwrap();
        assert!(save(&file, "y").is_err(), "what is there stays");
    }
}
