//! Adopts programs and releases them; [`super::adopted`] finds them.

use super::adopted::{New, family, is_adopted};
use super::attach::age_s;
use super::outside_meter::Reading;
use super::parts::Daemon;
use super::requests::numbers_alike;
use crate::config::Gang;
use crate::control::LimitValues;
use crate::observe::{affinity, clock};
use crate::registry::{Code, Evidence, Grant, Limits, Phase, Program};
use crate::talk::Peer;
use scaf_policy::{ProgramId, PuSet};
use scaf_proto::hello::{ATTACH, Hello};

const SPINS: &str = "its threads wait for each other by spinning, in no runtime that is known";
const UNLIMITED: Limits = Limits { natural: 1, min: 1, max: 0, weight: 1.0 };

impl Daemon {
    /// Watches the process of that number, or for 0 the one that asks, for its user or root. What it starts
    /// is one program with it, or `each` is one.
    pub(super) fn watch(
        &mut self,
        peer: Peer,
        number: u32,
        (limits, turns): (LimitValues, Option<bool>),
        each: bool,
    ) -> Result<(), String> {
        const FOR_ALL: &str = "the daemon for all users doesn't manage programs from outside";
        UNLIMITED.changed(limits)?;
        let is_for_all = self.apply.broker().is_some();
        if is_for_all && number != 0 {
            return Err(FOR_ALL.into());
        }
        let whose = self.meant_or_for_root(peer, number).ok_or("there is no such process of yours")?;
        let started = self.observer.process(whose.pid).stat().map_err(|_| "the process has ended")?.starttime;
        if whose.pid == peer.pid && started > peer.accepted {
            return Err("the process has ended".into());
        }
        self.trees.begin(&self.observer, (whose.owner, whose.pid, started), each);
        if is_for_all {
            return Err(FOR_ALL.into());
        }
        if turns.is_some()
            && let Some(id) = self.registry.by_pid(whose.pid).map(|program| program.identity.id)
            && let Some(program) = self.registry.get_mut(id)
        {
            program.code.turns = turns;
        }
        let watches = self.adopted.watch(&self.observer, whose, (limits, turns), number != 0);
        watches.then_some(()).ok_or_else(|| "the process has ended".into())
    }

    /// Watches it no more, and gives it up if it is managed from outside. True if it was either.
    pub(super) fn release(&mut self, peer: Peer, number: u32) -> bool {
        let Some(whose) = self.meant_or_for_root(peer, number) else { return false };
        let watched = self.adopted.release(&self.observer, whose);
        let family = family(&self.observer, whose.pid, |_| false);
        let programs = family.into_iter().filter_map(|pid| self.registry.by_pid(pid));
        let adopted = programs.map(|program| program.identity.id).filter(|id| is_adopted(*id));
        let adopted: Vec<_> = adopted.collect();
        for id in &adopted {
            self.detach(*id);
            self.timers.ask();
        }
        watched || !adopted.is_empty()
    }

    fn meant_or_for_root(&self, peer: Peer, number: u32) -> Option<Peer> {
        let by_root = peer.uid == 0 && number != 0 && numbers_alike(peer);
        let pid = if by_root { Some(number) } else { self.meant(peer, number) }?;
        if pid == peer.pid {
            return Some(peer);
        }
        let process = self.observer.process(pid);
        let (uid, gid) = (process.uid().ok()?, process.started_by().ok()?.gid);
        Some(Peer { pid, uid, owner: self.talk.owner_of(uid), gid, accepted: peer.accepted })
    }

    /// Adopts programs that compute on several threads, and releases those that don't any more.
    pub(super) fn adopt_computing(&mut self) {
        let turns = self.gang() != Gang::Off;
        let around = (&self.observer, &self.talk);
        let found = self.adopted.find(&self.registry, around, &mut self.budget, turns);
        for (owner, pid, e) in found.unseen {
            let advice = "see kernel.perf_event_paranoid (sysctl)";
            let what = format_args!("whether process {pid} waits by spinning can't be seen: {e}; {advice}");
            self.limiters.warn(owner, what);
        }
        for new in found.new {
            let (pid, owner) = (new.peer.pid, new.peer.owner);
            if let Err(e) = self.adopt(&new) {
                self.limiters.warn(owner, format_args!("process {pid} isn't adopted: {e:#}"));
            }
        }
        for id in found.spinning {
            self.find_spinning(id);
        }
        let looked = self.adopted.look(&self.registry, &self.observer);
        for (id, reading) in looked.readings {
            self.take_reading(id, &reading);
        }
        for id in looked.resting {
            if self.detach(id) {
                self.timers.ask();
            }
        }
    }

    /// Takes what was measured of an adopted program.
    fn take_reading(&mut self, id: ProgramId, reading: &Reading) {
        let Some(program) = self.registry.get_mut(id) else { return };
        if reading.is_blind {
            program.code.cannot_be_seen();
        }
        // Stopped, it neither wants nor uses anything.
        if program.phase.takes_turns {
            return;
        }
        if let Some(interval) = &reading.interval {
            program.measured_outside(interval);
        }
        let Some(demand) = reading.demand else { return };
        program.evidence.demand = Some(demand.contexts);
        let natural = demand.natural(program.limits.natural, program.code.rigid().is_some());
        if natural != program.limits.natural {
            program.limits.natural = natural;
            self.timers.ask();
        }
    }

    fn adopt(&mut self, new: &New) -> anyhow::Result<()> {
        let (id, peer) = (new.id, new.peer);
        let process = self.observer.process(peer.pid);
        let stat = process.stat()?;
        let hello = Hello::new(ATTACH, new.threads.max(2));
        let (reach, set) = self.reach(&peer, &stat, &hello)?;
        let (now_ns, cpu_ns) = (clock::now_ns(), self.observer.cpu_ns(peer.pid).unwrap_or(0));
        let identity = self.identity(id, &peer, (&process, stat.starttime), &hello, now_ns);
        if self.registry.is_empty() {
            self.wake();
        }
        if reach.alone.is_none() {
            self.load.attach(id, now_ns, cpu_ns, age_s(stat.starttime));
        }
        let limits = Limits { natural: hello.natural, ..UNLIMITED }.changed(new.limits);
        let limits = limits.map_err(anyhow::Error::msg)?;
        if let Some(starting) = self.registry.by_pid(peer.pid).map(|program| program.identity.id) {
            self.detach(starting);
        }
        self.registry.attach(Program {
            identity,
            limits: limits.permitted(self.scope, peer.uid),
            reach,
            code: Code::unknown(new.turns),
            grant: Grant::before(set, stat.threads),
            evidence: Evidence::new(clock::ticks(), cpu_ns, self.config.rc_s, None),
            phase: Phase::default(),
        });
        if new.spins {
            self.find_spinning(id);
        }
        self.timers.busy();
        self.timers.ask();
        Ok(())
    }

    /// A program's threads wait for each other by spinning. If it has bound them, they stay where they are:
    /// for its turn it has their PUs.
    fn find_spinning(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.code.find_rigid(SPINS.into());
        if program.reach.alone.is_some() {
            let pid = program.identity.pid;
            let threads = self.observer.process(pid).threads().unwrap_or_default();
            let masks: Vec<PuSet> = threads.into_iter().filter_map(|tid| affinity(tid).ok()).collect();
            if !program.reach.keep(&masks, &self.capacity.limits.pus) {
                return;
            }
            program.limits.natural = u32::try_from(program.reach.usable.len()).unwrap_or(u32::MAX);
            let (cpu_ns, age_s) = (self.observer.cpu_ns(pid).unwrap_or(0), age_s(program.identity.starttime));
            self.load.attach(id, clock::now_ns(), cpu_ns, age_s);
        }
        self.timers.ask();
    }
}
