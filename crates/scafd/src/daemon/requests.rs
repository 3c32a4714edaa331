//! Answers what the command line asks for: the state of everything, decisions, another policy.

use super::parts::Daemon;
use super::visibility::Viewer;
use crate::config::check_policy;
use crate::control::{Decisions, LimitValues, Reply, Request, Snapshot};
use crate::log::info;
use crate::observe::clock::{cpu_ns, now_ns};
use crate::paths::Scope;
use crate::registry::{Limits, Program};
use crate::talk::{Pages, Peer};
use scaf_policy::ProgramId;

impl Daemon {
    /// Answers a client of the command line. True if that asks for a decision.
    pub(super) fn answer(&mut self, id: u64, peer: Peer, request: Request) -> bool {
        self.timers.busy();
        match request {
            Request::Snapshot => {
                let mut snapshot = self.snapshot();
                snapshot.asker = self.program_of(peer).map(|id| id.0);
                let snapshot = self.viewer(peer).part_of(snapshot);
                self.talk.answer(id, &Reply::Snapshot(Box::new(snapshot)));
                false
            }
            Request::History(moment) => {
                if self.history.latest().is_none() {
                    self.keep_moment(false);
                }
                let reply = self.history.since(moment, self.viewer(peer).sees_only());
                self.talk.answer(id, &Reply::History(Box::new(reply)));
                false
            }
            Request::Machine => {
                let machine = self.capacity.machine.clone();
                self.talk.answer(id, &Reply::Machine(Box::new(machine)));
                false
            }
            Request::Decision(_) | Request::Decisions(_) => {
                let reply = self.decisions(peer, &request);
                self.talk.answer(id, &reply);
                false
            }
            Request::SetPolicy(name) => {
                let reply = self.set_policy(peer, &name);
                let changed = matches!(reply, Reply::Policy(_));
                self.talk.answer(id, &reply);
                changed
            }
            Request::SetLimits(values) => {
                // Takes effect at the next tick: a decision for each would let one user keep us busy.
                let reply = self.limit_self(peer, values).map_or_else(Reply::Error, Reply::Limits);
                self.talk.answer(id, &reply);
                false
            }
            Request::SetLimitsOf(program, values) => {
                let reply =
                    self.limit_program(peer, program, values).map_or_else(Reply::Error, Reply::Limits);
                self.talk.answer(id, &reply);
                false
            }
            Request::Mold(executable) => {
                let (registry, capacity) = (&self.registry, self.within_reach());
                let better = self.spinning.had_better_be_molded((peer.uid, executable), registry, capacity);
                self.talk.answer(id, &Reply::Mold(better));
                false
            }
            about_profiles => {
                let (request, trusted) = ((id, peer, about_profiles), self.talk.is_trusted(peer.owner));
                if let Err(why) = self.profiles.request(request, self.scope, trusted) {
                    self.talk.answer(id, &Reply::Error(why));
                }
                false
            }
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

    /// The same of a program of the user who asks, or of anyone's for root and the daemon's own user, who may
    /// go beyond what its user may ask for.
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

    /// The state of everything now, and what only the peer that asks gets: that takes a look at pages and
    /// processes.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = self.moment();
        for program in &mut all.programs {
            program.runtimes = self.talk.pages(program.id).map_or_else(Vec::new, Pages::runtimes);
        }
        all.tried = self.tried.all().cloned().collect();
        all.other_versions = self.talk.other_versions(|pid| cpu_ns(pid).is_some());
        all
    }

    /// The state of everything now.
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
