//! Answers the command line's requests.

use super::parts::Daemon;
use super::visibility::Viewer;
use crate::apply::mask_words;
use crate::config::check_policy;
use crate::control::{Decisions, LimitValues, Reply, Request, Snapshot};
use crate::log::info;
use crate::observe::affinity;
use crate::observe::clock::{cpu_ns, now_ns};
use crate::paths::Scope;
use crate::registry::{Binding, Limits, Program};
use crate::talk::{Pages, Peer};
use scaf_policy::ProgramId;
use std::time::Instant;

/// Whether processes have the same numbers where a peer is.
pub(super) fn numbers_alike(peer: Peer) -> bool {
    let numbers = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
    numbers("self").is_some_and(|own| Some(own) == numbers(&peer.pid.to_string()))
}

impl Daemon {
    /// Answers a client of the command line. True if that asks for a decision.
    pub(super) fn answer(&mut self, id: u64, peer: Peer, request: Request) -> bool {
        self.timers.busy();
        let reply = match request {
            Request::Snapshot => {
                let mut snapshot = self.snapshot();
                snapshot.asker = self.program_of(peer).map(|id| id.0);
                Reply::Snapshot(Box::new(self.viewer(peer).part_of(snapshot)))
            }
            Request::History(moment) => {
                if self.history.latest().is_none() {
                    self.keep_moment(false);
                }
                Reply::History(Box::new(self.history.since(moment, self.viewer(peer).sees_only())))
            }
            Request::Machine => Reply::Machine(Box::new(self.capacity.machine.clone())),
            Request::AffinityOf(pid) => Reply::Affinity(self.affinity_of(peer, pid).unwrap_or_default()),
            Request::Binds(pid) => Reply::Binds(self.binds(peer, pid)),
            Request::Adopt { pid, limits, each, turns } => self
                .watch(peer, pid, (limits, turns), each)
                .map_or_else(Reply::Error, |()| Reply::Adopted(true)),
            Request::Release(pid) => Reply::Adopted(self.release(peer, pid)),
            Request::BindsNoMore(_) => Reply::Binds(!self.binds_no_more(peer)),
            Request::Decision(_) | Request::Decisions(_) => self.decisions(peer, &request),
            Request::SetPolicy(name) => self.set_policy(peer, &name),
            // Takes effect at the next tick: a decision for each would let one user keep us busy.
            Request::SetLimits(values) => {
                self.limit_self(peer, values).map_or_else(Reply::Error, Reply::Limits)
            }
            Request::SetLimitsOf(program, values) => {
                self.limit_program(peer, program, values).map_or_else(Reply::Error, Reply::Limits)
            }
            Request::Mold(executable) => {
                let (registry, capacity) = (&self.registry, self.within_reach());
                Reply::Mold(self.spinning.had_better_be_molded((peer.uid, executable), registry, capacity))
            }
            about_profiles => {
                let (request, trusted) = ((id, peer, about_profiles), self.talk.is_trusted(peer.owner));
                match self.profiles.request(request, self.scope, trusted) {
                    Ok(()) => return false,
                    Err(why) => Reply::Error(why),
                }
            }
        };
        self.talk.answer(id, &reply);
        matches!(reply, Reply::Policy(_))
    }

    /// The own affinity of a process that has one of ours, as its number is where the asker is.
    fn affinity_of(&self, peer: Peer, pid: u32) -> Option<Vec<u64>> {
        let program = self.registry.by_pid(pid)?;
        let may_know = program.identity.owner == peer.owner || self.talk.is_trusted(peer.owner);
        let is_ours = affinity(pid).is_ok_and(|now| program.grant.masks.contains(&now));
        (may_know && numbers_alike(peer) && is_ours).then(|| mask_words(&program.reach.own).to_vec())
    }

    /// The process of that number, or for 0 the one that asks, binds a thread: a program has its
    /// own affinity from now on, and others have its contexts at the next tick. False if the process is none
    /// of the asker's.
    fn binds(&mut self, peer: Peer, number: u32) -> bool {
        let Some(pid) = self.meant(peer, number) else { return false };
        let Some(program) = self.registry.by_pid(pid) else {
            self.bound.add(&self.observer, peer.uid, pid);
            return true;
        };
        let (id, uid) = (program.identity.id, program.identity.uid);
        let is_untouched = program.phase.starting && program.grant.masks.is_empty();
        let is_kept = program.reach.binding == Binding::Kept;
        let is_alone = program.reach.alone.is_some() || self.apply.leaves_affinities() || is_kept;
        // One that starts is looked at when it has started.
        if uid != peer.uid || is_untouched || is_alone {
            return uid == peer.uid;
        }
        self.leave_alone(id, "it binds its threads itself".into());
        if let Some(program) = self.registry.get_mut(id) {
            if program.reach.binding == Binding::Unbound {
                program.reach.binding = Binding::Own;
            }
            program.grant.masks.clear();
            self.budget.charge(program.identity.owner, program.grant.counted, Instant::now());
        }
        true
    }

    /// A thread of the asker's isn't bound any more. Where none is, it is managed again: some libraries go to
    /// each PU for a moment. True if so.
    fn binds_no_more(&mut self, peer: Peer) -> bool {
        self.bound.remove(peer.uid, peer.pid);
        let Some(id) = self.program_of(peer) else { return false };
        // Which threads the runtime has bound and which the program has isn't known.
        let is_own = |program: &&Program| program.reach.binding == Binding::Own;
        let Some(program) = self.registry.get(id).filter(is_own) else { return false };
        let why = self.why_bound(peer.pid, &program.reach.own, None);
        let is_free = why.is_none();
        if let Some(program) = self.registry.get_mut(id) {
            program.reach.binding = if is_free { Binding::Unbound } else { Binding::Own };
            program.reach.alone = why;
        }
        is_free
    }

    /// The process that an asker means, as its number is where the asker is.
    pub(super) fn meant(&self, peer: Peer, number: u32) -> Option<u32> {
        let is_the_users = || self.observer.process(number).uid().is_ok_and(|uid| uid == peer.uid);
        match number {
            0 => Some(peer.pid),
            other => (numbers_alike(peer) && is_the_users()).then_some(other),
        }
    }

    fn viewer(&self, peer: Peer) -> Viewer {
        Viewer { uid: peer.uid, is_trusted: self.talk.is_trusted(peer.uid), tell: self.config.tell }
    }

    /// The program that a peer is.
    fn program_of(&self, peer: Peer) -> Option<ProgramId> {
        let is_it = |program: &&Program| program.identity.pid == peer.pid && program.identity.uid == peer.uid;
        self.registry.iter().find(is_it).map(|program| program.identity.id)
    }

    fn set_policy(&mut self, peer: Peer, name: &str) -> Reply {
        if !self.viewer(peer).is_trusted {
            return Reply::Error("only root and the daemon's own user may change the policy".into());
        }
        match scaf_policy::by_name(name, &self.config.settings()) {
            Some(policy) => {
                info!("policy {name}, asked for by process {}", peer.pid);
                self.decider.replace(policy);
                Reply::Policy(name.to_owned())
            }
            None => Reply::Error(check_policy(name).err().unwrap_or_default()),
        }
    }

    /// Changes the limits of the process that asks.
    fn limit_self(&mut self, peer: Peer, values: LimitValues) -> Result<LimitValues, String> {
        let scope = self.scope;
        let program = self
            .program_of(peer)
            .and_then(|id| self.registry.get_mut(id))
            .ok_or_else(|| format!("process {} isn't managed", peer.pid))?;
        limit(program, values, scope, peer.uid)
    }

    /// Changes the limits of a program of the user who asks; root and the daemon's own user may change
    /// anyone's, and beyond what its user may ask for.
    fn limit_program(&mut self, peer: Peer, id: u64, values: LimitValues) -> Result<LimitValues, String> {
        let (scope, is_trusted) = (self.scope, self.viewer(peer).is_trusted);
        let program = self
            .registry
            .get_mut(ProgramId(id))
            .filter(|program| is_trusted || program.identity.uid == peer.uid)
            .ok_or_else(|| format!("you have no managed program {id}"))?;
        let as_user = if is_trusted { 0 } else { peer.uid };
        limit(program, values, scope, as_user)
    }

    fn decisions(&self, peer: Peer, request: &Request) -> Reply {
        let uid = self.viewer(peer).sees_only();
        let entries = match request {
            Request::Decision(number) => self.decider.journal.one(*number, uid).into_iter().collect(),
            Request::Decisions(after) => self.decider.journal.after(*after, uid),
            _ => Vec::new(),
        };
        let (oldest, latest) = self.decider.journal.span();
        Reply::Decisions(Box::new(Decisions { daemon: std::process::id(), oldest, latest, entries }))
    }

    /// The current state with details that only the peer who asks gets, because pages and processes are read.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = self.moment();
        for program in &mut all.programs {
            program.runtimes = self.talk.pages(program.id).map_or_else(Vec::new, Pages::runtimes);
        }
        all.tried = self.tried.all().cloned().collect();
        all.other_versions = self.talk.other_versions(|pid| cpu_ns(pid).is_some());
        all
    }

    /// The current state.
    pub(super) fn moment(&self) -> Snapshot {
        Snapshot {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            scope: self.scope.name().into(),
            now_ns: now_ns(),
            policy: self.decider.policy.name().into(),
            pus: self.capacity.limits.pus.clone(),
            capacity: self.contexts(),
            unmanaged_load: self.load.contexts_now(),
            quota: self.capacity.limits.quota,
            decisions: self.decider.decisions,
            decision_ns: self.decider.took_ns,
            warnings: crate::log::warnings(),
            counters: self.meters.counters(self.config.counters),
            turns: self.slices.shown(),
            programs: self.registry.iter().map(Program::snapshot).collect(),
            ..Snapshot::default()
        }
    }
}

fn limit(program: &mut Program, values: LimitValues, scope: Scope, uid: u32) -> Result<LimitValues, String> {
    program.limits = program.limits.changed(values)?.permitted(scope, uid);
    let Limits { min, max, weight, .. } = program.limits;
    Ok(LimitValues { min: Some(min), max: Some(max), weight: Some(weight) })
}
