//! Wrapper around every policy: removes idle programs and those in the background, joins those of a process
//! tree ([`trees`]), and builds rounds of turns for programs that can only share in time: rigid ones, and
//! programs that outnumber contexts.
//! 1. If the rigid programs fit at once and leave the others at least half of their due, nobody takes turns.
//! 2. Else, if contexts for the others can be set aside for good, they run always, and the rigid ones take
//!    turns on the rest. What no turn uses is the others', too.
//! 3. Else the others have turns of their own, together, or each alone if they outnumber contexts.
//!
//! *Due* is equal context-time for every user, and within a user's programs by weight ([`crate::users`]). A
//! *slice* is the time between two switches; a *round* is all turns once; a *unit* is what is scheduled, one
//! program or all malleable ones together; its *rate* is the share of time in which it is due to run.

mod round;
mod trees;

use crate::allocation::slices;
use crate::policies::{ByUser, ta::Ta};
use crate::{Allocation, Dop, Gang, Machine, Policy, Program, ProgramId, Share, Turn, users};
use round::{Unit, rates, round};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Part of what is due to the malleable programs that must be left to them, or they get turns of their own.
const LEAST_PART: f64 = 0.5;

/// Divides the machine among `programs` by `policy`, and makes turns where that isn't enough and
/// [`Machine::gang`] permits it. All decisions, real and replayed, go through here.
///
/// Each rigid program gets its cap, whatever the capacity is. Each turn, with whoever is in none, fits the
/// capacity unless a rigid program alone needs more. Policies that make turns get weights by which users have
/// equal parts of the time; where nobody may or has to take turns, `ta` divides space instead.
///
/// Idle programs have one context each that may be another's, as long as anyone isn't idle. Programs in the
/// background are left alone as long as anyone isn't: the kernel gives them what is left.
pub fn allocate(policy: &mut dyn Policy, machine: &Machine, programs: &[Program]) -> Allocation {
    let (behind, front): (Vec<&Program>, Vec<&Program>) = programs.iter().partition(|it| it.background);
    let apart = policy.divides() && !front.is_empty();
    let idle = |program: &&Program| apart && program.idle && !program.rigid;
    let (mut idle, mut busy): (Vec<&Program>, Vec<&Program>) =
        if apart { front.into_iter().partition(idle) } else { (Vec::new(), programs.iter().collect()) };
    if busy.is_empty() {
        std::mem::swap(&mut idle, &mut busy);
    }
    if busy.len() == programs.len() {
        return among(policy, machine, programs);
    }
    let busy: Vec<Program> = busy.into_iter().cloned().collect();
    let mut allocation = among(policy, machine, &busy);
    let share =
        |program: &&Program, dop: Dop, reason: &str| Share { id: program.id, dop, reason: reason.to_owned() };
    let idle_share = |program| {
        share(program, Dop::Contexts(1), "it does nothing; until it does, one context that others have, too")
    };
    let share_behind =
        |program| share(program, Dop::Unmanaged, "in the background: it has what the others leave");
    allocation.idle = idle.iter().map(|program| program.id).collect();
    allocation.shares.extend(idle.iter().map(idle_share));
    allocation.shares.extend(behind.iter().filter(|_| apart).map(share_behind));
    let position: BTreeMap<ProgramId, usize> =
        programs.iter().enumerate().map(|(at, program)| (program.id, at)).collect();
    allocation.shares.sort_by_key(|share| position.get(&share.id).copied());
    allocation
}

fn among(policy: &mut dyn Policy, machine: &Machine, programs: &[Program]) -> Allocation {
    if policy.divides()
        && let Some(joined) = trees::join(machine, programs)
    {
        let allocation = among_joined(policy, machine, &joined.programs);
        return joined.apart((machine, policy.lends()), allocation, programs);
    }
    among_joined(policy, machine, programs)
}

fn among_joined(policy: &mut dyn Policy, machine: &Machine, programs: &[Program]) -> Allocation {
    let mut sorted: Vec<&Program> = programs.iter().collect();
    // Ties and sums don't depend on the caller's order.
    sorted.sort_by_key(|program| program.id);
    if policy.makes_turns() {
        let weighed = weighed(machine, programs, &sorted);
        let allocation = policy.allocate(machine, &weighed);
        // Programs that nobody may stop would be too many at once; and without turns, weights count in space.
        let alike = weighed.windows(2).all(|pair| pair[0].sane_weight() == pair[1].sane_weight());
        let as_it_is = !policy.divides() || alike || weighed.iter().any(|program| program.rigid);
        let in_time = if allocation.turns.is_empty() { as_it_is } else { machine.gang != Gang::Off };
        return if in_time { allocation } else { ByUser::new(|| Box::new(Ta)).divide(machine, programs) };
    }
    let rigid = sorted.iter().filter(|program| program.rigid).count();
    let oversubscribed = (sorted.len() - rigid) as u64 > u64::from(machine.capacity.max(1));
    let wanted = match machine.gang {
        Gang::Off => false,
        Gang::Asked | Gang::Spinning => rigid > 0,
        Gang::Auto => rigid > 0 || oversubscribed,
    };
    if !wanted {
        return policy.allocate(machine, programs);
    }
    let plan = plan(machine, &sorted);
    let asked: Vec<Program> = programs.iter().filter(|program| !program.rigid).cloned().collect();
    let space = if asked.is_empty() {
        Allocation::default()
    } else {
        policy.allocate(&Machine { capacity: plan.left, ..machine.clone() }, &asked)
    };
    let mut shares: BTreeMap<ProgramId, Share> =
        space.shares.into_iter().map(|share| (share.id, share)).collect();
    for program in sorted.iter().filter(|program| program.rigid) {
        let (id, dop) = (program.id, program.cap());
        shares.insert(
            id,
            Share { id, dop: Dop::Contexts(dop), reason: format!("all {dop} that it needs at once") },
        );
    }
    let (slices, total) = slices(&plan.turns);
    let mut pools = space.pools;
    pools.retain(|pool| !pool.members.iter().any(|id| slices.contains_key(id)));
    for (id, mine) in slices {
        if let Some(share) = shares.get_mut(&id) {
            share.reason = format!("{}; in turns, {mine} of {total} slices", share.reason);
        }
    }
    let shares = programs.iter().filter_map(|program| shares.remove(&program.id)).collect();
    Allocation { shares, turns: plan.turns, pools, ..Allocation::default() }
}

fn weighed<'a>(machine: &Machine, programs: &'a [Program], sorted: &[&Program]) -> Cow<'a, [Program]> {
    let weights = users::weights(machine.users, sorted);
    if sorted.iter().zip(&weights).all(|(program, weight)| program.weight == *weight) {
        return Cow::Borrowed(programs);
    }
    let weights: BTreeMap<ProgramId, f64> = sorted.iter().map(|program| program.id).zip(weights).collect();
    let weigh = |program: &Program| Program {
        weight: weights.get(&program.id).copied().unwrap_or(program.weight),
        ..program.clone()
    };
    programs.iter().map(weigh).collect()
}

struct Plan {
    /// Contexts for the policy to divide among the malleable programs.
    left: u32,
    turns: Vec<Turn>,
}

/// The plan for programs in the order of their ids.
fn plan(machine: &Machine, programs: &[&Program]) -> Plan {
    let capacity = machine.capacity.max(1);
    let (mut rigid, mut malleable): (Vec<Unit>, Vec<Unit>) = (Vec::new(), Vec::new());
    let (mut caps, mut floors) = (0u64, 0u64);
    let weights =
        users::weights(machine.users, programs).into_iter().zip(users::heads(machine.users, programs));
    for (program, (weight, heads)) in programs.iter().zip(weights) {
        let need = if program.rigid { program.cap().min(capacity) } else { 1 };
        let unit = Unit { members: vec![program.id], need, weight, heads };
        if program.rigid {
            rigid.push(unit);
        } else {
            caps += u64::from(program.cap());
            floors += u64::from(program.floor());
            malleable.push(unit);
        }
    }
    let count = u32::try_from(malleable.len()).unwrap_or(u32::MAX);
    let mut units = rigid;
    if count > capacity {
        units.extend(malleable);
        return Plan { left: capacity, turns: round(capacity, &units) };
    }
    if count == 0 {
        return Plan { left: 1, turns: round(capacity, &units) };
    }
    let sum: u64 = units.iter().map(|unit| u64::from(unit.need)).sum();
    let most = units.iter().map(|unit| unit.need).max().unwrap_or(0);
    let need = u32::try_from(caps).unwrap_or(u32::MAX).min(capacity);
    units.push(Unit {
        need,
        weight: malleable.iter().map(|unit| unit.weight).sum(),
        heads: malleable.iter().map(|unit| unit.heads).sum(),
        members: malleable.into_iter().flat_map(|unit| unit.members).collect(),
    });
    let due = rates(capacity, &units, |unit| unit.weight).last().copied().unwrap_or(1.0) * f64::from(need);
    // The sum of their minima, each at least one context.
    let least = u32::try_from(floors).unwrap_or(u32::MAX);
    let enough = |left: u32| left >= least && f64::from(left) >= LEAST_PART * due;
    let beside = u64::from(capacity).saturating_sub(sum) as u32;
    if enough(beside) {
        return Plan { left: beside, turns: Vec::new() };
    }
    let aside = (due.round() as u32).max(least).min(capacity - most);
    if enough(aside) {
        units.pop();
        let turns = round(capacity - aside, &units);
        return Plan { left: capacity - busiest(&turns, &units), turns };
    }
    Plan { left: capacity, turns: round(capacity, &units) }
}

/// The most contexts in use at once; units are of one program each.
fn busiest(turns: &[Turn], units: &[Unit]) -> u32 {
    let needs: BTreeMap<ProgramId, u32> =
        units.iter().flat_map(|unit| unit.members.iter().map(|id| (*id, unit.need))).collect();
    let (in_turns, _) = slices(turns);
    let always = needs.iter().filter(|(id, _)| !in_turns.contains_key(id)).map(|(_, need)| need).sum::<u32>();
    let of = |turn: &Turn| turn.members.iter().filter_map(|id| needs.get(id)).sum::<u32>();
    always + turns.iter().map(of).max().unwrap_or(0)
}

#[cfg(test)]
#[path = "policy_wrapper_tests.rs"]
mod tests;
