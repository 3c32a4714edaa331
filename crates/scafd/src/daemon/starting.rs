//! Programs that start. They attach while they are loaded, lend all contexts but one until their first
//! region, and aren't narrowed before.

use crate::estimate::Seen;
use crate::registry::{Program, Registry};
use scaf_policy::ProgramId;

/// Programs that have no grant yet, and so no pages.
#[derive(Default)]
pub(super) struct Newcomers(Vec<ProgramId>);

impl Newcomers {
    pub fn add(&mut self, id: ProgramId) {
        self.0.push(id);
    }

    pub fn remove(&mut self, id: ProgramId) {
        self.0.retain(|newcomer| *newcomer != id);
    }

    pub fn contains(&self, id: ProgramId) -> bool {
        self.0.contains(&id)
    }

    pub fn first(&self) -> Option<ProgramId> {
        self.0.first().copied()
    }
}

/// Programs that have entered their first region without saying so; `seen` reads a report page.
pub(super) fn started(registry: &Registry, seen: impl Fn(&Program) -> Option<Seen>) -> Vec<ProgramId> {
    let has_started = |program: &&Program| {
        program.phase.starting && seen(program).is_some_and(|seen| program.phase.has_returned(&seen))
    };
    registry.iter().filter(has_started).map(|program| program.identity.id).collect()
}

/// Starting programs that do anything but compute on one thread.
pub(super) fn unsuitable(registry: &Registry) -> Vec<ProgramId> {
    registry.iter().filter(|it| it.phase.unsuitable).map(|program| program.identity.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::{program, seen};

    #[test]
    fn only_programs_that_start_are_found_at_their_first_region() {
        let mut registry = Registry::default();
        (1..=2).for_each(|id| registry.attach(program(id)));
        registry.iter_mut().take(1).for_each(|program| program.phase.begins(0));
        let idle = Seen { in_region: false, ..seen(0, 0) };
        assert_eq!(started(&registry, |_| Some(idle)), []);
        assert_eq!(started(&registry, |_| None), []);
        assert_eq!(started(&registry, |_| Some(seen(4, 0))), [ProgramId(1)]);
        assert_eq!(unsuitable(&registry), []);
        registry.iter_mut().for_each(|program| program.phase.unsuitable = program.phase.starting);
        assert_eq!(unsuitable(&registry), [ProgramId(1)]);
    }

    #[test]
    fn newcomers_are_welcomed_in_the_order_of_their_arrival() {
        let mut newcomers = Newcomers::default();
        [3, 1, 2].into_iter().for_each(|id| newcomers.add(ProgramId(id)));
        newcomers.remove(ProgramId(3));
        assert_eq!((newcomers.first(), newcomers.contains(ProgramId(3))), (Some(ProgramId(1)), false));
    }
}
