//! Programs that are managed from outside: threads of their own, in no runtime that libscaf knows, or
//! no code of ours in them at all.
//!
//! Who is *watched* (by `scaf run` or `scaf adopt`) is looked at ten times a second, with its
//! descendants; more often while one is new or has several runnable threads since just now. Samples
//! say whether such a process's threads wait for each other by spinning ([`super::computing`]). If so it is
//! adopted, needs all its contexts at once, and beside others takes turns. If not, the kernel shares the
//! machine well between it and others, and it is adopted only if its user said so (`scaf adopt`); then it
//! has its share of the contexts. One that others may wait for isn't adopted ([`super::waited_for`]).
//! When it hasn't computed on several threads for 2 s it is released, and watched again.

use super::computing::Computing;
use super::move_budget::MoveBudget;
use super::new_threads::GENERATIONS;
use super::outside_meter::{OutsideMeter, Reading};
use super::per_user::PerUser;
use super::user_processes::UserProcesses;
use crate::control::LimitValues;
use crate::observe::{Observer, clock};
use crate::registry::{Binding, Program, Registry};
use crate::talk::{Peer, Talk};
use scaf_policy::ProgramId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Time between two looks, and while a process is new or more has to be known of it soon.
const LOOK: Duration = Duration::from_millis(100);
const SOON: Duration = Duration::from_millis(30);
const NEW: Duration = Duration::from_secs(1);
/// Most processes that are looked at for one watched one, and first and last threads of each.
const MOST_PROCESSES: usize = 64;
const MOST_THREADS: usize = 32;
/// Adopted programs' numbers begin here: others' are those of connections.
const FIRST: u64 = 1 << 40;
/// An adopted program has to use so many contexts on average to stay, over 2 s.
const LEAST: f64 = 0.1;

#[derive(Clone, Copy, PartialEq)]
struct Watched {
    peer: Peer,
    starttime: u64,
    limits: LimitValues,
    /// Whether it may be stopped for others' turns, if its user says so.
    turns: Option<bool>,
    /// Its user asked for it to be managed from outside.
    is_asked: bool,
}

/// A process to adopt.
pub(super) struct New {
    pub id: ProgramId,
    pub peer: Peer,
    pub limits: LimitValues,
    pub turns: Option<bool>,
    /// Its runnable threads.
    pub threads: u32,
    /// Whether they wait for each other by spinning.
    pub spins: bool,
}

/// What a look has found.
#[derive(Default)]
pub(super) struct Found {
    pub new: Vec<New>,
    /// Programs whose threads spin, which wasn't known.
    pub spinning: Vec<ProgramId>,
    /// Processes of which samples can't be taken, their owners, and why.
    pub unseen: Vec<(u32, u32, std::io::Error)>,
}

/// What was found out about adopted programs.
#[derive(Default)]
pub(super) struct Looked {
    /// Those that don't compute on several threads any more.
    pub resting: Vec<ProgramId>,
    /// What others do.
    pub readings: Vec<(ProgramId, Reading)>,
}

#[derive(Default)]
pub(super) struct Adopted {
    watched: PerUser<Watched>,
    /// Processes that were released, and aren't watched with the one that started them.
    released: UserProcesses,
    /// Processes that compute on several threads.
    computing: BTreeMap<u32, Computing>,
    /// Of adopted programs.
    meters: BTreeMap<ProgramId, OutsideMeter>,
    numbers: u64,
    looked: Option<Instant>,
    /// When the latest one was watched.
    latest: Option<Instant>,
}

impl Adopted {
    /// Watches a process of the peer's.
    pub fn watch(
        &mut self,
        observer: &Observer,
        peer: Peer,
        (limits, turns): (LimitValues, Option<bool>),
        is_asked: bool,
    ) -> bool {
        let Ok(stat) = observer.process(peer.pid).stat() else { return false };
        self.watched.retain(peer.uid, |it| it.peer.pid != peer.pid && is_there(observer, it));
        self.released.remove(peer.uid, peer.pid);
        self.latest = Some(Instant::now());
        self.watched.add(peer.uid, Watched { peer, starttime: stat.starttime, limits, turns, is_asked });
        true
    }

    /// Watches a process of that user's and its descendants no more. False if it wasn't itself.
    pub fn release(&mut self, observer: &Observer, peer: Peer) -> bool {
        let (uid, pid) = (peer.uid, peer.pid);
        let watched = self.watched.of(uid).any(|it| it.peer.pid == pid);
        self.watched.retain(uid, |it| it.peer.pid != pid);
        self.released.add(observer, uid, pid);
        watched
    }

    pub fn is_watching(&self) -> bool {
        self.watched.all().next().is_some()
    }

    /// When it is to be looked next.
    pub fn deadline(&self) -> Option<Instant> {
        self.is_watching().then(|| self.looked.map_or_else(Instant::now, |at| at + self.interval()))
    }

    fn interval(&self) -> Duration {
        let is_new = self.latest.is_some_and(|at| at.elapsed() < NEW);
        if is_new || self.computing.values().any(Computing::is_young) { SOON } else { LOOK }
    }

    /// Looks for processes that have to be adopted, if it is time; for those that spin only where there are
    /// `turns`.
    pub fn find(
        &mut self,
        registry: &Registry,
        (observer, talk): (&Observer, &Talk),
        budget: &mut MoveBudget,
        turns: bool,
    ) -> Found {
        let now = Instant::now();
        let mut found = Found::default();
        if !self.is_watching() {
            self.computing.clear();
            return found;
        }
        if self.looked.is_some_and(|at| now < at + self.interval()) {
            return found;
        }
        self.looked = Some(now);
        let users: Vec<u32> = self.watched.all().map(|it| it.peer.uid).collect();
        users.into_iter().for_each(|uid| self.watched.retain(uid, |it| is_there(observer, it)));
        let mut before = std::mem::take(&mut self.computing);
        let mut are_all_looked_at = true;
        let mut met = BTreeSet::new();
        let asked = self.watched.all().filter(|it| it.is_asked);
        for watched in asked.chain(self.watched.all().filter(|it| !it.is_asked)) {
            let owner = watched.peer.owner;
            if budget.is_spent(owner, talk.is_trusted(owner), now) {
                are_all_looked_at = false;
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
                let program = registry.by_pid(pid);
                let is_known = program.is_some_and(is_known);
                if !is_theirs || is_single || is_known {
                    continue;
                }
                let (runnable, cost) = process.runnable_threads(MOST_THREADS);
                budget.charge(owner, cost, now);
                let computing = before.remove(&pid);
                if runnable.len() < 2 && computing.is_none() {
                    continue;
                }
                let mut computing = computing.unwrap_or_default();
                match computing.look(&process, &runnable) {
                    Ok(cost) => budget.charge(owner, cost, now),
                    Err(e) => found.unseen.push((owner, pid, e)),
                }
                if computing.is_resting() {
                    continue;
                }
                // Where that can't be seen, its user's word counts.
                let by_word = watched.turns.filter(|turns| *turns && computing.is_blind());
                let spins = computing.spins().or(by_word);
                let is_due = match spins {
                    Some(true) => turns && watched.turns != Some(false),
                    Some(false) => watched.is_asked,
                    None => watched.is_asked && computing.is_blind(),
                };
                if !is_due || !computing.is_computing() {
                    self.computing.insert(pid, computing);
                } else if let Some(program) = program.filter(|it| !it.phase.starting) {
                    if spins == Some(true) {
                        found.spinning.push(program.identity.id);
                    }
                    self.computing.insert(pid, computing);
                } else if watched.turns.is_none() && !computing.is_unwaited_for(&process) {
                    computing.put_off();
                    self.computing.insert(pid, computing);
                } else {
                    self.numbers += 1;
                    let id = ProgramId(FIRST + self.numbers);
                    let threads = u32::try_from(runnable.len()).unwrap_or(u32::MAX).min(65_535);
                    let peer = Peer { pid, ..watched.peer };
                    let (limits, turns, spins) = (watched.limits, watched.turns, spins == Some(true));
                    found.new.push(New { id, peer, limits, turns, threads, spins });
                }
            }
        }
        if !are_all_looked_at {
            self.computing.extend(before);
        }
        found
    }

    /// Measures adopted programs.
    pub fn look(&mut self, registry: &Registry, observer: &Observer) -> Looked {
        let now_ns = clock::now_ns();
        self.meters.retain(|id, _| registry.get(*id).is_some());
        let mut looked = Looked::default();
        for program in registry.iter().filter(|program| is_adopted(program.identity.id)) {
            let (id, pid) = (program.identity.id, program.identity.pid);
            let Some(cpu_ns) = observer.cpu_ns(pid) else {
                looked.resting.push(id);
                continue;
            };
            let process = observer.process(pid);
            let at = (cpu_ns, now_ns);
            let meter = self.meters.entry(id).or_insert_with(|| OutsideMeter::new(&process, at));
            let reading = meter.read(&process, at, program.contexts(), program.phase.takes_turns);
            // Who takes turns is stopped most of the time.
            let least = if program.phase.takes_turns { LEAST / 10.0 } else { LEAST };
            if reading.used.is_some_and(|used| used < least) {
                looked.resting.push(id);
            } else if reading != Reading::default() {
                looked.readings.push((id, reading));
            }
        }
        looked
    }
}

/// Whether a program needn't be looked at.
fn is_known(program: &Program) -> bool {
    // One that hasn't met a region may never meet one. Who is left alone because he binds threads that are no
    // known runtime's may have a pool.
    let binds_others = program.reach.binding == Binding::Own && program.code.modules() == 0;
    let may_spin = program.phase.starting || binds_others;
    let takes_turns = program.code.rigid().is_some() && program.reach.alone.is_none();
    !(may_spin || is_adopted(program.identity.id)) || takes_turns
}

/// Whether a program is managed from outside.
pub(super) fn is_adopted(id: ProgramId) -> bool {
    id.0 >= FIRST
}

fn is_there(observer: &Observer, watched: &Watched) -> bool {
    observer.process(watched.peer.pid).is_since(watched.starttime)
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
        let mut watch = |peer| adopted.watch(&observer, peer, (LimitValues::default(), None), true);
        assert!(!watch(Peer { pid: u32::MAX, ..peer }) && watch(peer) && watch(peer));
        assert_eq!(adopted.watched.all().count(), 1);
        assert!(!adopted.release(&observer, Peer { uid: 1001, ..peer }) && adopted.release(&observer, peer));
        assert!(!adopted.release(&observer, peer) && !adopted.is_watching());
        assert!(family(&observer, pid, |_| false).contains(&pid));
        assert!(is_adopted(ProgramId(FIRST + 1)) && !is_adopted(ProgramId(7)));
    }
}
