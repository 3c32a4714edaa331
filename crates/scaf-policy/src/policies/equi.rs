//! Equipartition (SCAF, equation 1), weighted, within each program's floor and cap. What one cannot use goes
//! to others; contexts that do not divide evenly go to the earlier programs. It needs no measurement.

use crate::apportion::{Claim, apportion};
use crate::{Allocation, Dop, Machine, Policy, Program, Share};

pub struct Equi;

impl Policy for Equi {
    fn name(&self) -> &'static str {
        "equi"
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        let claims: Vec<Claim> = programs.iter().map(|p| Claim::new(p, 1.0)).collect();
        let parts = apportion(machine.capacity, &claims);
        let shares: Vec<_> = programs
            .iter()
            .zip(&claims)
            .zip(parts)
            .map(|((p, claim), part)| Share {
                id: p.id,
                dop: Dop::Contexts(part.contexts),
                reason: format!(
                    "{} part of {} contexts among {}: {}",
                    if p.sane_weight() == 1.0 {
                        "equal".to_owned()
                    } else {
                        format!("weight {}", (p.sane_weight() * 1e3).round() / 1e3)
                    },
                    machine.capacity,
                    programs.len(),
                    part.explain(claim)
                ),
            })
            .collect();
        shares.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;

    fn program(id: u64) -> Program {
        Program::new(ProgramId(id), 64)
    }

    fn dops(capacity: u32, programs: &[Program]) -> Vec<u32> {
        let shares = Equi.allocate(&Machine::new(capacity, 0.0), programs).shares;
        shares
            .iter()
            .map(|s| match s.dop {
                Dop::Contexts(n) => n,
                Dop::Unmanaged => unreachable!("equipartition manages everyone"),
            })
            .collect()
    }

    #[test]
    fn what_does_not_divide_evenly_goes_to_the_earlier_arrivals() {
        assert_eq!(dops(24, &[program(3), program(1), program(2)]), [8, 8, 8]);
        assert_eq!(dops(8, &[program(3), program(1), program(2)]), [2, 3, 3]);
    }

    #[test]
    fn what_one_cannot_use_goes_to_the_others() {
        let small = Program { natural: 2, ..program(1) };
        assert_eq!(dops(24, &[small, program(2), program(3)]), [2, 11, 11]);
    }

    #[test]
    fn weights_divide_in_proportion() {
        let heavy = Program { weight: 3.0, ..program(1) };
        assert_eq!(dops(24, &[heavy, program(2)]), [18, 6]);
    }

    #[test]
    fn a_minimum_is_taken_from_the_others_and_scaled_down_where_the_machine_is_too_small() {
        let greedy = |id| Program { min: 20, ..program(id) };
        assert_eq!(dops(24, &[greedy(1), program(2), program(3)]), [20, 2, 2]);
        assert_eq!(dops(24, &[greedy(1), greedy(2), program(3)]), [12, 11, 1]);
    }

    #[test]
    fn with_more_programs_than_contexts_everyone_gets_one() {
        let many: Vec<Program> = (0..5).map(program).collect();
        assert_eq!(dops(2, &many), [1; 5]);
        assert_eq!(dops(0, &many[..1]), [1]);
    }
}
