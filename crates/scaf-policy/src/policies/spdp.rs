//! SCALO's SPeeDup Proportional allocator (section 3.2): dop_i = S_i / (sum of S_j) x C, S_i by equation 5.

use crate::apportion::{Claim, apportion};
use crate::{Allocation, Dop, Machine, Policy, Program, Share};

/// The smallest speedup counted, so that there is something to divide by.
const LEAST: f64 = 0.01;

pub struct Spdp;

impl Policy for Spdp {
    fn name(&self) -> &'static str {
        "spdp"
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| decide(machine, sorted))
    }
}

fn speedup(program: &Program) -> Option<f64> {
    if program.dop == 1 {
        return Some(1.0);
    }
    let efficiency = program.efficiency.filter(|e| e.is_finite() && program.dop > 1)?;
    Some((efficiency.clamp(0.0, 1.0) * f64::from(program.dop)).max(LEAST))
}

fn decide(machine: &Machine, programs: &[&Program]) -> Vec<Share> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for program in programs {
        if let Some(speedup) = speedup(program) {
            sum += program.sane_weight() * speedup;
            weights += program.sane_weight();
        }
    }
    // An unmeasured program counts like the mean, which gives it an equal part.
    let mean = if weights > 0.0 { sum / weights } else { 1.0 };
    let claims: Vec<Claim> =
        programs.iter().map(|program| Claim::new(program, speedup(program).unwrap_or(mean))).collect();
    let all: f64 = claims.iter().map(|claim| claim.share).sum();
    let parts = apportion(machine.capacity, &claims);
    let share = |i: usize| {
        let (program, contexts) = (programs[i], parts[i].explain(&claims[i]));
        let of = machine.capacity;
        let weight = match program.sane_weight() {
            1.0 => String::new(),
            weight => format!(" times weight {weight}"),
        };
        let reason = match speedup(program) {
            Some(s) => {
                format!("S {s:.2}{weight} on {} of {all:.2} in all, of {of} contexts {contexts}", program.dop)
            }
            None => format!("nothing measured yet, an equal part of {of}: {contexts}"),
        };
        Share { id: program.id, dop: Dop::Contexts(parts[i].contexts), reason }
    };
    (0..programs.len()).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;

    #[test]
    fn contexts_are_divided_as_the_speedups_are() {
        let program = |id, dop, e| Program { dop, efficiency: Some(e), ..Program::new(ProgramId(id), 24) };
        let shares =
            Spdp.allocate(&Machine::new(24, 0.0), &[program(1, 12, 0.75), program(2, 12, 0.25)]).shares;
        assert_eq!([shares[0].dop, shares[1].dop], [Dop::Contexts(18), Dop::Contexts(6)]);
        assert_eq!(shares[0].reason, "S 9.00 on 12 of 12.00 in all, of 24 contexts 18");
    }
}
