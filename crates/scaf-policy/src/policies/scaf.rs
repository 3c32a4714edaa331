//! SCAF's policy: contexts in proportion to how well each program was just seen to scale (SCAF, section 3.3).
//!
//! The plain loop circles for ever in 22 of TACO's 154 mixes. Added here are *hysteresis*, since a change
//! costs resized teams and cold caches, *cycle detection* ([`crate::cycle_detection`]), and equal parts where
//! measurements don't bear out the model ([`super::deviation`]).

use super::deviation::{Asked, Deviation, Deviations, Known, may_stay};
use super::fits::Fits;
use crate::apportion::{Claim, Part, apportion};
use crate::cycle_detection::{Trail, Visit};
use crate::model::LogModel;
use crate::{Allocation, Dop, Machine, Policy, Program, ProgramId, Share};

/// The least relative gain for a change, by what was measured. On TACO's curves with 5% of noise it leaves
/// 8.5 changes a minute and 88.1% of the best sum. By the model's promises alone these were 6.5 and 88.4%;
/// 0.0025 left 4.2 and 87.9%, 0 left 36 and 88.6%.
const WORTH_CHANGING: f64 = 0.001;

pub struct Scaf {
    fits: Fits<LogModel>,
    problem: Problem,
    deviations: Deviations,
    trail: Trail,
    /// The least relative gain for a change; negative to take every change.
    min_gain: f64,
    detect_cycles: bool,
}

enum Verdict {
    Move,
    /// The relative gain is too small.
    Keep {
        gain: f64,
    },
    /// A cycle was found; this was the best place.
    Hold(Visit),
}

/// A decision's inputs but the measurements: capacity, and id, floor, cap and weight of each program.
type Problem = (u32, Vec<(ProgramId, u32, u32, u64)>);

impl Default for Scaf {
    fn default() -> Scaf {
        Scaf::steadied_by(WORTH_CHANGING, true)
    }
}

impl Policy for Scaf {
    fn name(&self) -> &'static str {
        "scaf"
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| self.decide(machine, sorted))
    }
}

impl Scaf {
    pub fn steadied_by(min_gain: f64, detect_cycles: bool) -> Scaf {
        Scaf {
            fits: Fits::new(),
            problem: (0, Vec::new()),
            deviations: Deviations::new(),
            trail: Trail::default(),
            min_gain,
            detect_cycles,
        }
    }

    fn decide(&mut self, machine: &Machine, programs: &[&Program]) -> Vec<Share> {
        self.learn(machine, programs);
        let models = self.models(programs);
        let claims: Vec<Claim> = programs.iter().zip(&models).map(|(p, m)| Claim::new(p, m.c)).collect();
        let parts = apportion(machine.capacity, &claims);
        let asked = Asked { machine, programs, models: &models, claims: &claims, parts: &parts };
        let (Deviation { dops: target, way }, known) = self.deviations.choose(&asked);
        let verdict = if way > 0.0 { self.steady(programs, &known, &claims, &target) } else { self.even() };
        let all: f64 = claims.iter().map(|claim| claim.share).sum();
        let share = |i: usize| {
            let p = programs[i];
            let (dop, reason) = match &verdict {
                Verdict::Move => {
                    let mut reason = self.explain(machine, p, &claims[i], &parts[i], all);
                    if target[i] != parts[i].contexts {
                        reason += &match (100.0 * way) as u32 {
                            0 => format!("; an equal part is as good: {}", target[i]),
                            percent => {
                                format!("; {percent}% of the way from an equal part: {}", target[i])
                            }
                        };
                    }
                    (target[i], reason)
                }
                Verdict::Keep { gain } => {
                    let percent = 100.0 * gain.max(0.0);
                    (p.dop, format!("{} kept: {} instead would gain {percent:.2}% in all", p.dop, target[i]))
                }
                Verdict::Hold(Visit { dops, worth, .. }) => (
                    dops[i],
                    format!(
                        "{} held: feedback went in circles, best sum of speedups seen was {worth:.2}",
                        dops[i]
                    ),
                ),
            };
            Share { id: p.id, dop: Dop::Contexts(dop), reason }
        };
        (0..programs.len()).map(share).collect()
    }

    /// Equal parts: the feedback begins anew.
    fn even(&mut self) -> Verdict {
        self.trail.clear();
        Verdict::Move
    }

    fn steady(&mut self, programs: &[&Program], known: &Known, claims: &[Claim], target: &[u32]) -> Verdict {
        // Whoever has one context and isn't known is to be measured on more.
        let blind = |p: &&Program| p.dop == 1 && p.cap() > 1 && self.fits.get(p.id).is_none();
        if !in_effect(programs, claims, target) || programs.iter().any(blind) {
            return Verdict::Move;
        }
        if self.detect_cycles && programs.iter().all(|p| p.efficiency.is_some_and(f64::is_finite)) {
            self.trail.visit(measured(programs));
        }
        let now: Vec<u32> = programs.iter().map(|p| p.dop).collect();
        if self.trail.held().is_none() && target != now {
            let gain = known.sum(target) / known.sum(&now) - 1.0;
            if gain <= self.min_gain {
                return Verdict::Keep { gain };
            }
        }
        self.trail.closes_at(target).map_or(Verdict::Move, |held| Verdict::Hold(held.clone()))
    }

    fn learn(&mut self, machine: &Machine, programs: &[&Program]) {
        let terms = |p: &&Program| (p.id, p.floor(), p.cap(), p.sane_weight().to_bits());
        let problem = (machine.capacity, programs.iter().map(terms).collect());
        if problem != self.problem {
            self.trail.clear();
            self.deviations.anew();
            self.problem = problem;
        }
        if self.fits.update(machine, programs, LogModel::of) {
            self.trail.clear();
        }
    }

    /// Everyone's model. An unmeasured program gets the mean C, and so an equal part to be measured on.
    fn models(&self, programs: &[&Program]) -> Vec<LogModel> {
        let mean = LogModel { c: self.fits.mean(programs, |model| model.c).unwrap_or(1.0) };
        programs.iter().map(|p| self.fits.get(p.id).unwrap_or(mean)).collect()
    }

    /// How the model of a program led to its part; `all` is the sum of the claims.
    fn explain(&self, machine: &Machine, program: &Program, claim: &Claim, part: &Part, all: f64) -> String {
        let contexts = part.explain(claim);
        let Some(LogModel { c }) = self.fits.get(program.id) else {
            return format!("nothing measured yet, an equal part of {}: {contexts}", machine.capacity);
        };
        let source = match program.efficiency {
            Some(e) if LogModel::of(program).is_some() => {
                format!("E {:.2} on {}", e.clamp(0.0, 1.0), program.dop)
            }
            _ => "before".to_owned(),
        };
        let weight = match program.sane_weight() {
            1.0 => String::new(),
            weight => format!(" times weight {}", (1e3 * weight).round() / 1e3),
        };
        format!("C {c:.2}{weight} of {all:.2} (from {source}), of {} contexts {contexts}", machine.capacity)
    }
}

/// Whether the DoPs in effect could stay: all are within bounds, and as much is given away as could be.
fn in_effect(programs: &[&Program], claims: &[Claim], target: &[u32]) -> bool {
    let sum = |dops: &mut dyn Iterator<Item = u32>| dops.map(u64::from).sum::<u64>();
    sum(&mut programs.iter().map(|p| p.dop)) == sum(&mut target.iter().copied())
        && programs.iter().zip(claims).zip(target).all(|((p, claim), &target)| {
            // Where the floors do not fit, none is asked for.
            p.dop >= claim.floor.min(target) && p.dop <= claim.cap && may_stay(p, p.dop)
        })
}

fn measured(programs: &[&Program]) -> Visit {
    let efficiency = |p: &&Program| p.efficiency.unwrap_or(0.0).clamp(0.0, 1.0);
    let speedup = |p: &&Program| {
        if p.dop == 1 { 1.0 } else { efficiency(p) * f64::from(p.dop) }
    };
    Visit {
        dops: programs.iter().map(|p| p.dop).collect(),
        efficiencies: programs.iter().map(efficiency).collect(),
        worth: programs.iter().map(|p| p.sane_weight() * speedup(p)).sum(),
    }
}
