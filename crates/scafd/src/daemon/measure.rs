//! What is done at every tick: observe, estimate, and follow grants until they are in effect.
//!
//! With 100 programs at 4 ticks a second this may cost 2% of a core: per program and tick one page is copied
//! and one clock read (2 us). What needs /proc is done once a second, or where a team is larger than its DoP.

use super::attach::GENERATIONS;
use super::grants::target_of;
use super::move_budget::Sweeps;
use super::parts::Daemon;
use super::serial_phases;
use crate::apply::Trouble;
use crate::config::Gang;
use crate::control::Tried;
use crate::estimate::Page;
use crate::log::warning;
use crate::observe::clock::{self, Tsc};
use crate::observe::counters::Note;
use crate::observe::proc_pid::Process;
use crate::observe::unmanaged_load::Sample;
use crate::registry::{Phase, Program};
use crate::remember::Ask;
use crate::serial_trials::When;
use crate::talk::Pages;
use scaf_policy::ProgramId;
use scaf_policy::observed::Runs;
use scaf_proto::experiment::Order;
use scaf_proto::report::{SLOTS, Totals, fact};
use scaf_proto::rows::RowCopy;
use std::time::Instant;

/// Threads of a program that are asked for children, once a second at 6 us each.
const FORKERS: usize = 16;
/// Processes of one generation that are looked at: a program with more children isn't worth a tick's time.
const MOST_CHILDREN: usize = 64;
const YOUNG_NS: u64 = 1_000_000_000;
/// Threads that could be moved while one counter is opened, which the broker does.
const COUNTER: u32 = 5;
const SUSPECT_NS: u64 = 150_000_000;
/// Contexts that others may be busy on, beyond those taken from programs, before programs are disturbed.
const CROWDED: f64 = 0.6;

impl Daemon {
    /// Ticks a second, and so decisions: by the policy, else by the configuration.
    pub(super) fn rate_hz(&self) -> f64 {
        self.parts.policy.rate_hz().unwrap_or(self.parts.config.rate_hz)
    }

    /// Reads clocks and load, finds out who is gone, and looks after new threads and children.
    pub(super) fn observe(&mut self) -> Sample {
        self.timers.ticked(self.rate_hz());
        let programs: Vec<(ProgramId, u32)> =
            self.registry.iter().map(|p| (p.identity.id, p.identity.pid)).collect();
        let sample =
            match self.observer.sample(&self.limits.pus, programs.into_iter(), self.inspector.children()) {
                Ok((sample, gone)) => {
                    for id in gone {
                        self.let_go(id);
                    }
                    if !self.parts.pretended {
                        let mut managed = sample.clone();
                        for program in self.registry.iter().filter(|p| p.reach.alone.is_some()) {
                            managed.cpu_ns.remove(&program.identity.id);
                        }
                        self.load.update(managed);
                    }
                    sample
                }
                Err(e) => {
                    warning!("/proc/stat: {e}: unmanaged load is unknown");
                    Sample::default()
                }
            };
        self.follow_threads();
        if self.timers.slow_is_due() {
            self.tsc.refine();
            self.refresh_limits();
            self.let_go_of_others();
            self.free_children();
            self.watch_lent();
            self.keep_from_time_to_time();
            self.recall_later();
        }
        sample
    }

    /// Reads the report pages. All are copied first, a microsecond each, so that what decides is of one
    /// moment.
    pub(super) fn estimate(&mut self, sample: Sample) {
        let experiments = match self.parts.config.experiments {
            When::Off => false,
            When::Lazy => self.registry.iter().filter(|program| program.reach.alone.is_none()).count() > 1,
            When::Always => true,
        };
        let again_ns = self.parts.config.experiment_again_s.saturating_mul(1_000_000_000);
        let pages: Vec<Option<Copied>> = self
            .registry
            .iter()
            .map(|program| {
                let copied = copied(self.parts.talk.pages(program.identity.id.0)?);
                copied.or_else(|| program.phase.starting.then(nothing))
            })
            .collect();
        let (now, crowded) = (Moment::now(), self.is_crowded());
        for (program, copied) in self.registry.iter_mut().zip(pages) {
            let cpu_ns = sample.cpu_ns.get(&program.identity.id).copied();
            let stepped = program.evidence.steps.now.take().is_some();
            let Some(copied) = copied else { continue };
            let (was_serial, process) = (program.phase.serial, self.observer.process(program.identity.pid));
            let Some(runs) = take_in(program, &process, copied, (cpu_ns, stepped), &now, &self.tsc) else {
                continue;
            };
            if !was_serial {
                serial_phases::doubt(program, &process);
            }
            if !crowded {
                program.ran(&runs);
            }
            let steady_s = now.ns.saturating_sub(program.grant.granted_ns) as f64 * 1e-9;
            let (id, pid) = (program.identity.id.0, program.identity.pid);
            let (owner, at) = (program.identity.owner, Instant::now());
            let before = self.counting.opened(program.identity.id);
            let may_open = !self.sweeps.has_to_wait(&self.parts.talk, owner, at);
            let complaints = &mut self.complaints;
            let note = |note| match note {
                Note::Chosen(why) => warning!("the configuration names an event that isn't counted: {why}"),
                Note::Without(why) => {
                    let text = format_args!("program {id} (process {pid}) goes without counters: {why}");
                    complaints.warn(owner, text);
                }
            };
            let counts = if before > 0 || may_open {
                let limited = Some(owner).filter(|owner| !self.parts.talk.is_trusted(*owner));
                self.counting.read(program.identity.id, &process, limited, cpu_ns, note)
            } else {
                None
            };
            let opened = self.counting.opened(program.identity.id).saturating_sub(before);
            self.sweeps.moved(owner, COUNTER * opened as u32, at);
            if let Some(counts) = counts {
                program.counted(&counts, steady_s);
            }
            program.know();
            let Some(pages) = self.parts.talk.pages(program.identity.id.0) else { continue };
            let evidence = &mut program.evidence;
            if evidence.trials.take(pages.experiments(), &mut evidence.observed, now.ns) {
                pages.order(Order::NONE);
            }
            if experiments
                && let Some(dop) = program.grant.dop
                && let Some(order) =
                    evidence.trials.next(&evidence.observed, dop, again_ns, now.ns, || process.memory().ok())
            {
                pages.order(order);
            }
            if self.parts.config.explore && !stepped && !program.phase.serial {
                program.explore(now.ns);
            }
        }
    }

    /// Reads the page of a program that has ended once more, for what it did since the last tick.
    pub(super) fn last_words(&mut self, id: ProgramId) {
        let crowded = self.is_crowded();
        if let Some(program) = self.registry.get_mut(id)
            && let Some(pages) = self.parts.talk.pages(id.0)
            && let Some(copied) = copied(pages)
        {
            let cpu_ns = self.observer.cpu_ns(program.identity.pid);
            let stepped = program.evidence.steps.now.is_some();
            let process = self.observer.process(program.identity.pid);
            let runs = take_in(program, &process, copied, (cpu_ns, stepped), &Moment::now(), &self.tsc);
            if let Some(runs) = runs.filter(|_| !crowded) {
                program.ran(&runs);
            }
        }
    }

    /// Keeps for `scaf check` which sizes the teams had that it tried out.
    pub(super) fn note_tried(&mut self, id: ProgramId) {
        let Some(program) = self.registry.get(id) else { return };
        let Some((totals, _)) = self.parts.talk.pages(id.0).and_then(|pages| pages.read()) else { return };
        let elsewhere = totals.facts & fact::TRIED_ELSEWHERE != 0;
        if totals.sizes == 0 && !elsewhere {
            return;
        }
        let tried = Tried {
            pid: program.identity.pid,
            uid: program.identity.uid,
            executable: program.identity.executable.clone(),
            sizes: (0..32).filter(|size| totals.sizes >> size & 1 != 0).collect(),
            elsewhere,
        };
        self.tried.add(tried.uid, tried);
    }

    /// Whether programs have contexts that others are busy on: how long anything took then isn't remembered.
    fn is_crowded(&self) -> bool {
        // Before loans: what is lent is its lender's, too.
        let granted: f64 = self.bases.values().filter_map(|base| base.dop).map(f64::from).sum();
        let load = self.load.contexts_now();
        self.parts.config.count_load
            && load - f64::from(self.unmanaged()) > CROWDED
            && granted + load > self.limits.pus.len() as f64
    }

    /// Whether some grant is not in effect yet.
    pub(super) fn unsettled(&self) -> bool {
        self.registry.iter().any(|p| p.grant.effective_ns.is_none())
    }

    /// Looks whether grants have come into effect.
    pub(super) fn settle(&mut self) {
        let (ticks, now_ns) = (clock::ticks(), clock::now_ns());
        for program in self.registry.iter_mut().filter(|p| p.grant.effective_ns.is_none()) {
            if let Some(page) = self.parts.talk.pages(program.identity.id.0).and_then(|pages| pages.read()) {
                program.evidence.look(ticks, &page);
            }
            let since = program.evidence.seen.map_or(ticks, |seen| seen.team_since);
            program.settle(self.tsc.when(since, ticks, now_ns), now_ns);
        }
    }

    /// Lets programs go that would wait for themselves while they are folded. True if there was one.
    pub(super) fn free_spinning(&mut self) -> bool {
        let (ticks, now_ns) = (clock::ticks(), clock::now_ns());
        let asked = matches!(self.parts.config.gang, Some(Gang::Spinning | Gang::Auto));
        let gangs = asked && self.can_take_turns();
        let (mut found, mut yields) = (Vec::new(), false);
        let now = Instant::now();
        for program in self.registry.iter_mut().filter(|p| p.code.spins.is_some()) {
            if program.grant.set.is_some()
                && let Some(page) =
                    self.parts.talk.pages(program.identity.id.0).and_then(|pages| pages.read())
            {
                program.evidence.look(ticks, &page);
            }
            yields |= program.learn_yields();
            let place = program.code.spins.clone().unwrap_or_default();
            let known = self.spinners.of(program.identity.owner).any(|known| *known == place);
            let pid = program.identity.pid;
            let owner = program.identity.owner;
            if self.sweeps.has_to_wait(&self.parts.talk, owner, now) {
                continue;
            }
            let runnable = |most| {
                let (running, cost) = self.observer.process(pid).runnable(most);
                self.sweeps.moved(owner, cost, now);
                running
            };
            let used = (self.observer.cpu_ns(pid).unwrap_or(0), now_ns);
            if program.is_stuck(used, known, runnable) {
                if !known {
                    let uid = program.identity.uid;
                    if let Some(remember) = self.parts.remember.as_mut().filter(|_| uid == owner) {
                        remember.ask(Ask::Spinner { uid, place: place.clone() });
                    }
                    self.spinners.add(owner, place.clone());
                }
                found.push((program.identity.id, place));
            }
        }
        for (id, place) in &found {
            let why = format!(
                "its threads spin on memory of their own, at {place}, and folded they wait for themselves"
            );
            self.has_waited_for_itself(*id);
            let Some(program) = self.registry.get_mut(*id) else { continue };
            program.code.find_rigid(why.clone());
            // With fewer contexts than it needs it would wait for itself in its turns, too.
            if !(gangs && program.may_have_all()) {
                self.leave_alone(*id, why);
            }
        }
        yields || !found.is_empty()
    }

    pub(super) fn suspects_spinning(&self) -> bool {
        let now_ns = clock::now_ns();
        let young = |since_ns: u64| now_ns.saturating_sub(since_ns) < SUSPECT_NS;
        self.registry.iter().any(|program| program.phase.stuck.is_some_and(|stuck| young(stuck.since_ns)))
    }

    fn follow_threads(&mut self) {
        let now_ns = clock::now_ns();
        let narrowed: Vec<ProgramId> = self
            .registry
            .iter()
            .filter(|program| !program.grant.masks.is_empty())
            .map(|program| program.identity.id)
            .collect();
        for id in narrowed {
            if self.waits_its_turn(id) {
                continue;
            }
            let Some(program) = self.registry.get_mut(id) else { continue };
            let young = program.grant.moved_ns.is_some_and(|at| now_ns.saturating_sub(at) < YOUNG_NS);
            let folded = program.grant.set.is_some()
                && program.evidence.seen.is_some_and(|seen| Some(seen.team) > program.grant.dop);
            if !young && !folded {
                continue;
            }
            let Ok(stat) = self.observer.process(program.identity.pid).stat() else { continue };
            if stat.threads != program.grant.threads {
                (program.grant.threads, program.grant.counted) = (stat.threads, stat.threads);
                let target = target_of(program);
                let result = match &program.grant.set {
                    Some(set) => self.parts.apply.narrow(&target, set).map(drop),
                    None => self.parts.apply.restore(&target),
                };
                if let Err(trouble @ Trouble::Denied { .. }) = result {
                    self.complaints.warn(program.identity.owner, trouble);
                }
                self.has_moved(id);
            }
        }
    }

    /// Processes that a narrowed program has forked were born narrow; unless they attach, that isn't meant.
    fn free_children(&mut self) {
        let now_ns = clock::now_ns();
        for program in self.registry.iter() {
            let owner = program.identity.owner;
            let has_to_wait = |sweeps: &Sweeps| sweeps.has_to_wait(&self.parts.talk, owner, Instant::now());
            let lately = program.grant.moved_ns.is_some_and(|at| now_ns.saturating_sub(at) < 2 * YOUNG_NS);
            let narrow = program.grant.set.is_some() || lately;
            if program.grant.masks.is_empty() || !narrow || has_to_wait(&self.sweeps) {
                continue;
            }
            let mut family = vec![program.identity.pid];
            for _ in 0..GENERATIONS {
                // Each file takes some 6 us to read, as to move two threads.
                self.sweeps.moved(owner, (2 * FORKERS * family.len()) as u32, Instant::now());
                family = family
                    .iter()
                    .flat_map(|parent| self.observer.process(*parent).children(FORKERS))
                    .filter(|child| self.registry.by_pid(*child).is_none())
                    .take(MOST_CHILDREN)
                    .collect();
                for child in &family {
                    let threads = self.parts.apply.restore_child(*child, &target_of(program));
                    self.sweeps.moved(owner, threads, Instant::now());
                }
                if family.is_empty() || has_to_wait(&self.sweeps) {
                    break;
                }
            }
        }
    }
}

type Copied = (Page, Vec<RowCopy>);

fn copied(pages: &Pages) -> Option<Copied> {
    Some((pages.read()?, pages.rows().read().collect()))
}

/// What the page says of a program that hasn't taken it yet, which it does at its first region.
fn nothing() -> Copied {
    ((Totals::default(), [None; SLOTS]), Vec::new())
}

struct Moment {
    ticks: u64,
    ns: u64,
}

impl Moment {
    fn now() -> Moment {
        Moment { ticks: clock::ticks(), ns: clock::now_ns() }
    }
}

/// Takes in what a program's page says, and gives what its regions did; `None` for a program that takes
/// turns, whose clocks and counters stand still while others run.
fn take_in(
    program: &mut Program,
    process: &Process,
    (page, rows): Copied,
    (cpu_ns, stepped): (Option<u64>, bool),
    now: &Moment,
    tsc: &Tsc,
) -> Option<Vec<Runs>> {
    let (seen, cpu_s) = program.evidence.read(now.ticks, &page, program.contexts(), cpu_ns, tsc);
    let steady_ns = now.ns.saturating_sub(program.grant.granted_ns);
    let most = u32::try_from(program.reach.usable.len()).unwrap_or(u32::MAX);
    let held = (steady_ns as f64 * 1e-9, most);
    let runs = program.evidence.regions.read(now.ticks, held, rows.into_iter(), tsc);
    if program.phase.takes_turns {
        program.evidence.seen = Some(seen);
        return None;
    }
    program.measured(seen, stepped);
    // Only asked where it counts: it is a file of each program's.
    program.phase.stopped = seen.in_region && Phase::is_still(&seen, cpu_s) && process.is_held();
    program.phase.listen(&seen, cpu_s, now.ns);
    Some(runs)
}
