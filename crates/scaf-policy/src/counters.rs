//! Speedup from hardware counters, by two estimates, each of the DoP that it was measured at
//! (docs/internals/estimates.md):
//! - **IPC** (SCAF, section 4.3.2): instructions per cycle of a thread in a team over those of the same work
//!   done serially, P(S), which comes from intervals at DoP 1 or an experiment.
//! - **Stalls** (SCALO, equations 6 to 9): stall cycles that threads cause each other are subtracted from the
//!   useful time. This needs no serial run.

use crate::efficiency::{Interval, LowPass, finite};
use crate::estimate::Estimate;
use serde::{Deserialize, Serialize};

/// Relative error of an event's count while it wasn't counted.
const UNSEEN: f64 = 0.3;
/// Relative error of instructions as a measure of work: a guess. Some pairs mislead it (SCAF, 5.2.1).
const IPC_ERROR: f64 = 0.1;
/// SCALO's mean error over all its programs (section 2.2).
const STALL_ERROR: f64 = 0.18;
/// Relative error that a serial rate tends to as it ages, and the time constant in seconds.
const DRIFT: f64 = 0.3;
const DRIFT_S: f64 = 60.0;
const LEAST_ERROR: f64 = 0.01;
/// Most intervals that a smoothed value counts for.
const MOST_INTERVALS: u32 = 8;

/// An event, counted of one thread or of all threads of a program, in user space.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    Instructions,
    /// Cycles of the processor while the thread ran.
    Cycles,
    /// Cycles in which nothing was executed while a load waited that had missed the last private cache.
    StallsL2Miss,
    /// The part of [`Event::StallsL2Miss`] in which the load had missed the last-level cache, too.
    StallsLlcMiss,
    /// Loads that reached the last private cache.
    L2Accesses,
    /// Loads that reached the last-level cache.
    LlcAccesses,
    /// Loads that missed the last-level cache.
    LlcMisses,
}

pub const EVENTS: usize = 7;

impl Event {
    pub const ALL: [Event; EVENTS] = [
        Event::Instructions,
        Event::Cycles,
        Event::StallsL2Miss,
        Event::StallsLlcMiss,
        Event::L2Accesses,
        Event::LlcAccesses,
        Event::LlcMisses,
    ];

    /// Its key in the daemon's configuration.
    pub fn key(self) -> &'static str {
        match self {
            Event::Instructions => "instructions",
            Event::Cycles => "cycles",
            Event::StallsL2Miss => "stalls_l2_miss",
            Event::StallsLlcMiss => "stalls_llc_miss",
            Event::L2Accesses => "l2_accesses",
            Event::LlcAccesses => "llc_accesses",
            Event::LlcMisses => "llc_misses",
        }
    }
}

/// One counter, or the sum of several, as the kernel reports it: everything only grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reading {
    /// How often the event happened while counted.
    pub count: u64,
    /// How long its threads have run since it was set up, in nanoseconds.
    pub enabled_ns: u64,
    /// How long it was counted, in nanoseconds.
    pub running_ns: u64,
}

impl Reading {
    #[must_use]
    pub fn plus(self, other: Reading) -> Reading {
        Reading {
            count: self.count.saturating_add(other.count),
            enabled_ns: self.enabled_ns.saturating_add(other.enabled_ns),
            running_ns: self.running_ns.saturating_add(other.running_ns),
        }
    }

    /// What happened since an `earlier` reading; `None` if the event was not counted since.
    pub fn since(self, earlier: Reading) -> Option<Counted> {
        let count = self.count.checked_sub(earlier.count)? as f64;
        let enabled = self.enabled_ns.checked_sub(earlier.enabled_ns)? as f64;
        let running = self.running_ns.checked_sub(earlier.running_ns)? as f64;
        if running <= 0.0 || enabled <= 0.0 {
            return None;
        }
        let share = (running / enabled).min(1.0);
        Some(Counted { count: count / share, cpu_s: enabled * 1e-9, share })
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Counted {
    /// How often it happened, scaled up for the time in which it wasn't counted.
    pub count: f64,
    pub cpu_s: f64,
    /// The share of that in which it was counted, above 0 and at most 1.
    pub share: f64,
}

/// One reading of every available event, in the order of [`Event::ALL`].
pub type Readings = [Option<Reading>; EVENTS];

/// The events' counts over an interval, in the order of [`Event::ALL`].
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Counts([Option<Counted>; EVENTS]);

impl Counts {
    /// The difference of two readings of the same counters.
    pub fn between(now: &Readings, earlier: &Readings) -> Counts {
        let mut counts = Counts::default();
        for (count, (now, earlier)) in counts.0.iter_mut().zip(now.iter().zip(earlier)) {
            *count = now.zip(*earlier).and_then(|(now, earlier)| now.since(earlier));
        }
        counts
    }

    /// One event's count; `None` if it wasn't counted.
    pub fn of(&self, event: Event) -> Option<Counted> {
        self.0[event as usize]
    }

    fn ratio(&self, part: Event, whole: Event) -> Option<f64> {
        let (part, whole) = (self.of(part)?.count, self.of(whole)?.count);
        (whole > 0.0).then(|| part / whole)
    }

    /// The share of hits among accesses, 0 to 1.
    fn hits(&self, passed_on: Event, accesses: Event) -> Option<f64> {
        self.ratio(passed_on, accesses).map(|misses| (1.0 - misses).clamp(0.0, 1.0))
    }

    /// The smallest share of the time in which an event was counted; 1 without events.
    fn share(&self) -> f64 {
        self.0.iter().flatten().map(|counted| counted.share).fold(1.0, f64::min)
    }
}

/// Rates over an interval. Ratios are of all the program's threads together.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rates {
    pub instructions_per_s: Option<f64>,
    /// Cycles a second of wall time, over all contexts.
    pub cycles_per_s: Option<f64>,
    pub ipc: Option<f64>,
    /// Share of the cycles in which a load waited that had missed the private caches, 0 to 1.
    pub stall_ratio: Option<f64>,
    pub l2_hit_ratio: Option<f64>,
    pub llc_hit_ratio: Option<f64>,
    /// Share of the cycles that threads cost each other in the memory system, 0 to 1 (SCALO, equation 8).
    pub contention_ratio: Option<f64>,
    /// The smallest share of the time in which an event was counted; below 1, events are multiplexed.
    pub counted_ratio: f64,
}

impl Rates {
    fn of(counts: &Counts, dt_s: f64) -> Rates {
        let per_s = |event| counts.of(event).map(|counted| counted.count / dt_s);
        let of_cycles = |event| counts.ratio(event, Event::Cycles);
        let share = |ratio: f64| ratio.clamp(0.0, 1.0);
        let (beyond_l2, memory) = (of_cycles(Event::StallsL2Miss), of_cycles(Event::StallsLlcMiss));
        let l2_hit_ratio = counts.hits(Event::LlcAccesses, Event::L2Accesses);
        let llc_hit_ratio = counts.hits(Event::LlcMisses, Event::LlcAccesses);
        let level = |(stalls, hit_before)| Level { stalls, hit_before };
        // Without the stalls for memory, those for the last-level cache aren't known.
        let contention_ratio = memory.zip(llc_hit_ratio).map(|(memory, llc)| {
            let in_llc = beyond_l2.map(|all| (all - memory).max(0.0)).zip(l2_hit_ratio);
            let levels: Vec<Level> = in_llc.into_iter().chain([(memory, llc)]).map(level).collect();
            share(contention(&levels))
        });
        Rates {
            instructions_per_s: per_s(Event::Instructions),
            cycles_per_s: per_s(Event::Cycles),
            ipc: of_cycles(Event::Instructions),
            stall_ratio: beyond_l2.or(memory).map(share),
            l2_hit_ratio,
            llc_hit_ratio,
            contention_ratio,
            counted_ratio: counts.share(),
        }
    }
}

/// A memory that threads share, M_j in SCALO's equation 9.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level {
    /// Stalls of threads that wait for it, in any unit; below 0 counts as 0.
    pub stalls: f64,
    /// Hit ratio of the cache before it, M_(j-1), 0 to 1.
    pub hit_before: f64,
}

/// Stalls from contention, in the unit of the levels' stalls: the sum of Stalls_Mj * Hit_M(j-1) (SCALO,
/// equation 9, of which 6 to 8 are a case). Non-finite numbers count as 0, hit ratios are clamped.
pub fn contention(levels: &[Level]) -> f64 {
    levels.iter().map(|level| finite(level.stalls) * finite(level.hit_before).min(1.0)).sum()
}

/// The speedup over an interval with `contention_s` seconds of stalls in its useful time, summed over
/// threads, that one thread would not have (SCALO, equations 3 to 5). Above 0 and at most the interval's `p`;
/// without contention p times [`Interval::efficiency`].
pub fn less_contention(interval: &Interval, contention_s: f64) -> f64 {
    let p = finite(interval.p).max(1.0);
    let parallel_s = finite(interval.parallel_s).min(finite(interval.dt_s));
    let useful_s = finite(interval.useful_s).min(p * parallel_s);
    let useful_s = (useful_s - finite(contention_s)).max(0.0);
    (Interval { useful_s, ..*interval }.efficiency() * p).max(Interval::MIN)
}

#[derive(Clone, Copy, Debug)]
struct Mean {
    value: LowPass,
    square: LowPass,
    error: LowPass,
    intervals: u32,
}

impl Mean {
    fn new(rc_s: f64) -> Mean {
        let filter = LowPass::new(rc_s);
        Mean { value: filter, square: filter, error: filter, intervals: 0 }
    }

    /// Takes in a value that held for `dt_s` seconds, and its relative error.
    fn add(&mut self, dt_s: f64, value: f64, error: f64) {
        if value > 0.0 && (value * value).is_finite() && error.is_finite() {
            self.value.update(dt_s, value);
            self.square.update(dt_s, value * value);
            self.error.update(dt_s, error);
            self.intervals = self.intervals.saturating_add(1);
        }
    }

    fn reset(&mut self) {
        self.value.reset();
        self.square.reset();
        self.error.reset();
        self.intervals = 0;
    }

    fn estimate(&self) -> Option<Estimate> {
        let (value, square) = (self.value.value()?, self.square.value()?);
        let spread = (square / (value * value) - 1.0).max(0.0).sqrt();
        let n = f64::from(self.intervals.clamp(1, MOST_INTERVALS));
        // The spread of one or two intervals says little.
        let error = (spread / n.sqrt()).max(LEAST_ERROR) + 0.1 / n + self.error.value()?;
        (value > 0.0 && error.is_finite()).then_some(Estimate { value, error })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// P(S): the same as `parallel`, at DoP 1.
    serial: Mean,
    serial_age_s: f64,
    /// Instructions of work per cycle of one context, summed over threads: p times P_parallel if all work.
    parallel: Mean,
    less_contention: Mean,
    /// The DoP of `parallel` and `less_contention`; 0 before there was one above 1.
    dop: u32,
    latest: Option<Rates>,
}

impl Counters {
    /// No measurements yet; `rc_s` is the time constant of the smoothing, in seconds.
    pub fn new(rc_s: f64) -> Counters {
        let mean = Mean::new(rc_s);
        Counters {
            serial: mean,
            serial_age_s: 0.0,
            parallel: mean,
            less_contention: mean,
            dop: 0,
            latest: None,
        }
    }

    /// Takes in an interval at one DoP. Values that are missing or no numbers are left out.
    pub fn add(&mut self, dop: u32, interval: &Interval, counts: &Counts) {
        let dt_s = interval.dt_s;
        if !dt_s.is_finite() || dt_s <= 0.0 || dop == 0 {
            return;
        }
        let rates = Rates::of(counts, dt_s);
        self.latest = Some(rates);
        self.serial_age_s += dt_s;
        if dop > 1 && dop != self.dop {
            self.parallel.reset();
            self.less_contention.reset();
            self.dop = dop;
        }
        let unseen = UNSEEN * (1.0 - rates.counted_ratio);
        if let Some(ipc) = rates.ipc {
            self.add_ipc(dop, interval, counts, Estimate { value: ipc, error: unseen });
        }
        if let (Some(contention), Some(cycles)) = (rates.contention_ratio, counts.of(Event::Cycles))
            && dop > 1
        {
            // Serial code has nobody to contend with.
            let part = parallel_part(interval);
            let speedup = less_contention(interval, contention * cycles.cpu_s * part);
            self.less_contention.add(dt_s, speedup, unseen);
        }
    }

    fn add_ipc(&mut self, dop: u32, interval: &Interval, counts: &Counts, ipc: Estimate) {
        // Threads that work, serial phases included: SCAF's N where all always work. Threads that sleep or
        // have lost their context have no IPC and do no work, at any DoP.
        let cpu_s = counts.of(Event::Cycles).map_or(0.0, |cycles| cycles.cpu_s);
        let working = (interval.efficiency() * interval.p.max(1.0)).min(cpu_s / interval.dt_s);
        if dop == 1 {
            self.serial.add(interval.dt_s, ipc.value * working, ipc.error);
            self.serial_age_s = 0.0;
            return;
        }
        // Instructions of spinning threads can't be distinguished from work: none to twice as many.
        let waits = if cpu_s > 0.0 { (1.0 - working * interval.dt_s / cpu_s).clamp(0.0, 1.0) } else { 1.0 };
        self.parallel.add(interval.dt_s, ipc.value * working, ipc.error + waits / 2.0);
    }

    /// Replaces P(S) by the IPC of a serial experiment (SCAF, section 4.3.1).
    pub fn serial_experiment(&mut self, ipc: Estimate) {
        self.serial.reset();
        self.serial.add(1.0, ipc.value, ipc.error);
        self.serial_age_s = 0.0;
    }

    pub fn latest(&self) -> Option<Rates> {
        self.latest
    }

    /// The latest DoP above 1 and the speedup there by IPC. `None` until that and P(S) were measured.
    pub fn by_ipc(&self) -> Option<(u32, Estimate)> {
        let (one, here) = (self.serial.estimate()?, self.parallel.estimate()?);
        let drift = DRIFT * (1.0 - (-self.serial_age_s / DRIFT_S).exp());
        let error = one.error.hypot(here.error).hypot(IPC_ERROR) + drift;
        self.sound(Estimate { value: here.value / one.value, error })
    }

    /// The latest DoP above 1 and the speedup there less contention. `None` until it was measured.
    pub fn by_stalls(&self) -> Option<(u32, Estimate)> {
        let here = self.less_contention.estimate()?;
        self.sound(Estimate { error: here.error.hypot(STALL_ERROR), ..here })
    }

    /// The latest DoP above 1 and the speedup there: both estimates, weighted by their errors.
    pub fn speedup(&self) -> Option<(u32, Estimate)> {
        let (one, other) = match (self.by_ipc(), self.by_stalls()) {
            (Some((_, one)), Some((_, other))) => (one, other),
            (one, other) => return one.or(other),
        };
        let weight = |estimate: Estimate| 1.0 / estimate.error.max(1e-6).powi(2);
        let (of_one, of_other) = (weight(one), weight(other));
        let value = (one.value * of_one + other.value * of_other) / (of_one + of_other);
        self.sound(Estimate { value, error: (of_one + of_other).sqrt().recip() })
    }

    fn sound(&self, estimate: Estimate) -> Option<(u32, Estimate)> {
        let Estimate { value, error } = estimate;
        (self.dop > 1 && value.is_finite() && value > 0.0 && error.is_finite())
            .then_some((self.dop, estimate))
    }
}

/// The part of the work done in parallel regions, 0 to 1.
fn parallel_part(interval: &Interval) -> f64 {
    let useful_s = finite(interval.useful_s);
    let serial_s = (finite(interval.dt_s) - finite(interval.parallel_s)).max(0.0);
    let all_s = useful_s + serial_s;
    if all_s > 0.0 && all_s.is_finite() { useful_s / all_s } else { 0.0 }
}

#[cfg(test)]
#[path = "counters_tests.rs"]
mod tests;
