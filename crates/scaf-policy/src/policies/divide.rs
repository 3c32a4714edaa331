//! The best division by what is known of speedups, with a floor under everyone.

use super::known_curve::{At, Grid, KnownCurve};
use crate::apportion::{Claim, Part, apportion};
use crate::estimate::Estimate;
use crate::optimum::{self, Worth};
use crate::{Dop, Machine, Objective, Program, Settings, Share};

/// Errors by which full optimism raises a speedup for the floor, since being below it for a moment teaches.
const OPTIMISM_FLOOR: f64 = 3.0;
/// Errors by which the speedup on an equal part is raised where it sets the floor.
const FLOOR_MARGIN: f64 = 0.6;
/// Errors by which a present DoP may be below the floor before it is given up: giving it up for noise costs
/// as much. With these two numbers the worst of 12 times TACO's 154 mixes had 0.50 of its equal part; with
/// 0.3 and 1.5 8 programs were below, at 0.486, for 0.1% more STP.
const CLEARLY: f64 = 0.7;
/// Largest measurement error that counts as noise: guesses are none.
const MOST_ERROR: f64 = 0.05;

/// What there is to divide, in the order of the programs' ids.
pub(super) struct Problem<'a> {
    pub settings: &'a Settings,
    pub capacity: u32,
    pub programs: &'a [&'a Program],
    /// What is known of each; a program with nothing known gets its equal part.
    pub known: &'a [Option<KnownCurve>],
    pub lends: &'a [bool],
    /// From 0, taking speedups for what is most likely, to 1, for what may be at best.
    pub optimism: f64,
}

pub(super) struct Division {
    pub claims: Vec<Claim>,
    pub equal: Vec<Part>,
    pub least: Vec<u32>,
    pub worths: Vec<Worth>,
    pub dops: Vec<u32>,
}

/// Everyone's share where the minima leave no choice.
pub(super) fn without_choice(machine: &Machine, programs: &[&Program]) -> Option<Vec<Share>> {
    let least: u64 = programs.iter().map(|program| u64::from(program.floor())).sum();
    if least < u64::from(machine.capacity.max(1)) {
        return None;
    }
    let claims = equal_claims(programs);
    let parts = apportion(machine.capacity, &claims);
    let share = |((program, claim), part): ((&&Program, &Claim), Part)| Share {
        id: program.id,
        dop: Dop::Contexts(part.contexts),
        reason: format!(
            "minima leave no choice among {} contexts: {}",
            machine.capacity,
            part.explain(claim)
        ),
    };
    Some(programs.iter().zip(&claims).zip(parts).map(share).collect())
}

fn equal_claims(programs: &[&Program]) -> Vec<Claim> {
    programs.iter().map(|program| Claim::new(program, 1.0)).collect()
}

impl Problem<'_> {
    /// The best division. The minima have to fit into the capacity.
    pub fn divide(&self) -> Division {
        let claims = equal_claims(self.programs);
        let equal = apportion(self.capacity, &claims);
        let least: Vec<u32> = (0..self.programs.len()).map(|i| self.least(i, equal[i].contexts)).collect();
        let sum: u32 = least.iter().sum();
        let spare = self.capacity.saturating_sub(sum);
        let grid = Grid::new(self.capacity, self.programs.len());
        let worths: Vec<Worth> =
            (0..self.programs.len()).map(|i| self.worth(i, least[i], spare, &grid)).collect();
        let dops = optimum::best(self.capacity, &worths);
        Division { claims, equal, least, worths, dops }
    }

    /// The least speedup that the floor asks for.
    fn needed(&self, known: &KnownCurve, equal: u32) -> f64 {
        let Estimate { value, error } = known.at(At::new(equal));
        // Exactly the floor is enough, and logarithms are rounded.
        self.settings.sane_floor() * value * (1.0 + FLOOR_MARGIN * error) * (1.0 - 1e-9)
    }

    /// The fewest contexts that keep a program above the floor: at most its equal part.
    fn least(&self, i: usize, equal: u32) -> u32 {
        let program = self.programs[i];
        if self.lends[i] {
            return program.floor();
        }
        let Some(known) = &self.known[i] else { return equal };
        let needed = self.needed(known, equal);
        let enough = |p: &u32| {
            let Estimate { value, error } = known.at(At::new(*p));
            value * (1.0 + OPTIMISM_FLOOR * self.optimism * error) >= needed
        };
        // The speedup may fall, so there is no bisection; but few DoPs are tried.
        (program.floor()..equal).find(enough).unwrap_or(equal)
    }

    fn worth(&self, i: usize, least: u32, spare: u32, grid: &Grid) -> Worth {
        let program = self.programs[i];
        let Some(known) = self.known[i].as_ref().filter(|_| !self.lends[i]) else {
            return Worth::new(vec![(least, 0.0)]);
        };
        let most = program.cap().min(least.saturating_add(spare)).max(least);
        let weight = program.sane_weight();
        let value = |at: At| {
            let speedup = known.at_best(at, self.optimism);
            let value = match self.settings.objective {
                Objective::Throughput => weight * speedup,
                Objective::Fair => weight * speedup.ln(),
            };
            (at.p, value)
        };
        Worth::new(known.knots(grid, least, most).map(value).collect())
    }

    /// Whether programs may stay with these DoPs: they fit, and none is clearly below its floor.
    pub fn allows(&self, division: &Division, dops: &[u32]) -> bool {
        sum(dops) <= u64::from(self.capacity)
            && (0..dops.len()).all(|i| {
                let (program, dop) = (self.programs[i], dops[i]);
                let above = |known: &KnownCurve| {
                    let Estimate { value, error } = known.at(At::new(dop));
                    value * (1.0 + CLEARLY * error.min(MOST_ERROR))
                        >= self.needed(known, division.equal[i].contexts)
                };
                let least = division.least[i];
                match &self.known[i] {
                    Some(known) if !self.lends[i] => {
                        dop <= program.cap() && dop >= program.floor() && (dop >= least || above(known))
                    }
                    _ => dop == least,
                }
            })
    }

    /// `dops`, raised to the least of each program if that fits.
    pub fn lifted(&self, division: &Division, dops: &[u32]) -> Vec<u32> {
        let lifted: Vec<u32> = dops.iter().zip(&division.least).map(|(p, least)| *p.max(least)).collect();
        if sum(&lifted) <= u64::from(self.capacity) { lifted } else { dops.to_vec() }
    }

    /// The best division near `dops`: too many are only taken away, else those who `may` only get more.
    pub fn fitted(&self, division: &Division, dops: Vec<u32>, may: impl Fn(usize) -> bool) -> Vec<u32> {
        let (sum, capacity) = (sum(&dops), u64::from(self.capacity));
        if sum == capacity {
            return dops;
        }
        let free = capacity.saturating_sub(sum) as u32;
        let within = |(i, worth): (usize, &Worth)| {
            let more =
                if may(i) { dops[i].saturating_add(free).min(self.programs[i].cap()) } else { dops[i] };
            match sum > capacity {
                true => worth.within(division.least[i].min(dops[i]), dops[i]),
                false => worth.within(dops[i], more),
            }
        };
        let worths: Vec<Worth> = division.worths.iter().enumerate().map(within).collect();
        optimum::best(self.capacity, &worths)
    }

    /// The standard error of the measured gain of a change.
    pub fn noise(&self, from: &[u32], to: &[u32]) -> f64 {
        (0..from.len()).map(|i| self.variance(i, from[i], to[i])).sum::<f64>().sqrt()
    }

    /// The square of one program's part of [`Problem::noise`].
    pub fn variance(&self, i: usize, from: u32, to: u32) -> f64 {
        let Some(known) = self.known[i].as_ref().filter(|known| !known.is_same(from, to)) else { return 0.0 };
        let error = |p: u32| {
            let Estimate { value, error } = known.at(At::new(p));
            let scale = if self.settings.objective == Objective::Fair { 1.0 } else { value };
            self.programs[i].sane_weight() * scale * error.min(MOST_ERROR)
        };
        error(from).powi(2) + error(to).powi(2)
    }

    /// Takes away contexts that clearly do no good.
    pub fn trim(&self, division: &Division, dops: &mut [u32]) {
        for (i, dop) in dops.iter_mut().enumerate() {
            let worth = &division.worths[i];
            let fewer = worth.best_within(*dop);
            if *dop > division.least[i]
                && (worth.at(fewer) - worth.at(*dop)).powi(2) >= self.variance(i, fewer, *dop)
            {
                *dop = fewer;
            }
        }
    }
}

pub(super) fn sum(dops: &[u32]) -> u64 {
    dops.iter().map(|p| u64::from(*p)).sum()
}

impl Division {
    pub fn value(&self, dops: &[u32]) -> f64 {
        self.worths.iter().zip(dops).map(|(worth, p)| worth.at(*p)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProgramId;
    use crate::fusion::Measured;
    use proptest::prelude::*;

    prop_compose! {
        fn any_known()(
            team in prop_oneof![Just(0u32), 1u32..40],
            points in prop::collection::vec((0u32..40, -1.0..20.0f64, 0.0..0.5f64), 0..6),
        ) -> Option<KnownCurve> {
            let measured = |(dop, value, error)| Measured { dop, speedup: Estimate { value, error } };
            KnownCurve::of(&points.into_iter().map(measured).collect::<Vec<_>>(), team)
        }
    }

    proptest! {
        #[test]
        fn no_context_is_idle_that_would_help_and_nobody_is_below_its_floor(
            known in prop::collection::vec(any_known(), 1..8), spare in 1u32..60,
            optimism in prop::sample::select(vec![0.0, 0.4, 1.0]), fair in any::<bool>(),
        ) {
            let objective = if fair { Objective::Fair } else { Objective::Throughput };
            let programs: Vec<Program> = (0..known.len() as u64).map(|id| Program::new(ProgramId(id),
                24)).collect();
            let programs: Vec<&Program> = programs.iter().collect();
            let lends = vec![false; known.len()];
            let settings = Settings { objective, floor: 0.5 };
            let capacity = known.len() as u32 + spare;
            let problem = Problem { settings: &settings, capacity, programs: &programs, known: &known,
                lends: &lends, optimism };
            let division = problem.divide();
            prop_assert!(problem.allows(&division, &division.dops));
            let left = capacity - division.dops.iter().sum::<u32>();
            for (i, &dop) in division.dops.iter().enumerate() {
                prop_assert!(dop >= division.least[i] && division.least[i] <= division.equal[i].contexts);
                if let Some(known) = &known[i] {
                    let value = |p| known.at_best(At::new(p), optimism);
                    prop_assert!((dop..=(dop + left).min(24)).all(|p| value(p) <= value(dop) * (1.0 + 1e-9)),
                        "{dop}");
                }
            }
        }
    }
}
