//! TACO: equal partitions along the topology, and turns for programs that don't come out even (section 2).
//! docs/internals/policies.md has the rules: levels, odd programs, hysteresis, grace and weights.

use super::partitions::counts;
use crate::allocation::slices;
use crate::apportion::{Claim, apportion};
use crate::{Allocation, Dop, Machine, Policy, Program, ProgramId, Share, Turn};
use std::collections::BTreeMap;

/// Seconds for which a finer level has to be wanted: shorter visits resize nobody.
const HOLD_S: f64 = 1.0;
/// Seconds of grace: the slowest program of the paper's table 2 reaches its next region within 1.6.
const GRACE_S: f64 = 2.0;
/// Largest factor between the finest level in use and that of odd programs, to keep rounds short on large
/// machines: at most 3% of a round is idle by that. TACO's machine has 24 to 1.
const STEEPEST: u32 = 32;
/// Least bound on a round's slices, or twice those that equal weights need: all levels down to a 32nd take as
/// many. Weights of 1 and 1.01 would take 201.
const LONGEST: u64 = 64;
/// Most lengths tried, times turns; each takes some nanoseconds.
const MOST_TRIED: u64 = 1 << 17;

#[derive(Default)]
pub struct Taco {
    held: Option<Held>,
    /// Since when a program's threads have been more than its contexts, in seconds.
    late: BTreeMap<ProgramId, f64>,
}

struct Held {
    parts: u32,
    /// Since when a finer level is wanted.
    finer_since_s: Option<f64>,
}

impl Policy for Taco {
    fn name(&self) -> &'static str {
        "taco"
    }

    fn makes_turns(&self) -> bool {
        true
    }

    fn allocate(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        if programs.is_empty() {
            *self = Taco::default();
        }
        let (mut turns, mut keeps) = (Vec::new(), Vec::new());
        let mut allocation = super::in_order::in_order(programs, |sorted| {
            let needs: Vec<u32> = sorted.iter().map(|program| need(program)).collect();
            let hold = |wanted, levels: &[u32]| self.level(wanted, levels, machine.now_s);
            let wanted = Plan::new(machine, sorted, &needs, hold);
            let patient = self.patient(machine.now_s, sorted, &wanted, &needs);
            let plan = match patient == needs {
                true => wanted.clone(),
                false => Plan::new(machine, sorted, &patient, |level, _| level.min(wanted.base)),
            };
            turns = plan.turns(sorted);
            for (given, (program, wanted)) in plan.assigned.iter().zip(sorted.iter().zip(&wanted.assigned)) {
                if given.contexts > wanted.contexts {
                    keeps.push((program.id, given.contexts));
                }
            }
            let (slices, all) = slices(&turns);
            let reason = |program: &Program, given: &Assignment| match &given.always {
                Some(why) => format!("all the time {why}"),
                None if turns.is_empty() => given.said.clone(),
                None => {
                    let own = slices.get(&program.id).copied().unwrap_or(0);
                    format!("{}, in {own} of {all} time slices", given.said)
                }
            };
            let share = |(i, program): (usize, &&Program)| Share {
                id: program.id,
                dop: Dop::Contexts(wanted.assigned[i].contexts.min(plan.assigned[i].contexts)),
                reason: reason(program, &plan.assigned[i]),
            };
            sorted.iter().enumerate().map(share).collect()
        });
        allocation.turns = turns;
        allocation.keeps = keeps;
        allocation
    }
}

impl Taco {
    /// The level to stand on, out of `levels`, if `wanted` is the finest that can be filled.
    fn level(&mut self, wanted: u32, levels: &[u32], now_s: f64) -> u32 {
        let held = self.held.get_or_insert(Held { parts: wanted, finer_since_s: None });
        if wanted > held.parts {
            let waited_s = now_s - *held.finer_since_s.get_or_insert(now_s);
            if (0.0..HOLD_S).contains(&waited_s) {
                // With another capacity the held level may be gone.
                return levels.iter().copied().filter(|level| *level <= held.parts).max().unwrap_or(1);
            }
        }
        *held = Held { parts: wanted, finer_since_s: None };
        wanted
    }

    /// The needs while programs that haven't adapted to smaller partitions are given time.
    fn patient(&mut self, now_s: f64, programs: &[&Program], wanted: &Plan, needs: &[u32]) -> Vec<u32> {
        let late = |i: &usize| programs[*i].team > wanted.assigned[*i].contexts && !programs[*i].rigid;
        let mut patient = needs.to_vec();
        let before = std::mem::take(&mut self.late);
        for i in (0..programs.len()).filter(late) {
            let since_s = before.get(&programs[i].id).copied().unwrap_or(now_s);
            self.late.insert(programs[i].id, since_s);
            if (0.0..GRACE_S).contains(&(now_s - since_s)) {
                patient[i] = programs[i].team.min(programs[i].cap());
            }
        }
        patient
    }
}

fn need(program: &Program) -> u32 {
    if program.rigid { program.cap() } else { program.floor() }
}

#[derive(Clone, Default)]
struct Assignment {
    contexts: u32,
    /// Why it runs all the time, if it does.
    always: Option<String>,
    said: String,
}

/// Who runs when on how many contexts, by index of the programs.
#[derive(Clone)]
struct Plan {
    /// The level of programs that can stand on any.
    base: u32,
    assigned: Vec<Assignment>,
    /// Number of partitions and members of each turn. 0 partitions: the one member needs more than those who
    /// always run leave, so that they pause.
    turns: Vec<(u32, Vec<usize>)>,
}

impl Plan {
    /// `hold` chooses a level, given the finest that can be filled and all levels.
    fn new(
        machine: &Machine,
        programs: &[&Program],
        needs: &[u32],
        hold: impl FnOnce(u32, &[u32]) -> u32,
    ) -> Plan {
        let capacity = machine.capacity.max(1);
        let mut plan =
            Plan { base: 1, assigned: vec![Assignment::default(); programs.len()], turns: Vec::new() };
        let sharing = plan.assign_permanently(capacity, programs, needs);
        let taken: u32 = plan.assigned.iter().map(|given| given.contexts).sum();
        let rest = capacity.saturating_sub(taken).max(1);
        let levels: Vec<u32> =
            counts(&machine.units, capacity).into_iter().filter(|parts| *parts <= rest).collect();
        // The finest level on which each can stand; 0 if there is none.
        let finest =
            |i: usize| levels.iter().copied().filter(|parts| rest / parts >= needs[i]).max().unwrap_or(0);
        let stands = |level: u32| sharing.iter().filter(move |i| finest(**i) >= level);
        let filled = levels.iter().rev().copied().find(|level| stands(*level).count() >= *level as usize);
        let base = filled.map_or(1, |wanted| hold(wanted, &levels));
        plan.base = base;

        // Programs that need more than a partition of that level.
        for level in levels.iter().rev().copied().filter(|level| *level < base) {
            let pinned: Vec<usize> = sharing.iter().copied().filter(|i| finest(*i) == level).collect();
            plan.turns.extend(pinned.chunks(level as usize).map(|members| (level, members.to_vec())));
        }
        // The odd ones can make most of a larger partition; of equals they are the last.
        let mut flexible: Vec<usize> = stands(base).copied().collect();
        let order = |i: &usize| (programs[*i].cap().min(rest), (programs[*i].sane_weight() * 4.0) as u32, *i);
        flexible.sort_by_key(order);
        let mut odd = flexible.split_off(flexible.len() - flexible.len() % base as usize);
        for (parts, members) in &mut plan.turns {
            let free = (*parts as usize).saturating_sub(members.len()).min(odd.len());
            members.extend(odd.drain(..free));
        }
        plan.turns.extend(flexible.chunks(base as usize).map(|members| (base, members.to_vec())));
        while !odd.is_empty() {
            let coarser = || levels.iter().copied().filter(|level| *level < base);
            let fills = coarser().filter(|level| *level as usize <= odd.len()).max().unwrap_or(1);
            let level =
                coarser().find(|level| *level >= base / STEEPEST).map_or(fills, |least| fills.max(least));
            let members = odd.drain(..(level as usize).min(odd.len())).collect();
            plan.turns.push((level, members));
        }
        for (parts, members) in &plan.turns {
            for (number, i) in members.iter().enumerate() {
                let size = rest / parts + u32::from((number as u32) < rest % parts);
                let said = match parts {
                    1 => format!("all {rest} contexts"),
                    _ => format!("{size}, one of {parts} partitions of {rest} contexts"),
                };
                plan.assigned[*i] = Assignment { contexts: size.min(programs[*i].cap()), always: None, said };
            }
        }
        for i in sharing.iter().copied().filter(|i| finest(*i) == 0) {
            let contexts = needs[i].min(capacity);
            let said = format!("{contexts} of {capacity} contexts, while nobody else runs");
            plan.assigned[i] = Assignment { contexts, always: None, said };
            plan.turns.push((0, vec![i]));
        }
        plan
    }

    /// Assigns programs that can use no more than an equal part, or whose minimum is more; returns others.
    fn assign_permanently(&mut self, capacity: u32, programs: &[&Program], needs: &[u32]) -> Vec<usize> {
        let floors: u64 = programs.iter().map(|program| u64::from(program.floor())).sum();
        if programs.len() as u64 > u64::from(capacity) || floors > u64::from(capacity) {
            return (0..programs.len()).collect();
        }
        let claims: Vec<Claim> =
            programs.iter().map(|p| Claim { share: 1.0, team: 0, ..Claim::new(p, 1.0) }).collect();
        let parts = apportion(capacity, &claims);
        let mut sharing = Vec::new();
        for (i, (claim, part)) in claims.iter().zip(parts).enumerate() {
            let at_its_minimum =
                part.contexts == claim.floor && claim.floor > 1 && part.ideal <= f64::from(claim.floor);
            if part.contexts >= needs[i] && (part.contexts == claim.cap || at_its_minimum) {
                let always = Some(part.explain(claim));
                self.assigned[i] = Assignment { contexts: part.contexts, always, said: String::new() };
            } else {
                sharing.push(i);
            }
        }
        sharing
    }

    /// The turns with their lengths, the coarsest level first; none where everyone runs all the time.
    fn turns(&self, programs: &[&Program]) -> Vec<Turn> {
        let always: Vec<usize> = (0..programs.len()).filter(|i| self.assigned[*i].always.is_some()).collect();
        let mut turns = self.turns.clone();
        if turns.iter().any(|(parts, _)| *parts == 0) && !always.is_empty() {
            // Those who pause become members of the turns in which they run.
            if turns.iter().all(|(parts, _)| *parts == 0) {
                turns.push((1, Vec::new()));
            }
            turns.iter_mut().filter(|(parts, _)| *parts > 0).for_each(|(_, members)| members.extend(&always));
        }
        if turns.len() < 2 {
            return Vec::new();
        }
        turns.sort_by_key(|(parts, _)| *parts);
        let parts: Vec<u64> = turns.iter().map(|(parts, _)| u64::from((*parts).max(1))).collect();
        let due = |(parts, (_, members)): (&u64, &(u32, Vec<usize>))| {
            let weights = members.iter().map(|i| programs[*i].sane_weight()).sum::<f64>();
            *parts as f64 * weights / members.len().max(1) as f64
        };
        let due: Vec<f64> = parts.iter().zip(&turns).map(due).collect();
        let plain = parts.iter().sum::<u64>() / parts.iter().copied().fold(0, gcd).max(1);
        let turn = |((_, members), slices): (&(u32, Vec<usize>), u64)| Turn {
            slices: u32::try_from(slices).unwrap_or(u32::MAX),
            members: members.iter().map(|i| programs[*i].id).collect(),
        };
        turns.iter().zip(lengths(&due, LONGEST.max(2 * plain))).map(turn).collect()
    }
}

/// Whole numbers, each at least 1, nearly in proportion to `due`: the smallest of the best within `longest`.
fn lengths(due: &[f64], longest: u64) -> Vec<u64> {
    let sum: f64 = due.iter().sum();
    let of = |round: u64| due.iter().map(move |due| ((due / sum * round as f64).round() as u64).max(1));
    let off = |round: u64| {
        let all = of(round).sum::<u64>() as f64;
        let off = |(slices, due): (u64, &f64)| (slices as f64 / all / (due / sum) - 1.0).abs();
        of(round).zip(due).map(off).fold(0.0, f64::max)
    };
    let (least, mut best) = (due.len() as u64, (f64::INFINITY, 1));
    // Not every length is tried where turns are very many.
    let step = 1 + longest.saturating_sub(least) * least / MOST_TRIED;
    for round in (least..=longest.max(least)).step_by(step as usize) {
        let off = off(round);
        if off < best.0 - 1e-9 {
            best = (off, round);
        }
        if best.0 < 1e-9 {
            break;
        }
    }
    of(best.1).collect()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
#[path = "taco_tests.rs"]
mod tests;
