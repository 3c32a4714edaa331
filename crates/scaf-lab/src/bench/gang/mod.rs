//! `scaf bench gang`: what turns are worth to programs that spin, and what turns cost.
//!
//! All programs are the probe `gang`, which counts its steps within a window of time. So starts, inspections
//! and ends don't count. A rate is compared with the same program's alone, in interleaved windows.

mod controller;

use crate::cli;
use anyhow::{Context, Result, bail};
use scaf_cli::bench::child::{Child, Recipe};
use scaf_cli::bench::folders::Folders;
use scaf_cli::bench::interrupt::Interrupt;
use scaf_cli::bench::private::Private;
use scaf_cli::bench::progress::Progress;
use scaf_cli::bench::stats::median;
use scaf_cli::bench::{Header, clock, publish};
use scaf_cli::{host, output};
use scafd::apply::gang::stop::Way;
use scafd::apply::guardian::{Guardian, Lease};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// The kernel that counts its steps.
pub const PROBE: &str = "gang";
/// Seconds from the programs' start to the window, in which they are attached, inspected, and given turns.
const RUN_UP_S: f64 = 1.0;
/// Seconds that a run may exceed its window by: unmanaged, a spinning program may reach its last barrier
/// late.
const CAP_S: f64 = 60.0;

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    header: Header,
    way: Way,
    slice_ms: u32,
    window_s: f64,
    /// Two spinning programs on all contexts: the sum of their rates over those alone.
    gang_stp: f64,
    unmanaged_stp: f64,
    gain_ratio: f64,
    /// These two with a malleable program beside them: the sum of the three rates over those alone.
    third_stp: f64,
    /// The malleable program's rate over a third of its rate alone.
    third_fair_ratio: f64,
    /// From the last sign of life of the program that is stopped to the first of the other one.
    switch_us: Spread,
    /// From the daemon's kill to the stopped program's first sign of life.
    thaw_ms: Spread,
    /// CPU time of the thread that switches.
    controller: controller::Cost,
}

#[derive(Serialize, Clone, Copy, Default)]
struct Spread {
    median: f64,
    p99: f64,
    max: f64,
    count: usize,
}

#[derive(Deserialize, Debug)]
struct Line {
    steps: f64,
    pauses: Vec<(u64, u64)>,
}

struct Bench {
    probe: PathBuf,
    window_s: f64,
    interrupt: Interrupt,
    configuration: String,
}

/// Carries out `scaf bench gang`.
/// # Errors
/// The probe isn't built or fails, programs can't take turns on this machine, no daemon, or an interrupt.
pub fn run(flags: &cli::Gang) -> Result<ExitCode> {
    // This forks, so it has to come before any thread.
    let guardian = Guardian::start(Lease::new()?).context("cannot start a guardian process")?;
    let way = Way::choose(std::path::Path::new("/"), flags.by).map_err(anyhow::Error::msg)?;
    let folders = Folders::find(None, flags.common.kernels.as_deref(), None);
    let by = serde_json::to_value(flags.by)?;
    let bench = Bench {
        probe: folders.kernel(PROBE)?,
        window_s: flags.seconds,
        interrupt: Interrupt::install()?,
        configuration: format!("count_load = false\ngang_by = {by}\nslice_ms = {}\n", flags.slice_ms),
    };
    let progress = Progress::new(5 * flags.repetitions as usize + 1);
    progress.at("the thread that switches, 8 partitions");
    let controller = controller::cost(&bench.probe, &bench.interrupt, (way, flags.slice_ms), &guardian)?;
    progress.step();
    let (mut unmanaged, mut gang, mut gain, mut third, mut fair) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut switches, mut thaws) = (vec![], vec![]);
    for _ in 0..flags.repetitions {
        let at = |what: &str| progress.at(what);
        at("alone");
        let alone = bench.alone("spin")?;
        let alone_loop = bench.alone("loop")?;
        progress.step();
        at("unmanaged");
        let plain: f64 = bench.plain(&["spin", "spin"])?.iter().map(|line| line.steps / alone).sum();
        progress.step();
        at("by turns");
        let pair = bench.managed(&["spin", "spin"])?;
        let turns: f64 = pair.iter().map(|line| line.steps / alone).sum();
        switches.extend(gaps(&pair, flags.slice_ms));
        progress.step();
        at("three");
        let three = bench.managed(&["spin", "spin", "loop"])?;
        let mine = three[2].steps / alone_loop;
        third.push(three[..2].iter().map(|line| line.steps / alone).sum::<f64>() + mine);
        fair.push(3.0 * mine);
        progress.step();
        at("killed");
        thaws.extend(bench.killed()?);
        progress.step();
        unmanaged.push(plain);
        gang.push(turns);
        gain.push(turns / plain.max(1e-9));
    }
    drop(progress);
    let of = |values: &[f64]| median(values).context("no runs");
    let report = Report {
        header: Header::new(flags.repetitions),
        way,
        slice_ms: flags.slice_ms,
        window_s: flags.seconds,
        gang_stp: of(&gang)?,
        unmanaged_stp: of(&unmanaged)?,
        gain_ratio: of(&gain)?,
        third_stp: of(&third)?,
        third_fair_ratio: of(&fair)?,
        switch_us: Spread::of(switches),
        thaw_ms: Spread::of(thaws),
        controller,
    };
    publish(flags.common.json, &table(&report), &report)?;
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    /// Starts probes with a common window; returns its begin and end in nanoseconds of CLOCK_MONOTONIC, too.
    fn start(&self, kinds: &[&str], private: Option<&Private>) -> Result<(Vec<Child>, u64, u64)> {
        let begin_ns = clock::now_ns() + (RUN_UP_S * 1e9) as u64;
        let end_ns = begin_ns + (self.window_s * 1e9) as u64;
        let threads = ("OMP_NUM_THREADS", Some(host::machine().pus.to_string().into()));
        let start = |kind: &&str| {
            let words = [(*kind).into(), begin_ns.to_string().into(), end_ns.to_string().into()];
            let recipe = Recipe::new(self.probe.clone(), words.to_vec());
            let mut environment = private.map(|private| private.environment(kind, 1)).unwrap_or_default();
            environment.push(threads.clone());
            if private.is_some() && *kind == "spin" {
                environment.push(("SCAF_RIGID", Some("1".into())));
            }
            Child::start(&recipe.with(environment, None))
        };
        Ok((kinds.iter().map(start).collect::<Result<_>>()?, begin_ns, end_ns))
    }

    fn finish(&self, children: Vec<Child>) -> Result<Vec<Line>> {
        let cap_s = RUN_UP_S + self.window_s + CAP_S;
        let line = |child: Child| {
            let outcome = child.success(&self.probe, cap_s, &self.interrupt)?;
            serde_json::from_str(outcome.stdout.trim())
                .with_context(|| format!("{PROBE}: '{}'", outcome.stdout))
        };
        children.into_iter().map(line).collect()
    }

    fn plain(&self, kinds: &[&str]) -> Result<Vec<Line>> {
        self.finish(self.start(kinds, None)?.0)
    }

    fn alone(&self, kind: &str) -> Result<f64> {
        let steps = self.plain(&[kind])?.first().map_or(0.0, |line| line.steps);
        if steps <= 0.0 {
            bail!("{PROBE} {kind} made no step in {} s; give it more --seconds", self.window_s);
        }
        Ok(steps)
    }

    fn managed(&self, kinds: &[&str]) -> Result<Vec<Line>> {
        let private = Private::configured("equi", &self.configuration, &self.interrupt)?;
        self.finish(self.start(kinds, Some(&private))?.0)
    }

    /// Kills the daemon in the middle of the window; returns the milliseconds until the stopped programs ran.
    fn killed(&self) -> Result<Vec<f64>> {
        let mut private = Private::configured("equi", &self.configuration, &self.interrupt)?;
        let (children, begin_ns, end_ns) = self.start(&["spin", "spin"], Some(&private))?;
        let middle_ns = begin_ns / 2 + end_ns / 2;
        let wait = Duration::from_nanos(middle_ns.saturating_sub(clock::now_ns()));
        self.interrupt.wait(&[], wait)?;
        let killed_ns = clock::now_ns();
        private.kill();
        let lines = self.finish(children)?;
        let pauses = lines.iter().flat_map(|line| &line.pauses);
        let over = pauses.filter(|(from, to)| *from < killed_ns && *to > killed_ns);
        Ok(over.map(|(_, to)| (to - killed_ns) as f64 * 1e-6).collect())
    }
}

/// Microseconds from each end of a program's turn to the start of the other's. A pause much shorter than a
/// slice is no switch.
fn gaps(lines: &[Line], slice_ms: u32) -> Vec<f64> {
    let long = |(from, to): &&(u64, u64)| to - from >= u64::from(slice_ms) * 1_000_000 * 8 / 10;
    let mut gaps = Vec::new();
    for (line, other) in lines.iter().zip(lines.iter().skip(1)).flat_map(|(a, b)| [(a, b), (b, a)]) {
        for (stopped, _) in line.pauses.iter().filter(long) {
            // The other program's pause with the nearest end; if that is more than 20 ms away, it was no
            // switch.
            let nearest = other.pauses.iter().filter(long).map(|(_, to)| *to as f64 - *stopped as f64);
            let nearest = nearest.filter(|gap| gap.abs() < 20e6).min_by(|a, b| a.abs().total_cmp(&b.abs()));
            gaps.extend(nearest.map(|gap| gap * 1e-3));
        }
    }
    gaps
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let index = (part * values.len() as f64) as usize;
            values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
        };
        Spread { median: at(0.5), p99: at(0.99), max: at(1.0), count: values.len() }
    }
}

fn table(report: &Report) -> String {
    let mut table = output::plain_table(&["WHAT", "MEASURED"]);
    let spread = |spread: &Spread, unit: &str| {
        format!(
            "{:.2} {unit} (99%: {:.2}, most {:.2}, of {})",
            spread.median, spread.p99, spread.max, spread.count
        )
    };
    for (what, measured) in [
        ("two that spin, by turns: STP over one after the other", format!("{:.3}", report.gang_stp)),
        ("the same unmanaged", format!("{:.3}", report.unmanaged_stp)),
        ("turns over unmanaged", format!("{:.2}", report.gain_ratio)),
        ("with a malleable third: STP", format!("{:.3}", report.third_stp)),
        ("the third's rate over its fair share", format!("{:.3}", report.third_fair_ratio)),
        ("from one's end to the other's progress", spread(&report.switch_us, "us")),
        ("from the daemon's kill to progress", spread(&report.thaw_ms, "ms")),
        (
            "the thread that switches, of a core",
            format!(
                "{:.3}%, {:.0} us a switch each {:.0} ms, {} partitions",
                report.controller.core_pct,
                report.controller.switch_us,
                report.controller.slice_ms,
                report.controller.partitions
            ),
        ),
    ] {
        table.add_row([what.to_owned(), measured]);
    }
    format!(
        "{}\n(by {}, slices of {} ms, medians of {})\n",
        output::trimmed(&table),
        report.way.name(),
        report.slice_ms,
        report.header.repetitions
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_from_one_programs_last_step_to_the_others_first() {
        let ms = |from: u64, to: u64| (from * 1_000_000, to * 1_000_000);
        let a = Line { steps: 0.0, pauses: vec![ms(50, 101), ms(120, 126), ms(150, 201)] };
        let b = Line { steps: 0.0, pauses: vec![ms(1, 51), ms(100, 152)] };
        assert_eq!(gaps(&[a, b], 50), [1000.0, 2000.0, 1000.0]);
    }
}
