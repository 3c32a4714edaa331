//! What is done at every tick: observe, estimate, and follow grants until they are in effect.
//!
//! With 100 programs at 4 ticks a second this may cost 2% of a core, so that per program and tick there is one page
//! to copy and one clock to read (2 us); what needs /proc is done once a second, or only where a team is larger than
//! its DoP.

use super::Daemon;
use super::arrive::GENERATIONS;
use super::decide::target_of;
use crate::apply::Trouble;
use crate::estimate::Bounds;
use crate::experiment::When;
use crate::log::{self, Level};
use crate::observe::clock;
use crate::observe::load::Sample;
use scaf_policy::ProgramId;
use scaf_proto::experiment::Order;
use std::time::{Duration, Instant};

/// How often limits are read again and children looked for.
pub(super) const SLOW: Duration = Duration::from_secs(1);

/// Threads of a program that are asked for children, once a second at 6 us each.
const FORKERS: usize = 16;

/// Processes of one generation that are looked at: a program with more children isn't worth a tick's time.
const MOST_CHILDREN: usize = 64;

/// For how long after a change threads may still appear that were created before it.
const YOUNG_NS: u64 = 1_000_000_000;

/// For how long a program that has got nowhere is looked at every 10 ms; then at every tick.
const SUSPECT_NS: u64 = 150_000_000;

/// Loops that are remembered because somebody waited for himself in them.
const MOST_SPINNERS: usize = 256;

impl Daemon {
    pub(super) fn period(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.parts.policy.rate_hz().unwrap_or(self.parts.config.rate_hz))
    }

    /// Reads clocks and load, finds out who is gone, and looks after new threads and children.
    pub(super) fn observe(&mut self) -> Sample {
        let now = Instant::now();
        self.next_tick += self.period();
        if self.next_tick < now {
            // We were stopped or starved: one tick, not all those that were missed.
            self.next_tick = now + self.period();
        }
        let programs: Vec<(ProgramId, u32)> = self.registry.iter().map(|p| (p.id, p.pid)).collect();
        let sample =
            match self.observer.sample(&self.limits.pus, programs.into_iter(), self.inspector.children()) {
                Ok((sample, gone)) => {
                    for id in gone {
                        // Its connection lives on in a child, say.
                        self.parts.talk.close(id.0);
                        self.depart(id);
                    }
                    if !self.parts.pretended {
                        let mut managed = sample.clone();
                        for program in self.registry.iter().filter(|p| p.alone.is_some()) {
                            // Nobody sizes it, so what it uses is not there to be given away.
                            managed.cpu_ns.remove(&program.id);
                        }
                        self.load.update(managed);
                    }
                    sample
                }
                Err(e) => {
                    log::line(Level::Warning, format_args!("/proc/stat: {e}: unmanaged load is unknown"));
                    Sample::default()
                }
            };
        self.follow_threads();
        if now >= self.next_slow {
            self.next_slow = now + SLOW;
            self.tsc.refine();
            self.refresh_limits();
            self.free_children();
        }
        sample
    }

    /// Reads the report pages.
    pub(super) fn estimate(&mut self, sample: Sample) {
        let now_ns = clock::now_ns();
        let experiments = match self.parts.config.experiments {
            When::Off => false,
            When::Lazy => self.registry.iter().filter(|program| program.alone.is_none()).count() > 1,
            When::Always => true,
        };
        let again_ns = self.parts.config.experiment_again_s.saturating_mul(1_000_000_000);
        for program in self.registry.iter_mut() {
            // A step is for one interval, whatever comes of it.
            let stepped = program.step.take().is_some();
            let cpu_ns = sample.cpu_ns.get(&program.id).copied();
            let bounds = Bounds {
                p: f64::from(program.contexts()),
                cpu_s: cpu_ns.map(|ns| ns.saturating_sub(program.cpu_ns) as f64 * 1e-9),
            };
            program.cpu_ns = cpu_ns.unwrap_or(program.cpu_ns);
            let Some(pages) = self.parts.talk.pages(program.id.0) else { continue };
            let Some(page) = pages.read() else { continue };
            let (ticks, steady_ns) = (clock::ticks(), now_ns.saturating_sub(program.grant.granted_ns));
            let seen = program.meter.read(ticks, &page, bounds, &self.tsc);
            program.measured(seen, stepped);
            let rows = pages.rows().read();
            let most = u32::try_from(program.usable.len()).unwrap_or(u32::MAX);
            let runs = program.rows.read(ticks, (steady_ns as f64 * 1e-9, most), rows, &self.tsc);
            program.ran(&runs);
            if program.trials.take(pages.experiments(), &mut program.observed, now_ns) {
                pages.order(Order::NONE);
            }
            if experiments
                && let Some(dop) = program.grant.dop
                && let Some(order) = program.trials.next(&program.observed, dop, again_ns, now_ns, || {
                    self.observer.process(program.pid).memory().ok()
                })
            {
                pages.order(order);
            }
            if self.parts.config.explore && !stepped {
                program.explore(now_ns);
            }
        }
    }

    /// Whether some grant is not in effect yet.
    pub(super) fn unsettled(&self) -> bool {
        self.registry.iter().any(|p| p.grant.effective_ns.is_none())
    }

    /// Looks whether grants have come into effect.
    pub(super) fn settle(&mut self) {
        let (ticks, now_ns) = (clock::ticks(), clock::now_ns());
        for program in self.registry.iter_mut().filter(|p| p.grant.effective_ns.is_none()) {
            if let Some(page) = self.parts.talk.pages(program.id.0).and_then(|pages| pages.read()) {
                let look = program.meter.look(ticks, &page);
                program.seen = Some(look);
            }
            let since = program.seen.map_or(ticks, |seen| seen.team_since);
            program.settle(self.tsc.when(since, ticks, now_ns), now_ns);
        }
    }

    /// Lets programs go that would wait for themselves while they are folded. True if there was one.
    pub(super) fn free_spinning(&mut self) -> bool {
        let (ticks, now_ns) = (clock::ticks(), clock::now_ns());
        let mut found = Vec::new();
        // Those that aren't folded, too: whatever was noted of them is forgotten then.
        for program in self.registry.iter_mut().filter(|p| p.spins.is_some()) {
            if program.grant.set.is_some()
                && let Some(page) = self.parts.talk.pages(program.id.0).and_then(|pages| pages.read())
            {
                program.seen = Some(program.meter.look(ticks, &page));
            }
            let place = program.spins.clone().unwrap_or_default();
            let spinner = (program.uid, place.clone());
            let known = self.spinners.contains(&spinner);
            if program.is_stuck(clock::cpu_ns(program.pid).unwrap_or(0), now_ns, known) {
                if !known {
                    self.spinners.push_back(spinner);
                    let surplus = self.spinners.len().saturating_sub(MOST_SPINNERS);
                    self.spinners.drain(..surplus);
                }
                found.push((program.id, place));
            }
        }
        for (id, place) in &found {
            let why = format!(
                "its threads spin on memory of their own, at {place}, and folded they wait for themselves"
            );
            self.leave_alone(*id, why);
        }
        !found.is_empty()
    }

    /// Whether a program may turn out to be such a one within the next moments.
    pub(super) fn suspects_spinning(&self) -> bool {
        let now_ns = clock::now_ns();
        let young = |since_ns: u64| now_ns.saturating_sub(since_ns) < SUSPECT_NS;
        self.registry.iter().any(|program| program.stuck.is_some_and(|stuck| young(stuck.since_ns)))
    }

    /// Threads that were created just before a change, or by a thread that we leave alone.
    fn follow_threads(&mut self) {
        let now_ns = clock::now_ns();
        for program in self.registry.iter_mut() {
            if program.grant.masks.is_empty() {
                continue;
            }
            let young = program.grant.moved_ns.is_some_and(|at| now_ns.saturating_sub(at) < YOUNG_NS);
            let folded = program.grant.set.is_some()
                && program.seen.is_some_and(|seen| Some(seen.team) > program.grant.dop);
            if !young && !folded {
                continue;
            }
            let Ok(stat) = self.observer.process(program.pid).stat() else { continue };
            if stat.threads != program.threads {
                program.threads = stat.threads;
                let target = target_of(program);
                let result = match &program.grant.set {
                    Some(set) => self.parts.apply.narrow(&target, set).map(drop),
                    None => self.parts.apply.restore(&target),
                };
                if let Err(trouble @ Trouble::Denied { .. }) = result {
                    log::line(Level::Warning, trouble);
                }
            }
        }
    }

    /// Processes that a narrowed program has forked were born narrow; unless they attach, that isn't meant.
    fn free_children(&mut self) {
        let now_ns = clock::now_ns();
        for program in self.registry.iter() {
            // A child may have been born just before its parent was given everything back.
            let lately = program.grant.moved_ns.is_some_and(|at| now_ns.saturating_sub(at) < 2 * YOUNG_NS);
            if program.grant.masks.is_empty() || (program.grant.set.is_none() && !lately) {
                continue;
            }
            // A shell may have forked on before it was freed itself, so grandchildren are looked at too.
            let mut family = vec![program.pid];
            for _ in 0..GENERATIONS {
                family = family
                    .iter()
                    .flat_map(|parent| self.observer.process(*parent).children(FORKERS))
                    .filter(|child| self.registry.by_pid(*child).is_none())
                    .take(MOST_CHILDREN)
                    .collect();
                for child in &family {
                    self.parts.apply.restore_child(*child, &program.grant.masks, &program.own);
                }
            }
        }
    }
}
