//! SCALO's LOGarithmic Model allocator (section 3.1): the exact best division by a logarithm through the latest measurement.
//!
//! S(n) = 1 + f a log n (equation 11), where f is the parallel share of the time and a fits the parallel part's speedup. Serial time is part
//! of the efficiency here, so f a comes at once: it is the C of [`LogModel`]. With the same estimates LOGM is thus SCAF's loop, but
//! for two things: whole numbers are found by the best next context in place of rounding, and nothing holds the loop still.

use super::fits::Fits;
use super::known::Grid;
use crate::model::LogModel;
use crate::optimum::{self, Worth};
use crate::{Allocation, Dop, Machine, Policy, Program, Share};

/// See the module.
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
        super::in_order(programs, |sorted| self.decide(machine, sorted))
    }
}

impl LogM {
    fn decide(&mut self, machine: &Machine, programs: &[&Program]) -> Vec<Share> {
        let fit = |program: &Program| program.efficiency.and_then(|e| LogModel::fit(e, program.dop));
        self.fits.update(machine, programs, fit);
        if let Some(shares) = super::divide::without_choice(machine, programs) {
            return shares;
        }
        let mean = self.fits.mean(programs, |model| model.c).unwrap_or(1.0);
        let slope = |program: &Program| self.fits.get(program.id).map_or(mean, |model| model.c);
        let least: u32 = programs.iter().map(|program| program.floor()).sum();
        let spare = machine.capacity.saturating_sub(least);
        let grid = Grid::new(machine.capacity, programs.len());
        let claim = |program: &Program| program.sane_weight() * slope(program);
        // Only their ratios count, and hostile efficiencies make some of them very large.
        let largest = programs.iter().map(|program| claim(program)).fold(f64::MIN_POSITIVE, f64::max);
        let worth = |program: &&Program| {
            let (least, a) = (program.floor(), claim(program) / largest);
            let most = program.cap().min(least.saturating_add(spare)).max(least);
            Worth::new(grid.within(least, most).map(|at| (at.p, a * at.ln)).collect())
        };
        let worths: Vec<Worth> = programs.iter().map(worth).collect();
        let dops = optimum::best(machine.capacity, &worths);
        let share = |i: usize| {
            let (program, dop, of) = (programs[i], dops[i], machine.capacity);
            let next = |p: u32| slope(program) * (f64::from(p + 1) / f64::from(p)).ln();
            let bound = if dop == program.cap() { ", all that it can use" } else { "" };
            let reason = match self.fits.get(program.id) {
                Some(LogModel { c }) => {
                    format!(
                        "{dop} of {of}: f a {c:.2}, the last context brings {:.2}, one more {:.2}{bound}",
                        next(dop.max(2) - 1),
                        next(dop)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;

    #[test]
    fn the_example_of_both_papers_is_divided_as_in_them() {
        // SCAF, section 3.3: 14.18 and 1.82 of 16; SCALO's n = f1 a1 C / (f1 a1 + f2 a2) is the same.
        let program = |id, dop, e| Program { dop, efficiency: Some(e), ..Program::new(ProgramId(id), 16) };
        let programs = [program(1, 12, 2.0 / 3.0), program(2, 4, 3.0 / 8.0)];
        let shares = LogM::new().allocate(&Machine { capacity: 16, now_s: 0.0 }, &programs).shares;
        assert_eq!([shares[0].dop, shares[1].dop], [Dop::Contexts(14), Dop::Contexts(2)]);
        assert_eq!(shares[0].reason, "14 of 16: f a 2.82, the last context brings 0.21, one more 0.19");
    }
}
