//! Acts on events of clients, inspection helpers and the profile database.

use super::parts::{BROKER, Daemon, MEMORY, SIGNALS};
use super::serial_phases;
use crate::inspect::{Job, Verdict, When};
use crate::log::info;
use crate::observe::clock::now_ns;
use crate::remember::Answer;
use crate::talk::Event;
use scaf_memory::Checked;
use scaf_policy::ProgramId;

impl Daemon {
    /// Acts on one event. True if it asks for a decision.
    pub(super) fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::Attach(id, peer, hello) => return self.attach(ProgramId(id), peer, &hello),
            Event::Gone(id) => return self.gone(ProgramId(id)),
            Event::Control(id, peer, request) => return self.answer(id, peer, request),
            Event::Ready(MEMORY) => return self.recalled(),
            Event::MoreModules(id, modules) => {
                let id = ProgramId(id);
                if self.registry.get_mut(id).is_some_and(|program| program.code.meets(modules)) {
                    self.inspect(id, modules, When::Quiet);
                }
            }
            Event::Entered(id) => self.entered(ProgramId(id)),
            Event::Ready(SIGNALS) => self.stop = true,
            // Unasked, the broker only hangs up.
            Event::Ready(BROKER) => {}
            Event::Ready(helper) => _ = self.inspector.ready(helper),
        }
        false
    }

    fn entered(&mut self, id: ProgramId) {
        if self.look_at_wait(id) {
            return;
        }
        if self.registry.get(id).is_some_and(|program| program.phase.starting) {
            self.has_started(id);
        }
        if self.registry.get_mut(id).is_some_and(|program| serial_phases::entered(program, now_ns())) {
            self.timers.ask();
        }
    }

    /// A program enters its first region: its contexts are its own now, and its code has to be known.
    pub(super) fn has_started(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get_mut(id) else { return };
        program.phase.is_parallel(now_ns());
        let Some(program) = self.registry.get(id).filter(|program| program.reach.alone.is_none()) else {
            return;
        };
        if !program.reach.binding.is_managed()
            && let Some(why) = self.why_bound(program.identity.pid, &program.reach.own, &program.grant.masks)
        {
            self.leave_alone(id, why);
            return self.timers.ask();
        }
        let (lent, modules) = (program.grant.lent, program.code.modules());
        if program.code.is_urgent() {
            self.inspect(id, modules, When::Now);
        }
        match lent {
            true => self.timers.ask(),
            // It isn't narrowed yet.
            false => self.carry_out(id),
        }
    }

    pub(super) fn inspect(&mut self, id: ProgramId, modules: u32, when: When) {
        if let Some(program) = self.registry.get(id) {
            let crate::registry::Identity { pid, uid, owner, gid, .. } = program.identity;
            let modules = u8::try_from(modules).unwrap_or(u8::MAX);
            self.inspector.ask(Job { id, pid, uid, owner, gid, modules }, when);
        }
    }

    /// Publishes a verdict at once.
    pub(super) fn inspected(&mut self, job: &Job, verdict: Verdict) {
        let Some(program) = self.registry.get_mut(job.id) else { return };
        let known = verdict.origin.as_ref().map_or_else(Vec::new, |origin| self.verdicts.about(origin));
        program.code.inspected(&verdict, job.modules, known);
        program.grant.renew();
        if self.verbose {
            let code = &program.code.teams;
            info!("program {} (process {}): {code:?}", job.id.0, job.pid);
        }
        if let Some(pages) = self.talk.pages(job.id.0) {
            pages.set_marks(verdict.marks.as_deref());
        }
        self.write_grant(job.id);
        if let (Some(origin), Some(program), false) =
            (verdict.origin, self.registry.get_mut(job.id), verdict.is_first)
        {
            let process = self.observer.process(program.identity.pid);
            self.profiles.recall(program, origin, &process);
        }
    }

    fn recalled(&mut self) -> bool {
        let mut changed = false;
        for answer in self.profiles.answers() {
            match answer {
                Answer::Recalled { id, key, found, checked, spinners } => {
                    self.take_check(id, checked);
                    let Some(program) = self.registry.get_mut(id) else { continue };
                    let owner = program.identity.owner;
                    spinners.into_iter().for_each(|place| self.spinning.recall(owner, place));
                    program.evidence.link.answered(&key, found);
                    if let Some(past) = program.evidence.link.past() {
                        program.remember(past);
                        changed = true;
                    }
                }
                Answer::Reply { connection, reply } => self.talk.answer(connection, &reply),
            }
        }
        changed
    }

    /// Applies what `scaf check` found about a program's executable. An admin's verdict overrules it.
    fn take_check(&mut self, id: ProgramId, checked: Option<Checked>) {
        let (Some(program), Some(checked)) = (self.registry.get_mut(id), checked) else { return };
        if self.verdicts.is_admins(&checked.executable) {
            return;
        }
        program.code.checked(checked);
        program.grant.renew();
        let late = program.code.can_wait && program.code.is_urgent() && !program.phase.starting;
        let modules = program.code.modules();
        // Before the first decision there is nothing to publish.
        if !self.newcomers.contains(id) {
            self.write_grant(id);
        }
        if late {
            self.inspect(id, modules, When::Now);
        }
    }
}
