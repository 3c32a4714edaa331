//! `scaf bench decide`: how long a policy takes to decide, for few programs and for many.
//!
//! Programs have what a daemon observes: a noisy efficiency at their present DoP, and a few noisy points of a
//! curve. Each policy makes a few decisions, which take effect, before it is timed.

use super::noise::{Noise, Report};
use crate::cli::Decide;
use anyhow::{Result, bail};
use scaf_cli::bench::stats::median;
use scaf_cli::bench::{Header, publish};
use scaf_cli::output;
use scaf_policy::{Dop, Machine, POLICIES, PolicyEntry, Program, ProgramId, Settings};
use serde::Serialize;
use std::process::ExitCode;
use std::time::Instant;

const CASES: [(u32, u32); 10] = [
    (2, 16),
    (10, 16),
    (2, 64),
    (10, 64),
    (100, 64),
    (2, 1024),
    (10, 1024),
    (100, 1024),
    (1000, 1024),
    (10_000, 4096),
];
/// Decisions before the first that is timed.
const BEFORE: u32 = 4;
const TICK_S: f64 = 0.25;

#[derive(Serialize)]
struct Case {
    programs: u32,
    pus: u32,
    policy: &'static str,
    decide_us: f64,
    worst_us: f64,
}

/// Carries out `scaf bench decide`.
/// # Errors
/// An unknown policy.
pub fn run(flags: &Decide) -> Result<ExitCode> {
    if flags.place {
        return super::place::run(flags);
    }
    let policies: Vec<&PolicyEntry> = POLICIES
        .iter()
        .filter(|entry| match &flags.policies[..] {
            [] => entry.name != "chaos",
            names => names.iter().any(|name| name == entry.name),
        })
        .collect();
    if let Some(name) = flags.policies.iter().find(|name| !policies.iter().any(|entry| entry.name == **name))
    {
        bail!("there is no policy '{name}'; see `scaf policy`");
    }
    let mut cases = Vec::new();
    for (programs, pus) in CASES {
        for entry in &policies {
            cases.push(case(entry, (programs, pus), flags.repetitions));
        }
    }
    let report = Report { header: Header::new(flags.repetitions), cases };
    publish(flags.json, &table(&report.cases), &report)?;
    Ok(ExitCode::SUCCESS)
}

fn case(entry: &PolicyEntry, (count, pus): (u32, u32), repetitions: u32) -> Case {
    let mut policy = (entry.new)(&Settings::default());
    let mut noise = Noise(u64::from(count) << 32 | u64::from(pus));
    let mut programs: Vec<Program> =
        (0..count).map(|id| Program::new(ProgramId(u64::from(id) + 1), pus)).collect();
    let mut times_us = Vec::new();
    for round in 0..BEFORE + repetitions {
        let machine = Machine::new(pus, f64::from(round) * TICK_S);
        let begun = Instant::now();
        let allocation = policy.allocate(&machine, &programs);
        let took_us = begun.elapsed().as_secs_f64() * 1e6;
        if round >= BEFORE {
            times_us.push(took_us);
        }
        for (program, share) in programs.iter_mut().zip(&allocation.shares) {
            if let Dop::Contexts(dop) = share.dop {
                noise.observe(program, dop);
            }
        }
    }
    Case {
        programs: count,
        pus,
        policy: entry.name,
        decide_us: median(&times_us).unwrap_or(0.0),
        worst_us: times_us.iter().copied().fold(0.0, f64::max),
    }
}

fn table(cases: &[Case]) -> String {
    let mut table = output::plain_table(&["PROGRAMS", "PUS", "POLICY", "DECIDE US", "WORST US"]);
    for case in cases {
        table.add_row([
            case.programs.to_string(),
            case.pus.to_string(),
            case.policy.to_owned(),
            format!("{:.1}", case.decide_us),
            format!("{:.1}", case.worst_us),
        ]);
    }
    output::align_right(&mut table, &[0, 1, 3, 4]);
    format!("{}\n", output::trimmed(&table))
}

#[cfg(test)]
mod tests {
    use super::super::noise::POINTS;
    use super::*;

    #[test]
    fn every_policy_is_timed_with_curves_of_a_few_points() {
        for entry in POLICIES {
            let case = case(entry, (3, 16), 3);
            assert!(case.decide_us > 0.0 && case.decide_us <= case.worst_us);
        }
        let (mut noise, mut program) = (Noise(1), Program::new(ProgramId(1), 64));
        (1..=20).for_each(|dop| noise.observe(&mut program, dop * 3));
        assert_eq!(program.curve.len(), POINTS);
        assert!(program.curve.windows(2).all(|pair| pair[0].dop < pair[1].dop));
    }
}
