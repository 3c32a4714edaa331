//! `scaf bench decide --place`: how long it takes to choose contexts once their number is known.
//!
//! Each round, one in eight programs gives a context to another one, as from decision to decision. The
//! placement after this change is timed, and the next one, where everybody can stay.

use super::noise::{Noise, Report};
use crate::cli::Decide;
use anyhow::Result;
use scaf_cli::bench::stats::median;
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_policy::place::{Style, Want, place};
use scaf_policy::{ProgramId, Pu, PuSet, Topology};
use serde::Serialize;
use std::process::ExitCode;
use std::time::Instant;

const CASES: [(u32, u32); 6] = [(2, 16), (16, 64), (64, 256), (256, 1024), (1000, 1024), (256, 4096)];

#[derive(Serialize)]
struct Case {
    programs: u32,
    pus: u32,
    style: Style,
    change_us: f64,
    change_worst_us: f64,
    stay_us: f64,
    stay_worst_us: f64,
}

pub fn run(flags: &Decide) -> Result<ExitCode> {
    let mut cases = Vec::new();
    for (programs, pus) in CASES {
        for style in [Style::Compact, Style::Spread, Style::Along] {
            cases.push(case((programs, pus), style, flags.repetitions));
        }
    }
    let report = Report { header: Header::new(flags.repetitions), cases };
    publish(flags.json, &table(&report.cases), &report)?;
    Ok(ExitCode::SUCCESS)
}

/// Packages of 128 contexts: two nodes of four caches of eight cores of two contexts.
fn machine(pus: u32) -> Topology {
    let pu = |os| Pu { os, core: os / 2, l3: os / 16, numa: os / 64, package: os / 128, class: 0 };
    Topology { pus: (0..pus).map(pu).collect() }
}

fn case((count, pus): (u32, u32), style: Style, repetitions: u32) -> Case {
    let topology = machine(pus);
    let mut noise = Noise(u64::from(count) << 32 | u64::from(pus));
    let mut one = || (((noise.number() + 1.0) / 2.0 * f64::from(count)) as usize).min(count as usize - 1);
    let wanting =
        |id| Want { id: ProgramId(id), dop: 1, allowed: topology.all(), previous: PuSet::new(), weight: 1.0 };
    let mut wants: Vec<Want> = (0..u64::from(count)).map(wanting).collect();
    for _ in count..pus {
        wants[one()].dop += 1;
    }
    let (mut change_us, mut stay_us) = (Vec::new(), Vec::new());
    let timed = |wants: &mut Vec<Want>| {
        let begun = Instant::now();
        let sets = place(&topology, wants, style);
        let took_us = begun.elapsed().as_secs_f64() * 1e6;
        wants.iter_mut().zip(sets).for_each(|(want, set)| want.previous = set);
        took_us
    };
    timed(&mut wants);
    for _ in 0..repetitions {
        for _ in 0..(count / 8).max(1) {
            let (giver, taker) = (one(), one());
            if wants[giver].dop > 1 {
                wants[giver].dop -= 1;
                wants[taker].dop += 1;
            }
        }
        change_us.push(timed(&mut wants));
        stay_us.push(timed(&mut wants));
    }
    let worst = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    Case {
        programs: count,
        pus,
        style,
        change_us: median(&change_us).unwrap_or(0.0),
        change_worst_us: worst(&change_us),
        stay_us: median(&stay_us).unwrap_or(0.0),
        stay_worst_us: worst(&stay_us),
    }
}

fn table(cases: &[Case]) -> String {
    let mut table =
        output::plain_table(&["PROGRAMS", "PUS", "STYLE", "CHANGE US", "WORST US", "STAY US", "WORST US"]);
    for case in cases {
        let style = format!("{:?}", case.style).to_lowercase();
        let times = [case.change_us, case.change_worst_us, case.stay_us, case.stay_worst_us];
        let cells = [case.programs.to_string(), case.pus.to_string(), style];
        table.add_row(cells.into_iter().chain(times.map(|us| format!("{us:.1}"))));
    }
    output::align_right(&mut table, &[0, 1, 3, 4, 5, 6]);
    format!("{}\n", output::trimmed(&table))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placing_is_timed_with_everything_given_away() {
        let case = case((5, 16), Style::Along, 3);
        assert!(case.change_us > 0.0 && case.stay_us > 0.0 && case.change_us <= case.change_worst_us);
        let said = table(&[case]);
        assert!(said.contains("along") && said.lines().count() == 2, "{said}");
    }
}
