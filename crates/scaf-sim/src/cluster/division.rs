//! What each job of a node has, by the node's multiset of programs and sizes: the division that the policy
//! settles on, given the programs' true curves as profiles.

use super::{Job, Sharing};
use crate::mixes::Curve;
use scaf_policy::estimate::Estimate;
use scaf_policy::fusion::Measured;
use scaf_policy::{Dop, Machine, Program, ProgramId, Settings, Users, by_name};
use std::collections::HashMap;

/// Most decisions until a division counts as settled; `scaf` goes by its last feedback and may take some.
const ROUNDS: u32 = 24;
/// Decisions without a change after which it has settled.
const STEADY: u32 = 2;
const RATE_HZ: f64 = 4.0;
/// Relative error of a profile's speedups.
const ERROR: f64 = 0.01;
/// The least share of the best speedup at the knee, as `scaf profile` has it.
const KNEE: f64 = 0.95;

/// A program and the contexts that are asked for.
pub(super) type Kind = (usize, u32);

pub(super) struct Divider<'a> {
    sharing: Sharing,
    contexts: u32,
    curves: &'a [Curve],
    settled: HashMap<Vec<Kind>, Vec<u32>>,
}

impl<'a> Divider<'a> {
    pub fn new(sharing: Sharing, contexts: u32, curves: &'a [Curve]) -> Divider<'a> {
        Divider { sharing, contexts, curves, settled: HashMap::new() }
    }

    /// What a job asks for under this sharing.
    pub fn kind(&self, job: &Job) -> Kind {
        let asks = job.asks.min(self.contexts);
        let asks = match self.sharing {
            Sharing::Whole => self.contexts,
            Sharing::Knee => knee(&self.curves[job.program], asks),
            _ => asks,
        };
        (job.program, asks)
    }

    /// Contexts that a job takes up on its node.
    pub fn takes(&self, job: &Job) -> u32 {
        if self.sharing == Sharing::Exclusive { self.contexts } else { self.kind(job).1 }
    }

    /// The speed of a job on so many contexts, over that on those that it asked for.
    pub fn speed(&self, job: &Job, dop: u32) -> f64 {
        let curve = &self.curves[job.program];
        curve.at(dop) / curve.at(job.asks.min(self.contexts))
    }

    /// Contexts of each job of a node, whose kinds are in order.
    pub fn divide(&mut self, kinds: &[Kind]) -> Vec<u32> {
        let asked: u32 = kinds.iter().map(|(_, asks)| asks).sum();
        let Sharing::Policy(policy) = self.sharing else { return asks(kinds) };
        if asked <= self.contexts {
            return asks(kinds);
        }
        if let Some(known) = self.settled.get(kinds) {
            return known.clone();
        }
        let dops = self.settle(policy, kinds);
        self.settled.insert(kinds.to_vec(), dops.clone());
        dops
    }

    fn settle(&self, policy: &str, kinds: &[Kind]) -> Vec<u32> {
        let Some(mut policy) = by_name(policy, &Settings::default()) else { return asks(kinds) };
        let mut programs: Vec<Program> =
            kinds.iter().zip(0..).map(|(kind, id)| self.program(id, *kind)).collect();
        let (mut dops, mut steady) = (vec![0; kinds.len()], 0);
        for round in 0..ROUNDS {
            let mut machine = Machine::new(self.contexts, f64::from(round) / RATE_HZ);
            // Each job may be another user's.
            machine.users = Users::ByProgram;
            let allocation = policy.allocate(&machine, &programs);
            let now: Vec<u32> = allocation.shares.iter().map(|share| dop_of(share.dop)).collect();
            steady = if now == dops { steady + 1 } else { 0 };
            dops = now;
            if steady >= STEADY {
                break;
            }
            for ((program, dop), (curve, _)) in programs.iter_mut().zip(&dops).zip(kinds) {
                program.dop = *dop;
                program.efficiency = Some((self.curves[*curve].at(*dop) / f64::from(*dop)).min(1.0));
            }
        }
        dops
    }

    fn program(&self, id: u64, (program, asks): Kind) -> Program {
        let curve = &self.curves[program];
        let known = |dop| Measured { dop, speedup: Estimate { value: curve.at(dop), error: ERROR } };
        let known: Vec<Measured> = (2..=asks).map(known).collect();
        Program { curve: known.clone(), profile: known, ..Program::new(ProgramId(id), asks) }
    }
}

fn asks(kinds: &[Kind]) -> Vec<u32> {
    kinds.iter().map(|(_, asks)| *asks).collect()
}

fn dop_of(dop: Dop) -> u32 {
    match dop {
        Dop::Contexts(dop) => dop.max(1),
        Dop::Unmanaged => 1,
    }
}

fn knee(curve: &Curve, asks: u32) -> u32 {
    let best = (1..=asks).map(|p| curve.at(p)).fold(0.0, f64::max);
    (1..=asks).find(|p| curve.at(*p) >= KNEE * best).unwrap_or(asks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Vec<Curve> {
        vec![Curve::of("straight", 8, |p| p), Curve::of("flat", 8, |p| p.min(2.0))]
    }

    #[test]
    fn who_fits_has_what_it_asked_for_and_else_the_policy_divides() {
        let curves = curves();
        let mut equi = Divider::new(Sharing::Policy("equi"), 8, &curves);
        assert_eq!(equi.divide(&[(0, 6), (1, 2)]), [6, 2]);
        assert_eq!(equi.divide(&[(0, 8), (1, 8)]), [4, 4]);
        let mut curve = Divider::new(Sharing::Policy("curve"), 8, &curves);
        assert_eq!(curve.divide(&[(0, 8), (1, 8)]), [6, 2]);
        // From memory, the same.
        assert_eq!(curve.divide(&[(0, 8), (1, 8)]), [6, 2]);
        let sum: u32 =
            Divider::new(Sharing::Policy("scaf"), 8, &curves).divide(&[(0, 8), (1, 8)]).iter().sum();
        assert!(sum <= 8);
    }

    #[test]
    fn nobody_asks_beyond_the_knee_if_that_is_forbidden() {
        let curves = curves();
        let job = |asks, program| Job { arrives_s: 0.0, asks, run_s: 1.0, program };
        let knees = Divider::new(Sharing::Knee, 8, &curves);
        assert_eq!((knees.kind(&job(8, 1)), knees.kind(&job(5, 0))), ((1, 2), (0, 5)));
        assert_eq!(Divider::new(Sharing::Whole, 8, &curves).kind(&job(3, 0)), (0, 8));
        assert_eq!(knees.speed(&job(4, 0), 2), 0.5);
    }
}
