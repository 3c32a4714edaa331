//! Programs that can only share in time get turns, beside any policy that divides space.
//!
//! The problem: a program that waits for its own threads by spinning needs all of its contexts at once, or none; and where there are
//! more programs than contexts, somebody has to wait. Everyone else is better off with contexts of its own (space sharing), so turns are
//! made only for those who can't be, and what they leave over is divided by the policy as always.
//!
//! The rule, in this order:
//! 1. If the rigid programs fit at once, and what is left gives the others at least half of what is due to them, nobody takes turns.
//! 2. Else, if contexts for the others can be set aside for good, they run always, and the rigid ones take turns on the rest.
//! 3. Else the others have turns of their own, together; each alone, with one context, where they are more than the contexts.
//!
//! What is *due* is equal context-time (contexts times time) by weight; what one can't use is due to the others. A round of turns is made
//! slice by slice: first whoever is behind, the one whose next slice is due earliest first; then whoever fits beside.
//!
//! Words: a *slice* is the time between two switches (the daemon's setting); a *round* is all turns once; a *unit* is what is scheduled, one
//! program or all malleable ones together; its *rate* is the share of time in which it is due to run.

use crate::{Allocation, Dop, Machine, Policy, Program, ProgramId, Share, Turn};
use std::collections::BTreeMap;

/// Slices in a round, where that is enough for everyone to have one: at 50 ms a second, which is as long as anyone should be stopped.
const MOST_SLICES: u32 = 20;

/// What the malleable programs have to be left of what is due to them, before they are given turns of their own instead.
const LEAST_PART: f64 = 0.5;

/// What is scheduled.
struct Unit {
    members: Vec<ProgramId>,
    /// Contexts, 1 to the capacity.
    need: u32,
    weight: f64,
}

/// Divides the machine among `programs` by `policy`, and makes turns where that isn't enough.
///
/// Each rigid program gets its cap, whatever the capacity is: it runs with that many threads or waits for itself. Each turn, with whoever is
/// in none, fits the capacity but where a rigid program alone needs more than that. Policies that make turns themselves, or that leave everyone
/// alone, are just asked.
pub fn with_turns(policy: &mut dyn Policy, machine: &Machine, programs: &[Program]) -> Allocation {
    let capacity = machine.capacity.max(1);
    let mut sorted: Vec<&Program> = programs.iter().collect();
    // Ties and sums don't depend on the caller's order.
    sorted.sort_by_key(|program| program.id);
    let (rigid, malleable): (Vec<&Program>, Vec<&Program>) = sorted.iter().partition(|program| program.rigid);
    let crowd = malleable.len() as u64 > u64::from(capacity);
    if policy.makes_turns() || (rigid.is_empty() && !crowd) {
        return policy.allocate(machine, programs);
    }
    let plan = plan(capacity, &rigid, &malleable);
    let asked: Vec<Program> = programs.iter().filter(|program| !program.rigid).cloned().collect();
    let shares = if asked.is_empty() {
        Vec::new()
    } else {
        policy.allocate(&Machine { capacity: plan.left, ..machine.clone() }, &asked).shares
    };
    let mut shares: BTreeMap<ProgramId, Share> = shares.into_iter().map(|share| (share.id, share)).collect();
    for program in &rigid {
        let (id, dop) = (program.id, program.cap());
        shares.insert(
            id,
            Share { id, dop: Dop::Contexts(dop), reason: format!("all {dop} that it needs at once") },
        );
    }
    let total: u32 = plan.turns.iter().map(|turn| turn.slices).sum();
    for (id, share) in &mut shares {
        let mine =
            plan.turns.iter().filter(|turn| turn.members.contains(id)).map(|turn| turn.slices).sum::<u32>();
        if mine > 0 {
            share.reason = format!("{}; in turns, {mine} of {total} slices", share.reason);
        }
    }
    let shares = programs.iter().filter_map(|program| shares.remove(&program.id)).collect();
    Allocation { shares, turns: plan.turns, keeps: Vec::new() }
}

/// How space and time are divided.
struct Plan {
    /// Contexts for the policy to divide among the malleable programs.
    left: u32,
    turns: Vec<Turn>,
}

fn plan(capacity: u32, rigid: &[&Program], malleable: &[&Program]) -> Plan {
    let need = |program: &Program| program.cap().min(capacity);
    let unit = |program: &&Program| Unit {
        members: vec![program.id],
        need: if program.rigid { need(program) } else { 1 },
        weight: program.sane_weight(),
    };
    let count = u32::try_from(malleable.len()).unwrap_or(u32::MAX);
    let mut units: Vec<Unit> = rigid.iter().map(unit).collect();
    if count > capacity {
        units.extend(malleable.iter().map(unit));
        return Plan { left: capacity, turns: round(capacity, &units) };
    }
    let (sum, most) = (
        units.iter().map(|unit| u64::from(unit.need)).sum::<u64>(),
        units.iter().map(|unit| unit.need).max(),
    );
    if count == 0 {
        return Plan { left: 1, turns: round(capacity, &units) };
    }
    let caps: u64 = malleable.iter().map(|program| u64::from(program.cap())).sum();
    let caps = u32::try_from(caps).unwrap_or(u32::MAX);
    let together = Unit {
        members: malleable.iter().map(|program| program.id).collect(),
        need: caps.min(capacity),
        weight: malleable.iter().map(|program| program.sane_weight()).sum(),
    };
    units.push(together);
    let due = rates(capacity, &units).last().copied().unwrap_or(1.0) * f64::from(caps.min(capacity));
    let enough = |left: u32| left >= count && f64::from(left) >= LEAST_PART * due;
    let beside = u64::from(capacity).saturating_sub(sum) as u32;
    if enough(beside) {
        return Plan { left: beside, turns: Vec::new() };
    }
    let room = capacity - most.unwrap_or(0);
    let aside = (due.round() as u32).max(count).min(room);
    if enough(aside) {
        units.pop();
        return Plan { left: aside, turns: round(capacity - aside, &units) };
    }
    Plan { left: capacity, turns: round(capacity, &units) }
}

/// The share of time in which each unit is due to run, 0 to 1: the same context-time for each unit of weight, but nobody more than all the time.
fn rates(capacity: u32, units: &[Unit]) -> Vec<f64> {
    let mut rates = vec![1.0; units.len()];
    let mut held = vec![false; units.len()];
    loop {
        let free = || units.iter().zip(&held).filter(|(_, held)| !**held).map(|(unit, _)| unit);
        let taken: f64 =
            units.iter().zip(&held).filter(|(_, held)| **held).map(|(unit, _)| f64::from(unit.need)).sum();
        let level = (f64::from(capacity) - taken).max(0.0) / free().map(|unit| unit.weight).sum::<f64>();
        let mut news = false;
        for (i, unit) in units.iter().enumerate().filter(|(i, _)| !held[*i]).collect::<Vec<_>>() {
            rates[i] = level * unit.weight / f64::from(unit.need);
            if rates[i] >= 1.0 {
                (rates[i], held[i], news) = (1.0, true, true);
            }
        }
        if !news {
            return rates;
        }
    }
}

/// The turns of a round; none where all units run at once.
fn round(capacity: u32, units: &[Unit]) -> Vec<Turn> {
    let most = MOST_SLICES.max(u32::try_from(units.len()).unwrap_or(u32::MAX));
    // Whoever is due less than a slice of the longest round is given one.
    let rates: Vec<f64> = rates(capacity, units).iter().map(|rate| rate.max(1.0 / f64::from(most))).collect();
    let mut had = vec![0u32; units.len()];
    let mut slices: Vec<Vec<usize>> = Vec::new();
    let mut best = (f64::INFINITY, 0);
    while (slices.len() as u32) < most || had.contains(&0) {
        let now = slices.len() as f64;
        let next = |i: usize| (f64::from(had[i]) > rates[i] * now + 1e-9, f64::from(had[i] + 1) / rates[i]);
        let mut order: Vec<usize> = (0..units.len()).collect();
        order.sort_by(|&a, &b| next(a).partial_cmp(&next(b)).unwrap_or(std::cmp::Ordering::Equal));
        if slices.len() as u32 >= 2 * most {
            // Weights far apart and needs that don't fit together: a slice for each that has had none, and that is it.
            order.retain(|&i| had[i] == 0);
        }
        let mut left = capacity;
        let mut slice: Vec<usize> = order.into_iter().filter(|&i| fits(&mut left, units[i].need)).collect();
        slice.iter().for_each(|&i| had[i] += 1);
        slice.sort_unstable();
        slices.push(slice);
        // As if the round ended here: how far is anyone from its due?
        let length = slices.len() as f64;
        let off = (0..units.len()).map(|i| (f64::from(had[i]) / length - rates[i]).abs()).fold(0.0, f64::max);
        if !had.contains(&0) && off < best.0 - 1e-9 {
            best = (off, slices.len());
        }
    }
    slices.truncate(best.1);
    turns(units, &slices)
}

fn fits(left: &mut u32, need: u32) -> bool {
    let fits = need <= *left;
    *left -= if fits { need } else { 0 };
    fits
}

/// Slices as turns: equal ones that follow each other are one, and who is in all of them is in none.
fn turns(units: &[Unit], slices: &[Vec<usize>]) -> Vec<Turn> {
    let always = |i: &usize| slices.iter().all(|slice| slice.contains(i));
    let mut turns: Vec<Turn> = Vec::new();
    for slice in slices {
        let mut members: Vec<ProgramId> =
            slice.iter().filter(|i| !always(i)).flat_map(|&i| units[i].members.iter().copied()).collect();
        members.sort();
        match turns.last_mut() {
            Some(last) if last.members == members => last.slices += 1,
            _ => turns.push(Turn { slices: 1, members }),
        }
    }
    if turns.len() > 1 { turns } else { Vec::new() }
}

#[cfg(test)]
#[path = "turns_tests.rs"]
mod tests;
