//! Programs attach: who they are, where they may run, and whether they are managed.

use super::capacity::why_bound;
use super::move_budget::A_LEVEL;
use super::new_threads::GENERATIONS;
use super::parts::Daemon;
use crate::config::Gang;
use crate::inspect::When;
use crate::observe::priority::Priority;
use crate::observe::proc_pid::{Process, Stat};
use crate::observe::slurm_step::Step;
use crate::observe::{affinity, clock};
use crate::paths::Scope;
use crate::registry::{
    Binding, Code, Evidence, Grant, Identity, Limits, Phase, Program, Reach, no_pus, usable,
};
use crate::talk::Peer;
use scaf_policy::{ProgramId, PuSet};
use scaf_proto::hello::{
    FLAG_AT_WORK, FLAG_BOUND, FLAG_EXACT, FLAG_NO_TURNS, FLAG_RIGID, FLAG_STARTING, FLAG_TURNS, Hello,
};

impl Daemon {
    /// Registers a program. True if it is one more to decide about.
    pub(super) fn attach(&mut self, id: ProgramId, peer: Peer, hello: &Hello) -> bool {
        self.timers.busy();
        let admitted = self.admit(id, peer, hello);
        if let Err(e) = &admitted {
            self.limiters.warn(peer.owner, format_args!("process {} runs unmanaged: {e:#}", peer.pid));
            self.talk.refuse(id.0);
            if self.registry.by_pid(peer.pid).is_none() {
                self.apply.leave(peer.pid);
            }
        }
        admitted.is_ok()
    }

    fn admit(&mut self, id: ProgramId, peer: Peer, hello: &Hello) -> anyhow::Result<()> {
        anyhow::ensure!(peer.pid != 0, "it lives in a process namespace that this daemon does not see");
        let process = self.observer.process(peer.pid);
        let stat = process.stat()?;
        check_identity(&peer, stat.starttime, process.uid()?)?;
        self.talk.has_threads(peer.owner, stat.threads);
        // A process has one share; whoever connects twice (after an exec, say) means the newer one.
        if let Some(older) = self.registry.by_pid(peer.pid).map(|p| p.identity.id) {
            self.detach(older);
        }
        self.talk.prepare(id.0)?;
        if let Some(connection) = self.talk.connection(id.0) {
            self.apply.attach(connection).map_err(|e| anyhow::anyhow!("the broker refuses it: {e}"))?;
        }
        if self.registry.is_empty() {
            self.wake();
        }
        let has = |flag| hello.flags & flag != 0;
        let (reach, set) = self.reach(&peer, &stat, hello)?;
        let (now_ns, cpu_ns) = (clock::now_ns(), self.observer.cpu_ns(peer.pid).unwrap_or(0));
        if reach.alone.is_none() {
            self.load.attach(id, now_ns, cpu_ns, age_s(stat.starttime));
        }
        let identity = self.identity(id, &peer, (&process, stat.starttime), hello, now_ns);
        let limits = Limits {
            natural: hello.natural,
            min: hello.min,
            max: hello.max,
            weight: f64::from(hello.weight_milli) / 1000.0,
        };
        let rigid = has(FLAG_RIGID).then(|| "its user says so (scaf run --rigid)".into());
        // Under the daemon for all users, who is never stopped takes others' time.
        let may_stay = !has(FLAG_RIGID) && (self.scope == Scope::Session || peer.uid == 0);
        let stays = has(FLAG_NO_TURNS) && may_stay;
        let turns = if stays { Some(false) } else { has(FLAG_TURNS).then_some(true) };
        let profile = self.config.profiles.get(&identity.name).cloned();
        let mut program = Program {
            identity,
            limits: limits.permitted(self.scope, peer.uid),
            reach,
            code: Code::pending(hello.modules, has(FLAG_EXACT), rigid),
            grant: Grant::before(set, stat.threads),
            evidence: Evidence::new(clock::ticks(), cpu_ns, self.config.rc_s, profile),
            phase: Phase::default(),
        };
        program.code.turns = turns;
        program.phase.came_at_work = has(FLAG_AT_WORK);
        let starting = has(FLAG_STARTING);
        if starting {
            program.phase.begins(now_ns);
        }
        let command = || self.command_lines.of(process.folder(), peer.owner).ok();
        self.profiles.recall_at_once(&mut program, &process, command);
        let when = match program.code.can_wait {
            true if starting => When::Later,
            // Who has met no region attached while it loads its libraries, or may end before its first.
            _ if starting || hello.modules == 0 => When::Quiet,
            _ => When::Now,
        };
        self.registry.attach(program);
        self.newcomers.add(id);
        self.inspect(id, hello.modules, when);
        Ok(())
    }

    /// The first program has come after a time without any.
    pub(super) fn wake(&mut self) {
        self.meters.tsc.refine();
        self.refresh_capacity();
        self.load.reset();
        self.timers.wake(self.rate_hz());
        let (pus, children) = (&self.capacity.limits.pus, self.inspector.children());
        if let Ok((sample, _)) = self.observer.sample(pus, std::iter::empty(), children) {
            self.load.update(sample);
        }
    }

    pub(super) fn identity(
        &mut self,
        id: ProgramId,
        peer: &Peer,
        (process, starttime): (&Process, u64),
        hello: &Hello,
        attached_ns: u64,
    ) -> Identity {
        let words = &mut self.command_lines;
        let line = || words.of(process.folder(), peer.owner).unwrap_or_default();
        let name = hello.name().map_or_else(|| process.name(line), str::to_owned);
        // Who was named by its user is called that.
        let number = if hello.name().is_none() { self.registry.number_for(peer.uid, &name) } else { 1 };
        Identity {
            id,
            pid: peer.pid,
            starttime,
            uid: peer.uid,
            owner: peer.owner,
            gid: peer.gid,
            name,
            number,
            tree: self.trees.of(&self.observer, &self.registry, (id, peer.owner, peer.pid)),
            executable: process.path().unwrap_or_default(),
            step: process.slurm_step().or_else(|| hello.job().and_then(|(job, step)| Step::new(job, step))),
            attached_ns,
        }
    }

    /// Where a program may run, and an affinity of ours that it was born with.
    pub(super) fn reach(
        &mut self,
        peer: &Peer,
        stat: &Stat,
        hello: &Hello,
    ) -> anyhow::Result<(Reach, Option<PuSet>)> {
        let (own, set) = self.own_affinity(peer.pid, stat, hello)?;
        let groups = &mut self.capacity.groups;
        let before = groups.unusual();
        let cgroup = groups.of(&peer.pid.to_string()).capped(self.talk.is_trusted(peer.owner));
        let priority = Priority::of(peer.pid);
        self.talk.has_threads(peer.owner, A_LEVEL * (groups.unusual() - before));
        let pus = &self.capacity.limits.pus;
        let usable = if self.capacity.is_pretended { pus.clone() } else { usable(&own, pus, &cgroup) };
        let alone = self.why_alone(peer.pid, hello, &own, set.as_ref(), &usable);
        let stranded = alone.is_some() && usable.is_empty();
        let is_bound = hello.flags & FLAG_BOUND != 0;
        let binding = if is_bound { Binding::Runtime } else { Binding::Unbound };
        let reach = Reach { own, usable, cgroup, alone, stranded, binding, priority };
        Ok((reach, set))
    }

    fn own_affinity(&self, pid: u32, stat: &Stat, hello: &Hello) -> anyhow::Result<(PuSet, Option<PuSet>)> {
        let reported = PuSet::from_words(&hello.own);
        let own = if reported.is_empty() { affinity(pid)? } else { reported };
        let is_chosen = |pid: &u32| self.bound.has(&self.observer, *pid);
        if is_chosen(&pid) {
            return Ok((own, None));
        }
        if let Some(formerly) = self.detached.own(pid, stat.starttime, &own)
            && affinity(pid).is_ok_and(|now| now != own)
        {
            return Ok((formerly.clone(), Some(own)));
        }
        let parent = |pid: &u32| Some(self.observer.process(*pid).stat().ok()?.parent);
        let ancestors = std::iter::successors(Some(stat.parent), parent).take(GENERATIONS);
        let ancestors = ancestors.take_while(|pid| !is_chosen(pid));
        Ok(match self.registry.inherited(ancestors, &own) {
            Some((parents_own, set)) => (parents_own, Some(set)),
            None => (own, None),
        })
    }

    fn why_alone(
        &mut self,
        pid: u32,
        hello: &Hello,
        own: &PuSet,
        set: Option<&PuSet>,
        usable: &PuSet,
    ) -> Option<String> {
        let has = |flag| hello.flags & flag != 0;
        if has(FLAG_RIGID) && self.gang() == Gang::Off {
            let why = "its user says that it is rigid, and there are no turns here; scaf doctor says why";
            return Some(why.into());
        }
        if usable.is_empty() {
            return Some(no_pus(own, &self.capacity.limits.pus));
        }
        // LLVM's runtime goes to each PU for a moment while it starts.
        // Threads that the runtime has bound are moved.
        if has(FLAG_STARTING) || has(FLAG_BOUND) { None } else { self.why_bound(pid, own, set) }
    }

    /// Why its threads are bound, if they are; `ours` are affinities that they have by us.
    pub(super) fn why_bound<'a>(
        &self,
        pid: u32,
        own: &'a PuSet,
        ours: impl IntoIterator<Item = &'a PuSet>,
    ) -> Option<String> {
        let known: Vec<&PuSet> = std::iter::once(own).chain(ours).collect();
        if self.apply.leaves_affinities() { None } else { why_bound(&self.observer, pid, own, &known) }
    }
}

/// Whether the process that has the peer's id is the one that connected, up to 10 s ago: its id may have been
/// given to another process, even another user's.
fn check_identity(peer: &Peer, starttime: u64, uid: u32) -> anyhow::Result<()> {
    anyhow::ensure!(
        starttime <= peer.accepted,
        "the process that connected has ended, and its id is another's now"
    );
    anyhow::ensure!(
        uid == peer.uid,
        "user {} connected, but the process runs as user {uid} now; start it as the user that it is to \
         run as",
        peer.uid
    );
    Ok(())
}

pub(super) fn age_s(starttime: u64) -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let now_s = now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9;
    (now_s - starttime as f64 / rustix::param::clock_ticks_per_second() as f64).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_and_another_users_are_not_the_one_that_connected() {
        let peer = Peer { pid: 7, uid: 1000, owner: 1000, gid: 1000, accepted: 500 };
        assert!(check_identity(&peer, 499, 1000).is_ok());
        assert!(check_identity(&peer, 500, 1000).is_ok());
        assert!(check_identity(&peer, 501, 1000).unwrap_err().to_string().contains("has ended"));
        for uid in [0, 1001] {
            assert!(check_identity(&peer, 499, uid).unwrap_err().to_string().contains("user 1000"));
        }
    }

    #[test]
    fn this_process_is_the_one_that_connects_from_here() {
        let (a, _b) = std::os::unix::net::UnixStream::pair().unwrap();
        let peer = Peer::of(&a.into()).unwrap();
        let process = crate::observe::proc_pid::Process::new(std::path::Path::new("/"), peer.pid);
        check_identity(&peer, process.stat().unwrap().starttime, process.uid().unwrap()).unwrap();
    }
}
