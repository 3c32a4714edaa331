//! Programs that others may wait for: what listens on a socket, or was woken by the network, a terminal or a
//! timer in the last second ([`crate::observe::wakes`]). Where programs take turns, such a one is never
//! stopped, and runs in others' turns, too; nor is one whose user says so (`--no-turns`). `--turns`
//! overrules.
//! The daemon for all users can't see what their processes wait for: there, users say so.

use super::move_budget::MoveBudget;
use crate::observe::Observer;
use crate::observe::proc_pid::Process;
use crate::observe::sockets;
use crate::observe::wakes::{Source, Wakes};
use crate::registry::{Program, Registry};
use crate::talk::Talk;
use scaf_policy::{Allocation, ProgramId, Turn};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Time between two looks at a program's threads, and at its sockets.
const LOOK: Duration = Duration::from_millis(100);
/// Time between the first two looks: until then a pool that spins isn't adopted, and gets nowhere.
const FIRST: Duration = Duration::from_millis(50);
const LOOK_AT_SOCKETS: Duration = Duration::from_secs(1);
/// Who was woken so long ago may be waited for still.
const RECENT: Duration = Duration::from_secs(1);
/// First and last threads of a process that are looked at, so many of each. Looking at one costs as much as
/// to move four.
const MOST_THREADS: usize = 16;
const COST: u32 = 4;
/// Its descriptors and the tables of sockets take some 0.2 ms.
const COST_OF_SOCKETS: u32 = 64;

/// What has woken a process lately.
#[derive(Default)]
pub(super) struct Woken {
    wakes: Wakes,
    looked: Option<Instant>,
    looks: u32,
    last: Option<(Instant, Source)>,
}

impl Woken {
    /// Looks at the process's threads, if it is time. Gives what that costs.
    pub fn look(&mut self, process: &Process) -> u32 {
        let now = Instant::now();
        let after = if self.is_known() { LOOK } else { FIRST };
        if self.looked.is_some_and(|at| now < at + after) {
            return 0;
        }
        self.looked = Some(now);
        let (source, threads) = self.wakes.look(process, MOST_THREADS);
        // Where nothing can be read, nothing is known.
        self.looks = if threads > 0 { self.looks.saturating_add(1) } else { 0 };
        self.last = source.map(|source| (now, source)).or(self.last);
        COST * threads
    }

    /// Whether it was looked at often enough to know.
    pub fn is_known(&self) -> bool {
        self.looks >= 2
    }

    pub fn by(&self) -> Option<Source> {
        self.last.filter(|(at, _)| at.elapsed() < RECENT).map(|(_, source)| source)
    }
}

#[derive(Default)]
struct Known {
    woken: Woken,
    /// Whether it listens, and when that was looked at.
    listens: Option<(Instant, Option<bool>)>,
}

/// What is known of programs that take turns, or may have to.
#[derive(Default)]
pub(super) struct WaitedFor(BTreeMap<ProgramId, Known>);

impl WaitedFor {
    /// Looks why programs are never to be stopped, where anybody takes `turns` or may have to.
    pub fn look(
        &mut self,
        registry: &mut Registry,
        (observer, talk): (&Observer, &Talk),
        budget: &mut MoveBudget,
        turns: bool,
    ) {
        let needs_turns = |program: &Program| {
            let Program { code, phase, .. } = program;
            code.rigid().is_some() || phase.takes_turns || phase.keeps_running.is_some()
        };
        if !turns || registry.iter().count() < 2 || !registry.iter().any(needs_turns) {
            self.forget(registry);
            return;
        }
        self.0.retain(|id, _| registry.get(*id).is_some());
        let now = Instant::now();
        for program in registry.iter_mut().filter(|program| program.reach.alone.is_none()) {
            program.phase.keeps_running = match program.code.turns {
                Some(true) => None,
                Some(false) => Some("its user says so (--no-turns)".to_owned()),
                None => {
                    let owner = program.identity.owner;
                    if budget.is_spent(owner, talk.is_trusted(owner), now) {
                        continue;
                    }
                    let known = self.0.entry(program.identity.id).or_default();
                    let process = observer.process(program.identity.pid);
                    budget.charge(owner, known.woken.look(&process), now);
                    let (why, cost) = known.why(&process, now);
                    budget.charge(owner, cost, now);
                    why
                }
            };
        }
    }

    fn forget(&mut self, registry: &mut Registry) {
        if !self.0.is_empty() {
            self.0.clear();
            registry.iter_mut().for_each(|program| program.phase.keeps_running = None);
        }
    }
}

impl Known {
    /// Why others may wait for it, and what it costs to find out.
    fn why(&mut self, process: &Process, now: Instant) -> (Option<String>, u32) {
        let mut cost = 0;
        if self.listens.is_none_or(|(at, _)| now >= at + LOOK_AT_SOCKETS) {
            self.listens = Some((now, sockets::listens(process)));
            cost = COST_OF_SOCKETS;
        }
        if self.listens.is_some_and(|(_, listens)| listens == Some(true)) {
            return (Some("it listens on a socket".to_owned()), cost);
        }
        let woken = self.woken.by().map(|source| format!("it was woken by {} just now", source.text()));
        (woken, cost)
    }
}

/// Has those run in all turns that are never to be stopped: `stays` says why.
pub(super) fn keep_running<'p>(allocation: &mut Allocation, stays: impl Fn(ProgramId) -> Option<&'p str>) {
    let in_turns = allocation.turns.iter().flat_map(|turn| turn.members.iter().copied());
    let kept: BTreeMap<ProgramId, &str> = in_turns.filter_map(|id| Some((id, stays(id)?))).collect();
    if kept.is_empty() {
        return;
    }
    for turn in &mut allocation.turns {
        let members: BTreeSet<ProgramId> = turn.members.iter().chain(kept.keys()).copied().collect();
        turn.members = members.into_iter().collect();
    }
    if let Some(first) = allocation.turns.first().map(|turn| turn.members.clone())
        && allocation.turns.iter().all(|turn: &Turn| turn.members == first)
    {
        allocation.turns.clear();
    }
    for share in &mut allocation.shares {
        if let Some(why) = kept.get(&share.id) {
            share.reason = format!("{}; but never stopped: {why}", share.reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scaf_policy::{Dop, Share};

    #[test]
    fn who_is_waited_for_runs_in_all_turns() {
        let turn = |slices, members: &[u64]| Turn {
            slices,
            members: members.iter().copied().map(ProgramId).collect(),
        };
        let share = |id| Share { id: ProgramId(id), dop: Dop::Contexts(2), reason: "all 2".into() };
        let of = |stay: &'static [u64]| {
            let turns = vec![turn(1, &[1]), turn(2, &[2]), turn(1, &[3])];
            let shares = vec![share(1), share(2), share(3)];
            let mut allocation = Allocation { shares, turns, ..Allocation::default() };
            keep_running(&mut allocation, |id| stay.contains(&id.0).then_some("it listens"));
            (allocation.turns, allocation.shares.into_iter().map(|share| share.reason).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), (vec![turn(1, &[1]), turn(2, &[2]), turn(1, &[3])], vec!["all 2".into(); 3]));
        let (turns, reasons) = of(&[2]);
        assert_eq!(turns, [turn(1, &[1, 2]), turn(2, &[2]), turn(1, &[2, 3])]);
        assert_eq!(reasons, ["all 2", "all 2; but never stopped: it listens", "all 2"]);
        assert_eq!(of(&[1, 2, 3]).0, [], "nobody is stopped");
        assert_eq!(of(&[1, 2]).0.len(), 3);
    }

    #[test]
    fn what_was_woken_is_known_for_a_second() {
        let now = Instant::now();
        let woken = |at: Instant| Woken { last: Some((at, Source::Timer)), ..Woken::default() };
        assert_eq!(woken(now).by(), Some(Source::Timer));
        assert_eq!(woken(now.checked_sub(2 * RECENT).expect("a time")).by(), None);
        assert_eq!(Woken::default().by(), None);
    }
}
