//! The best division by known speedups: SCALO's OPPTS (section 4.1). Profiles don't change while a program
//! runs, so only arrivals, departures and another capacity change decisions.

use super::divide::{self, Problem};
use super::known_curve::{At, KnownCurve};
use crate::{Allocation, Dop, Machine, Policy, Program, Settings, Share};

pub struct Offline {
    settings: Settings,
}

impl Offline {
    pub fn new(settings: &Settings) -> Offline {
        Offline { settings: *settings }
    }
}

impl Policy for Offline {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| self.decide(machine, sorted))
    }
}

impl Offline {
    fn decide(&self, machine: &Machine, programs: &[&Program]) -> Vec<Share> {
        if let Some(shares) = divide::without_choice(machine, programs) {
            return shares;
        }
        // A profile of one context says less than what was observed.
        let by_profile =
            |it: &&Program| KnownCurve::of(&it.profile, it.fixed_team).filter(|known| !known.is_serial());
        let profiles: Vec<Option<KnownCurve>> = programs.iter().map(by_profile).collect();
        let profiled: Vec<bool> = profiles.iter().map(Option::is_some).collect();
        let known: Vec<Option<KnownCurve>> = profiles
            .into_iter()
            .zip(programs)
            .map(|(known, program)| known.or_else(|| KnownCurve::observed(program)))
            .collect();
        let problem = Problem {
            settings: &self.settings,
            capacity: machine.capacity,
            programs,
            known: &known,
            lends: &vec![false; programs.len()],
            optimism: 0.0,
        };
        let division = problem.divide();
        let share = |i: usize| {
            let (program, dop) = (programs[i], division.dops[i]);
            let source = if profiled[i] { "its profile" } else { "what was observed" };
            let reason = match &known[i] {
                Some(known) => {
                    let (here, more) = (known.at(At::new(dop)).value, known.at(At::new(dop + 1)).value);
                    format!("{dop} of {}: S {here:.2} by {source}, {more:.2} with one more", machine.capacity)
                }
                None => format!(
                    "no profile and nothing measured yet, an equal part of {}: {}",
                    machine.capacity,
                    division.equal[i].explain(&division.claims[i])
                ),
            };
            Share { id: program.id, dop: Dop::Contexts(dop), reason }
        };
        (0..programs.len()).map(share).collect()
    }
}
