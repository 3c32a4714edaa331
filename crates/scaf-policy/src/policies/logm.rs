//! SCALO's LOGarithmic Model allocator (section 3.1): the best division by S(n) = 1 + f a log n (equation
//! 11). Serial time is part of the efficiency here, so f a is the C of [`LogModel`].

use super::fits::Fits;
use super::known_curve::Grid;
use crate::model::LogModel;
use crate::optimum::{self, Worth};
use crate::{Allocation, Dop, Machine, Policy, Program, Share, steps};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub struct LogM {
    fits: Fits<LogModel>,
}

impl LogM {
    pub fn new() -> LogM {
        LogM { fits: Fits::new() }
    }
}

impl Policy for LogM {
    fn name(&self) -> &'static str {
        "logm"
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| self.decide(machine, sorted))
    }
}

impl LogM {
    fn decide(&mut self, machine: &Machine, programs: &[&Program]) -> Vec<Share> {
        self.fits.update(machine, programs, LogModel::of);
        if let Some(shares) = super::divide::without_choice(machine, programs) {
            return shares;
        }
        let mean = self.fits.mean(programs, |model| model.c).unwrap_or(1.0);
        let fits: Vec<Option<f64>> =
            programs.iter().map(|program| self.fits.get(program.id).map(|model| model.c)).collect();
        let slopes: Vec<f64> = fits.iter().map(|c| c.unwrap_or(mean)).collect();
        let kept = programs.iter().any(|program| program.fixed_team > 0);
        let dops = if kept { in_steps } else { divide }(machine.capacity, programs, &slopes);
        let share = |i: usize| {
            let (program, dop, of) = (programs[i], dops[i], machine.capacity);
            let bound = if dop == program.cap() { ", all that it can use" } else { "" };
            let reason = match fits[i] {
                Some(c) => {
                    format!(
                        "{dop} of {of}: f a {c:.2}, the last context brings {:.2}, one more {:.2}{bound}",
                        gain(c, dop.max(2) - 1, 1),
                        gain(c, dop, 1)
                    )
                }
                None => {
                    format!("nothing measured yet, taken for the mean f a {mean:.2}: {dop} of {of}{bound}")
                }
            };
            Share { id: program.id, dop: Dop::Contexts(dop), reason }
        };
        (0..programs.len()).map(share).collect()
    }
}

/// What `more` contexts bring to a program that has `p`; positive.
fn gain(slope: f64, p: u32, more: u32) -> f64 {
    slope * (f64::from(more) / f64::from(p)).ln_1p()
}

/// Contexts are given away one by one; more than these in larger steps, to bound the time.
const STEPS: u32 = 65_536;

/// Gives everyone its minimum, and each further context to whom it brings most; ties go to the earlier
/// program. That is optimal, since each context brings less than the one before. The minima have to fit.
fn divide(capacity: u32, programs: &[&Program], slopes: &[f64]) -> Vec<u32> {
    let mut dops: Vec<u32> = programs.iter().map(|program| program.floor()).collect();
    let mut left = capacity.saturating_sub(dops.iter().sum());
    let step = 1 + left / STEPS;
    // Positive floats are in the order of their bits.
    let next = |i: usize, p: u32| {
        let more = step.min(programs[i].cap() - p);
        let gain = programs[i].sane_weight() * gain(slopes[i], p, more) / f64::from(more.max(1));
        (more > 0).then_some((gain.to_bits(), Reverse(i), more))
    };
    let mut waiting: BinaryHeap<_> = dops.iter().enumerate().filter_map(|(i, p)| next(i, *p)).collect();
    while let (1.., Some((_, Reverse(i), more))) = (left, waiting.pop()) {
        let more = more.min(left);
        dops[i] += more;
        left -= more;
        waiting.extend(next(i, dops[i]));
    }
    dops
}

/// The same where some keep their teams, whose worth is a staircase.
fn in_steps(capacity: u32, programs: &[&Program], slopes: &[f64]) -> Vec<u32> {
    let grid = Grid::new(capacity, programs.len());
    let worth = |(program, c): (&&Program, &f64)| {
        let (team, weight) = (program.fixed_team, program.sane_weight());
        let value = |p: u32| (p, weight * c * steps::counts_as(team, p).ln());
        Worth::new(grid.steps(team, program.floor(), program.cap().min(capacity)).map(value).collect())
    };
    optimum::best(capacity, &programs.iter().zip(slopes).map(worth).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_best_division_by_the_model(
            asked in prop::collection::vec((1u32..4, 1u32..20, 0.01..20.0f64, 0.1..10.0f64), 1..8),
            more in 1u32..60,
        ) {
            let program = |(min, natural, _, weight): &(u32, u32, f64, f64)| {
                Program { min: *min, weight: *weight, ..Program::new(ProgramId(1), *natural) }
            };
            let programs: Vec<Program> = asked.iter().map(program).collect();
            let programs: Vec<&Program> = programs.iter().collect();
            let slopes: Vec<f64> = asked.iter().map(|program| program.2).collect();
            let capacity = programs.iter().map(|program| program.floor()).sum::<u32>() + more;
            let worth = |(program, slope): (&&Program, &f64)| {
                let value = |p: u32| program.weight * slope * f64::from(p).ln();
                Worth::new((program.floor()..=program.cap()).map(|p| (p, value(p))).collect())
            };
            let worths: Vec<Worth> = programs.iter().zip(&slopes).map(worth).collect();
            let value = |dops: &[u32]| worths.iter().zip(dops).map(|(worth, p)| worth.at(*p)).sum::<f64>();
            let (found, best) = (divide(capacity, &programs, &slopes), optimum::best(capacity, &worths));
            prop_assert!((value(&found) - value(&best)).abs() < 1e-9, "{found:?} {best:?}");
        }
    }

    #[test]
    fn any_number_of_contexts_is_divided_at_once() {
        let programs = [1, 2].map(|id| Program::new(ProgramId(id), u32::MAX));
        let dops = divide(u32::MAX, &[&programs[0], &programs[1]], &[3.0, 1.0]);
        assert_eq!(dops.iter().sum::<u32>(), u32::MAX);
        assert!((f64::from(dops[0]) / f64::from(dops[1]) - 3.0).abs() < 1e-3, "{dops:?}");
    }

    #[test]
    fn the_example_of_both_papers_is_divided_as_in_them() {
        // SCAF, section 3.3: 14.18 and 1.82 of 16; SCALO's n = f1 a1 C / (f1 a1 + f2 a2) is the same.
        let program = |id, dop, e| Program { dop, efficiency: Some(e), ..Program::new(ProgramId(id), 16) };
        let programs = [program(1, 12, 2.0 / 3.0), program(2, 4, 3.0 / 8.0)];
        let shares = LogM::new().allocate(&Machine::new(16, 0.0), &programs).shares;
        assert_eq!([shares[0].dop, shares[1].dop], [Dop::Contexts(14), Dop::Contexts(2)]);
        assert_eq!(shares[0].reason, "14 of 16: f a 2.82, the last context brings 0.21, one more 0.19");
    }
}
