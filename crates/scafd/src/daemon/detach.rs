//! Programs detach: they end, are another user's by now, or have nothing to be managed for.

use super::parts::Daemon;
use super::timers::SHORT_LIVED;
use crate::apply::Trouble;
use crate::log::info;
use crate::observe::clock::now_ns;
use crate::registry::Program;
use scaf_policy::{Allocation, ProgramId};

impl Daemon {
    /// A program's connection has ended. True if that asks for a decision now. The contexts of a short-lived
    /// program are kept for a while, because another one may follow.
    pub(super) fn gone(&mut self, id: ProgramId) -> bool {
        let oversubscribed = self.is_oversubscribed();
        let mut short = false;
        if let Some(program) = self.registry.get_mut(id) {
            if let Some(pages) = self.talk.pages(id.0) {
                self.meters.read_last(program, pages, &self.observer, oversubscribed);
            }
            let age_ns = now_ns().saturating_sub(program.identity.attached_ns);
            short = u128::from(age_ns) < SHORT_LIVED.as_nanos();
        }
        let asks = self.detach(id);
        if asks && short {
            self.timers.ask_soon();
        }
        asks && !short
    }

    /// Ends a program's connection, and takes it out. True if there was one.
    pub(super) fn detach(&mut self, id: ProgramId) -> bool {
        if let Some(program) = self.registry.get(id)
            && let Some((totals, _)) = self.talk.pages(id.0).and_then(|pages| pages.read())
            && let Some(tried) = super::measure::tried(program, &totals)
        {
            self.tried.add(tried.uid, tried);
        }
        self.talk.close(id.0);
        self.depart(id)
    }

    /// Removes a program and gives it its own affinity back. True if there was one.
    pub(super) fn depart(&mut self, id: ProgramId) -> bool {
        self.timers.busy();
        self.newcomers.remove(id);
        self.deferred.remove(id);
        self.inspector.forget(id);
        self.meters.close(id);
        let Some(mut program) = self.registry.detach(id) else { return false };
        self.profiles.keep(&mut program);
        self.detached.add(&program);
        if let Err(trouble @ Trouble::Denied { .. }) = self.apply.restore(&program.target()) {
            // The guardian keeps its record and tries again when the daemon ends.
            let text = format_args!("program {} stays narrow: {trouble}", id.0);
            self.limiters.warn(program.identity.owner, text);
        }
        self.apply.leave(program.identity.pid);
        let cpu_ns = self.observer.cpu_ns(program.identity.pid);
        self.load.detach(id, now_ns(), cpu_ns, program.contexts());
        if self.registry.is_empty() {
            self.load.reset();
            self.take_turns(&Allocation::default());
        }
        true
    }

    /// Detaches programs whose user has changed since they attached: their limits were the former user's.
    /// They attach again by themselves. Once a second, a microsecond each.
    pub(super) fn detach_other_users(&mut self) {
        let changed = |program: &&Program| {
            self.observer.process(program.identity.pid).uid().is_ok_and(|uid| uid != program.identity.uid)
        };
        let changed = self.registry.iter().filter(changed);
        let changed: Vec<_> = changed.map(|it| (it.identity.id, it.identity.pid)).collect();
        for (id, pid) in changed {
            info!("program {} (process {pid}) has become another user's and is detached", id.0);
            self.detach(id);
        }
    }
}
