//! Answers what the command line asks for: the state of everything, decisions, another policy.

use super::parts::Daemon;
use crate::config::check_policy;
use crate::control::{CountersAre, Decisions, Reply, Request, Snapshot, Wish};
use crate::log::info;
use crate::observe::clock::{cpu_ns, now_ns};
use crate::observe::counters::Access;
use crate::paths::Scope;
use crate::registry::{Program, Wishes};
use crate::talk::{Pages, Peer};
use scaf_policy::ProgramId;

impl Daemon {
    /// Answers a client of the command line. True if that asks for a decision.
    pub(super) fn answer(&mut self, id: u64, peer: Peer, request: Request) -> bool {
        self.timers.busy();
        match request {
            Request::Snapshot => {
                let snapshot = self.snapshot_for(peer);
                self.parts.talk.answer(id, &Reply::Snapshot(Box::new(snapshot)));
                false
            }
            Request::History(moment) => {
                if self.history.latest().is_none() {
                    self.keep_moment(false);
                }
                let reply = self.history.since(moment, self.sees_only(peer));
                self.parts.talk.answer(id, &Reply::History(Box::new(reply)));
                false
            }
            Request::Machine => {
                let machine = self.parts.topology.clone();
                self.parts.talk.answer(id, &Reply::Machine(Box::new(machine)));
                false
            }
            Request::Decision(_) | Request::Decisions(_) => {
                let reply = self.decisions(peer, &request);
                self.parts.talk.answer(id, &reply);
                false
            }
            Request::SetPolicy(name) => {
                let reply = self.set_policy(peer, &name);
                let changed = matches!(reply, Reply::Policy(_));
                self.parts.talk.answer(id, &reply);
                changed
            }
            Request::Wish(wish) => {
                // Takes effect at the next tick: a decision for each would let one user keep us busy.
                let reply = self.take_wish(peer, wish).map_or_else(Reply::Error, Reply::Wish);
                self.parts.talk.answer(id, &reply);
                false
            }
            Request::WishOf(program, wish) => {
                let reply = self.take_wish_of(peer, program, wish).map_or_else(Reply::Error, Reply::Wish);
                self.parts.talk.answer(id, &reply);
                false
            }
            Request::Mold(executable) => {
                let better = self.is_better_molded(peer.uid, executable);
                self.parts.talk.answer(id, &Reply::Mold(better));
                false
            }
            about_profiles => {
                self.ask_memory(id, peer, about_profiles);
                false
            }
        }
    }

    fn set_policy(&mut self, peer: Peer, name: &str) -> Reply {
        if !self.may_steer(peer) {
            return Reply::Error("only root and the daemon's own user may change the policy".into());
        }
        match scaf_policy::by_name(name, &self.parts.config.settings()) {
            Some(policy) => {
                info!("policy {name}, asked for by process {}", peer.pid);
                self.parts.policy = policy;
                self.policy_since = self.decisions + 1;
                Reply::Policy(name.to_owned())
            }
            None => Reply::Error(check_policy(name).err().unwrap_or_default()),
        }
    }

    /// Takes in what the process that asks wishes from now on.
    fn take_wish(&mut self, peer: Peer, wish: Wish) -> Result<Wish, String> {
        let scope = self.parts.scope;
        let program = self
            .program_of(peer)
            .and_then(|id| self.registry.get_mut(id))
            .ok_or_else(|| format!("process {} isn't managed", peer.pid))?;
        wish_for(program, wish, scope, peer.uid)
    }

    /// The same of a program of the user who asks, or of anyone's if that may steer: then it may be more than
    /// its user may wish.
    fn take_wish_of(&mut self, peer: Peer, id: u64, wish: Wish) -> Result<Wish, String> {
        let (scope, may_steer) = (self.parts.scope, self.may_steer(peer));
        let program = self
            .registry
            .get_mut(ProgramId(id))
            .filter(|program| may_steer || program.identity.uid == peer.uid)
            .ok_or_else(|| format!("you have no managed program {id}"))?;
        let as_user = if may_steer { 0 } else { peer.uid };
        wish_for(program, wish, scope, as_user)
    }

    fn decisions(&self, peer: Peer, request: &Request) -> Reply {
        let uid = self.sees_only(peer);
        let entries = match request {
            Request::Decision(number) => self.journal.one(*number, uid).into_iter().collect(),
            Request::Decisions(after) => self.journal.after(*after, uid),
            _ => Vec::new(),
        };
        let (oldest, latest) = self.journal.span();
        Reply::Decisions(Box::new(Decisions { daemon: std::process::id(), oldest, latest, entries }))
    }

    /// The state of everything now, and what only whoever asks is told: that takes a look at pages and
    /// processes.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = self.moment();
        for program in &mut all.programs {
            program.runtimes = self.parts.talk.pages(program.id).map_or_else(Vec::new, Pages::runtimes);
        }
        all.tried = self.tried.all().cloned().collect();
        all.other_versions = self.parts.talk.other_versions(|pid| cpu_ns(pid).is_some());
        all
    }

    /// The state of everything now.
    pub(super) fn moment(&self) -> Snapshot {
        Snapshot {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            scope: self.parts.scope.name().into(),
            now_ns: now_ns(),
            policy: self.parts.policy.name().into(),
            pus: self.limits.pus.clone(),
            capacity: self.capacity(),
            unmanaged_load: self.load.contexts_now(),
            quota: self.limits.quota,
            decisions: self.decisions,
            decision_ns: self.decision_ns,
            warnings: crate::log::warnings(),
            counters: match self.counting.access() {
                None if self.parts.config.counters => CountersAre::Unknown,
                None => CountersAre::Off,
                Some(Access::There) => CountersAre::There,
                Some(Access::Absent) => CountersAre::Absent,
                Some(Access::Forbidden) => CountersAre::Forbidden,
            },
            turns: self.turns.clone(),
            programs: self.registry.iter().map(Program::snapshot).collect(),
            ..Snapshot::default()
        }
    }

    pub(super) fn capacity(&self) -> u32 {
        let config = &self.parts.config;
        let busy = if config.count_load { self.unmanaged() } else { 0 };
        let kept = busy.saturating_add(config.reserve);
        self.limits.contexts().saturating_sub(kept).max(1)
    }
}

fn wish_for(program: &mut Program, wish: Wish, scope: Scope, uid: u32) -> Result<Wish, String> {
    let wishes = program.wishes.changed(wish)?.permitted(scope, uid);
    program.wishes = wishes;
    let Wishes { min, max, weight, .. } = program.wishes;
    Ok(Wish { min: Some(min), max: Some(max), weight: Some(weight) })
}
