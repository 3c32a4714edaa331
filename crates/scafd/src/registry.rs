//! The programs that are attached, and what is granted to each. Pure state: nothing here reads or changes the
//! system, so every rule about who gets what and since when can be tested without any.
//!
//! Words: a program's *own* affinity is what it would have without us; its *usable* PUs are those of them that the
//! daemon may give away. A program is *left alone* when touching it could do harm; it is unmanaged whatever the
//! policy. A grant is *in effect* once the affinity is set and, where teams are resized, one of that size runs.

mod known;
mod serial;

use crate::control::{self, Mechanism};
use crate::estimate::{Meter, Seen};
use crate::experiment::Trials;
use crate::paths::Scope;
use crate::remember::Tie;
use crate::rows::RowMeter;
use scaf_policy::counters::{Counters, Counts};
use scaf_policy::efficiency::Interval;
use scaf_policy::fusion::Measured;
use scaf_policy::knowledge::{CurvePoint, Stage, Useful};
use scaf_policy::observed::{Observed, Runs, Spell};
use scaf_policy::{ProgramId, PuSet, explore};
use scaf_proto::grant::Word;
use serial::{Loans, Quiet};

/// Whether the program's teams may be resized, as far as its code is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Code {
    /// Being inspected.
    Pending,
    /// Any may be.
    Resizable,
    /// None may be; why.
    Fixed(String),
}

/// What a client asked for when it attached.
#[derive(Clone, PartialEq, Debug)]
pub struct Wishes {
    /// Team size without us.
    pub natural: u32,
    /// Fewest contexts.
    pub min: u32,
    /// Most contexts; 0 for no limit.
    pub max: u32,
    /// 1 is normal.
    pub weight: f64,
}

impl Wishes {
    /// What the user may wish. A daemon for all users lets nobody but root put a program before those of others; to
    /// stand back (a smaller weight, a maximum) is free.
    #[must_use]
    pub fn permitted(self, scope: Scope, uid: u32) -> Wishes {
        match scope {
            Scope::System if uid != 0 => {
                Wishes { min: self.min.min(1), weight: self.weight.min(1.0), ..self }
            }
            _ => self,
        }
    }
}

/// What a program has now.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Grant {
    /// Contexts; `None` while unmanaged.
    pub dop: Option<u32>,
    /// PUs.
    pub pus: PuSet,
    /// Affinity that we have set, where it isn't the program's own.
    pub set: Option<PuSet>,
    /// This and the ones that we had set before, the latest last: a thread that was created while the others were being
    /// moved may have any of them. See [`Grant::remember`].
    pub masks: Vec<PuSet>,
    /// When its affinity was changed last.
    pub moved_ns: Option<u64>,
    /// Number of the grant.
    pub epoch: u32,
    /// When this DoP was granted, in nanoseconds of CLOCK_MONOTONIC.
    pub granted_ns: u64,
    /// When its affinity was set.
    pub affinity_ns: Option<u64>,
    /// When it was in effect.
    pub effective_ns: Option<u64>,
    /// Whether contexts were added by the latest change.
    pub grew: bool,
    /// Promised regions left when it was granted.
    pub promised: u64,
    /// All regions left when it was granted.
    pub regions: u64,
    /// Whether the program is told to say when it enters a region; see [`Program::is_lent`].
    pub lent: bool,
    /// Why this DoP.
    pub reason: String,
}

/// Affinities of ours that are remembered for each program. Every change moves the threads that have any of them, so a
/// thread would have to be missed as often to be lost.
pub const MASKS: usize = 8;

impl Grant {
    /// Takes note of an affinity that is about to be set.
    pub fn remember(&mut self, mask: &PuSet) {
        self.masks.retain(|known| known != mask);
        self.masks.push(mask.clone());
        let surplus = self.masks.len().saturating_sub(MASKS);
        self.masks.drain(..surplus);
    }
}

/// One program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Number; also that of its connection.
    pub id: ProgramId,
    /// Process id.
    pub pid: u32,
    /// When the process started, in clock ticks since the machine did.
    pub starttime: u64,
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// What people call it.
    pub name: String,
    /// When it attached, in nanoseconds of CLOCK_MONOTONIC.
    pub attached_ns: u64,
    /// What it asked for.
    pub wishes: Wishes,
    /// Its own affinity.
    pub own: PuSet,
    /// PUs that it can be granted.
    pub usable: PuSet,
    /// Why it is left alone.
    pub alone: Option<String>,
    /// Whether that is only because none of its PUs can be given away now, and so may change.
    pub stranded: bool,
    /// Why it needs all its contexts at once whenever it runs, if it does.
    pub rigid: Option<String>,
    /// Whether it is stopped now and then for others' turns. What its clocks say then says nothing about its speedup.
    pub takes_turns: bool,
    /// Whether a library of it computed on several threads when it attached: its page didn't say so yet.
    pub came_at_work: bool,
    /// Until when, in nanoseconds of CLOCK_MONOTONIC, calls of such a library are waited for before it is narrowed.
    pub late_ns: Option<u64>,
    /// Whether its results are to keep their bits, so that its teams are never resized.
    pub exact: bool,
    /// Whether its teams may be resized.
    pub code: Code,
    /// Whether threads of its regions have variables of their own, as far as is known.
    pub thread_local: bool,
    /// Modules that had been met when its code was inspected.
    pub inspected: u8,
    /// Where its regions wait by spinning on memory, if they do.
    pub spins: Option<String>,
    /// Since when it has got nowhere while it was folded in a region; see [`Program::is_stuck`].
    pub stuck: Option<Stuck>,
    /// What it has.
    pub grant: Grant,
    /// Memory of its report page.
    pub meter: Meter,
    /// Memory of its page's rows, and what they said.
    pub rows: RowMeter,
    /// See `rows`.
    pub observed: Observed,
    /// What `observed`, useful time and counters came to at the latest tick; see [`Program::know`].
    pub known: Vec<CurvePoint>,
    /// Its speedup as it was known before it started; doesn't change while it runs.
    pub profile: Vec<Measured>,
    /// Whether `profile` is from the configuration, so that no memory replaces it.
    pub profile_given: bool,
    /// Since when it has been outside of parallel regions; see [`Program::listen`].
    pub quiet: Option<Quiet>,
    /// When it was in such phases before.
    pub loans: Loans,
    /// Whether it has been so for a whole tick, and still is.
    pub serial: bool,
    /// What ties it to its earlier and later runs.
    pub tie: Tie,
    /// What hardware counters say of it; [`Counters::speedup`] is what they make of it.
    pub counters: Counters,
    /// Its serial experiments.
    pub trials: Trials,
    /// A DoP that it has until the next tick, so that its speedup there is known.
    pub step: Option<u32>,
    /// DoPs that it was sent to in the last [`STEPS_NS`], and when, in nanoseconds of CLOCK_MONOTONIC.
    pub steps: Vec<(u32, u64)>,
    /// Latest reading of its report page.
    pub seen: Option<Seen>,
    /// What its useful time comes to.
    pub useful: Useful,
    /// Whether the latest interval was spent by a team from before the grant.
    pub astray: bool,
    /// Whether it has had a region or other work, as of the interval that was measured last.
    pub stage: Stage,
    /// Its CPU clock at the latest tick, in nanoseconds.
    pub cpu_ns: u64,
    /// Its number of threads when its affinity was set last.
    pub threads: u32,
    /// Modules with parallel regions that it had met when it was inspected last.
    pub modules: u32,
}

/// A folded program that has finished no region and no wait for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stuck {
    /// Since when, in nanoseconds of CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// Its CPU clock then.
    cpu_ns: u64,
    /// What it had finished then.
    progress: u64,
}

/// For how long a program that may spin has to get nowhere to be taken for one that does.
const STUCK_NS: u64 = 60_000_000;
/// The same where its code is known to do so.
const KNOWN_STUCK_NS: u64 = 5_000_000;

/// A program takes at most [`STEPS`] steps in this time, and none to a DoP at which nothing was learned in it.
const STEPS_NS: u64 = 60_000_000_000;
const STEPS: usize = 12;
/// Between two steps to one DoP lies at least this time.
const STEP_REST_NS: u64 = 300_000_000;

/// An interval counts for a DoP that was had for at least this share of it: changes are made a moment after a tick.
const STEADY: f64 = 0.9;

/// A region that runs on for so long after a change isn't waited for.
const LONG_REGION_NS: u64 = 100_000_000;

impl Program {
    /// Team size that it would have without us, within what its PUs hold.
    pub fn natural(&self) -> u32 {
        let told = self.seen.map_or(0, |seen| seen.natural);
        let natural = if told > 0 { told } else { self.wishes.natural };
        natural.min(u32::try_from(self.usable.len()).unwrap_or(u32::MAX)).max(1)
    }

    /// Contexts that it uses now: its DoP, or without one what it takes.
    pub fn contexts(&self) -> u32 {
        self.grant.dop.unwrap_or_else(|| self.natural())
    }

    /// The word for its grant page.
    pub fn word(&self) -> Word {
        let Some(dop) = self.grant.dop else { return Word::UNMANAGED.with_epoch(self.grant.epoch) };
        Word::managed(u16::try_from(dop).unwrap_or(u16::MAX))
            .with_folded(self.grant.set.is_some())
            .with_spins(self.spins.is_some())
            .with_inspected(self.inspected)
            .with_keeps_threads(self.thread_local)
            .with_lent(self.grant.lent)
            .with_resizable(self.code == Code::Resizable)
            .with_epoch(self.grant.epoch)
    }

    /// Takes note of a decision. True if DoP or PUs changed, so that it has to be applied.
    pub fn regrant(&mut self, dop: Option<u32>, pus: PuSet, reason: String, now_ns: u64) -> bool {
        self.grant.reason = reason;
        let resized = self.grant.dop != dop || self.grant.epoch == 0;
        if !resized && self.grant.pus == pus {
            return false;
        }
        if resized {
            self.grant.grew =
                self.grant.epoch != 0 && dop.unwrap_or(u32::MAX) > self.grant.dop.unwrap_or(u32::MAX);
            self.grant.granted_ns = now_ns;
            self.grant.affinity_ns = None;
            self.grant.effective_ns = None;
            self.grant.promised = self.seen.map_or(0, |seen| seen.promised);
            self.grant.regions = self.seen.map_or(0, |seen| seen.regions);
        }
        self.grant.dop = dop;
        self.grant.pus = pus;
        self.grant.epoch = self.grant.epoch.wrapping_add(1).max(1);
        true
    }

    /// What its page says at the moment of a grant: regions that it left since the latest tick were entered before that.
    pub fn granted_at(&mut self, seen: &Seen) {
        (self.grant.promised, self.grant.regions) = (seen.promised, seen.regions);
    }

    /// Takes in a reading and its interval's efficiency, measured at the DoP that it has now; one that was `stepped` to for a
    /// moment isn't what it is to be judged by.
    pub fn measured(&mut self, seen: Seen, stepped: bool) {
        self.seen = Some(seen);
        self.stage = self.stage.next(seen.last_team > 0);
        let begins = self.stage == Stage::Begins;
        if begins {
            self.useful.forget();
        }
        // A smaller team that was there before the grant, in a region that goes on, says nothing of the DoP that was granted: a region
        // of some seconds that was entered on one context would be an efficiency of a sixty-third on 63. Nor does an interval in which such a region ended.
        let old = seen.in_region && seen.regions <= self.grant.regions;
        let astray = old && self.grant.dop.is_some_and(|dop| seen.team < dop);
        if !stepped && !begins && !self.lends_all() && !astray && !self.astray {
            self.useful.add(self.contexts(), &seen.interval);
        }
        self.astray = astray;
    }

    /// Takes in what its regions did in the interval of the reading that was taken in last.
    pub fn ran(&mut self, runs: &[Runs]) {
        if self.stage != Stage::Begun || (self.lends_all() && runs.is_empty()) {
            return;
        }
        if let Some(Seen { interval: Interval { dt_s, parallel_s, .. }, .. }) = self.seen {
            self.observed.add(&Spell { dop: self.contexts(), dt_s, parallel_s, runs });
        }
    }

    /// Takes in what was counted in that interval, given for how many seconds its DoP has been what it is. An interval of two
    /// DoPs says nothing about either.
    pub fn counted(&mut self, counts: &Counts, steady_s: f64) {
        if let Some(Seen { interval, .. }) = self.seen
            && steady_s >= STEADY * interval.dt_s
            && !self.astray
            && !self.lends_all()
        {
            self.counters.add(self.contexts(), &interval, counts);
        }
    }

    /// What the snapshot tells of its counters.
    fn counters(&self) -> Option<control::Counters> {
        let rates = self.counters.latest()?;
        let speedup = self.counters.speedup();
        Some(control::Counters {
            rates,
            speedup: speedup.map(|(_, estimate)| estimate.value),
            speedup_dop: speedup.map(|(dop, _)| dop),
            error_ratio: speedup.map(|(_, estimate)| estimate.error),
        })
    }

    /// Takes a step, if there is a DoP worth it.
    pub fn explore(&mut self, now_ns: u64) {
        self.steps.retain(|(_, at_ns)| now_ns.saturating_sub(*at_ns) < STEPS_NS);
        let (Some(dop), true) = (self.grant.dop, self.steps.len() < STEPS) else { return };
        let known = self.observed.dops_beside(dop);
        let rests =
            |dop: u32, at_ns: u64| !known.contains(&dop) || now_ns.saturating_sub(at_ns) < STEP_REST_NS;
        let tried =
            self.steps.iter().filter(|(dop, at_ns)| rests(*dop, *at_ns)).map(|(dop, _)| *dop).collect();
        self.step = explore::step(&self.observed, (self.wishes.min, dop), &tried);
        self.steps.extend(self.step.map(|step| (step, now_ns)));
    }

    /// Finds out whether the grant is in effect at `now_ns`; `team_since_ns` is when the latest team first had its
    /// size. A region caught by a smaller grant is folded, which is in effect with the affinity; only if it soon ends
    /// does the smaller team count that follows it.
    pub fn settle(&mut self, team_since_ns: u64, now_ns: u64) {
        let (None, Some(affinity_ns)) = (self.grant.effective_ns, self.grant.affinity_ns) else { return };
        let seen = self.seen.filter(|seen| seen.last_team > 0);
        let (Some(dop), Code::Resizable, Some(seen)) = (self.grant.dop, &self.code, seen) else {
            // It isn't managed, is folded, or has no team that we know of: it has yet to enter a region, or entered its first
            // before it attached. The affinity is all there is.
            self.grant.effective_ns = Some(affinity_ns);
            return;
        };
        let promised = seen.promised > self.grant.promised && seen.last_team > dop;
        let there =
            if self.grant.grew { seen.last_team >= dop.min(self.natural()) } else { seen.last_team <= dop };
        let caught = seen.in_region
            && !self.grant.grew
            && seen.last_team > dop
            && now_ns.saturating_sub(affinity_ns) > LONG_REGION_NS;
        if promised || caught {
            // It keeps its team, so the affinity is all there is.
            self.grant.effective_ns = Some(affinity_ns);
        } else if there {
            self.grant.effective_ns = Some(affinity_ns.max(team_since_ns));
        }
    }

    /// Whether it spins on flags of its own, and so waits for itself: it is folded in a region, its code has such loops,
    /// and for [`STUCK_NS`], or [`KNOWN_STUCK_NS`] if this code did so before, it has finished nothing with all its contexts busy. A program that just computes has no such
    /// loop, and one that waits asleep keeps no context busy.
    pub fn is_stuck(&mut self, cpu_ns: u64, now_ns: u64, known: bool) -> bool {
        let seen = self.seen.filter(|seen| seen.in_region && Some(seen.team) > self.grant.dop);
        let bound = !matches!(self.code, Code::Resizable) || seen.is_some_and(|seen| seen.promised > 0);
        let folded = self.spins.is_some()
            && self.alone.is_none()
            && self.rigid.is_none()
            && self.grant.set.is_some()
            && bound;
        let (Some(seen), Some(dop), true) = (seen, self.grant.dop, folded) else {
            self.stuck = None;
            return false;
        };
        match self.stuck.filter(|stuck| stuck.progress == seen.progress) {
            Some(stuck) => {
                let wall_ns = now_ns.saturating_sub(stuck.since_ns);
                let busy_ns = cpu_ns.saturating_sub(stuck.cpu_ns);
                wall_ns >= if known { KNOWN_STUCK_NS } else { STUCK_NS }
                    && busy_ns as f64 >= 0.7 * wall_ns as f64 * f64::from(dop)
            }
            None => {
                self.stuck = Some(Stuck { since_ns: now_ns, cpu_ns, progress: seen.progress });
                false
            }
        }
    }

    /// How the DoP is carried out now, and why not by resizing.
    pub fn mechanism(&self) -> (Mechanism, String) {
        if let Some(why) = &self.alone {
            return (Mechanism::Unmanaged, why.clone());
        }
        let Some(dop) = self.grant.dop else {
            return (Mechanism::Unmanaged, "the policy leaves it alone".into());
        };
        if let Some(why) = &self.rigid {
            return (Mechanism::Gang, why.clone());
        }
        let seen = self.seen.filter(|seen| seen.virtualised && seen.team <= dop && dop < self.natural());
        if seen.is_some_and(|seen| seen.promised > 0 || self.code != Code::Resizable) {
            let why = "regions whose threads are independent keep their team size and run on fewer threads";
            return (Mechanism::Virtualise, why.into());
        }
        let parked = self.seen.is_some_and(|seen| seen.parked && seen.team > dop);
        let fold = if parked { Mechanism::Park } else { Mechanism::Fold };
        match &self.code {
            Code::Pending => (fold, "its code is being inspected".into()),
            Code::Fixed(why) => (fold, why.clone()),
            Code::Resizable => match self.seen {
                Some(seen) if seen.team > dop => {
                    let state = if seen.in_region { "is running" } else { "ran last" };
                    let why = "it began before the grant, or is a long region, which stays whole";
                    (fold, format!("a team of {} {state} that was not resized: {why}", seen.team))
                }
                _ => (Mechanism::Resize, String::new()),
            },
        }
    }

    /// The program as people see it.
    pub fn snapshot(&self) -> control::Program {
        let (mechanism, mechanism_reason) = self.mechanism();
        let measured = self.useful.efficiency();
        control::Program {
            id: self.id.0,
            pid: self.pid,
            uid: self.uid,
            name: self.name.clone(),
            attached_ns: self.attached_ns,
            mechanism,
            mechanism_reason,
            dop: self.grant.dop,
            granted_ns: self.grant.granted_ns,
            effective_ns: self.grant.effective_ns,
            pus: self.grant.pus.clone(),
            team: self.seen.map_or(0, |s| s.team),
            in_region: self.seen.is_some_and(|s| s.in_region),
            natural: self.natural(),
            min: self.wishes.min,
            max: self.wishes.max,
            weight: self.wishes.weight,
            efficiency: measured.map(|(_, e)| e),
            speedup: measured.map(|(dop, e)| e * f64::from(dop)),
            curve: self.curve(),
            earlier_runs: self.tie.earlier_runs(),
            counters: self.counters(),
            experiments: self.trials.snapshot(),
            exact: self.exact,
            runtimes: Vec::new(),
            regions: self.seen.map_or(0, |s| s.regions),
            promised_regions: self.seen.map_or(0, |s| s.promised),
            reason: self.grant.reason.clone(),
        }
    }
}

/// All programs, in order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    programs: Vec<Program>,
}

impl Registry {
    /// Adds a program. Numbers are those of connections, which may attach in another order.
    pub fn attach(&mut self, program: Program) {
        let at = self.programs.partition_point(|other| other.id < program.id);
        self.programs.insert(at, program);
    }

    /// Takes a program out.
    pub fn detach(&mut self, id: ProgramId) -> Option<Program> {
        Some(self.programs.remove(self.at(id)?))
    }

    /// The program of that number.
    pub fn get(&self, id: ProgramId) -> Option<&Program> {
        self.programs.get(self.at(id)?)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, id: ProgramId) -> Option<&mut Program> {
        let at = self.at(id)?;
        self.programs.get_mut(at)
    }

    fn at(&self, id: ProgramId) -> Option<usize> {
        self.programs.binary_search_by_key(&id, |program| program.id).ok()
    }

    /// The program of that process.
    pub fn by_pid(&self, pid: u32) -> Option<&Program> {
        self.programs.iter().find(|p| p.pid == pid)
    }

    /// All, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter()
    }

    /// All, in order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Program> {
        self.programs.iter_mut()
    }

    /// Whether nobody is attached.
    pub fn is_empty(&self) -> bool {
        self.programs.is_empty()
    }

    /// Own and set affinity of the nearest of `ancestors` whose affinity we have at some time narrowed to exactly `mask`: a
    /// child of it was born with that mask, and the mask is ours, not its own.
    pub fn inherited(&self, ancestors: &[u32], mask: &PuSet) -> Option<(PuSet, PuSet)> {
        ancestors.iter().filter_map(|pid| self.by_pid(*pid)).find_map(|parent| {
            let set = parent.grant.masks.iter().find(|set| *set == mask)?;
            Some((parent.own.clone(), set.clone()))
        })
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
