//! SCAF's three programs on 64 contexts: table 5a and figure 5b.

use super::report::{Comparison, Error, Figure, Kind, Paper, steps};
use super::simulated::{available, under};
use super::tables;
use crate::{Options, Scenario};

const SCENARIO: &str = include_str!("../../../../fixtures/scenarios/scaf-three-way.toml");
const THEIRS: [(&str, &str); 3] = [("unmanaged", "unmodified"), ("equi", "equipartition"), ("scaf", "scaf")];

pub(super) fn run(seed: u64) -> Result<Paper, Error> {
    let scenario = Scenario::parse(SCENARIO)?;
    let topology = scenario.topology()?;
    let table = tables::three_way()?;
    let names: Vec<String> = scenario.programs.iter().map(|program| program.name.clone()).collect();
    let (mut rows, mut figures, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for policy in available(&["unmanaged", "equi", "scaf", "logm", "spdp", "offline", "curve"]) {
        let outcome = under(policy, &scenario, &topology, Options { seed, record: false })?;
        let called = THEIRS.iter().find(|(name, _)| *name == policy).map(|(_, called)| *called);
        let mut row = |process: &str, what, ours, paper| {
            rows.push(Comparison {
                configuration: policy.into(),
                process: process.into(),
                what,
                ours,
                paper,
            });
        };
        let mut speedups = Vec::new();
        for program in &outcome.programs {
            let paper =
                table.iter().find(|row| Some(&*row.configuration) == called && row.process == program.name);
            row(&program.name, "speedup", program.speedup, paper.map(|row| row.speedup));
            row(&program.name, "runtime_s", program.time_s(), paper.map(|row| row.runtime_s));
            speedups.push(Some(program.speedup));
        }
        let of_paper = table.iter().filter(|row| Some(&*row.configuration) == called).map(|row| row.speedup);
        let of_paper: Vec<f64> = of_paper.collect();
        let sum = called.map(|_| of_paper.iter().sum());
        row("all", "sum of speedups", outcome.stp(), sum);
        speedups.push(Some(outcome.stp()));
        ours.push((policy.to_owned(), speedups));
        if let Some(sum) = sum {
            let values = of_paper.into_iter().chain([sum]).map(Some);
            theirs.push((format!("{} (paper)", called.unwrap_or_default()), values.collect()));
        }
        if policy == "scaf" || policy == "curve" {
            let title = format!("{}, under {policy}: contexts over time (SCAF, figure 5b)", scenario.name);
            figures.push(steps(format!("scaf-figure-5b-{policy}"), title, &outcome));
        }
    }
    let groups = names.into_iter().chain(["sum".to_owned()]).collect();
    let series = theirs.into_iter().chain(ours).collect();
    figures.push(Figure {
        file: "scaf-table-5a".into(),
        title: "Three programs on 64 contexts (SCAF, table 5a)".into(),
        axis: "speedup",
        kind: Kind::Bars { groups, series },
    });
    Ok(Paper {
        name: "scaf-three-way",
        title: "SCAF, table 5a and figure 5b: cg.C, sp.B and lu.B on an UltraSparc T2 of 64 contexts",
        rows,
        assumptions: scenario.assumptions,
        figures,
    })
}
