//! TACO's workloads: forty jobs that arrive at random on 24 cores (tables 3 and 4).

use super::report::{Comparison, Error, Figure, Kind, Paper};
use super::simulated::under;
use super::tables;
use crate::scenario::ProgramSpec;
use crate::{Options, Scenario};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(super) const SCENARIO: &str = include_str!("../../../../fixtures/scenarios/taco.toml");

struct Approach {
    name: &'static str,
    policy: &'static str,
    /// Its name in table 4.
    paper: &'static str,
    change: fn(&mut Scenario),
}

#[rustfmt::skip]
const APPROACHES: &[Approach] = &[
    Approach { name: "unmanaged", policy: "unmanaged", paper: "UE", change: spin_at_first },
    Approach { name: "unmanaged, passive", policy: "unmanaged", paper: "UEp", change: |_| () },
    Approach { name: "dynamic", policy: "unmanaged", paper: "LA",
        change: |it| { spin_at_first(it); it.daemon.load_adaptive = true } },
    Approach { name: "dynamic, \
        passive", policy: "unmanaged", paper: "LAp", change: |it| it.daemon.load_adaptive = true },
    Approach { name: "equi, any \
        contexts", policy: "equi", paper: "EQ", change: |it| it.daemon.any_contexts = true },
    Approach { name: "equi", policy: "equi", paper: "EQ", change: |_| () },
    Approach { name: "ta", policy: "ta", paper: "TA", change: |_| () },
    Approach { name: "taco", policy: "taco", paper: "TACO", change: |_| () },
    Approach { name: "taco, all at \
        once", policy: "taco", paper: "", change: |it| it.daemon.all_at_once = true },
    Approach { name: "scaf", policy: "scaf", paper: "", change: |_| () },
    Approach { name: "curve", policy: "curve", paper: "", change: |_| () },
];

/// Cost of taking turns with libgomp's default of spinning at first. Fitted to UE's makespan in set C, 198%.
const SPINNING_LOSS: f64 = 0.078;

fn spin_at_first(scenario: &mut Scenario) {
    scenario.contention.slice_loss = SPINNING_LOSS;
}

/// Means over a set's workloads: makespan in percent of batch processing, slowdown, reconfigurations.
type Means = [f64; 3];
const MEASURES: [&str; 3] = ["makespan, % of batch", "mean slowdown", "reconfigurations"];

pub(super) fn sets(seed: u64) -> Result<Paper, Error> {
    let scenario = Scenario::parse(SCENARIO)?;
    let topology = scenario.topology()?;
    let theirs = tables::set_results()?;
    let (mut rows, mut groups, mut figures) = (Vec::new(), Vec::new(), super::schedule::figure_2()?);
    let mut series: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for (number, set) in tables::sets()?.iter().enumerate() {
        groups.push(format!("set {}", set.set));
        let mut means = vec![[0.0; 3]; APPROACHES.len() + 1];
        let mut present = Vec::new();
        for workload in 0..set.workloads {
            // Workloads are alike under every policy, and differ from set to set.
            let mut random =
                ChaCha8Rng::seed_from_u64(seed ^ (number as u64 + 1) << 32 ^ (workload + 1) << 16);
            let programs = jobs(set, &scenario, &mut random);
            let (busy_s, slowdown) = batch(&programs, topology.pus.len() as u32);
            add(&mut means[0], [100.0, slowdown, 0.0], set);
            for (approach, means) in APPROACHES.iter().zip(&mut means[1..]) {
                let mut scenario = Scenario { programs: programs.clone(), ..scenario.clone() };
                (approach.change)(&mut scenario);
                let outcome = under(approach.policy, &scenario, &topology, Options { seed, record: false })?;
                let makespan = 100.0 * outcome.occupied_s / busy_s;
                add(means, [makespan, outcome.antt(), outcome.changes as f64], set);
                if workload == 0 && !approach.paper.is_empty() {
                    present.push((approach.name.to_owned(), outcome.present()));
                }
            }
        }
        let names = APPROACHES.iter().map(|approach| (approach.name, approach.paper));
        for ((name, called), means) in [("batch", "BP")].into_iter().chain(names).zip(means) {
            let paper = theirs.iter().find(|row| row.set == set.set && row.approach == called);
            let [makespan, slowdown, changes] = MEASURES;
            let papers = [
                (makespan, paper.map(|row| row.makespan_pct)),
                (slowdown, paper.map(|row| row.avg_slowdown)),
                (changes, paper.and_then(|row| row.reconfigurations)),
            ];
            for ((what, paper), ours) in papers.into_iter().zip(means) {
                let (configuration, process) = (name.to_owned(), format!("set {}", set.set));
                rows.push(Comparison { configuration, process, what, ours, paper });
            }
            if let ("EQ" | "TA" | "TACO", true) = (called, name != "equi") {
                note(&mut series, name, Some(means[0]));
                note(&mut series, &format!("{called} (paper)"), paper.map(|row| row.makespan_pct));
            }
        }
        figures.push(Figure {
            file: format!("taco-figure-3{}", set.set.to_lowercase()),
            title: format!("Programs at once, one workload of set {} (as TACO, figure 3)", set.set),
            axis: "programs",
            kind: Kind::Steps { series: present },
        });
    }
    figures.push(Figure {
        file: "taco-table-4".into(),
        title: "Jobs arriving at random on 24 cores (TACO, table 4)".into(),
        axis: "makespan (% of batch)",
        kind: Kind::Bars { groups, series },
    });
    Ok(Paper {
        name: "taco-sets",
        title: "TACO, table 4: four sets of eight workloads of forty jobs on 24 cores",
        rows,
        assumptions: scenario.assumptions,
        figures,
    })
}

fn add(means: &mut Means, workload: Means, set: &tables::Set) {
    means.iter_mut().zip(workload).for_each(|(mean, value)| *mean += value / set.workloads as f64);
}

fn note(series: &mut Vec<(String, Vec<Option<f64>>)>, name: &str, value: Option<f64>) {
    let at = series.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        series.push((name.to_owned(), Vec::new()));
        series.len() - 1
    });
    series[at].1.push(value);
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

/// Jobs one after the other on all contexts: seconds in which any ran, and the mean slowdown.
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

/// Copies of one program that fill the machine (table 1, "effective").
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
            rows.push(Comparison {
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
