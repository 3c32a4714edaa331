//! Policies in a closed loop with programs whose speedups are known.
//!
//! All mixes of two to four programs of a set share a machine. Policies get what a daemon would have
//! measured, and are judged against the best possible allocation ([`oracle`]). Programs don't disturb each
//! other, and changes cost nothing: this judges decisions, not mechanisms.

pub mod curves;
pub mod oracle;
mod program;
mod setting;
pub mod teams;

pub use curves::{Curve, Family, TableError};

pub use setting::Setting;

use program::Running;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use scaf_policy::{Dop, Machine, Policy, Program, ProgramId, Settings, by_name};
use std::ops::RangeInclusive;

/// What became of one mix.
#[derive(Clone, PartialEq, Debug)]
pub struct Mix {
    /// Its programs.
    pub programs: Vec<String>,
    /// The largest possible sum of speedups.
    pub best: f64,
    /// The largest sum with no program below [`Setting::floor`].
    pub best_floored: f64,
    /// Mean sum of speedups in the second after [`Setting::settle_s`].
    pub then: f64,
    /// Mean sum of speedups from [`Setting::settle_s`] to the end.
    pub after: f64,
    /// Mean sum of speedups from the start, exploration included.
    pub whole: f64,
    /// The worst program's mean speedup after [`Setting::settle_s`], over that under equipartition.
    pub least: f64,
    /// Changes of the allocation.
    pub changes: u32,
    /// Changes after [`Setting::settle_s`].
    pub late_changes: u32,
}

/// What became of all mixes under one policy.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The mixes, in a fixed order.
    pub mixes: Vec<Mix>,
}

/// The mean and the worst of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figure {
    /// The mean over the mixes.
    pub mean: f64,
    /// The worst mix.
    pub worst: f64,
}

impl Outcome {
    /// Mean and smallest value over the mixes; of none, not a number and infinity.
    pub fn figure(&self, of: impl Fn(&Mix) -> f64) -> Figure {
        let values = || self.mixes.iter().map(&of);
        Figure {
            mean: values().sum::<f64>() / self.mixes.len() as f64,
            worst: values().fold(f64::INFINITY, f64::min),
        }
    }
}

/// The choices of `sizes` many of `curves`, in a fixed order.
pub fn choices<'a>(curves: &'a [Curve], sizes: &RangeInclusive<u32>) -> Vec<Vec<&'a Curve>> {
    let mut chosen: Vec<Vec<&Curve>> = vec![Vec::new()];
    for curve in curves {
        let with = chosen.iter().filter(|mix| mix.len() < *sizes.end() as usize);
        let mut with: Vec<_> = with.map(|mix| mix.iter().copied().chain([curve]).collect()).collect();
        chosen.append(&mut with);
    }
    chosen.retain(|mix| sizes.contains(&(mix.len() as u32)));
    chosen
}

/// Runs each mix of `curves` under a fresh policy that `new` makes.
pub fn run(new: &dyn Fn() -> Box<dyn Policy>, curves: &[Curve], setting: &Setting) -> Outcome {
    let mixes = choices(curves, &setting.sizes);
    let run = |(i, mix): (usize, &Vec<&Curve>)| run_mix(&mut *new(), mix, setting, i as u64);
    Outcome { mixes: mixes.iter().enumerate().map(run).collect() }
}

fn run_mix(policy: &mut dyn Policy, mix: &[&Curve], setting: &Setting, stream: u64) -> Mix {
    let mut rng = ChaCha8Rng::seed_from_u64(setting.seed);
    rng.set_stream(stream);
    let contexts = setting.contexts;
    let equal = equal(contexts, mix.iter().map(|curve| (*curve, 0)));
    let floors: Vec<f64> = equal.iter().map(|speedup| speedup * setting.floor).collect();
    let mut programs: Vec<Running> =
        mix.iter().zip(0..).map(|(curve, id)| Running::new(id, curve, setting)).collect();
    let dt_s = 1.0 / setting.rate_hz;
    let decisions = (setting.run_s / dt_s).round() as usize;
    let settled = ((setting.settle_s / dt_s).round() as usize).min(decisions);
    let second = settled..(settled + setting.rate_hz.round() as usize).min(decisions);
    let mut sums = Vec::new();
    let mut late = vec![0.0; mix.len()];
    let (mut changes, mut late_changes) = (0, 0);
    for i in 0..decisions {
        let machine = Machine::new(contexts, i as f64 * dt_s);
        let seen: Vec<Program> = programs.iter().map(|program| program.seen.clone()).collect();
        let allocation = policy.allocate(&machine, &seen);
        let dops = || allocation.shares.iter().map(|share| dop_of(share.dop, contexts));
        if i > 0 && dops().zip(&seen).any(|(dop, program)| dop != program.dop) {
            changes += 1;
            late_changes += u32::from(i >= settled);
        }
        let mut sum = 0.0;
        for ((program, dop), late) in programs.iter_mut().zip(dops()).zip(&mut late) {
            program.run(dop, dt_s, setting.noise, &mut rng);
            let speedup = program.curve.at(dop);
            sum += speedup;
            *late += if i >= settled { speedup } else { 0.0 };
        }
        sums.push(sum);
    }
    let mean = |sums: &[f64]| sums.iter().sum::<f64>() / sums.len() as f64;
    let after = (decisions - settled) as f64;
    Mix {
        programs: mix.iter().map(|curve| curve.name.clone()).collect(),
        best: oracle::best(contexts, mix, &[]),
        best_floored: oracle::best(contexts, mix, &floors),
        then: mean(&sums[second]),
        after: mean(&sums[settled..]),
        whole: mean(&sums),
        least: late
            .iter()
            .zip(&equal)
            .map(|(late, equal)| late / after / equal)
            .fold(f64::INFINITY, f64::min),
        changes,
        late_changes,
    }
}

/// Speedups on equal parts, of curves whose programs keep teams of that size (0: don't).
fn equal<'a>(contexts: u32, mix: impl Iterator<Item = (&'a Curve, u32)> + Clone) -> Vec<f64> {
    let program = |((_, fixed_team), id)| Program { fixed_team, ..Program::new(ProgramId(id), contexts) };
    let programs: Vec<Program> = mix.clone().zip(1..).map(program).collect();
    let equi = by_name("equi", &Settings::default());
    let shares = equi.map(|mut equi| equi.allocate(&Machine::new(contexts, 0.0), &programs).shares);
    let dops = shares.unwrap_or_default().into_iter().map(|share| dop_of(share.dop, contexts));
    mix.zip(dops).map(|((curve, _), dop)| curve.at(dop)).collect()
}

fn dop_of(dop: Dop, contexts: u32) -> u32 {
    match dop {
        Dop::Contexts(dop) => dop,
        Dop::Unmanaged => contexts,
    }
}

#[cfg(test)]
mod tests;
