//! What one user may see: all about the own programs, and of other users' how many there are and how many
//! contexts they have.

use super::snapshot::{Frame, Others, Program, Snapshot, Turns};
use scaf_policy::ProgramId;
use std::collections::BTreeSet;

impl Snapshot {
    /// The part of it that the user `uid` may see.
    #[must_use]
    pub fn seen_by(self, uid: u32) -> Snapshot {
        let (own, others): (Vec<Program>, Vec<Program>) =
            self.programs.into_iter().partition(|program| program.uid == uid);
        let known: BTreeSet<u64> = own.iter().map(|program| program.id).collect();
        let turns = self.turns.map(|turns| turns.of(|id| known.contains(&id)));
        let others = Others::of(others.iter().map(|program| program.dop));
        let tried = self.tried.into_iter().filter(|tried| tried.uid == uid).collect();
        let other_versions = self.other_versions.into_iter().filter(|program| program.uid == uid).collect();
        Snapshot { programs: own, others, turns, tried, other_versions, ..self }
    }
}

impl Frame {
    /// The part of it about programs that are `theirs`; `others` counts those that aren't.
    pub(crate) fn seen_by(&self, theirs: impl Fn(u64) -> bool, others: Others) -> Frame {
        fn those<T: Clone>(all: &[T], seen: impl Fn(&T) -> bool) -> Vec<T> {
            all.iter().filter(|one| seen(one)).cloned().collect()
        }
        Frame {
            setting: self.setting.clone().map(|mut setting| {
                setting.turns = setting.turns.map(|turns| turns.of(&theirs));
                setting
            }),
            others,
            arrived: those(&self.arrived, |program| theirs(program.id)),
            left: those(&self.left, |id| theirs(*id)),
            grants: those(&self.grants, |grant| theirs(grant.id)),
            numbers: those(&self.numbers, |numbers| theirs(numbers.id)),
            curves: those(&self.curves, |curve| theirs(curve.id)),
            ..*self
        }
    }
}

impl Turns {
    /// The same with only those members that are to be seen.
    fn of(mut self, seen: impl Fn(u64) -> bool) -> Turns {
        for turn in &mut self.round {
            turn.members.retain(|ProgramId(id)| seen(*id));
        }
        self
    }
}

impl Others {
    /// Counts programs with these DoPs.
    pub(crate) fn of(dops: impl Iterator<Item = Option<u32>>) -> Others {
        let one = |dop: Option<u32>| Others { programs: 1, contexts: dop.unwrap_or(0) };
        dops.map(one).fold(Others::default(), Others::and)
    }

    /// Both together.
    pub(crate) fn and(self, more: Others) -> Others {
        Others {
            programs: self.programs.saturating_add(more.programs),
            contexts: self.contexts.saturating_add(more.contexts),
        }
    }
}
