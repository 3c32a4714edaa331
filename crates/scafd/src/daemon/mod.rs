//! The daemon: one thread, one loop, which is all on this page.
//!
//! Whoever comes or goes is acted on at once; efficiencies and load are taken in at every tick (4 a second by
//! default), and there are no ticks while no program is attached. A pass of the loop is
//! observe > estimate > allocate > place > apply > publish.

mod arrive;
mod decide;
mod late;
mod lend;
mod limits;
mod recall;
mod tick;
mod turns;

use crate::apply::Apply;
use crate::config::Config;
use crate::control::{self, CountersAre, Decisions, Reply, Request, Snapshot, Turns};
use crate::inspect::Inspector;
use crate::journal::Journal;
use crate::log::{self, Level};
use crate::observe::clock::{Tsc, now_ns};
use crate::observe::counters::{Access, Counting};
use crate::observe::load::Load;
use crate::observe::process::FileId;
use crate::observe::{Limits, Observer};
use crate::paths::Scope;
use crate::registry::Registry;
use crate::remember::Remember;
use crate::talk::{Event, Pages, Peer, Talk};
use scaf_policy::{Policy, ProgramId, PuSet, Topology};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Token of the signals' pipe, and that of the memory's answers; helpers' pipes have the tokens from [`FIRST_HELPER`] on.
pub const SIGNALS: u64 = 1;
/// See [`SIGNALS`].
pub const MEMORY: u64 = 2;
/// See [`SIGNALS`].
pub const FIRST_HELPER: u64 = 3;

/// What a daemon is made of.
pub struct Parts {
    /// Whom it serves.
    pub scope: Scope,
    /// How it is to behave.
    pub config: Config,
    /// How it decides.
    pub policy: Box<dyn Policy>,
    /// The machine.
    pub topology: Topology,
    /// Whether that is another machine than this one, in a dry run or in slow motion.
    pub pretended: bool,
    /// Its hands.
    pub apply: Apply,
    /// Its mouth and ears; [`SIGNALS`] is watched already.
    pub talk: Talk,
    /// What programs taught, if that is kept; [`MEMORY`] is watched already.
    pub remember: Option<Remember>,
    /// Whether every decision is logged.
    pub verbose: bool,
}

/// The daemon.
pub struct Daemon {
    parts: Parts,
    observer: Observer,
    registry: Registry,
    inspector: Inspector,
    limits: Limits,
    ground: limits::Ground,
    /// PUs that the topology doesn't know although they are there.
    strange: PuSet,
    load: Load,
    counting: Counting,
    tsc: Tsc,
    decisions: u64,
    /// Number of the first decision by the policy that is in force.
    policy_since: u64,
    journal: Journal,
    /// Programs that wait for their welcome until the decision about them is made.
    newcomers: Vec<ProgramId>,
    /// Programs that have left lately and were narrowed at some time.
    former: VecDeque<arrive::Former>,
    /// Users, and the loops of their programs in which one waited for itself while it was folded: the next one is found out sooner.
    spinners: VecDeque<(u32, String)>,
    /// Users, files that their programs were started from, and the fingerprints of the code in these as an inspection by that user found
    /// them: no other user is to rely on that.
    executables: VecDeque<(u32, FileId, String)>,
    next_tick: Instant,
    next_slow: Instant,
    next_keep: Instant,
    /// Until then a new grant's taking effect is looked for more often.
    watch_until: Instant,
    idle_since: Instant,
    /// Some program has left its serial phase, and is to get its contexts back.
    returning: bool,
    /// Not before then.
    next_return: Instant,
    stop: bool,
    /// Who takes turns now.
    turns: Option<Turns>,
}

impl Daemon {
    /// A daemon without programs.
    pub fn new(mut parts: Parts) -> Daemon {
        let now = Instant::now();
        parts.config = parts.config.at_pace(parts.apply.pace());
        let observer = Observer::new(std::path::Path::new("/")).at_pace(parts.apply.pace());
        let chosen = parts.config.counters.then(|| parts.config.events.clone());
        let mut daemon = Daemon {
            counting: observer.counting(chosen),
            observer,
            registry: Registry::default(),
            inspector: Inspector::new(FIRST_HELPER),
            limits: Limits::default(),
            ground: limits::Ground::default(),
            strange: PuSet::new(),
            load: Load::new(parts.config.rc_s),
            tsc: Tsc::measure(),
            decisions: 0,
            policy_since: 1,
            journal: Journal::default(),
            newcomers: Vec::new(),
            former: VecDeque::new(),
            spinners: VecDeque::new(),
            executables: VecDeque::new(),
            next_tick: now,
            next_slow: now,
            next_keep: now,
            watch_until: now,
            idle_since: now,
            returning: false,
            next_return: now,
            stop: false,
            turns: None,
            parts,
        };
        daemon.refresh_limits();
        daemon
    }

    /// Runs until a signal or idleness ends it, and leaves everything as it was.
    ///
    /// # Errors
    /// The kernel refuses to wait for events; everything is restored then, too.
    pub fn run(mut self) -> anyhow::Result<()> {
        let mut result = Ok(());
        while !self.stop {
            match self.parts.talk.wait(self.next_wake()) {
                Ok(events) => self.pass(events),
                Err(e) => {
                    result = Err(anyhow::anyhow!("cannot wait for clients: {e}"));
                    break;
                }
            }
        }
        self.release_all();
        self.keep_all();
        if let Some(remember) = self.parts.remember.take() {
            remember.end();
        }
        result
    }

    fn pass(&mut self, events: Vec<Event>) {
        self.parts.apply.follow();
        let mut changed = false;
        for event in events {
            changed |= self.handle(event);
        }
        let tick = !self.registry.is_empty() && Instant::now() >= self.next_tick;
        if tick {
            let sample = self.observe();
            self.estimate(sample);
        }
        if self.return_is_due() || tick || changed {
            let (allocation, entry) = self.allocate();
            let places = self.place(&allocation);
            self.apply_and_publish(&allocation, places);
            self.note(entry);
            self.welcome();
        }
        // After the welcome: starting a helper takes 1 ms, and the client waits for 2.
        for (job, verdict) in self.inspector.finished(&self.parts.talk) {
            self.inspected(&job, verdict);
        }
        self.narrow_late();
        self.settle();
        self.find_returned();
        if self.free_spinning() | self.free_unstoppable() {
            // The others have another share now.
            self.next_tick = Instant::now();
        }
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
                self.parts.talk.close(id);
                self.depart(ProgramId(id))
            }
            Event::Control(id, peer, request) => self.answer(id, peer, request),
            Event::Ready(SIGNALS) => {
                self.stop = true;
                false
            }
            Event::Ready(MEMORY) => self.recalled(),
            Event::Ready(helper) => {
                self.inspector.ready(helper);
                false
            }
        }
    }

    fn next_wake(&self) -> Option<Instant> {
        let attached = !self.registry.is_empty();
        let watching = attached && Instant::now() < self.watch_until && self.unsettled();
        [
            attached.then_some(self.next_tick),
            self.returning.then_some(self.next_return),
            (watching || self.suspects_spinning()).then(|| Instant::now() + Duration::from_millis(10)),
            self.parts.apply.rhythm().filter(|_| attached).map(|rhythm| Instant::now() + rhythm),
            self.is_late().then(|| Instant::now() + late::LOOK),
            self.parts.talk.deadline(),
            self.inspector.deadline(),
            self.idle_deadline(),
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
        (seconds > 0 && self.parts.talk.clients() == 0)
            .then(|| self.idle_since + Duration::from_secs(seconds))
    }

    fn answer(&mut self, id: u64, peer: Peer, request: Request) -> bool {
        self.idle_since = Instant::now();
        match request {
            Request::Snapshot => {
                let mut snapshot = self.snapshot();
                if !self.may_steer(peer) {
                    // What counters say of a program in use is not for other users to see.
                    let others = snapshot.programs.iter_mut().filter(|program| program.uid != peer.uid);
                    others.for_each(|program| program.counters = None);
                }
                self.parts.talk.answer(id, &Reply::Snapshot(Box::new(snapshot)));
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
                log::line(Level::Info, format_args!("policy {name}, asked for by process {}", peer.pid));
                self.parts.policy = policy;
                self.policy_since = self.decisions + 1;
                Reply::Policy(name.to_owned())
            }
            None => Reply::Error(crate::config::check_policy(name).err().unwrap_or_default()),
        }
    }

    fn decisions(&self, peer: Peer, request: &Request) -> Reply {
        let uid = (!self.may_steer(peer)).then_some(peer.uid);
        let entries = match request {
            Request::Decision(number) => self.journal.one(*number, uid).into_iter().collect(),
            Request::Decisions(after) => self.journal.after(*after, uid),
            _ => Vec::new(),
        };
        let (oldest, latest) = self.journal.span();
        Reply::Decisions(Box::new(Decisions { daemon: std::process::id(), oldest, latest, entries }))
    }

    fn may_steer(&self, peer: Peer) -> bool {
        peer.uid == 0 || peer.uid == rustix::process::getuid().as_raw()
    }

    /// The state of everything now.
    pub fn snapshot(&self) -> Snapshot {
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
            counters: match self.counting.access() {
                None if self.parts.config.counters => CountersAre::Unknown,
                None => CountersAre::Off,
                Some(Access::There) => CountersAre::There,
                Some(Access::Absent) => CountersAre::Absent,
                Some(Access::Forbidden) => CountersAre::Forbidden,
            },
            turns: self.turns.clone(),
            programs: self
                .registry
                .iter()
                .map(|p| {
                    let runtimes = self.parts.talk.pages(p.id.0).map_or_else(Vec::new, Pages::runtimes);
                    control::Program { runtimes, ..p.snapshot() }
                })
                .collect(),
        }
    }

    /// Contexts that can be given away now, at least 1.
    fn capacity(&self) -> u32 {
        let config = &self.parts.config;
        let busy = if config.count_load { self.load.taken() } else { 0 };
        let kept = busy.saturating_add(config.reserve);
        self.limits.contexts().saturating_sub(kept).max(1)
    }
}
