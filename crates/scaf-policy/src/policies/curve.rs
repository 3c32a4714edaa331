//! The best division by observed speedup curves (`divide`, [`crate::optimum`]), with exploration at first,
//! hysteresis afterwards, and loans; docs/internals/policies.md has the rules.
//!
//! While contexts are lent, the division with all programs is kept up, so everyone has its own part again
//! when the serial phase ends.

use super::divide::{self, Division, Problem};
use super::known_curve::{At, KnownCurve};
use crate::{Allocation, Dop, Machine, Objective, Policy, Program, ProgramId, Settings, Share, steps};

/// Seconds after a change for which optimism is full, and after which it is gone.
const OPTIMISTIC_S: f64 = 2.5;
const REALISTIC_S: f64 = 5.0;
/// Seconds without exploration and measuring first after a program has left that stayed for less than these
/// take: those who come then are likely to be as short.
const RESTLESS_S: f64 = 10.0;
/// Seconds that a newcomer stays on an equal part: seven measurements at 4 Hz turn 5% of noise into 2%.
const MEASURED_S: f64 = 1.7;
/// Error below which a newcomer's speedup needn't be measured first,
const KNOWN: f64 = 0.1;
/// and the same if it comes from earlier runs, which may arrive a moment later.
const KNOWN_BEFORE: f64 = 0.25;
/// A capacity that differs by this factor is another machine, unless it is one context of more than these.
const OTHER_MACHINE: f64 = 1.25;
const FEW: u32 = 2;
/// Least relative gain for a change, which costs the programs resized teams and cold caches.
const COST: f64 = 0.005;
/// Least gain for a change, in standard errors of the gain.
const NOISE: f64 = 0.5;
/// Rounds of [`fuller`] in which programs that gain too little are passed over.
const ROUNDS: usize = 4;

pub struct Curve {
    settings: Settings,
    /// When optimism was last full, and the capacity then.
    changed: Option<(f64, u32)>,
    arrivals: Vec<Arrival>,
    /// Until when nobody explores, since short programs come and go.
    restless_s: f64,
    /// The division with nobody lending.
    held: Held,
    /// The lenders, and the division meanwhile.
    lent: (Vec<ProgramId>, Held),
}

#[derive(Clone, Copy)]
struct Arrival {
    id: ProgramId,
    came_s: f64,
    /// When it came, if it has to be measured first.
    fresh: Option<f64>,
    known: bool,
    /// Whether it was forgotten and came anew (as its first region began). Only once, or others never rest.
    again: bool,
}

impl Arrival {
    /// Whether it has just come and is measured on an equal part.
    fn is_fresh(&self, now_s: f64) -> bool {
        self.fresh.is_some_and(|since| (0.0..MEASURED_S).contains(&(now_s - since)))
    }
}

/// The last decision, of so many contexts.
#[derive(Default)]
struct Held {
    capacity: u32,
    who: Vec<ProgramId>,
    dops: Vec<u32>,
}

impl Held {
    fn new(problem: &Problem, outcome: &Outcome) -> Held {
        let who = problem.programs.iter().map(|program| program.id).collect();
        Held { capacity: problem.capacity, who, dops: outcome.dops.clone() }
    }
}

impl Policy for Curve {
    fn name(&self) -> &'static str {
        "curve"
    }

    fn lends(&self) -> bool {
        true
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        super::in_order::in_order(programs, |sorted| self.decide(machine, sorted))
    }
}

impl Curve {
    pub fn new(settings: &Settings) -> Curve {
        Curve {
            settings: *settings,
            changed: None,
            arrivals: Vec::new(),
            restless_s: f64::NEG_INFINITY,
            held: Held::default(),
            lent: Default::default(),
        }
    }

    fn decide(&mut self, machine: &Machine, programs: &[&Program]) -> Vec<Share> {
        let mut known: Vec<Option<KnownCurve>> =
            programs.iter().map(|program| KnownCurve::observed(program)).collect();
        let same = self.update(machine, programs, &known);
        let optimism = self.optimism(machine, same);
        if let Some(shares) = divide::without_choice(machine, programs) {
            self.arrivals.iter_mut().for_each(|arrival| arrival.fresh = None);
            self.held = Held::default();
            return shares;
        }
        for (known, arrival) in known.iter_mut().zip(&self.arrivals) {
            if arrival.is_fresh(machine.now_s) && machine.now_s >= self.restless_s {
                *known = None;
            }
        }
        let mut problem = Problem {
            settings: &self.settings,
            capacity: machine.capacity,
            programs,
            known: &known,
            lends: &vec![false; programs.len()],
            optimism,
        };
        let division = problem.divide();
        let outcome = settle(&problem, &division, &self.held);
        self.held = Held::new(&problem, &outcome);
        let lenders: Vec<ProgramId> =
            programs.iter().filter(|program| program.serial).map(|program| program.id).collect();
        if lenders.is_empty() {
            self.lent = Default::default();
            return explain(&problem, &division, &outcome, None);
        }
        let lends: Vec<bool> = programs.iter().map(|program| program.serial).collect();
        problem.lends = &lends;
        if self.lent.0 != lenders {
            self.lent = (lenders, Held::default());
        }
        let division = problem.divide();
        let lent = settle(&problem, &division, &self.lent.1);
        self.lent.1 = Held::new(&problem, &lent);
        explain(&problem, &division, &lent, Some(&outcome.dops))
    }

    /// Records the programs. False if a program has gone, or one came that isn't known.
    fn update(&mut self, machine: &Machine, programs: &[&Program], known: &[Option<KnownCurve>]) -> bool {
        let here = |arrival: &Arrival| programs.binary_search_by_key(&arrival.id, |p| p.id).is_ok();
        let mut same = self.arrivals.iter().all(here);
        let short = |gone: &&Arrival| (0.0..REALISTIC_S).contains(&(machine.now_s - gone.came_s));
        if self.arrivals.iter().filter(|arrival| !here(arrival)).any(|gone| short(&gone)) {
            self.restless_s = machine.now_s + RESTLESS_S;
        }
        let arrivals = programs.iter().zip(known).map(|(program, known)| {
            let at = self.arrivals.binary_search_by_key(&program.id, |arrival| arrival.id);
            let before = at.ok().map(|i| self.arrivals[i]);
            let anew = before.is_some_and(|before| before.known && !before.again && known.is_none());
            let sure = is_sure(machine, programs, program, known.as_ref());
            let fresh = match before.filter(|_| !anew) {
                // Measurements since then don't make it known, or nobody would be measured for long.
                Some(before) if !sure || program.profile.is_empty() => before.fresh,
                None if !sure => {
                    same = false;
                    Some(machine.now_s)
                }
                // A known program needs no exploration.
                _ => None,
            };
            let again = anew || before.is_some_and(|before| before.again);
            let came_s = before.map_or(machine.now_s, |before| before.came_s);
            Arrival { id: program.id, came_s, fresh, known: known.is_some(), again }
        });
        self.arrivals = arrivals.collect();
        same
    }

    /// How much optimism there is, 0 to 1, given whether the programs are the `same` as before.
    fn optimism(&mut self, machine: &Machine, same: bool) -> f64 {
        let now_s = if machine.now_s.is_finite() { machine.now_s } else { 0.0 };
        let like = |before: u32| {
            let ratio = f64::from(machine.capacity.max(1)) / f64::from(before.max(1));
            let by_one = machine.capacity.abs_diff(before) <= 1 && machine.capacity.min(before) > FEW;
            (OTHER_MACHINE.recip()..=OTHER_MACHINE).contains(&ratio) || by_one
        };
        let since = match self.changed {
            Some((since, capacity)) if same && like(capacity) && since <= now_s => since,
            None if same && !self.arrivals.is_empty() => {
                self.changed = Some((now_s - REALISTIC_S, machine.capacity));
                now_s - REALISTIC_S
            }
            _ => {
                self.changed = Some((now_s, machine.capacity));
                now_s
            }
        };
        if now_s < self.restless_s {
            return 0.0;
        }
        1.0 - ((now_s - since - OPTIMISTIC_S) / (REALISTIC_S - OPTIMISTIC_S)).clamp(0.0, 1.0)
    }
}

/// Whether a program's speedup on an equal part needn't be measured first.
fn is_sure(machine: &Machine, programs: &[&Program], program: &Program, known: Option<&KnownCurve>) -> bool {
    let equal = machine.capacity / programs.len().max(1) as u32;
    let at = At::new(equal.clamp(program.floor(), program.cap()));
    let asked = if program.profile.is_empty() { KNOWN } else { KNOWN_BEFORE };
    // Being seen on one context says nothing of more.
    known.is_some_and(|known| known.at(at).error <= asked && (!known.is_serial() || program.cap() == 1))
}

struct Outcome {
    dops: Vec<u32>,
    /// Relative gain of changing to the division and the gain asked for, if it wasn't changed.
    kept: Option<(f64, f64)>,
}

fn settle(problem: &Problem, division: &Division, held: &Held) -> Outcome {
    let same = problem.programs.iter().map(|program| &program.id).eq(&held.who);
    let now = match held.capacity == problem.capacity {
        _ if !same => None,
        true => Some(held.dops.clone()),
        // The nearest to what everyone had, if that leaves no more idle than the division.
        false => Some(problem.fitted(division, problem.lifted(division, &held.dops), |_| true))
            .filter(|now| divide::sum(now) >= divide::sum(&division.dops)),
    };
    if let Some(mut now) = now.filter(|now| problem.allows(division, now)) {
        if problem.optimism == 0.0 {
            problem.trim(division, &mut now);
            now = fuller(problem, division, &now);
        }
        let gain = division.value(&division.dops) - division.value(&now);
        let scale: f64 = (0..now.len()).map(|i| scale(problem, division, &now, i)).sum::<f64>().abs();
        let asked = if problem.optimism > 0.0 {
            0.0
        } else {
            COST * scale + NOISE * problem.noise(&now, &division.dops)
        };
        if gain <= asked {
            let relative = |of: f64| of / scale.max(f64::MIN_POSITIVE);
            return Outcome { dops: now, kept: Some((relative(gain).max(0.0), relative(asked))) };
        }
    }
    Outcome { dops: division.dops.clone(), kept: None }
}

/// `now` with what is left over given to those who gain more by it than being resized costs.
fn fuller(problem: &Problem, division: &Division, now: &[u32]) -> Vec<u32> {
    let now = problem.lifted(division, now);
    let mut may = vec![true; now.len()];
    for _ in 0..ROUNDS {
        let fuller = problem.fitted(division, now.clone(), |i| may[i]);
        let pays = |i: usize| {
            let (worth, noise) = (&division.worths[i], problem.variance(i, now[i], fuller[i]).sqrt());
            let asked = COST * scale(problem, division, &now, i).abs() + NOISE * noise;
            fuller[i] == now[i] || worth.at(fuller[i]) - worth.at(now[i]) > asked
        };
        let in_vain: Vec<usize> = (0..now.len()).filter(|i| !pays(*i)).collect();
        if in_vain.is_empty() {
            return fuller;
        }
        in_vain.into_iter().for_each(|i| may[i] = false);
    }
    now
}

/// What a program's gains are relative to: the worth of its contexts, or its weight if factors count.
fn scale(problem: &Problem, division: &Division, dops: &[u32], i: usize) -> f64 {
    match problem.settings.objective {
        Objective::Throughput => division.worths[i].at(dops[i]),
        Objective::Fair => problem.programs[i].sane_weight(),
    }
}

/// Everyone's share with its reason; `own` is what everyone would have if nobody lent.
fn explain(problem: &Problem, division: &Division, outcome: &Outcome, own: Option<&[u32]>) -> Vec<Share> {
    let reason = |i: usize| {
        let (program, dop) = (problem.programs[i], outcome.dops[i]);
        if problem.lends[i] {
            let own = own.map_or(dop, |own| own[i]);
            return match own.saturating_sub(dop) {
                0 => format!("{dop}: in a serial phase"),
                more => format!("{dop} in a serial phase: {more} of its {own} are lent until it ends"),
            };
        }
        let of = problem.capacity;
        let Some(known) = &problem.known[i] else {
            let equal = division.equal[i].explain(&division.claims[i]);
            return format!("nothing measured yet, an equal part of {of}: {equal}");
        };
        let there = known.at(At::new(dop));
        let (speedup, percent) = (there.value, 100.0 * there.error);
        match outcome.kept {
            Some((gain, asked)) if division.dops[i] != dop => {
                let [gain, asked] = [100.0 * gain, 100.0 * asked];
                return format!(
                    "{dop} kept (S {speedup:.2}): {} instead would gain {gain:.2}% in all, and less than \
                     {asked:.2}% is noise or cost",
                    division.dops[i]
                );
            }
            _ => {}
        }
        if problem.optimism > 0.0 && !known.saw(dop) && dop > 1 {
            let best = known.at_best(At::new(dop), problem.optimism);
            return format!("{dop} to learn what it brings: S {speedup:.2} is a guess, and may be {best:.2}");
        }
        if dop == 1 && known.is_serial() && dop < program.cap() {
            return format!("1 of {of}: seen on no more yet, and a second one brings more elsewhere");
        }
        let bound = if dop == program.cap() {
            ", all that it can use".to_owned()
        } else if dop == division.least[i] && dop > program.floor() {
            let equal = division.equal[i].contexts;
            format!(
                ", for {:.0}% of S {:.2} on {equal}",
                100.0 * problem.settings.sane_floor(),
                known.at(At::new(equal)).value
            )
        } else if dop == program.floor() && dop > 1 {
            ", its minimum".to_owned()
        } else {
            match steps::next(program.fixed_team, dop) {
                Some(next) if next > dop + 1 => {
                    let more = known.at(At::new(next)).value - speedup;
                    format!(", the next step, {next}, {more:+.2}")
                }
                _ => format!(", one more {:+.2}", known.at(At::new(dop + 1)).value - speedup),
            }
        };
        let lent = if own.is_some_and(|own| own[i] < dop) { "; some are lent by others" } else { "" };
        format!("{dop} of {of}: S {speedup:.2} +-{percent:.0}%{bound}{lent}")
    };
    (0..problem.programs.len())
        .map(|i| Share { id: problem.programs[i].id, dop: Dop::Contexts(outcome.dops[i]), reason: reason(i) })
        .collect()
}
