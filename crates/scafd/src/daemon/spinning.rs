//! Programs that spin on memory of their own. Folded they would wait for themselves, so they take turns with
//! all their contexts, or are left alone.
//!
//! Executables with loops that can't be made to yield had better start with as many threads as they are
//! granted, beside programs that can share: then nobody needs turns. Where another program needs all its
//! contexts, or may, there are turns anyway, and full teams make better use of them.

use super::move_budget::MoveBudget;
use super::per_user::PerUser;
use crate::observe::proc_pid::FileId;
use crate::observe::{Observer, clock};
use crate::registry::Registry;
use crate::talk::Talk;
use scaf_policy::ProgramId;
use std::time::Instant;

const SUSPECT_NS: u64 = 150_000_000;

/// Loops and executables that are known to spin.
#[derive(Default)]
pub(super) struct Spinning {
    /// Loops in which programs waited for themselves.
    loops: PerUser<String>,
    /// Executables that waited for themselves in loops that can't be made to yield.
    unyielding: PerUser<FileId>,
}

#[derive(Default)]
pub(super) struct Found {
    pub stuck: Vec<Stuck>,
    /// Whether the loops of a program have begun to yield.
    pub yields: bool,
}

pub(super) struct Stuck {
    pub id: ProgramId,
    pub place: String,
    /// The user in whose profiles this place is to be saved, if it is new.
    pub teaches: Option<u32>,
}

impl Stuck {
    pub fn why(&self) -> String {
        format!(
            "its threads spin on memory of their own, at {}, and folded they wait for themselves",
            self.place
        )
    }
}

impl Spinning {
    /// Looks for programs that wait for themselves while they are folded.
    pub fn find(
        &mut self,
        registry: &mut Registry,
        (observer, talk): (&Observer, &Talk),
        budget: &mut MoveBudget,
    ) -> Found {
        let (ticks, now_ns, now) = (clock::ticks(), clock::now_ns(), Instant::now());
        let mut found = Found::default();
        for program in registry.iter_mut().filter(|p| p.code.spins.is_some()) {
            let (id, pid, owner) = (program.identity.id, program.identity.pid, program.identity.owner);
            if program.grant.set.is_some()
                && let Some(page) = talk.pages(id.0).and_then(|pages| pages.read())
            {
                program.evidence.look(ticks, &page);
            }
            found.yields |= program.learn_yields();
            let place = program.code.spins.clone().unwrap_or_default();
            let known = self.loops.of(owner).any(|known| *known == place);
            if budget.is_spent(owner, talk.is_trusted(owner), now) {
                continue;
            }
            let runnable = |most| {
                let (running, cost) = observer.process(pid).runnable(most);
                budget.charge(owner, cost, now);
                running
            };
            let used = (observer.cpu_ns(pid).unwrap_or(0), now_ns);
            if program.is_stuck(used, known, runnable) {
                if !known {
                    self.loops.add(owner, place.clone());
                }
                let uid = program.identity.uid;
                let teaches = (!known && uid == owner).then_some(uid);
                found.stuck.push(Stuck { id, place, teaches });
            }
        }
        found
    }

    /// A loop in which an earlier run of a user's program waited for itself.
    pub fn recall(&mut self, owner: u32, place: String) {
        self.loops.add_older(owner, place);
    }

    /// A user's executable waits for itself in loops of its own that can't be made to yield.
    pub fn add_unyielding(&mut self, uid: u32, file: FileId) {
        if self.unyielding.of(uid).all(|known| *known != file) {
            self.unyielding.add(uid, file);
        }
    }

    /// Whether a user's `executable` had better start with as many threads as it is granted: it waits for
    /// itself, and all others can share `capacity` contexts with it.
    pub fn had_better_be_molded(
        &self,
        (uid, executable): (u32, FileId),
        registry: &Registry,
        capacity: u32,
    ) -> bool {
        let others = u32::try_from(registry.iter().count()).unwrap_or(u32::MAX);
        let part = (capacity / others.saturating_add(1)).max(1);
        others > 0
            && self.unyielding.of(uid).any(|known| *known == executable)
            && registry.iter().all(|program| program.shares(part))
    }
}

/// Whether a program may soon be found, so that it is checked often.
pub(super) fn suspects(registry: &Registry, now_ns: u64) -> bool {
    let young = |since_ns: u64| now_ns.saturating_sub(since_ns) < SUSPECT_NS;
    registry.iter().any(|program| program.phase.stuck.is_some_and(|stuck| young(stuck.since_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Teams;
    use crate::registry::tests::program;

    #[test]
    fn an_executable_that_waited_for_itself_is_molded_beside_others_that_share() {
        let file = |path: &str| FileId::of(&std::fs::metadata(path).unwrap());
        let (executable, other) = (file("/proc/self/exe"), file("/"));
        let (mut spinning, mut registry) = (Spinning::default(), Registry::default());
        (0..2).for_each(|_| spinning.add_unyielding(7, executable));
        let molded = |registry: &Registry, of| spinning.had_better_be_molded(of, registry, 4);
        assert!(!molded(&registry, (7, executable)), "nobody else is there");
        registry.attach(program(1));
        assert!(!molded(&registry, (7, executable)), "its code isn't known yet");
        registry.get_mut(ProgramId(1)).unwrap().code.teams = Teams::Resizable;
        assert!(molded(&registry, (7, executable)));
        assert!(!molded(&registry, (8, executable)) && !molded(&registry, (7, other)));
        registry.get_mut(ProgramId(1)).unwrap().code.find_rigid("it spins, too".into());
        assert!(!molded(&registry, (7, executable)));
        assert_eq!(spinning.unyielding.all().count(), 1);
    }
}
