//! The daemon: one thread, one loop, whose whole pass is on this page.
//!
//! Arrivals and departures are acted on at once, efficiencies and load at every tick (4 a second by default;
//! none while no program is attached). A pass is observe > estimate > allocate > place > apply > publish.

mod attach;
mod base;
mod capacity;
mod deferred_narrowing;
mod executable;
mod grants;
mod ground;
mod lease;
mod measure;
mod moments;
mod move_budget;
mod mpi_loans;
mod parts;
mod per_user;
mod profile_recall;
mod recently_detached;
mod requests;
mod serial_phases;
mod spinning;
mod time_slices;
mod timers;
mod visibility;

pub use parts::{BROKER, Daemon, FIRST_HELPER, MEMORY, Parts, SIGNALS};

use crate::paths::Scope;
use crate::talk::Event;
use scaf_policy::ProgramId;
use std::time::Instant;

impl Daemon {
    /// Runs until a signal or idleness ends it, and leaves everything as it was.
    /// # Errors
    /// The kernel refuses to wait for events; everything is restored then, too.
    pub fn run(mut self) -> anyhow::Result<()> {
        let mut result = Ok(());
        self.parts.notify.ready();
        while !self.stop {
            if self.parts.apply.is_lost() {
                result = Err(anyhow::anyhow!("the broker has ended; whom it had narrowed is as before"));
                break;
            }
            self.parts.notify.alive();
            match self.parts.talk.wait(self.next_wake()) {
                Ok(events) => self.pass(events),
                Err(e) => {
                    result = Err(anyhow::anyhow!("cannot wait for clients: {e}"));
                    break;
                }
            }
        }
        self.parts.notify.stopping();
        self.release_all();
        self.keep_all();
        if let Some(remember) = self.parts.remember.take() {
            remember.end();
        }
        result
    }

    fn pass(&mut self, events: Vec<Event>) {
        for event in events {
            if self.handle(event) {
                self.timers.ask();
            }
        }
        // Newcomers' as well, which have their pages by now.
        self.renew_lease();
        let (began, before) = (Instant::now(), self.decisions);
        self.find_started();
        let tick = !self.registry.is_empty() && self.timers.tick_is_due();
        if tick {
            let sample = self.observe();
            self.estimate(sample);
            self.let_go_astray();
        }
        let asked = self.timers.decision_is_due();
        if asked || tick {
            let (allocation, entry) = self.allocate();
            let places = self.place(&allocation);
            let changes = self.regrant(&allocation, places);
            self.apply_and_publish(&allocation, changes);
            self.note(entry);
            self.welcome_all();
            if asked {
                self.history.ask();
            }
            if self.decisions > before {
                self.decision_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            }
        }
        self.lend_while_they_wait();
        // After the welcome: starting a helper takes 1 ms, and the client waits for 2.
        for (job, verdict) in self.inspector.finished(&self.parts.talk) {
            self.inspected(&job, verdict);
        }
        self.narrow_late();
        self.settle();
        self.find_returned();
        if self.free_spinning() | self.free_unstoppable() {
            self.timers.tick_now();
        }
        self.keep_moment(tick);
        self.stop |= self.idle_deadline().is_some_and(|at| Instant::now() >= at);
    }

    /// Acts on one event. True if it asks for a decision.
    fn handle(&mut self, event: Event) -> bool {
        match event {
            Event::Attach(id, peer, hello) => self.arrive(ProgramId(id), peer, &hello),
            Event::MoreModules(id, modules) => self.more_modules(ProgramId(id), modules),
            Event::Entered(id) => {
                self.entered(ProgramId(id));
                false
            }
            Event::Gone(id) => {
                self.last_words(ProgramId(id));
                let short = self.was_short(ProgramId(id));
                let asks = self.let_go(ProgramId(id));
                if asks && short {
                    self.timers.ask_soon();
                }
                asks && !short
            }
            Event::Control(id, peer, request) => self.answer(id, peer, request),
            Event::Ready(SIGNALS) => {
                self.stop = true;
                false
            }
            Event::Ready(MEMORY) => self.recalled(),
            // It says something unasked only by hanging up.
            Event::Ready(BROKER) => false,
            Event::Ready(helper) => {
                self.inspector.ready(helper);
                false
            }
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let attached = !self.registry.is_empty();
        let watching = attached && self.timers.is_watching() && self.unsettled();
        let [tick, decision, loans] = self.timers.next(attached);
        [
            tick,
            decision,
            loans,
            (watching || self.suspects_spinning()).then(|| Instant::now() + timers::LOOK),
            self.next_moment(),
            self.is_late().then(|| Instant::now() + deferred_narrowing::LOOK),
            self.inspector.deadline(),
            self.idle_deadline(),
            self.parts.notify.deadline(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn idle_deadline(&self) -> Option<Instant> {
        let default = match self.parts.scope {
            Scope::System => 0,
            Scope::Session => 10,
        };
        let seconds = self.parts.config.idle_exit_s.unwrap_or(default);
        (seconds > 0 && self.parts.talk.clients() == 0).then(|| self.timers.idle_for(seconds))
    }
}
