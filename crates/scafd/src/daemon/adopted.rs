//! Programs that are managed from outside: threads of their own, in no runtime that libscaf knows, or
//! no code of ours in them at all.
//!
//! Who is *watched* (by `scaf run` or `scaf adopt`) is looked at ten times a second, with its
//! descendants. One that has had two or more runnable threads for 0.3 s and hasn't attached is adopted.
//! Nothing tells how well such a program uses its contexts, and pools often wait for themselves by
//! spinning, so it needs all its contexts at once: beside others it takes turns. One that others may
//! wait for isn't adopted: what listens on a socket. When it hasn't computed on several threads for 2 s
//! it is released, and watched again.

use super::move_budget::MoveBudget;
use super::new_threads::GENERATIONS;
use super::per_user::PerUser;
use super::user_processes::UserProcesses;
use crate::control::LimitValues;
use crate::observe::{Observer, clock, sockets};
use crate::registry::Registry;
use crate::talk::{Peer, Talk};
use scaf_policy::ProgramId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Time between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(100);
/// Looks at which it computes, one after the other, before a process is adopted.
const LOOKS: u8 = 3;
/// Most processes that are looked at for one watched one, and first and last threads of each.
const MOST_PROCESSES: usize = 64;
const MOST_THREADS: usize = 32;
/// Adopted programs' numbers begin here: others' are those of connections.
const FIRST: u64 = 1 << 40;
/// An adopted program has to use so many contexts on average to stay, over so long a time.
const LEAST: f64 = 0.1;
const PATIENCE_NS: u64 = 2_000_000_000;

#[derive(Clone, Copy, PartialEq)]
struct Watched {
    peer: Peer,
    starttime: u64,
    limits: LimitValues,
}

/// A process to adopt.
pub(super) struct Found {
    pub id: ProgramId,
    pub peer: Peer,
    pub limits: LimitValues,
    /// Its runnable threads.
    pub threads: u32,
}

/// What was found out about adopted programs.
#[derive(Default)]
pub(super) struct Looked {
    /// Those that don't compute on several threads any more.
    pub resting: Vec<ProgramId>,
    /// How many threads others compute on, where these are more than was known.
    pub wider: Vec<(ProgramId, u32)>,
}

#[derive(Default)]
pub(super) struct Adopted {
    watched: PerUser<Watched>,
    /// Processes that were released, and aren't watched with the one that started them.
    released: UserProcesses,
    /// For each process that computes on several threads, at how many looks.
    computing: BTreeMap<u32, u8>,
    /// Clocks of adopted programs: CPU time and when it was read.
    clocks: BTreeMap<ProgramId, (u64, u64)>,
    numbers: u64,
    looked: Option<Instant>,
}

impl Adopted {
    /// Watches a process of the peer's.
    pub fn watch(&mut self, observer: &Observer, peer: Peer, limits: LimitValues) -> bool {
        let Ok(stat) = observer.process(peer.pid).stat() else { return false };
        self.watched.retain(peer.uid, |it| it.peer.pid != peer.pid && is_there(observer, it));
        self.released.remove(peer.uid, peer.pid);
        self.watched.add(peer.uid, Watched { peer, starttime: stat.starttime, limits });
        true
    }

    /// Watches a process of that user's and its descendants no more. False if it wasn't itself.
    pub fn release(&mut self, observer: &Observer, peer: Peer) -> bool {
        let (uid, pid) = (peer.uid, peer.pid);
        let watched = self.watched.of(uid).any(|it| it.peer.pid == pid);
        self.watched.retain(uid, |it| it.peer.pid != pid);
        self.computing.clear();
        self.released.add(observer, uid, pid);
        watched
    }

    pub fn is_watching(&self) -> bool {
        self.watched.all().next().is_some()
    }

    /// When it is to be looked next.
    pub fn deadline(&self) -> Option<Instant> {
        self.is_watching().then(|| self.looked.map_or_else(Instant::now, |at| at + LOOK))
    }

    /// Looks for processes that have to be adopted, if it is time.
    pub fn find(
        &mut self,
        registry: &Registry,
        (observer, talk): (&Observer, &Talk),
        budget: &mut MoveBudget,
    ) -> Vec<Found> {
        let now = Instant::now();
        if !self.is_watching() || self.looked.is_some_and(|at| now < at + LOOK) {
            return Vec::new();
        }
        self.looked = Some(now);
        let users: Vec<u32> = self.watched.all().map(|it| it.peer.uid).collect();
        users.into_iter().for_each(|uid| self.watched.retain(uid, |it| is_there(observer, it)));
        let mut computing = BTreeMap::new();
        let mut met = BTreeSet::new();
        let mut found = Vec::new();
        for watched in self.watched.all() {
            let owner = watched.peer.owner;
            if budget.is_spent(owner, talk.is_trusted(owner), now) {
                continue;
            }
            let family = family(observer, watched.peer.pid, |child| self.released.has(observer, child));
            // Each file takes some 6 us to read, as to move two threads.
            budget.charge(owner, 4 * family.len() as u32, now);
            for pid in family {
                if !met.insert(pid) {
                    continue;
                }
                let process = observer.process(pid);
                let is_theirs = process.uid().is_ok_and(|uid| uid == watched.peer.uid);
                let is_single = process.stat().is_ok_and(|stat| stat.threads < 2);
                if !is_theirs || is_single || registry.by_pid(pid).is_some() {
                    continue;
                }
                let (runnable, cost) = process.runnable(MOST_THREADS);
                budget.charge(owner, cost, now);
                if runnable < 2 {
                    continue;
                }
                let looks = self.computing.get(&pid).copied().unwrap_or(0).saturating_add(1);
                computing.insert(pid, looks);
                if looks < LOOKS {
                    continue;
                }
                if sockets::listens(&process) {
                    computing.insert(pid, 0);
                } else {
                    self.numbers += 1;
                    let id = ProgramId(FIRST + self.numbers);
                    let threads = u32::try_from(runnable).unwrap_or(u32::MAX).min(65_535);
                    let (peer, limits) = (Peer { pid, ..watched.peer }, watched.limits);
                    found.push(Found { id, peer, limits, threads });
                }
            }
        }
        self.computing = computing;
        found
    }

    /// Looks at adopted programs, each every 2 s.
    pub fn look(&mut self, registry: &Registry, observer: &Observer) -> Looked {
        let now_ns = clock::now_ns();
        self.clocks.retain(|id, _| registry.get(*id).is_some());
        let mut looked = Looked::default();
        for program in registry.iter().filter(|program| is_adopted(program.identity.id)) {
            let (id, pid) = (program.identity.id, program.identity.pid);
            let Some(cpu_ns) = observer.cpu_ns(pid) else {
                looked.resting.push(id);
                continue;
            };
            let (was_ns, at_ns) = *self.clocks.entry(id).or_insert((cpu_ns, now_ns));
            let passed_ns = now_ns.saturating_sub(at_ns);
            if passed_ns < PATIENCE_NS {
                continue;
            }
            // Who takes turns is stopped most of the time.
            let least = if program.phase.takes_turns { LEAST / 10.0 } else { LEAST };
            if (cpu_ns.saturating_sub(was_ns) as f64) < least * passed_ns as f64 {
                looked.resting.push(id);
            }
            let runnable = u32::try_from(observer.process(pid).runnable(MOST_THREADS).0).unwrap_or(u32::MAX);
            if runnable > program.limits.natural {
                looked.wider.push((id, runnable));
            }
            self.clocks.insert(id, (cpu_ns, now_ns));
        }
        looked
    }
}

/// Whether a program is managed from outside.
pub(super) fn is_adopted(id: ProgramId) -> bool {
    id.0 >= FIRST
}

fn is_there(observer: &Observer, watched: &Watched) -> bool {
    observer.process(watched.peer.pid).stat().is_ok_and(|stat| stat.starttime == watched.starttime)
}

/// A process and its descendants, the nearest first, but for those and theirs.
pub(super) fn family(observer: &Observer, pid: u32, without: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut all = vec![pid];
    let mut generation = vec![pid];
    for _ in 0..GENERATIONS {
        let children = generation.iter().flat_map(|parent| observer.process(*parent).children(MOST_THREADS));
        let children = children.filter(|child| !without(*child));
        generation = children.take(MOST_PROCESSES.saturating_sub(all.len())).collect();
        if generation.is_empty() {
            break;
        }
        all.extend(&generation);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_process_is_watched_while_it_is_there_and_until_it_is_released() {
        let observer = Observer::new(Path::new("/"));
        let pid = std::process::id();
        let peer = Peer { pid, uid: 1000, owner: 1000, gid: 1000, accepted: 0 };
        let mut adopted = Adopted::default();
        assert!(!adopted.is_watching() && adopted.deadline().is_none());
        let mut watch = |peer| adopted.watch(&observer, peer, LimitValues::default());
        assert!(!watch(Peer { pid: u32::MAX, ..peer }) && watch(peer) && watch(peer));
        assert_eq!(adopted.watched.all().count(), 1);
        assert!(!adopted.release(&observer, Peer { uid: 1001, ..peer }) && adopted.release(&observer, peer));
        assert!(!adopted.release(&observer, peer) && !adopted.is_watching());
        assert!(family(&observer, pid, |_| false).contains(&pid));
        assert!(is_adopted(ProgramId(FIRST + 1)) && !is_adopted(ProgramId(7)));
    }
}
