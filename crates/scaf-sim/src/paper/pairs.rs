//! SCAF's pairs of NAS programs on 8 cores: SP and LU of the slides, and all pairs of seven (section 5.2.1).

use super::report::{Comparison, Error, Figure, Kind, Paper};
use super::simulated::{available, under};
use super::{tables, taco};
use crate::scenario::ProgramSpec;
use crate::{Options, Scenario};

const SCENARIO: &str = include_str!("../../../../fixtures/scenarios/scaf-sp-lu.toml");
const CONTEXTS: u32 = 8;
/// Seconds after which the second program comes.
const LATER_S: f64 = 10.0;

pub(super) fn run(seed: u64) -> Result<Paper, Error> {
    let scenario = Scenario::parse(SCENARIO)?;
    let topology = scenario.topology()?;
    let table = tables::pair()?;
    let (mut rows, mut series) = (Vec::new(), Vec::new());
    for policy in available(&["unmanaged", "equi", "scaf", "logm", "spdp", "curve"]) {
        let outcome = under(policy, &scenario, &topology, Options { seed, record: false })?;
        let called = match policy {
            "unmanaged" => "unmodified",
            "equi" => "equipartition",
            _ => "smart",
        };
        let paper = table.iter().find(|row| row.system == called);
        let ours = [outcome.programs[0].speedup, outcome.programs[1].speedup, outcome.stp()];
        let theirs = paper.map(|row| [row.sp_speedup, row.lu_speedup, row.sum_speedup]);
        for (i, (process, what)) in
            [("SP", "speedup"), ("LU", "speedup"), ("SP + LU", "sum of speedups")].into_iter().enumerate()
        {
            let (configuration, process) = (policy.to_owned(), process.to_owned());
            rows.push(Comparison {
                configuration,
                process,
                what,
                ours: ours[i],
                paper: theirs.map(|all| all[i]),
            });
        }
        series.push((policy.to_owned(), ours.map(Some).to_vec()));
    }
    let groups = ["SP", "LU", "sum"].map(str::to_owned).to_vec();
    let figure = Figure {
        file: "scaf-sp-lu".into(),
        title: "SP and LU on 8 cores (SCAF's slides)".into(),
        axis: "speedup",
        kind: Kind::Bars { groups, series },
    };
    let mut assumptions = scenario.assumptions;
    rows.extend(all_pairs(scenario.contention.slice_loss, seed)?);
    assumptions.push(
        "All pairs: SCAF's seven programs with the curves that TACO measured on another machine \
         (fixtures/scenarios/taco.toml), up to 8 contexts of 2 nodes; each program's regions are repeated \
         until its work is 600 s; taking turns costs what was fitted to SP and LU. The paper has no curves \
         of its own, so only the order of magnitude can be compared."
            .into(),
    );
    Ok(Paper {
        name: "scaf-pairs",
        title: "SCAF's slides and section 5.2.1: pairs of NAS programs on a Xeon of 8 cores",
        rows,
        assumptions,
        figures: vec![figure],
    })
}

/// In how many pairs a policy beats both unmodified programs and equal parts, and by how much.
fn all_pairs(slice_loss: f64, seed: u64) -> Result<Vec<Comparison>, Error> {
    let mut scenario = Scenario::parse(taco::SCENARIO)?;
    scenario.contention.slice_loss = slice_loss;
    scenario.machine = "pack:2 [numa] core:4 pu:1".into();
    let topology = scenario.topology()?;
    // SCAF leaves IS out, since it isn't malleable.
    let programs: Vec<ProgramSpec> =
        scenario.programs.iter().filter(|program| program.name != "is.C").map(longer).collect();
    let mut rows = Vec::new();
    let headlines = tables::pairs_headlines()?;
    let headline = headlines.iter().find(|row| row.contexts == CONTEXTS);
    for policy in available(&["scaf", "logm", "spdp", "curve"]) {
        let (mut pairs, mut improved, mut improvement) = (0.0, 0.0, 0.0);
        for (i, first) in programs.iter().enumerate() {
            for second in &programs[i + 1..] {
                let second = ProgramSpec { arrives_s: LATER_S, ..second.clone() };
                let scenario = Scenario { programs: vec![first.clone(), second], ..scenario.clone() };
                let stp = |policy| -> Result<f64, Error> {
                    Ok(under(policy, &scenario, &topology, Options { seed, record: false })?.stp())
                };
                let ratio = stp(policy)? / stp("unmanaged")?.max(stp("equi")?);
                pairs += 1.0;
                if ratio > 1.0 {
                    improved += 1.0;
                    improvement += ratio - 1.0;
                }
            }
        }
        let theirs = headline.filter(|_| policy == "scaf");
        for (what, ours, paper) in [
            ("improved, %", 100.0 * improved / pairs, theirs.map(|row| row.pairs_improved_pct)),
            (
                "mean improvement of those, %",
                100.0 * improvement / f64::max(improved, 1.0),
                theirs.map(|row| row.mean_improvement_of_those_pct),
            ),
        ] {
            rows.push(Comparison {
                configuration: policy.into(),
                process: "all 21 pairs".into(),
                what,
                ours,
                paper,
            });
        }
    }
    Ok(rows)
}

fn longer(program: &ProgramSpec) -> ProgramSpec {
    let mut longer = program.clone();
    let times = 600.0 / longer.work_s();
    for region in longer.phases.iter_mut().flat_map(|phase| &mut phase.regions) {
        region.times = (f64::from(region.times) * times).ceil() as u32;
    }
    longer
}
