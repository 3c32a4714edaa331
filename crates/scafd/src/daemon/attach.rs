//! Programs come, are inspected, and go.

use super::capacity::why_bound;
use super::grants::target_of;
use super::move_budget::A_LEVEL;
use super::parts::Daemon;
use super::timers::SHORT_LIVED;
use crate::apply::Trouble;
use crate::inspect::{Job, Verdict, When};
use crate::log::info;
use crate::observe::proc_pid::Stat;
use crate::observe::slurm_step::Step;
use crate::observe::{affinity, clock};
use crate::registry::{Code, Evidence, Grant, Identity, Program, Reach, Wishes, no_pus, usable};
use crate::talk::Peer;
use scaf_policy::{ProgramId, PuSet};
use scaf_proto::hello::{FLAG_AT_WORK, FLAG_BOUND, FLAG_EXACT, FLAG_RIGID, FLAG_STARTING, Hello};

/// How far up a newcomer's ancestors, and down a leaver's descendants, inherited affinities are looked for.
pub(super) const GENERATIONS: usize = 8;

impl Daemon {
    /// Registers a program. True if it is one more to decide about.
    pub(super) fn arrive(&mut self, id: ProgramId, peer: Peer, hello: &Hello) -> bool {
        self.timers.busy();
        match self.admit(id, peer, hello) {
            Ok(()) => true,
            Err(e) => {
                let complaints = &mut self.complaints;
                complaints.warn(peer.owner, format_args!("process {} runs unmanaged: {e:#}", peer.pid));
                self.parts.talk.refuse(id.0);
                if self.registry.by_pid(peer.pid).is_none() {
                    self.parts.apply.leave(peer.pid);
                }
                false
            }
        }
    }

    fn admit(&mut self, id: ProgramId, peer: Peer, hello: &Hello) -> anyhow::Result<()> {
        anyhow::ensure!(peer.pid != 0, "it lives in a process namespace that this daemon does not see");
        let process = self.observer.process(peer.pid);
        let stat = process.stat()?;
        check_identity(&peer, stat.starttime, process.uid()?)?;
        self.parts.talk.has_threads(peer.owner, stat.threads);
        // A process has one share; whoever connects twice (after an exec, say) means the newer one.
        if let Some(older) = self.registry.by_pid(peer.pid).map(|p| p.identity.id) {
            self.let_go(older);
        }
        self.parts.talk.prepare(id.0)?;
        if let Some(connection) = self.parts.talk.connection(id.0) {
            self.parts.apply.attach(connection).map_err(|e| anyhow::anyhow!("the broker refuses it: {e}"))?;
        }
        if self.registry.is_empty() {
            self.wake();
        }
        let (own, set) = self.own_affinity(peer.pid, &stat, hello)?;
        let before = self.groups.unusual();
        let cgroup = self.groups.of(&peer.pid.to_string());
        self.parts.talk.has_threads(peer.owner, A_LEVEL * (self.groups.unusual() - before));
        let usable = match self.parts.pretended {
            true => self.limits.pus.clone(),
            false => usable(&own, &self.limits.pus, &cgroup),
        };
        let alone = self.why_alone(peer.pid, hello, &own, set.as_ref(), &usable);
        let has = |flag| hello.flags & flag != 0;
        let now_ns = clock::now_ns();
        let cpu_ns = self.observer.cpu_ns(peer.pid).unwrap_or(0);
        if alone.is_none() {
            self.load.attach(id, now_ns, cpu_ns, age_s(stat.starttime));
        }
        let lines = &mut self.parts.command_lines;
        let line = || lines.of(process.folder(), peer.owner).unwrap_or_default();
        let name = hello.name().map_or_else(|| process.name(line), str::to_owned);
        let profile = self.parts.config.profiles.get(&name).cloned();
        // Who was named by its user is called that.
        let number = if hello.name().is_none() { self.registry.number_for(peer.uid, &name) } else { 1 };
        let identity = Identity {
            id,
            pid: peer.pid,
            starttime: stat.starttime,
            uid: peer.uid,
            owner: peer.owner,
            gid: peer.gid,
            name,
            number,
            executable: process.path().unwrap_or_default(),
            step: process.slurm_step().or_else(|| hello.job().and_then(|(job, step)| Step::new(job, step))),
            attached_ns: now_ns,
        };
        let wishes = Wishes {
            natural: hello.natural,
            min: hello.min,
            max: hello.max,
            weight: f64::from(hello.weight_milli) / 1000.0,
        };
        let stranded = alone.is_some() && usable.is_empty() && !has(FLAG_BOUND);
        let rigid = has(FLAG_RIGID).then(|| "its user says so (scaf run --rigid)".into());
        let mut program = Program::new(
            identity,
            wishes.permitted(self.parts.scope, peer.uid),
            Reach { own, usable, cgroup, alone, stranded },
            Code::pending(hello.modules, has(FLAG_EXACT), rigid),
            Grant::before(set, stat.threads),
            Evidence::new(clock::ticks(), cpu_ns, self.parts.config.rc_s, profile),
        );
        program.phase.came_at_work = has(FLAG_AT_WORK);
        let starting = has(FLAG_STARTING);
        if starting {
            program.phase.begins(now_ns);
        }
        self.registry.attach(program);
        self.newcomers.push(id);
        self.recall_at_once(id);
        let when = match self.registry.get(id).is_some_and(|program| program.code.can_wait) {
            true if starting => When::Later,
            // Who has met no region attached while it loads its libraries, or may end before its first.
            _ if starting || hello.modules == 0 => When::Quiet,
            _ => When::Now,
        };
        self.inspect(id, hello.modules, when);
        Ok(())
    }

    fn wake(&mut self) {
        self.tsc.refine();
        self.refresh_limits();
        self.load.reset();
        self.timers.wake(self.rate_hz());
        if let Ok((sample, _)) =
            self.observer.sample(&self.limits.pus, std::iter::empty(), self.inspector.children())
        {
            self.load.update(sample);
        }
    }

    fn own_affinity(&self, pid: u32, stat: &Stat, hello: &Hello) -> anyhow::Result<(PuSet, Option<PuSet>)> {
        let told = PuSet::from_words(&hello.own);
        let own = if told.is_empty() { affinity(pid)? } else { told };
        if let Some(formerly) = self.former.own(pid, stat.starttime, &own)
            && affinity(pid).is_ok_and(|now| now != own)
        {
            return Ok((formerly.clone(), Some(own)));
        }
        let parent = |pid: &u32| Some(self.observer.process(*pid).stat().ok()?.parent);
        let ancestors = std::iter::successors(Some(stat.parent), parent).take(GENERATIONS);
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
        if hello.flags & FLAG_BOUND != 0 {
            return Some("its threads are bound by its own wish (OMP_PROC_BIND or the like)".into());
        }
        if hello.flags & FLAG_RIGID != 0 && !self.can_take_turns() {
            return Some(
                "its user says that it is rigid, and there are no turns here; scaf doctor says why".into(),
            );
        }
        if usable.is_empty() {
            return Some(no_pus(own, &self.limits.pus));
        }
        // LLVM's runtime goes to each PU for a moment while it starts.
        if hello.flags & FLAG_STARTING != 0 { None } else { self.why_bound(pid, own, set) }
    }

    /// Why its threads are bound, if they are; `ours` are affinities that they have by us.
    pub(super) fn why_bound<'a>(
        &self,
        pid: u32,
        own: &'a PuSet,
        ours: impl IntoIterator<Item = &'a PuSet>,
    ) -> Option<String> {
        let known: Vec<&PuSet> = std::iter::once(own).chain(ours).collect();
        if self.parts.apply.leaves_affinities() { None } else { why_bound(&self.observer, pid, own, &known) }
    }

    pub(super) fn inspect(&mut self, id: ProgramId, modules: u32, when: When) {
        if let Some(program) = self.registry.get_mut(id) {
            let modules = u8::try_from(modules).unwrap_or(u8::MAX);
            let job = Job {
                id,
                pid: program.identity.pid,
                uid: program.identity.uid,
                owner: program.identity.owner,
                gid: program.identity.gid,
                modules,
            };
            self.inspector.ask(job, when);
        }
    }

    /// Has a program inspected again that met further modules.
    pub(super) fn more_modules(&mut self, id: ProgramId, modules: u32) -> bool {
        if self.registry.get_mut(id).is_some_and(|program| program.code.meets(modules)) {
            self.inspect(id, modules, When::Quiet);
        }
        false
    }

    /// Takes in a verdict and publishes it at once.
    pub(super) fn inspected(&mut self, job: &Job, verdict: Verdict) {
        let Some(program) = self.registry.get_mut(job.id) else { return };
        program.code.inspected(&verdict, job.modules);
        let executable = verdict.origin.as_ref().map(|origin| origin.executable.as_str());
        if let Some(told) = executable.and_then(|executable| self.parts.verdicts.get(executable)) {
            program.code.checked(told.clone());
        }
        program.grant.renew();
        if self.parts.verbose {
            let code = &program.code.teams;
            info!("program {} (process {}): {code:?}", job.id.0, job.pid);
        }
        if let Some(pages) = self.parts.talk.pages(job.id.0) {
            pages.set_marks(verdict.marks.as_deref());
        }
        self.publish(job.id);
        if let Some(origin) = verdict.origin {
            self.recall(job.id, origin);
        }
    }

    /// Lets programs go whose user has changed since they attached: what they may ask for was that user's.
    /// They attach anew by themselves. Once a second, a microsecond each.
    pub(super) fn let_go_of_others(&mut self) {
        let other = |program: &&Program| {
            self.observer.process(program.identity.pid).uid().is_ok_and(|uid| uid != program.identity.uid)
        };
        let others: Vec<(ProgramId, u32)> = self
            .registry
            .iter()
            .filter(other)
            .map(|program| (program.identity.id, program.identity.pid))
            .collect();
        for (id, pid) in others {
            info!("program {} (process {pid}) has become another user's and is let go", id.0);
            self.let_go(id);
        }
    }

    /// Whether a program that ends has lived for a moment only.
    pub(super) fn was_short(&self, id: ProgramId) -> bool {
        self.registry.get(id).is_some_and(|program| {
            let age_ns = clock::now_ns().saturating_sub(program.identity.attached_ns);
            u128::from(age_ns) < SHORT_LIVED.as_nanos()
        })
    }

    /// Ends a program's connection, and takes it out. True if there was one.
    pub(super) fn let_go(&mut self, id: ProgramId) -> bool {
        self.note_tried(id);
        self.parts.talk.close(id.0);
        self.depart(id)
    }

    /// Takes a program out and gives it its own affinity back. True if there was one.
    pub(super) fn depart(&mut self, id: ProgramId) -> bool {
        self.timers.busy();
        self.newcomers.retain(|newcomer| *newcomer != id);
        self.inspector.forget(id);
        self.counting.close(id);
        let Some(mut program) = self.registry.detach(id) else { return false };
        self.keep(&mut program);
        self.former.add(&program);
        if let Err(trouble @ Trouble::Denied { .. }) = self.parts.apply.restore(&target_of(&program)) {
            // The guardian keeps its note and tries again when the daemon ends.
            let text = format_args!("program {} stays narrow: {trouble}", id.0);
            self.complaints.warn(program.identity.owner, text);
        }
        self.parts.apply.leave(program.identity.pid);
        let cpu_ns = self.observer.cpu_ns(program.identity.pid);
        self.load.detach(id, clock::now_ns(), cpu_ns, program.contexts());
        if self.registry.is_empty() {
            self.load.reset();
            self.take_turns(&scaf_policy::Allocation::default());
        }
        true
    }

    /// Sends a newcomer its pages, in which its first grant stands by now. False if it has gone.
    pub(super) fn welcome(&mut self, id: ProgramId) -> bool {
        self.newcomers.retain(|newcomer| *newcomer != id);
        let sent = self.parts.talk.welcome(id.0);
        if !sent {
            self.depart(id);
        }
        sent
    }

    /// The same for all that no decision was about.
    pub(super) fn welcome_all(&mut self) {
        while let Some(id) = self.newcomers.first() {
            self.welcome(*id);
        }
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

fn age_s(starttime: u64) -> f64 {
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
