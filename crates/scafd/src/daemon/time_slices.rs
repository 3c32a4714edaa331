//! Programs that share in time: has turns carried out by [`crate::apply::gang`].

use crate::apply::gang::{Gangs, Member, Turn};
use crate::config::Gang;
use crate::control::Turns;
use crate::log::info;
use crate::registry::{Program, Registry};
use scaf_policy::{Allocation, ProgramId};
use std::collections::{BTreeMap, BTreeSet};

/// The round that is carried out, if there is one.
#[derive(Default)]
pub(super) struct TimeSlices(Option<Turns>);

impl TimeSlices {
    /// Has a decision's turns carried out.
    pub fn take(&mut self, gangs: &mut Gangs, allocation: &Allocation, registry: &mut Registry) {
        gangs.take(turns_of(allocation, registry));
        let now = (!allocation.turns.is_empty()).then(|| Turns {
            by: gangs.way(),
            slice_ms: gangs.slice().as_millis() as u64,
            round: allocation.turns.clone(),
        });
        if self.0.is_none() != now.is_none() {
            let begun = if now.is_some() { "take turns from now on" } else { "take turns no more" };
            info!("programs {begun}, by {}", gangs.way().name());
        }
        self.0 = now;
        let take: BTreeSet<ProgramId> =
            allocation.turns.iter().flat_map(|turn| turn.members.iter().copied()).collect();
        for program in registry.iter_mut() {
            program.phase.takes_turns = take.contains(&program.identity.id);
            if program.phase.takes_turns {
                // Stopped, it does nothing either.
                program.phase.idle = false;
            }
        }
    }

    /// The round, for viewers.
    pub fn shown(&self) -> Option<Turns> {
        self.0.clone()
    }
}

/// Who may be made to take turns: nobody, where nobody can be stopped.
pub(super) fn permitted(configured: Option<Gang>, gangs: Option<&mut Gangs>) -> Gang {
    gangs.map_or(Gang::Off, |_| configured.unwrap_or_default())
}

/// Programs that couldn't be stopped for others' turns, and why.
pub(super) fn unstoppable(registry: &Registry, failed: &[(Member, String)]) -> Vec<(ProgramId, String)> {
    let found = |(member, why): &(Member, String)| {
        let is_it = |it: &&Program| member_of(it) == *member && it.reach.alone.is_none();
        let program = registry.iter().find(is_it)?;
        Some((program.identity.id, format!("it can't take turns: {why}")))
    };
    failed.iter().filter_map(found).collect()
}

fn member_of(program: &Program) -> Member {
    Member { pid: program.identity.pid, starttime: program.identity.starttime }
}

fn turns_of(allocation: &Allocation, registry: &Registry) -> Vec<Turn> {
    let managed = registry.iter().filter(|program| program.reach.alone.is_none());
    let members: BTreeMap<ProgramId, Member> = managed.map(|it| (it.identity.id, member_of(it))).collect();
    let turn = |turn: &scaf_policy::Turn| Turn {
        slices: turn.slices,
        members: turn.members.iter().filter_map(|id| members.get(id).copied()).collect(),
    };
    allocation.turns.iter().map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::program;

    #[test]
    fn turns_are_of_managed_programs_and_the_unstoppable_are_found_by_their_process() {
        let mut registry = Registry::default();
        (1..=3).for_each(|id| registry.attach(program(id)));
        registry.get_mut(ProgramId(3)).unwrap().reach.alone = Some("bound".into());
        let round = scaf_policy::Turn { slices: 2, members: vec![ProgramId(1), ProgramId(3), ProgramId(9)] };
        let turns = turns_of(&Allocation { turns: vec![round], ..Allocation::default() }, &registry);
        let member = |pid, starttime| Member { pid, starttime };
        assert_eq!(turns, [Turn { slices: 2, members: vec![member(1001, 0)] }]);
        let failed = [member(1001, 1), member(1003, 0), member(1002, 0)].map(|it| (it, "so".to_owned()));
        let found = unstoppable(&registry, &failed);
        assert_eq!(found, [(ProgramId(2), "it can't take turns: so".to_owned())]);
        assert_eq!(permitted(Some(Gang::Auto), None), Gang::Off);
    }
}
