//! Programs that share in time: when turns are made, which PUs each of them has in its turn, and telling [`crate::apply::gang`].

use super::Daemon;
use crate::apply::gang::{Member, Turn};
use crate::config::Gang;
use crate::control::Turns;
use crate::log::{self, Level};
use scaf_policy::place::{self, Want};
use scaf_policy::{Allocation, Machine, Program, ProgramId, PuSet, Topology, with_turns};
use std::collections::BTreeMap;

impl Daemon {
    /// Whether programs can be stopped for others' turns, and may be.
    pub(super) fn can_take_turns(&mut self) -> bool {
        self.parts.config.gang != Gang::Off && self.parts.apply.gangs().is_some()
    }

    /// Asks the policy, with turns where there may be any.
    pub(super) fn divide(&mut self, machine: &Machine, programs: &[Program]) -> Allocation {
        let policy = self.parts.policy.as_mut();
        let may = self.parts.config.gang != Gang::Off && self.parts.apply.gangs().is_some();
        let wanted = self.parts.config.gang == Gang::Auto || programs.iter().any(|program| program.rigid);
        if may && wanted {
            return with_turns(policy, machine, programs);
        }
        let mut allocation = policy.allocate(machine, programs);
        if !may {
            allocation.turns.clear();
        }
        allocation
    }

    /// Has a decision's turns carried out.
    pub(super) fn take_turns(&mut self, allocation: &Allocation) {
        let Some(gangs) = self.parts.apply.gangs() else { return };
        let member = |id: &ProgramId| {
            let program =
                self.registry.iter().find(|program| program.id == *id && program.alone.is_none())?;
            Some(Member { pid: program.pid, starttime: program.starttime })
        };
        let turn = |turn: &scaf_policy::Turn| Turn {
            slices: turn.slices,
            members: turn.members.iter().filter_map(member).collect(),
        };
        gangs.take(allocation.turns.iter().map(turn).collect());
        let now = (!allocation.turns.is_empty()).then(|| Turns {
            by: gangs.way(),
            slice_ms: gangs.slice().as_millis() as u64,
            round: allocation.turns.clone(),
        });
        if self.turns.is_none() != now.is_none() {
            let begun = if now.is_some() { "take turns from now on" } else { "take turns no more" };
            log::line(Level::Info, format_args!("programs {begun}, by {}", gangs.way().name()));
        }
        self.turns = now;
        for program in self.registry.iter_mut() {
            program.takes_turns = allocation.turns.iter().any(|turn| turn.members.contains(&program.id));
        }
    }
}

/// PUs for `wants`, in their order: those that run at the same time have different ones as far as there are enough.
///
/// Turn by turn, each beside those that were placed before it: a program of several turns has the same PUs in all.
pub(super) fn place(topology: &Topology, wants: &[Want], turns: &[scaf_policy::Turn]) -> Vec<PuSet> {
    let takes = |id: &ProgramId| turns.iter().any(|turn| turn.members.contains(id));
    let mut placed: BTreeMap<ProgramId, PuSet> = BTreeMap::new();
    for turn in turns {
        let now: Vec<&Want> =
            wants.iter().filter(|want| turn.members.contains(&want.id) || !takes(&want.id)).collect();
        let taken =
            now.iter().filter_map(|want| placed.get(&want.id)).fold(PuSet::new(), |all, set| all.union(set));
        let free = topology.all().difference(&taken);
        let new: Vec<Want> = now
            .into_iter()
            .filter(|want| !placed.contains_key(&want.id))
            .map(|want| {
                let allowed = want.allowed.intersection(&free);
                let enough = allowed.len() >= want.dop as usize;
                Want { allowed: if enough { allowed } else { want.allowed.clone() }, ..want.clone() }
            })
            .collect();
        let ids: Vec<ProgramId> = new.iter().map(|want| want.id).collect();
        placed.extend(ids.into_iter().zip(place::place(topology, &new)));
    }
    wants.iter().map(|want| placed.remove(&want.id).unwrap_or_default()).collect()
}
