//! The daemon: one thread, one loop.
//!
//! Arrivals and departures are acted on at once, efficiencies and load at every tick (4 a second by default;
//! none while no program is attached). A pass is observe > estimate > allocate > place > apply > publish.
//! Each concern is a type with its own state in its own file.

mod adopted;
mod adoption;
mod allocate;
mod attach;
mod capacity;
mod carry_out;
mod computing;
mod deferred_narrowing;
mod detach;
mod events;
mod grants;
mod measure;
mod move_budget;
mod mpi_loans;
mod new_threads;
mod outside_meter;
mod parts;
mod per_user;
mod process_trees;
mod profile_recall;
mod recently_detached;
mod requests;
mod serial_phases;
mod spinning;
mod starting;
mod steps;
mod time_slices;
mod timers;
mod user_processes;
mod visibility;
mod waited_for;

pub use parts::{BROKER, Daemon, FIRST_HELPER, MEMORY, Parts, SIGNALS};

use crate::observe::clock::now_ns;
use crate::paths::Scope;
use crate::talk::Event;
use std::time::{Duration, Instant};

impl Daemon {
    /// Runs until a signal or idleness ends it, the broker ends or the kernel refuses to wait for events;
    /// then everything is restored.
    pub fn run(mut self) -> anyhow::Result<()> {
        let mut result = Ok(());
        self.notify.ready();
        while !self.stop {
            if self.apply.is_lost() {
                result = Err(anyhow::anyhow!("the broker has ended; whom it had narrowed is as before"));
                break;
            }
            self.notify.alive();
            match self.talk.wait(self.next_wake()) {
                Ok(events) => self.pass(events),
                Err(e) => {
                    result = Err(anyhow::anyhow!("cannot wait for clients: {e}"));
                    break;
                }
            }
        }
        self.notify.stopping();
        self.release_all();
        self.registry.iter_mut().for_each(|program| self.profiles.keep(program));
        self.profiles.end();
        result
    }

    fn pass(&mut self, events: Vec<Event>) {
        for event in events {
            if self.handle(event) {
                self.timers.ask();
            }
        }
        // Newcomers' leases as well, which have their pages by now.
        self.renew_leases();
        let (began, before) = (Instant::now(), self.decider.decisions);
        self.find_started();
        self.adopt_computing();
        let tick = !self.registry.is_empty() && self.timers.tick_is_due();
        if tick {
            let sample = self.observe();
            self.estimate(&sample);
            self.detach_unsuitable();
        }
        let asked = self.timers.decision_is_due();
        if asked || tick {
            self.find_waited_for();
            let (allocation, decision) = self.allocate();
            let places = self.place(&allocation);
            self.apply(&allocation, places);
            self.publish(decision);
            if asked {
                self.history.ask();
            }
            if self.decider.decisions > before {
                self.decider.took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            }
        }
        self.lend();
        // After newcomers have their pages: starting a helper takes 1 ms, and a client waits for 2.
        for (job, verdict) in self.inspector.finished(&self.talk) {
            self.inspected(&job, verdict);
        }
        self.narrow_deferred();
        self.meters.settle(&mut self.registry, &self.talk);
        self.find_returned();
        if self.separate_spinning() | self.release_unstoppable() {
            self.timers.tick_now();
        }
        self.keep_moment(tick);
        self.stop |= self.idle_deadline().is_some_and(|at| Instant::now() >= at);
    }

    fn next_wake(&self) -> Option<Instant> {
        let (now, attached) = (Instant::now(), !self.registry.is_empty());
        let unsettled = || self.registry.iter().any(|program| program.grant.effective_ns.is_none());
        let watching = attached && self.timers.is_watching() && unsettled();
        let [tick, decision] = self.timers.next(attached);
        let moment = self.history.deadline_ns();
        [
            tick,
            decision,
            self.loans.at(),
            (watching || spinning::suspects(&self.registry, now_ns())).then(|| now + timers::LOOK),
            moment.map(|at_ns| now + Duration::from_nanos(at_ns.saturating_sub(now_ns()))),
            (!self.deferred.is_empty()).then(|| now + deferred_narrowing::LOOK),
            self.inspector.deadline(),
            self.idle_deadline(),
            self.notify.deadline(),
            self.adopted.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle_deadline(&self) -> Option<Instant> {
        let default = match self.scope {
            Scope::System => 0,
            Scope::Session => 10,
        };
        let seconds = self.config.idle_exit_s.unwrap_or(default);
        let unused = self.talk.clients() == 0 && !self.adopted.is_watching();
        (seconds > 0 && unused).then(|| self.timers.idle_for(seconds))
    }
}
