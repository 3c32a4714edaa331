//! TACO's workloads: forty jobs that arrive at random on 24 cores, one after the other and side by side. Tables 3 and 4.

use super::{Error, Figure, Kind, Paper, Row, available, tables, under};
use crate::scenario::ProgramSpec;
use crate::{Options, Scenario};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) const SCENARIO: &str = include_str!("../../../../fixtures/scenarios/taco.toml");

/// The paper's equipartition, which doesn't look at what contexts share.
const ANY: &str = "equi, any contexts";

/// Makespan over that of batch processing in percent, and mean slowdown.
type Result2 = (f64, f64);

pub(super) fn sets(seed: u64) -> Result<Paper, Error> {
    let scenario = Scenario::parse(SCENARIO)?;
    let topology = scenario.topology()?;
    let theirs = tables::set_results()?;
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    let policies: Vec<&str> =
        [ANY].into_iter().chain(available(&["equi", "scaf", "curve", "taco"])).collect();
    let mut series: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for (number, set) in tables::sets()?.iter().enumerate() {
        groups.push(format!("set {}", set.set));
        let mut sums = vec![(0.0, 0.0); policies.len() + 1];
        for workload in 0..set.workloads {
            // Workloads of a set are alike under every policy, and differ from set to set.
            let mut random =
                ChaCha8Rng::seed_from_u64(seed ^ (number as u64 + 1) << 32 ^ (workload + 1) << 16);
            let scenario = Scenario { programs: jobs(set, &scenario, &mut random), ..scenario.clone() };
            let contexts = topology.pus.len() as u32;
            let (busy_s, slowdown) = batch(&scenario.programs, contexts);
            add(&mut sums[0], (100.0, slowdown));
            for (policy, sum) in policies.iter().zip(&mut sums[1..]) {
                let mut scenario = scenario.clone();
                scenario.daemon.any_contexts = *policy == ANY;
                let name = if *policy == ANY { "equi" } else { policy };
                let outcome = under(name, &scenario, &topology, Options { seed, record: false })?;
                add(sum, (100.0 * outcome.occupied_s / busy_s, outcome.antt()));
            }
        }
        for (policy, (makespan, slowdown)) in ["batch"].iter().chain(&policies).zip(sums) {
            let called = match *policy {
                "batch" => "BP",
                ANY | "equi" => "EQ",
                _ => "",
            };
            let paper = theirs.iter().find(|row| row.set == set.set && row.approach == called);
            let (process, workloads) = (format!("set {}", set.set), set.workloads as f64);
            for (what, ours, paper) in [
                ("makespan, % of batch", makespan / workloads, paper.map(|row| row.makespan_pct)),
                ("mean slowdown", slowdown / workloads, paper.map(|row| row.avg_slowdown)),
            ] {
                let configuration = (*policy).to_owned();
                rows.push(Row { configuration, process: process.clone(), what, ours, paper });
            }
            note(&mut series, policy, makespan / workloads);
        }
        for approach in ["EQ", "EQi"] {
            let paper = theirs.iter().find(|row| row.set == set.set && row.approach == approach);
            note(&mut series, &format!("{approach} (paper)"), paper.map_or(f64::NAN, |row| row.makespan_pct));
        }
    }
    let figure = Figure {
        file: "taco-table-4".into(),
        title: "Jobs arriving at random on 24 cores (TACO, table 4)".into(),
        axis: "makespan (% of batch)",
        kind: Kind::Bars { groups, series },
    };
    let mut assumptions = scenario.assumptions;
    assumptions.push("TACO's own rows (TA, TACO, and those that let programs oversubscribe) aren't here: that needs its policy and gangs, which this build doesn't have.".into());
    Ok(Paper {
        name: "taco-sets",
        title: "TACO, table 4: four sets of eight workloads of forty jobs on 24 cores",
        rows,
        assumptions,
        figures: vec![figure],
    })
}

fn add(sum: &mut Result2, result: Result2) {
    *sum = (sum.0 + result.0, sum.1 + result.1);
}

fn note(series: &mut Vec<(String, Vec<Option<f64>>)>, name: &str, value: f64) {
    let at = series.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        series.push((name.to_owned(), Vec::new()));
        series.len() - 1
    });
    series[at].1.push(Some(value));
}

/// Jobs drawn at random from the programs of a set, with exponential times between them.
fn jobs(set: &tables::Set, scenario: &Scenario, random: &mut ChaCha8Rng) -> Vec<ProgramSpec> {
    let allowed: Vec<&ProgramSpec> = scenario
        .programs
        .iter()
        .filter(|program| !set.mix.split(' ').any(|word| word == program.name))
        .collect();
    let mut now_s = 0.0;
    let job = |_| {
        let program = allowed[random.random_range(0..allowed.len())];
        let job = ProgramSpec { arrives_s: now_s, ..program.clone() };
        now_s += -60.0 / set.arrivals_per_minute * (1.0 - random.random::<f64>()).ln();
        job
    };
    (0..set.jobs_per_workload).map(job).collect()
}

/// One after the other, each alone on all contexts: seconds in which any ran, and the mean slowdown against being alone.
fn batch(jobs: &[ProgramSpec], contexts: u32) -> (f64, f64) {
    let (mut free_s, mut busy_s, mut slowdown) = (0.0f64, 0.0, 0.0);
    for job in jobs {
        let time_s = job.time_s(contexts);
        free_s = free_s.max(job.arrives_s) + time_s;
        busy_s += time_s;
        slowdown += (free_s - job.arrives_s) / time_s;
    }
    (busy_s, slowdown / jobs.len().max(1) as f64)
}

/// Copies of one program that fill the machine: table 1, "effective".
pub(super) fn effective(seed: u64) -> Result<Paper, Error> {
    let scenario = Scenario::parse(SCENARIO)?;
    let topology = scenario.topology()?;
    let theirs = tables::speedups()?;
    let contexts = topology.pus.len() as u32;
    let (mut rows, mut ours_of, mut theirs_of) = (Vec::new(), Vec::new(), Vec::new());
    let sizes = [2u32, 3, 6, 12, 24];
    for program in &scenario.programs {
        let time_s = |p: u32| -> Result<f64, Error> {
            let copy = ProgramSpec { natural: Some(p), ..program.clone() };
            let programs = vec![copy; (contexts / p) as usize];
            let filled = Scenario { programs, ..scenario.clone() };
            let outcome = under("equi", &filled, &topology, Options { seed, record: false })?;
            Ok(outcome.programs.iter().map(|program| program.time_s()).sum::<f64>()
                / outcome.programs.len() as f64)
        };
        let alone_s = time_s(1)?;
        let paper = theirs.iter().find(|row| row.benchmark == program.name && row.kind == "effective");
        let paper = paper.map(|row| [row.p2, row.p3, row.p6, row.p12, row.p24]);
        for (i, p) in sizes.into_iter().enumerate() {
            let (ours, paper) = (alone_s / time_s(p)?, paper.map(|row| row[i]));
            let configuration = format!("{} copies of {p}", contexts / p);
            rows.push(Row {
                configuration,
                process: program.name.clone(),
                what: "effective speedup",
                ours,
                paper,
            });
            if p == 6 {
                ours_of.push(Some(ours));
                theirs_of.push(paper);
            }
        }
    }
    let groups = scenario.programs.iter().map(|program| program.name.clone()).collect();
    let figure = Figure {
        file: "taco-table-1-effective".into(),
        title: "Effective speedup on 6 of 24 cores (TACO, table 1)".into(),
        axis: "effective speedup",
        kind: Kind::Bars { groups, series: vec![("paper".into(), theirs_of), ("simulated".into(), ours_of)] },
    };
    Ok(Paper {
        name: "effective-speedup",
        title: "TACO, table 1: speedups while the other cores run copies of the same program",
        rows,
        assumptions: scenario.assumptions,
        figures: vec![figure],
    })
}
