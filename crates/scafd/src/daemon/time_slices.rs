//! Programs that share in time: when turns are made, and telling [`crate::apply::gang`].

use super::parts::Daemon;
use crate::apply::gang::{Gangs, Member, Turn};
use crate::config::Gang;
use crate::control::Turns;
use crate::log::info;
use scaf_policy::{Allocation, ProgramId};
use std::collections::{BTreeMap, BTreeSet};

impl Daemon {
    /// Whether programs can be stopped for others' turns, and may be.
    pub(super) fn can_take_turns(&mut self) -> bool {
        self.parts.config.gang != Some(Gang::Off) && self.parts.apply.gangs().is_some()
    }

    /// Who may be made to take turns: nobody, where nobody can be stopped.
    pub(super) fn gang(&mut self) -> Gang {
        if self.can_take_turns() { self.parts.config.gang.unwrap_or_default() } else { Gang::Off }
    }

    /// Leaves programs alone that can't be stopped for others' turns. True if there was one.
    pub(super) fn free_unstoppable(&mut self) -> bool {
        let failed = self.parts.apply.gangs().map(Gangs::failed).unwrap_or_default();
        for (member, why) in &failed {
            let of = |program: &&crate::registry::Program| {
                (program.identity.pid, program.identity.starttime) == (member.pid, member.starttime)
                    && program.reach.alone.is_none()
            };
            let id = self.registry.iter().find(of).map(|program| program.identity.id);
            if let Some(id) = id {
                self.leave_alone(id, format!("it can't take turns: {why}"));
            }
        }
        !failed.is_empty()
    }

    /// Has a decision's turns carried out.
    pub(super) fn take_turns(&mut self, allocation: &Allocation) {
        let Some(gangs) = self.parts.apply.gangs() else { return };
        let there = self.registry.iter().filter(|program| program.reach.alone.is_none());
        let members: BTreeMap<ProgramId, Member> = there
            .map(|program| {
                (
                    program.identity.id,
                    Member { pid: program.identity.pid, starttime: program.identity.starttime },
                )
            })
            .collect();
        let member = |id: &ProgramId| members.get(id).copied();
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
            info!("programs {begun}, by {}", gangs.way().name());
        }
        self.turns = now;
        let take: BTreeSet<ProgramId> =
            allocation.turns.iter().flat_map(|turn| turn.members.iter().copied()).collect();
        for program in self.registry.iter_mut() {
            program.phase.takes_turns = take.contains(&program.identity.id);
            if program.phase.takes_turns {
                // Stopped, it does nothing either.
                program.phase.idle = false;
            }
        }
    }
}
