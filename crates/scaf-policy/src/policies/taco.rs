//! TACO: equal partitions along the topology, and turns for the programs that don't come out even (section 2
//! of the paper).
//!
//! The machine is cut into equal partitions that are units of its topology or fractions of one; a *level* is
//! one way to do it, named by the number of its partitions. Programs stand on the finest level that they can
//! fill: four to seven of them on four nodes. Those who are left over, the *odd* ones, stand on coarser
//! levels, and levels take turns that last as long as they have partitions: then everyone gets the same time
//! times contexts (section 2.2). Five programs on four nodes: one slice for the odd one on the whole machine,
//! four for the others on a node each.
//!
//! - *Hysteresis* (2.1): a coarser level is taken at once, for a partition would be idle; a finer one after
//!   it has been wanted for a second. Until then newcomers are odd ones, and nobody who is there changes
//!   size.
//! - *Special needs* (2.4): who can use less than an equal part, or asks for more by its minimum, gets that
//!   all the time, beside the turns. A rigid program stands on the finest level whose partitions are as large
//!   as it is, and others fill that level up.
//! - *Grace* (2.3): a program whose threads are more than its new contexts keeps a partition of their number,
//!   on the level where that is one, until it has adapted, for two seconds at most. Nobody then runs two
//!   threads on one context, and time stays equal. A program that is to grow has its new contexts at once:
//!   nobody else could use them meanwhile.
//! - *Weights* count in time: a turn lasts as much longer as its members weigh on average, as nearly as a
//!   round of at most [`LONGEST`] slices permits. Programs that weigh alike stand in the same turn where
//!   there are several of a level.

use super::partitions::counts;
use crate::allocation::slices;
use crate::apportion::{Claim, apportion};
use crate::{Allocation, Dop, Machine, Policy, Program, ProgramId, Share, Turn};
use std::collections::BTreeMap;

/// How long a finer level has to be wanted, in seconds: programs that come and go within that time resize
/// nobody. A newcomer on the level that there is has its time meanwhile, only not beside the others.
const HOLD_S: f64 = 1.0;
/// How long a program may keep its old partition, in seconds: the slowest of the paper's table 2 reaches its
/// next region within 1.6.
const GRACE_S: f64 = 2.0;
/// Odd programs stand on a level with at least one partition for so many of the finest in use, so that rounds
/// stay short on large machines. At most 3% of a round is idle by that. TACO's machine has 24 to 1.
const STEEPEST: u32 = 32;

/// Slices of a round, or twice those that equal weights need: as many as all levels down to a 32nd take. Two
/// weights of 1 and 1.01 would take 201 otherwise.
const LONGEST: u64 = 64;

/// Turns times lengths of a round that are tried at most; each takes some nanoseconds.
const MOST_TRIED: u64 = 1 << 17;

/// See the module.
#[derive(Default)]
pub struct Taco {
    held: Option<Held>,
    /// Since when a program's threads have been more than its contexts.
    late: BTreeMap<ProgramId, f64>,
}

/// The level that the programs stand on.
struct Held {
    parts: u32,
    /// Since when a finer one is wanted.
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
            for (seat, (program, wanted)) in plan.seats.iter().zip(sorted.iter().zip(&wanted.seats)) {
                if seat.contexts > wanted.contexts {
                    keeps.push((program.id, seat.contexts));
                }
            }
            let (slices, all) = slices(&turns);
            let reason = |program: &Program, seat: &Seat| match &seat.always {
                Some(why) => format!("all the time {why}"),
                None if turns.is_empty() => seat.said.clone(),
                None => {
                    let own = slices.get(&program.id).copied().unwrap_or(0);
                    format!("{}, in {own} of {all} time slices", seat.said)
                }
            };
            let share = |(i, program): (usize, &&Program)| Share {
                id: program.id,
                dop: Dop::Contexts(wanted.seats[i].contexts.min(plan.seats[i].contexts)),
                reason: reason(program, &plan.seats[i]),
            };
            sorted.iter().enumerate().map(share).collect()
        });
        allocation.turns = turns;
        allocation.keeps = keeps;
        allocation
    }
}

impl Taco {
    /// The level to stand on, if `wanted` is the finest that can be filled. `levels` are those that there
    /// are.
    fn level(&mut self, wanted: u32, levels: &[u32], now_s: f64) -> u32 {
        let held = self.held.get_or_insert(Held { parts: wanted, finer_since_s: None });
        if wanted > held.parts {
            let waited_s = now_s - *held.finer_since_s.get_or_insert(now_s);
            if (0.0..HOLD_S).contains(&waited_s) {
                // With another capacity there may be no such level any more.
                return levels.iter().copied().filter(|level| *level <= held.parts).max().unwrap_or(1);
            }
        }
        *held = Held { parts: wanted, finer_since_s: None };
        wanted
    }

    /// What programs need as long as those who haven't adapted to smaller partitions are given time.
    fn patient(&mut self, now_s: f64, programs: &[&Program], wanted: &Plan, needs: &[u32]) -> Vec<u32> {
        let late = |i: &usize| programs[*i].team > wanted.seats[*i].contexts && !programs[*i].rigid;
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

/// Fewest contexts that a program runs on.
fn need(program: &Program) -> u32 {
    if program.rigid { program.cap() } else { program.floor() }
}

/// One program's place.
#[derive(Clone, Default)]
struct Seat {
    contexts: u32,
    /// Why it is outside of turns, if it is.
    always: Option<String>,
    said: String,
}

/// Who runs when on how many contexts. Programs are numbers here.
#[derive(Clone)]
struct Plan {
    /// The level of those who can stand on any.
    base: u32,
    seats: Vec<Seat>,
    /// Members of each turn, with the number of its partitions; 0 says that one program needs more than there
    /// is beside those who run all the time, so that they pause.
    turns: Vec<(u32, Vec<usize>)>,
}

impl Plan {
    /// `hold` is asked which level to take, given the finest that can be filled and all that there are.
    fn new(
        machine: &Machine,
        programs: &[&Program],
        needs: &[u32],
        hold: impl FnOnce(u32, &[u32]) -> u32,
    ) -> Plan {
        let capacity = machine.capacity.max(1);
        let mut plan = Plan { base: 1, seats: vec![Seat::default(); programs.len()], turns: Vec::new() };
        let sharing = plan.seat_those_who_always_run(capacity, programs, needs);
        let taken: u32 = plan.seats.iter().map(|seat| seat.contexts).sum();
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

        // Those who need more than a partition of that level, on their own.
        for level in levels.iter().rev().copied().filter(|level| *level < base) {
            let pinned: Vec<usize> = sharing.iter().copied().filter(|i| finest(*i) == level).collect();
            plan.turns.extend(pinned.chunks(level as usize).map(|members| (level, members.to_vec())));
        }
        // The odd ones are those who can make most of a larger partition, and of those the last.
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
            for (seat, i) in members.iter().enumerate() {
                let size = rest / parts + u32::from((seat as u32) < rest % parts);
                let said = match parts {
                    1 => format!("all {rest} contexts"),
                    _ => format!("{size}, one of {parts} partitions of {rest} contexts"),
                };
                plan.seats[*i] = Seat { contexts: size.min(programs[*i].cap()), always: None, said };
            }
        }
        for i in sharing.iter().copied().filter(|i| finest(*i) == 0) {
            let contexts = needs[i].min(capacity);
            let said = format!("{contexts} of {capacity} contexts, while nobody else runs");
            plan.seats[i] = Seat { contexts, always: None, said };
            plan.turns.push((0, vec![i]));
        }
        plan
    }

    /// Those for whom an equal part is all they can use, or less than their minimum; who remains is returned.
    fn seat_those_who_always_run(
        &mut self,
        capacity: u32,
        programs: &[&Program],
        needs: &[u32],
    ) -> Vec<usize> {
        let floors: u64 = programs.iter().map(|program| u64::from(program.floor())).sum();
        if programs.len() as u64 > u64::from(capacity) || floors > u64::from(capacity) {
            return (0..programs.len()).collect();
        }
        let claims: Vec<Claim> =
            programs.iter().map(|p| Claim { share: 1.0, ..Claim::new(p, 1.0) }).collect();
        let parts = apportion(capacity, &claims);
        let mut sharing = Vec::new();
        for (i, (claim, part)) in claims.iter().zip(parts).enumerate() {
            let at_its_minimum =
                part.contexts == claim.floor && claim.floor > 1 && part.ideal <= f64::from(claim.floor);
            if part.contexts >= needs[i] && (part.contexts == claim.cap || at_its_minimum) {
                let always = Some(part.explain(claim));
                self.seats[i] = Seat { contexts: part.contexts, always, said: String::new() };
            } else {
                sharing.push(i);
            }
        }
        sharing
    }

    /// The turns with their lengths, the coarsest level first; none where everyone runs all the time.
    fn turns(&self, programs: &[&Program]) -> Vec<Turn> {
        let always: Vec<usize> = (0..programs.len()).filter(|i| self.seats[*i].always.is_some()).collect();
        let mut turns = self.turns.clone();
        if turns.iter().any(|(parts, _)| *parts == 0) && !always.is_empty() {
            // They pause, so they have to be in those where they don't.
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

/// Whole numbers in nearly the proportion of `due`, each at least 1: those with the smallest sum of which
/// none is off by more than it has to be within `longest` altogether.
fn lengths(due: &[f64], longest: u64) -> Vec<u64> {
    let sum: f64 = due.iter().sum();
    let of = |round: u64| due.iter().map(move |due| ((due / sum * round as f64).round() as u64).max(1));
    let off = |round: u64| {
        let all = of(round).sum::<u64>() as f64;
        let off = |(slices, due): (u64, &f64)| (slices as f64 / all / (due / sum) - 1.0).abs();
        of(round).zip(due).map(off).fold(0.0, f64::max)
    };
    let (least, mut best) = (due.len() as u64, (f64::INFINITY, 1));
    // Of very many turns not every length is tried.
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
