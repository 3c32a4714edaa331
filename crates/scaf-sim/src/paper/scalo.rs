//! SCALO's workloads on 20 cores: two (figures 6 and 7) to four (figures 12 and 13) of ten programs.

use super::report::{Comparison, Error, Figure, Kind, Paper};
use super::simulated::{available, each, under};
use super::tables;
use crate::scenario::ProgramSpec;
use crate::{Options, Scenario};
use scaf_policy::Topology;

const SCENARIO: &str = include_str!("../../../../fixtures/scenarios/scalo.toml");
/// Our policies; `offline` is the paper's OPPTS.
const POLICIES: [&str; 5] = ["spdp", "logm", "offline", "scaf", "curve"];
const CLASSES: [&str; 3] = ["high", "medium", "low"];

/// A workload, and each policy's gain in the sum of speedups over equal parts, in percent.
struct Workload {
    name: String,
    classes: Vec<String>,
    gains: Vec<f64>,
    /// The gains until the first program ended.
    together: Vec<f64>,
}

struct Bench {
    scenario: Scenario,
    topology: Topology,
    policies: Vec<&'static str>,
    headlines: Vec<tables::ScaloHeadline>,
    seed: u64,
}

impl Bench {
    fn new(seed: u64) -> Result<Bench, Error> {
        let scenario = Scenario::parse(SCENARIO)?;
        let topology = scenario.topology()?;
        let headlines = tables::scalo_headlines()?;
        Ok(Bench { scenario, topology, policies: available(&POLICIES), headlines, seed })
    }

    /// The sum of speedups of these programs under a policy, in all and until the first program ended.
    fn stp(&self, policy: &str, programs: &[usize]) -> Result<(f64, f64), Error> {
        let programs: Vec<ProgramSpec> =
            programs.iter().map(|i| self.scenario.programs[*i].clone()).collect();
        let mut scenario = Scenario { programs, ..self.scenario.clone() };
        scenario.daemon.profiles = policy == "offline";
        let options = Options { seed: self.seed, record: false };
        let outcome = under(policy, &scenario, &self.topology, options)?;
        Ok((outcome.stp(), outcome.stp_together.unwrap_or(f64::NAN)))
    }

    fn workloads(&self, size: usize) -> Result<Vec<Workload>, Error> {
        let table = tables::scalo_programs()?;
        let class = |name: &str| {
            table.iter().find(|row| row.program == name).map_or_else(String::new, |row| row.class.clone())
        };
        let workload = |programs: &Vec<usize>| -> Result<Workload, Error> {
            let equal = self.stp("equi", programs)?;
            let (mut gains, mut together) = (Vec::new(), Vec::new());
            for policy in &self.policies {
                let stp = self.stp(policy, programs)?;
                gains.push(100.0 * (stp.0 / equal.0 - 1.0));
                together.push(100.0 * (stp.1 / equal.1 - 1.0));
            }
            let names: Vec<&str> =
                programs.iter().map(|i| self.scenario.programs[*i].name.as_str()).collect();
            let classes = names.iter().map(|name| class(name)).collect();
            Ok(Workload { name: names.join(" + "), classes, gains, together })
        };
        each(&combinations(self.scenario.programs.len(), size), workload).into_iter().collect()
    }

    fn theirs(&self, workloads: &[&str], policy: &str) -> Option<f64> {
        let allocator = if policy == "offline" { "OPPTS".to_owned() } else { policy.to_uppercase() };
        let row = self.headlines.iter().find(|row| {
            workloads.contains(&&*row.workloads)
                && row.allocator.split([' ', ',']).any(|name| name == allocator)
        })?;
        row.stp_change_pct.parse().ok()
    }

    fn rows(&self, process: &str, theirs: &[&str], means: &[f64]) -> Vec<Comparison> {
        let row = |(policy, mean): (&&str, &f64)| Comparison {
            configuration: (*policy).into(),
            process: process.into(),
            what: "STP over equi, %",
            ours: *mean,
            paper: self.theirs(theirs, policy),
        };
        self.policies.iter().zip(means).map(row).collect()
    }

    /// Rows of the mean gains until the first program ended; the paper has none.
    fn rows_together(&self, process: &str, workloads: &[&Workload]) -> Vec<Comparison> {
        let means = means_of(workloads.iter().map(|workload| &workload.together));
        let row = |row: Comparison| Comparison {
            what: "STP over equi until the first ends, %",
            paper: None,
            ..row
        };
        self.rows(process, &[], &means).into_iter().map(row).collect()
    }

    fn figure(&self, file: &str, title: String, groups: Vec<(String, Vec<f64>)>) -> Figure {
        let values = |at: usize| groups.iter().map(|(_, gains)| gains.get(at).copied()).collect();
        let series = self.policies.iter().enumerate().map(|(at, policy)| ((*policy).to_owned(), values(at)));
        let series = series.collect();
        let groups = groups.into_iter().map(|(name, _)| name).collect();
        Figure { file: file.into(), title, axis: "STP over equi (%)", kind: Kind::Bars { groups, series } }
    }

    fn paper(
        self,
        name: &'static str,
        title: &'static str,
        rows: Vec<Comparison>,
        figures: Vec<Figure>,
    ) -> Paper {
        Paper { name, title, rows, assumptions: self.scenario.assumptions, figures }
    }
}

fn means<'a>(workloads: impl Iterator<Item = &'a Workload>) -> Vec<f64> {
    means_of(workloads.map(|workload| &workload.gains))
}

fn means_of<'a>(gains: impl Iterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let all: Vec<&Vec<f64>> = gains.collect();
    let policies = all.first().map_or(0, |gains| gains.len());
    let mean = |at: usize| all.iter().map(|gains| gains[at]).sum::<f64>() / all.len() as f64;
    (0..policies).map(mean).collect()
}

fn is_mixed(workload: &&Workload) -> bool {
    workload.classes.iter().any(|class| *class != workload.classes[0])
}

pub(super) fn pairs(seed: u64) -> Result<Paper, Error> {
    let bench = Bench::new(seed)?;
    let workloads = bench.workloads(2)?;
    let of = |a: usize, b: usize| {
        let (a, b) = (CLASSES[a], CLASSES[b]);
        workloads.iter().filter(move |workload| workload.classes == [a, b])
    };
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for (different, file, title) in [
        (true, "scalo-figure-6-different", "Two programs of different classes (SCALO, figure 6a)"),
        (false, "scalo-figure-6-same", "Two programs of one class (SCALO, figure 6c)"),
    ] {
        let kinds: &[(usize, usize)] =
            if different { &[(0, 1), (0, 2), (1, 2)] } else { &[(0, 0), (1, 1), (2, 2)] };
        let mut groups = Vec::new();
        for (a, b) in kinds {
            let process = format!("{}-{}", CLASSES[*a], CLASSES[*b]);
            groups.push((process, means(of(*a, *b))));
        }
        let all = means(workloads.iter().filter(|workload| is_mixed(workload) == different));
        let theirs = if different {
            "2 programs of different speedup class"
        } else {
            "2 programs of the same speedup class"
        };
        groups.push((theirs.replace(" speedup", ""), all));
        for (process, gains) in &groups {
            let theirs: &[&str] = if process.starts_with('2') { &[theirs] } else { &[] };
            rows.extend(bench.rows(process, theirs, gains));
        }
        let alike: Vec<&Workload> =
            workloads.iter().filter(|workload| is_mixed(workload) == different).collect();
        rows.extend(bench.rows_together(&theirs.replace(" speedup", ""), &alike));
        figures.push(bench.figure(file, title.into(), groups));
    }
    for (panel, (a, b)) in ["a", "c", "b"].into_iter().zip([(0, 1), (0, 2), (1, 2)]) {
        let title = format!("{} and {} (SCALO, figure 7)", CLASSES[a], CLASSES[b]);
        let groups: Vec<_> =
            of(a, b).map(|workload| (workload.name.clone(), workload.gains.clone())).collect();
        figures.push(bench.figure(&format!("scalo-figure-7{panel}"), title, groups));
    }
    for workload in &workloads {
        rows.extend(bench.rows(&workload.name, &[&workload.name], &workload.gains));
    }
    let title = "SCALO, figures 6 and 7: pairs of ten programs on 20 cores";
    Ok(bench.paper("scalo-pairs", title, rows, figures))
}

pub(super) fn mixes(seed: u64) -> Result<Paper, Error> {
    let bench = Bench::new(seed)?;
    let (three, four) = (bench.workloads(3)?, bench.workloads(4)?);
    let groups = vec![
        ("3 programs, all".to_owned(), means(three.iter())),
        ("3 of all classes".to_owned(), means(three.iter().filter(|workload| workload.classes == CLASSES))),
        ("3 of different classes".to_owned(), means(three.iter().filter(is_mixed))),
        ("4 programs, all".to_owned(), means(four.iter())),
        ("4 of different classes".to_owned(), means(four.iter().filter(is_mixed))),
    ];
    let mut rows = Vec::new();
    for (process, gains) in &groups {
        let size = if process.starts_with('3') { "3 programs" } else { "4 programs" };
        let theirs: &[&str] = if process.ends_with("all") { &[size, "3 and 4 programs"] } else { &[] };
        rows.extend(bench.rows(process, theirs, gains));
    }
    for (process, workloads) in [("3 programs, all", &three), ("4 programs, all", &four)] {
        rows.extend(bench.rows_together(process, &workloads.iter().collect::<Vec<_>>()));
    }
    let title = "Three and four programs (SCALO, figure 13)".to_owned();
    let mut figures = vec![bench.figure("scalo-figure-13", title, groups)];
    let different: Vec<&Workload> = three.iter().filter(|workload| workload.classes == CLASSES).collect();
    for (part, workloads) in ["a", "b", "c"].into_iter().zip(different.chunks(12)) {
        let title = "Three programs, one of each class (SCALO, figure 12)".to_owned();
        let groups = workloads.iter().map(|workload| (workload.name.clone(), workload.gains.clone()));
        figures.push(bench.figure(&format!("scalo-figure-12{part}"), title, groups.collect()));
    }
    for workload in three.iter().chain(&four) {
        rows.extend(bench.rows(&workload.name, &[], &workload.gains));
    }
    let title = "SCALO, figures 12 and 13: all choices of three and four of ten programs on 20 cores";
    Ok(bench.paper("scalo-mixes", title, rows, figures))
}

fn combinations(of: usize, size: usize) -> Vec<Vec<usize>> {
    let chosen = |bits: u32| (0..of).filter(move |i| bits >> i & 1 == 1).collect();
    (0u32..1 << of).filter(|bits| bits.count_ones() as usize == size).map(chosen).collect()
}
