//! Chaos: any DoP, on any PUs, at any moment, or none. For tests: programs have to compute the same under it.
//! It respects caps, since no program may exceed its own team size, but not floors, weights or the capacity.

use crate::splitmix::SplitMix;
use crate::{Allocation, Dop, Machine, Policy, Program, ProgramId, Share};
use std::collections::BTreeMap;

const RATE_HZ: f64 = 1_000.0;

pub struct Chaos {
    stream: SplitMix,
    last: BTreeMap<ProgramId, Dop>,
}

impl Chaos {
    pub fn new(seed: u64) -> Chaos {
        Chaos { stream: SplitMix::new(seed), last: BTreeMap::new() }
    }

    fn next(&mut self, program: &Program) -> Dop {
        match self.last.get(&program.id) {
            Some(dop) if !self.stream.one_in(3) => *dop,
            _ if self.stream.one_in(16) => Dop::Unmanaged,
            _ => Dop::Contexts(1 + self.stream.below(program.cap())),
        }
    }
}

impl Policy for Chaos {
    fn name(&self) -> &'static str {
        "chaos"
    }

    fn allocate(&mut self, _: &Machine, programs: &[Program]) -> Allocation {
        self.last.retain(|id, _| programs.iter().any(|program| program.id == *id));
        let shares = programs.iter().map(|program| {
            let dop = self.next(program);
            self.last.insert(program.id, dop);
            Share { id: program.id, dop, reason: "chaos".into() }
        });
        shares.collect::<Vec<_>>().into()
    }

    fn rate_hz(&self) -> Option<f64> {
        Some(RATE_HZ)
    }

    fn makes_turns(&self) -> bool {
        true
    }

    fn divides(&self) -> bool {
        false
    }

    fn scatter(&mut self) -> Option<u64> {
        Some(self.stream.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_dop_comes_about_and_none_beyond_the_cap() {
        let program = |id, natural| Program { min: 3, ..Program::new(ProgramId(id), natural) };
        let programs = [program(1, 4), program(2, 1)];
        let mut chaos = Chaos::new(1);
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        for _ in 0..2_000 {
            let shares = chaos.allocate(&Machine::new(1, 0.0), &programs).shares;
            for (seen, share) in seen.iter_mut().zip(shares) {
                seen.insert(match share.dop {
                    Dop::Contexts(dop) => dop,
                    Dop::Unmanaged => 0,
                });
            }
        }
        assert_eq!(seen, [BTreeSet::from([0, 1, 2, 3, 4]), BTreeSet::from([0, 1])]);
    }
}
