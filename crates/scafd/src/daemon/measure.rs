//! Estimate: reads the report pages, at ticks and in between.
//!
//! With 100 programs at 4 ticks a second this may cost 2% of a core: 2 us per program and tick. What needs
//! /proc is done once a second, or where a team is larger than its DoP.

use super::move_budget::{A_COUNTER, MoveBudget};
use super::serial_phases::{self, MOST_THREADS};
use crate::config::Config;
use crate::control::{CountersAre, Tried};
use crate::estimate::{Page, Seen};
use crate::log::{UserLimiters, warning};
use crate::observe::Observer;
use crate::observe::clock::{self, Tsc};
use crate::observe::counters::{Access, Counting, Failure};
use crate::observe::proc_pid::Process;
use crate::observe::unmanaged_load::Sample;
use crate::registry::{Phase, Program, Registry};
use crate::serial_trials::When;
use crate::talk::{Pages, Talk};
use scaf_policy::ProgramId;
use scaf_policy::observed::Runs;
use scaf_proto::experiment::Order;
use scaf_proto::report::{SLOTS, Totals, fact};
use scaf_proto::rows::RowCopy;
use std::time::Instant;

/// What report pages are read with.
pub(super) struct Meters {
    pub tsc: Tsc,
    counting: Counting,
}

pub(super) struct Tick<'a> {
    pub config: &'a Config,
    pub talk: &'a Talk,
    pub observer: &'a Observer,
    pub sample: &'a Sample,
    /// Whether programs have contexts that others are busy on: how long anything took then isn't remembered.
    pub oversubscribed: bool,
}

impl Meters {
    pub fn new(observer: &Observer, config: &Config) -> Meters {
        let chosen = config.counters.then(|| config.events.clone());
        Meters { tsc: Tsc::measure(), counting: observer.counting(chosen) }
    }

    /// Reads all report pages. All are copied first, a microsecond each, so that decisions rest on one
    /// moment.
    pub fn read_all(
        &mut self,
        registry: &mut Registry,
        tick: &Tick<'_>,
        budget: &mut MoveBudget,
        limiters: &mut UserLimiters,
    ) {
        let experiments = match tick.config.experiments {
            When::Off => false,
            When::Lazy => registry.iter().filter(|program| program.reach.alone.is_none()).count() > 1,
            When::Always => true,
        };
        let again_ns = tick.config.experiment_again_s.saturating_mul(1_000_000_000);
        let copy = |program: &Program| {
            let copied = copied(tick.talk.pages(program.identity.id.0)?);
            copied.or_else(|| program.phase.starting.then(nothing))
        };
        let pages: Vec<Option<Copied>> = registry.iter().map(copy).collect();
        let now = (clock::ticks(), clock::now_ns());
        for (program, copied) in registry.iter_mut().zip(pages) {
            let cpu_ns = tick.sample.cpu_ns.get(&program.identity.id).copied();
            let stepped = program.evidence.steps.now.take().is_some();
            let Some(copied) = copied else { continue };
            let (was_serial, process) = (program.phase.serial, tick.observer.process(program.identity.pid));
            let Some(runs) = evaluate(program, &process, copied, (cpu_ns, stepped), now, &self.tsc) else {
                continue;
            };
            if !was_serial {
                serial_phases::end_if_parallel(program, clock::now_ns(), || process.runnable(MOST_THREADS).0);
            }
            if !tick.oversubscribed {
                program.ran(&runs);
            }
            self.count(program, &process, (cpu_ns, now.1), tick.talk, budget, limiters);
            program.know();
            let Some(pages) = tick.talk.pages(program.identity.id.0) else { continue };
            let evidence = &mut program.evidence;
            if evidence.trials.take(pages.experiments(), &mut evidence.observed, now.1) {
                pages.order(Order::NONE);
            }
            if experiments
                && let Some(dop) = program.grant.dop
                && let Some(order) =
                    evidence.trials.next(&evidence.observed, dop, again_ns, now.1, || process.memory().ok())
            {
                pages.order(order);
            }
            if tick.config.explore && !stepped && !program.phase.serial {
                program.explore(now.1);
            }
        }
    }

    /// Reads a program's hardware counters. Opening them is charged to its user.
    fn count(
        &mut self,
        program: &mut Program,
        process: &Process,
        (cpu_ns, now_ns): (Option<u64>, u64),
        talk: &Talk,
        budget: &mut MoveBudget,
        limiters: &mut UserLimiters,
    ) {
        let (id, pid, owner) = (program.identity.id, program.identity.pid, program.identity.owner);
        let (at, trusted) = (Instant::now(), talk.is_trusted(owner));
        let before = self.counting.opened(id);
        if before == 0 && budget.is_spent(owner, trusted, at) {
            return;
        }
        let log = |failure| match failure {
            Failure::Chosen(why) => warning!("the configuration names an event that isn't counted: {why}"),
            Failure::Without(why) => {
                let text = format_args!("program {} (process {pid}) goes without counters: {why}", id.0);
                limiters.warn(owner, text);
            }
        };
        let limited = (!trusted).then_some(owner);
        let counts = self.counting.read(id, process, limited, cpu_ns, log);
        let opened = self.counting.opened(id).saturating_sub(before);
        budget.charge(owner, A_COUNTER * opened as u32, at);
        if let Some(counts) = counts {
            let steady_s = now_ns.saturating_sub(program.grant.granted_ns) as f64 * 1e-9;
            program.counted(&counts, steady_s);
        }
    }

    /// Reads the page of a program that has ended a last time.
    pub fn read_last(&self, program: &mut Program, pages: &Pages, observer: &Observer, oversubscribed: bool) {
        let Some(copied) = copied(pages) else { return };
        let cpu_ns = observer.cpu_ns(program.identity.pid);
        let stepped = program.evidence.steps.now.is_some();
        let process = observer.process(program.identity.pid);
        let now = (clock::ticks(), clock::now_ns());
        let runs = evaluate(program, &process, copied, (cpu_ns, stepped), now, &self.tsc);
        if let Some(runs) = runs.filter(|_| !oversubscribed) {
            program.ran(&runs);
        }
    }

    /// Restarts the interval, because the DoP changes.
    pub fn restart(&self, program: &mut Program, talk: &Talk, observer: &Observer) {
        if let Some(page) = talk.pages(program.identity.id.0).and_then(Pages::read) {
            let cpu_ns = observer.cpu_ns(program.identity.pid);
            let seen = program.evidence.restart(clock::ticks(), &page, cpu_ns, &self.tsc);
            program.grant.made_at(&seen);
        }
    }

    /// Checks whether grants have come into effect.
    pub fn settle(&self, registry: &mut Registry, talk: &Talk) {
        let (ticks, now_ns) = (clock::ticks(), clock::now_ns());
        for program in registry.iter_mut().filter(|p| p.grant.effective_ns.is_none()) {
            if let Some(page) = talk.pages(program.identity.id.0).and_then(Pages::read) {
                program.evidence.look(ticks, &page);
            }
            let since = program.evidence.seen.map_or(ticks, |seen| seen.team_since);
            program.settle(self.tsc.when(since, ticks, now_ns), now_ns);
        }
    }

    pub fn close(&mut self, id: ProgramId) {
        self.counting.close(id);
    }

    /// Whether there are hardware counters, for viewers.
    pub fn counters(&self, wanted: bool) -> CountersAre {
        match self.counting.access() {
            None if wanted => CountersAre::Unknown,
            None => CountersAre::Off,
            Some(Access::There) => CountersAre::There,
            Some(Access::Absent) => CountersAre::Absent,
            Some(Access::Forbidden) => CountersAre::Forbidden,
        }
    }
}

/// What a program's page says now.
pub(super) fn seen(program: &Program, talk: &Talk) -> Option<Seen> {
    Some(program.evidence.peek(clock::ticks(), &talk.pages(program.identity.id.0)?.read()?))
}

/// The team sizes that `scaf check` tried out, if it did.
pub(super) fn tried(program: &Program, totals: &Totals) -> Option<Tried> {
    let elsewhere = totals.facts & fact::TRIED_ELSEWHERE != 0;
    (totals.sizes != 0 || elsewhere).then(|| Tried {
        pid: program.identity.pid,
        uid: program.identity.uid,
        executable: program.identity.executable.clone(),
        sizes: (0..32).filter(|size| totals.sizes >> size & 1 != 0).collect(),
        elsewhere,
    })
}

type Copied = (Page, Vec<RowCopy>);

fn copied(pages: &Pages) -> Option<Copied> {
    Some((pages.read()?, pages.rows().read().collect()))
}

/// The page of a program that hasn't mapped it yet, which it does at its first region.
fn nothing() -> Copied {
    ((Totals::default(), [None; SLOTS]), Vec::new())
}

/// Evaluates a reading at `now` (ticks, ns), and returns what its regions did; `None` for a program that
/// takes turns, whose clocks and counters stand still while others run.
fn evaluate(
    program: &mut Program,
    process: &Process,
    (page, rows): Copied,
    (cpu_ns, stepped): (Option<u64>, bool),
    now: (u64, u64),
    tsc: &Tsc,
) -> Option<Vec<Runs>> {
    let (seen, cpu_s) = program.evidence.read(now.0, &page, program.contexts(), cpu_ns, tsc);
    let steady_ns = now.1.saturating_sub(program.grant.granted_ns);
    let most = u32::try_from(program.reach.usable.len()).unwrap_or(u32::MAX);
    let held = (steady_ns as f64 * 1e-9, most);
    let runs = program.evidence.regions.read(now.0, held, rows.into_iter(), tsc);
    if program.phase.takes_turns {
        program.evidence.seen = Some(seen);
        return None;
    }
    program.measured(seen, stepped);
    // Only asked where it counts: it is a file of each program's.
    program.phase.stopped = seen.in_region && Phase::is_still(&seen, cpu_s) && process.is_held();
    // On a busy machine the clock of several threads goes no faster than one thread's.
    let are_several = || program.phase.starting && process.runnable(MOST_THREADS).0 > 1;
    let cpu_s = cpu_s.filter(|_| !are_several());
    program.phase.update(&seen, cpu_s, now.1);
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::program;

    #[test]
    fn the_sizes_that_a_check_tried_out_are_those_whose_bits_are_set() {
        let p = program(1);
        let totals = |sizes, facts| Totals { sizes, facts, ..Totals::default() };
        assert_eq!(tried(&p, &totals(0, 0)), None);
        let found = tried(&p, &totals(0b1010, 0)).unwrap();
        assert_eq!((found.sizes, found.elsewhere, found.pid), (vec![1, 3], false, 1001));
        assert!(tried(&p, &totals(0, fact::TRIED_ELSEWHERE)).unwrap().elsewhere);
    }
}
