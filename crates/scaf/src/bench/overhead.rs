//! `scaf bench overhead`: what an empty parallel region and a program's start cost, plain and managed, and
//! what a team's members cost that outnumber its contexts.

pub(super) mod members;

use super::child::{self, Child, Recipe};
use super::folders::Folders;
use super::interrupt::Interrupt;
use super::private::Private;
use super::progress::Progress;
use super::stats::median;
use super::{Header, publish};
use crate::environment::{self, Change};
use crate::{cli, host, output};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// The kernel that measures an empty region.
pub const PROBE: &str = "empty";
/// The same kernel built by clang, for LLVM's runtime; measured if it is there.
const LLVMS_PROBE: &str = "clang/empty";
const CAP_S: f64 = 120.0;
/// Most pairs of runs until both have the right teams.
const ATTEMPTS: u32 = 8;
/// Starts of `/bin/true` of each kind. A start takes 0.5 ms and scatters by a tenth of that, so the median of
/// 400 is good to a few microseconds.
const STARTS: usize = 1_000;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    threads: Vec<ByThreads>,
    members: Vec<members::ByMembers>,
    startup_plain_us: f64,
    startup_managed_us: f64,
    startup_added_us: f64,
}

#[derive(Serialize)]
struct ByThreads {
    /// The runtime that was measured.
    runtime: &'static str,
    threads: u32,
    plain_ns: f64,
    managed_ns: f64,
    added_ns: f64,
}

#[derive(Deserialize)]
struct Probe {
    /// The smallest team met.
    threads: u32,
    /// Number of a slot of time, and nanoseconds per region in it.
    turns: Vec<(u64, f64)>,
}

/// Carries out `scaf bench overhead`.
/// # Errors
/// The probe isn't built or fails, no daemon, or an interrupt.
pub fn run(flags: &cli::Overhead) -> Result<ExitCode> {
    let folders = Folders::find(None, flags.common.kernels.as_deref(), None);
    let mut probes = vec![("libgomp", Recipe::new(folders.kernel(PROBE)?, vec![]), vec![])];
    if let Ok(probe) = folders.kernel(LLVMS_PROBE) {
        // By default, its threads spin for 0.2 s after their turn, during the other probe's.
        let blocktime: Change = ("KMP_BLOCKTIME", Some("1".into()));
        probes.push(("libomp", Recipe::new(probe, vec![]), vec![blocktime]));
    }
    let interrupt = Interrupt::install()?;
    drop(Private::start("scaf", &interrupt)?);
    let all = host::machine().pus;
    let sizes = if all > 1 { vec![1, all] } else { vec![1] };
    let progress = Progress::new(probes.len() * sizes.len() * flags.repetitions as usize + 1);
    let mut rows = Vec::new();
    for (runtime, probe, environment) in &probes {
        for threads in &sizes {
            let row = regions(*threads, probe, environment, flags.repetitions, &interrupt, &progress)?;
            rows.push(ByThreads { runtime, ..row });
        }
    }
    let members = members::run(&folders, flags.repetitions, &interrupt, &progress)?;
    progress.at("starts");
    let private = Private::start("scaf", &interrupt)?;
    let (startup_plain_us, startup_managed_us, startup_added_us) =
        starts(&private.environment("true", 1), &interrupt)?;
    drop(private);
    drop(progress);
    let report = Report {
        header: Header::new(flags.repetitions),
        threads: rows,
        members,
        startup_plain_us,
        startup_managed_us,
        startup_added_us,
    };
    publish(flags.common.json, &table(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

const MANAGED: usize = 1;

fn regions(
    threads: u32,
    probe: &Recipe,
    environment: &[Change],
    repetitions: u32,
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<ByThreads> {
    let size: Change = ("OMP_NUM_THREADS", Some(threads.to_string().into()));
    // One thread could run anywhere; on the same PU, both probes have the same neighbours.
    let pus = if threads == 1 { host::allowed().iter().next().map(|pu| vec![pu]) } else { None };
    let probe = probe.with([environment, &[size]].concat(), pus);
    let mut found: [Vec<f64>; 3] = Default::default();
    progress.at(format!("empty regions, threads: {threads}"));
    for repetition in 0..repetitions {
        let pair = pair(threads, &probe, (repetition % 2) as usize, interrupt)?;
        for (values, value) in found.iter_mut().zip([pair.plain_ns, pair.managed_ns, pair.added_ns]) {
            values.push(value);
        }
        progress.step();
    }
    let of = |values: &[f64]| median(values).context("no runs");
    let (plain_ns, managed_ns, added_ns) = (of(&found[0])?, of(&found[1])?, of(&found[2])?);
    Ok(ByThreads { runtime: "", threads, plain_ns, managed_ns, added_ns })
}

/// A plain and a managed probe that take turns, tried again until both had the right team. The plain one
/// isn't counted as load.
fn pair(threads: u32, probe: &Recipe, first: usize, interrupt: &Interrupt) -> Result<ByThreads> {
    let mut seen = 0;
    for _ in 0..ATTEMPTS {
        let private = Private::beside_others("scaf", interrupt)?;
        let start = |kind: usize| {
            let mut recipe = probe.clone();
            recipe.arguments.push(((kind + first) % 2).to_string().into());
            if kind == MANAGED {
                recipe.environment.extend(private.environment(PROBE, threads));
            }
            Child::start(&recipe)
        };
        let (plain, managed) = (start(1 - MANAGED)?, start(MANAGED)?);
        let output = |child: Child| -> Result<Probe> {
            let outcome = child.success(&probe.program, CAP_S, interrupt)?;
            let line = outcome.stdout.trim();
            serde_json::from_str(line).with_context(|| format!("{PROBE} printed '{line}'"))
        };
        let (plain, managed) = (output(plain)?, output(managed)?);
        seen = managed.threads;
        if seen == threads && plain.threads == threads {
            return plain.against(&managed, threads);
        }
    }
    bail!("{PROBE} ran with {seen} threads, not {threads}; the machine is too busy to measure on")
}

impl Probe {
    /// The added time: the median over neighbouring turns.
    fn against(&self, managed: &Probe, threads: u32) -> Result<ByThreads> {
        let ours: HashMap<u64, f64> = managed.turns.iter().copied().collect();
        let neighbour = |slot: u64| ours.get(&(slot + 1)).or_else(|| ours.get(&(slot - 1)));
        let added: Vec<f64> =
            self.turns.iter().filter_map(|&(slot, plain)| Some(neighbour(slot)? - plain)).collect();
        let of = |probe: &Probe| median(&probe.turns.iter().map(|turn| turn.1).collect::<Vec<_>>());
        let row = || {
            let (plain_ns, managed_ns) = (of(self)?, of(managed)?);
            Some(ByThreads { runtime: "", threads, plain_ns, managed_ns, added_ns: median(&added)? })
        };
        row().with_context(|| format!("two of {PROBE} met in no turn"))
    }
}

/// Median microseconds from posix_spawn to the end of `/bin/true`: plain, managed, and the difference of
/// neighbours.
fn starts(managed: &[Change], interrupt: &Interrupt) -> Result<(f64, f64, f64)> {
    // Without a closure to run between fork and exec, std uses posix_spawn, as shells and daemons do.
    let mut commands = [Vec::new(), managed.to_vec()].map(|changes| {
        let mut command = Command::new("/bin/true");
        child::clean(&mut command);
        environment::apply(&mut command, &changes);
        command.stdin(Stdio::null());
        command
    });
    let mut found: [Vec<f64>; 2] = Default::default();
    for turn in 0..STARTS {
        interrupt.check()?;
        let order = if turn % 2 == 0 { [0, 1] } else { [1, 0] };
        for kind in order {
            let start = Instant::now();
            commands[kind].status().context("/bin/true")?;
            found[kind].push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let added: Vec<f64> = found[1].iter().zip(&found[0]).map(|(managed, plain)| managed - plain).collect();
    let of = |times: &[f64]| median(times).context("no starts");
    Ok((of(&found[0])?, of(&found[1])?, of(&added)?))
}

fn table(report: &Report) -> String {
    let mut table = output::plain_table(&["RUNTIME", "THREADS", "PLAIN NS", "MANAGED NS", "ADDED NS"]);
    for row in &report.threads {
        let ns = |value: f64| format!("{value:.1}");
        let times = [row.plain_ns, row.managed_ns, row.added_ns].map(ns);
        table.add_row([row.runtime.to_owned(), row.threads.to_string()].into_iter().chain(times));
    }
    output::align_right(&mut table, &[1, 2, 3, 4]);
    format!(
        "{}\n{}\na start of /bin/true: {:.1} us plain, {:.1} us managed, {:.1} us added\n",
        output::trimmed(&table),
        members::table(&report.members),
        report.startup_plain_us,
        report.startup_managed_us,
        report.startup_added_us
    )
}
