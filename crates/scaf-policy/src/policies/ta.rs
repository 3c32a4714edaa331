//! TA: topology-aware equipartition, TACO without turns (TACO, section 4.2). What caps leave or minima take
//! is divided in proportion to the partitions.

use super::partitions::nearly_equal;
use crate::apportion::{Claim, apportion};
use crate::{Allocation, Dop, Machine, Policy, Program, Share};

pub struct Ta;

impl Policy for Ta {
    fn name(&self) -> &'static str {
        "ta"
    }

    fn makes_turns(&self) -> bool {
        true
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| {
            let sizes = nearly_equal(&machine.units, machine.capacity, sorted.len() as u32);
            let claims: Vec<Claim> =
                sorted.iter().zip(&sizes).map(|(p, size)| Claim::new(p, f64::from(*size))).collect();
            let parts = apportion(machine.capacity, &claims);
            let share = |((program, claim), (part, size)): ((&&Program, &Claim), _)| {
                let part: &crate::apportion::Part = part;
                Share {
                    id: program.id,
                    dop: Dop::Contexts(part.contexts),
                    reason: format!(
                        "a partition of {size} of {} contexts among {}: {}",
                        machine.capacity,
                        sorted.len(),
                        part.explain(claim)
                    ),
                }
            };
            sorted.iter().zip(&claims).zip(parts.iter().zip(&sizes)).map(share).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;

    fn dops(capacity: u32, programs: &[Program]) -> Vec<Dop> {
        let machine = Machine { units: vec![6, 24], ..Machine::new(capacity, 0.0) };
        Ta.allocate(&machine, programs).shares.iter().map(|share| share.dop).collect()
    }

    fn all(natural: u32, count: u64) -> Vec<Program> {
        (0..count).map(|id| Program::new(ProgramId(id), natural)).collect()
    }

    #[test]
    fn the_earlier_have_the_larger_partitions() {
        assert_eq!(dops(24, &all(24, 5)), [6, 6, 6, 3, 3].map(Dop::Contexts));
        assert_eq!(dops(24, &all(24, 3)), [12, 6, 6].map(Dop::Contexts));
    }

    #[test]
    fn what_one_cannot_use_goes_to_the_others() {
        let mut programs = all(24, 3);
        programs[2].max = 2;
        assert_eq!(dops(24, &programs), [15, 7, 2].map(Dop::Contexts));
    }

    #[test]
    fn contexts_that_are_taken_by_others_are_missing_everywhere_alike() {
        assert_eq!(dops(22, &all(24, 4)), [6, 6, 5, 5].map(Dop::Contexts));
    }
}
