//! What is known of a program's speedup, by its page, clock, counters, steps, serial experiments and earlier
//! runs.

use super::kept_team::KeptTeam;
use super::steps::Steps;
use crate::control;
use crate::estimate::{Bounds, Meter, Page, Seen};
use crate::observe::clock::Tsc;
use crate::region_meter::RegionMeter;
use crate::remember::ProfileLink;
use crate::serial_trials::Trials;
use scaf_policy::counters::{Counters, Counts};
use scaf_policy::earlier_runs::EarlierRuns;
use scaf_policy::efficiency::Interval;
use scaf_policy::fusion::Measured;
use scaf_policy::knowledge::{CurvePoint, Knowledge, MOST_POINTS, Stage, Useful, promised};
use scaf_policy::observed::{Observed, Runs, Spell};
use std::collections::BTreeSet;

/// An interval counts for a DoP that was granted for this share of it: changes come just after a tick.
const STEADY: f64 = 0.9;

/// What is known of a program's speedup.
#[derive(Clone, Debug)]
pub struct Evidence {
    meter: Meter,
    pub regions: RegionMeter,
    /// What its regions took at each DoP.
    pub observed: Observed,
    /// What `observed`, useful time and counters came to at the latest tick.
    pub known: Vec<CurvePoint>,
    /// Its speedup as known before it started; doesn't change while it runs.
    pub profile: Vec<Measured>,
    /// Whether `profile` is from the configuration, so that no earlier run replaces it.
    profile_given: bool,
    pub link: ProfileLink,
    counters: Counters,
    pub trials: Trials,
    pub steps: Steps,
    pub seen: Option<Seen>,
    pub kept_team: KeptTeam,
    /// Contexts that its threads want on average, where it is measured from outside.
    pub demand: Option<f64>,
    useful: Useful,
    /// Whether a team from before the grant spent the latest interval.
    outlived: bool,
    /// Whether it has had a region or other work by the latest interval.
    stage: Stage,
    cpu_ns: u64,
}

impl Evidence {
    /// No evidence but its `profile`, if one was given. `ticks` and `cpu_ns` are the clocks now, `rc_s` the
    /// time constant of smoothing in seconds.
    pub fn new(ticks: u64, cpu_ns: u64, rc_s: f64, profile: Option<Vec<Measured>>) -> Evidence {
        Evidence {
            meter: Meter::new(ticks),
            regions: RegionMeter::new(ticks),
            observed: Observed::default(),
            known: Vec::new(),
            profile_given: profile.is_some(),
            profile: profile.unwrap_or_default(),
            link: ProfileLink::default(),
            counters: Counters::new(rc_s),
            trials: Trials::default(),
            steps: Steps::default(),
            seen: None,
            kept_team: KeptTeam::default(),
            demand: None,
            useful: Useful::new(rc_s),
            outlived: false,
            stage: Stage::default(),
            cpu_ns,
        }
    }

    /// Reads the page at a tick, of a program that had `p` contexts. Gives the reading and the CPU seconds
    /// since the last one.
    pub fn read(
        &mut self,
        ticks: u64,
        page: &Page,
        p: u32,
        cpu_ns: Option<u64>,
        tsc: &Tsc,
    ) -> (Seen, Option<f64>) {
        let cpu_s = cpu_ns.map(|ns| ns.saturating_sub(self.cpu_ns) as f64 * 1e-9);
        self.cpu_ns = cpu_ns.unwrap_or(self.cpu_ns);
        (self.meter.read(ticks, page, Bounds { p: f64::from(p), cpu_s }, tsc), cpu_s)
    }

    pub fn look(&mut self, ticks: u64, page: &Page) {
        self.seen = Some(self.peek(ticks, page));
    }

    /// Reads the page between two ticks, and remembers nothing.
    pub fn peek(&self, ticks: u64, page: &Page) -> Seen {
        self.meter.look(ticks, page)
    }

    /// Restarts the interval, because the DoP changes now. Gives the reading.
    pub fn restart(&mut self, ticks: u64, page: &Page, cpu_ns: Option<u64>, tsc: &Tsc) -> Seen {
        self.meter.restart(ticks, page, tsc);
        self.cpu_ns = cpu_ns.unwrap_or(self.cpu_ns);
        self.peek(ticks, page)
    }

    /// Adds an interval's efficiency on `contexts`, if it is to be `judged` and no team from before the grant
    /// spent it (`outlived`) or the one before.
    pub(super) fn measured(&mut self, seen: &Seen, contexts: u32, judged: bool, outlived: bool) {
        let Interval { dt_s, parallel_s, .. } = seen.interval;
        self.stage = self.stage.next(seen.last_team > 0, dt_s, parallel_s);
        if self.stage == Stage::Begins {
            self.useful.forget();
        }
        if judged && self.stage.is_measured() && !outlived && !self.outlived {
            self.useful.add(contexts, &seen.interval);
        }
        self.outlived = outlived;
    }

    /// Adds an interval on `contexts` that was measured from outside.
    pub(super) fn measured_outside(&mut self, contexts: u32, interval: &Interval) {
        self.useful.add(contexts, interval);
    }

    /// Adds what its regions did on `dop` contexts in the latest interval.
    pub(super) fn ran(&mut self, dop: u32, runs: &[Runs]) {
        if let Some(Seen { interval: Interval { dt_s, parallel_s, .. }, .. }) = self.seen
            && self.stage.has_begun()
            && self.stage != Stage::Begins
        {
            self.observed.add(&Spell { dop, dt_s, parallel_s, runs });
        }
    }

    /// Adds what was counted in that interval. An interval of two DoPs says nothing about either.
    pub(super) fn counted(&mut self, dop: u32, counts: &Counts, steady_s: f64) {
        if let Some(Seen { interval, .. }) = self.seen
            && steady_s >= STEADY * interval.dt_s
            && !self.outlived
        {
            self.counters.add(dop, &interval, counts);
        }
    }

    fn knowledge(&self, natural: u32) -> Knowledge<'_> {
        let counters = self.counters.speedup().map(|(dop, speedup)| Measured { dop, speedup });
        Knowledge { useful: &self.useful, observed: &self.observed, counters, natural }
    }

    /// A DoP and the efficiency there, for policies.
    pub(super) fn judged(&self, natural: u32) -> Option<(u32, f64)> {
        self.knowledge(natural).judged()
    }

    /// Updates `known`, for a program that has `now` contexts.
    pub(super) fn know(&mut self, natural: u32, now: u32) {
        let kept = self.efficiency().map_or(now, |(dop, _)| dop);
        self.known = self.knowledge(natural).curve(kept);
    }

    /// A DoP and the efficiency there by useful time.
    pub fn efficiency(&self) -> Option<(u32, f64)> {
        self.useful.efficiency()
    }

    pub(super) fn remember(&mut self, past: EarlierRuns) {
        if !self.profile_given {
            let mut alone = Observed::default();
            alone.remember(past.clone());
            self.profile = promised(&alone);
        }
        self.observed.remember(past);
    }

    pub(super) fn forget_past(&mut self) {
        if !self.profile_given {
            self.profile.clear();
        }
        self.observed.forget_past();
    }

    pub(super) fn curve_for_people(&self, natural: u32) -> Vec<control::CurvePoint> {
        let ran_at = self.observed.dops();
        if self.efficiency().is_none() && ran_at.is_empty() {
            return Vec::new();
        }
        let knowledge = self.knowledge(natural);
        let point = |dop: u32| {
            let (fused, curve) = knowledge.speedup(dop)?;
            let comparable = || self.observed.dops_beside(dop).contains(&1);
            Some(control::CurvePoint {
                dop,
                speedup: fused.speedup.value,
                error_ratio: fused.speedup.error,
                observed: curve.filter(|_| comparable()).map(|curve| curve.value),
                sources: fused.sources,
            })
        };
        let all: BTreeSet<u32> = ran_at.iter().copied().chain([1, natural]).collect();
        all.into_iter().take(MOST_POINTS).filter_map(point).collect()
    }

    pub(super) fn counters(&self) -> Option<control::Counters> {
        let rates = self.counters.latest()?;
        let speedup = self.counters.speedup();
        Some(control::Counters {
            rates,
            speedup: speedup.map(|(_, estimate)| estimate.value),
            speedup_dop: speedup.map(|(dop, _)| dop),
            error_ratio: speedup.map(|(_, estimate)| estimate.error),
        })
    }
}
