//! What a program is doing: mainly whether it is in a serial phase, so that a policy may lend its contexts.
//! Outside of parallel regions it may still compute on many threads by other means, so its CPU clock counts
//! too, and on a busy machine its runnable threads ([`crate::daemon`]).

use super::stuck::Stuck;
use crate::estimate::Seen;

/// A serial phase has lasted this long outside of regions, and a whole tick: at 4 Hz the tick is longer.
const QUIET_NS: u64 = 200_000_000;
/// Most contexts that a serial program keeps busy: one, and what its idle threads take until they sleep.
const BUSY: f64 = 1.25;
/// A program does nothing for this long before it is idle.
const STILL_NS: u64 = 2_000_000_000;
/// Most contexts that an idle program keeps busy: an interpreter that waits for its user polls now and then.
const STILL: f64 = 0.02;
/// Most contexts that a program keeps busy that lends while it waits in MPI: it naps between two polls. One
/// that uses more computes, and isn't believed for a while.
const WAITING: f64 = 0.6;
const DISBELIEF_NS: u64 = 1_000_000_000;
/// After a phase that ended this soon, the program isn't taken for serial for this time, and after each
/// further such phase for twice as long, up to the second time.
const SHORT_NS: u64 = 1_000_000_000;
const MOST_REST_NS: u64 = 32_000_000_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Quiet {
    /// In nanoseconds of CLOCK_MONOTONIC.
    since_ns: u64,
    progress: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Whether it has been outside of parallel regions for a whole tick, and still is.
    pub serial: bool,
    /// Whether it has done nothing for [`STILL_NS`]: no region, or stopped within one, and hardly any CPU
    /// time.
    pub idle: bool,
    /// Whether it was stopped or frozen within a region at the last check.
    pub stopped: bool,
    /// Since when it has done nothing, and its progress then.
    still: Option<Quiet>,
    quiet: Option<Quiet>,
    began_ns: Option<u64>,
    /// For how long, and until when, it isn't taken for serial.
    rest_ns: u64,
    rests_until_ns: u64,
    /// Whether it takes turns. Its clocks then say nothing about its speedup.
    pub takes_turns: bool,
    /// Why it is never stopped for others' turns, after "it".
    pub keeps_running: Option<String>,
    /// Whether it has had no region since it was loaded: it lends until then, and is never narrowed.
    pub starting: bool,
    /// Whether it computes on several threads though it starts, or does nothing: it will be detached.
    pub unsuitable: bool,
    /// Since when it computes on several threads though it starts. Its first region may have begun before its
    /// page was mapped.
    busy_since_ns: Option<u64>,
    /// Whether a library of it computed on several threads when it attached.
    pub came_at_work: bool,
    /// Since when it waits in MPI, outside of regions.
    pub waits_since_ns: Option<u64>,
    /// Since when some of its contexts are lent for that.
    pub lends_since_ns: Option<u64>,
    /// Until when its reports of waits aren't believed.
    pub disbelieved_ns: u64,
    /// Since when it has made no progress while folded in a region.
    pub stuck: Option<Stuck>,
}

impl Phase {
    /// It has just been loaded: a serial phase, whose length doesn't matter.
    pub fn begins(&mut self, now_ns: u64) {
        (self.starting, self.serial) = (true, true);
        self.quiet = Some(Quiet { since_ns: now_ns, progress: 0 });
    }

    /// Determines at a tick whether it is in a serial phase; never before its first region, when libraries
    /// count their PUs. `seen` is the interval before `now_ns`, in which it used `cpu_s` of CPU time; if that
    /// is unknown, it isn't serial.
    pub fn update(&mut self, seen: &Seen, cpu_s: Option<f64>, now_ns: u64) {
        let dt_ns = (seen.interval.dt_s * 1e9) as u64;
        let lent = self.lends_since_ns.is_some_and(|since| now_ns.saturating_sub(since) >= dt_ns);
        if lent && cpu_s.is_none_or(|cpu_s| cpu_s > WAITING * seen.interval.dt_s) {
            (self.waits_since_ns, self.disbelieved_ns) = (None, now_ns.saturating_add(DISBELIEF_NS));
        }
        let still = Phase::is_still(seen, cpu_s) && (!seen.in_region || self.stopped);
        let began = Quiet { since_ns: now_ns, progress: seen.progress };
        let since = self.still.filter(|since| since.progress == seen.progress).unwrap_or(began);
        self.still = still.then_some(since);
        self.idle = still && now_ns.saturating_sub(since.since_ns) >= STILL_NS;
        let busy = cpu_s.is_none_or(|cpu_s| cpu_s > BUSY * seen.interval.dt_s);
        if self.starting {
            let no_region = !seen.in_region && seen.last_team == 0;
            let since_ns = self.busy_since_ns.get_or_insert(now_ns);
            let long = now_ns.saturating_sub(*since_ns) >= QUIET_NS;
            self.unsuitable |= no_region && (self.idle || busy && long);
            self.busy_since_ns = self.busy_since_ns.filter(|_| busy && no_region);
            return;
        }
        if busy || seen.in_region || seen.last_team == 0 {
            self.end_serial(now_ns);
            return;
        }
        let quiet = self.quiet.filter(|quiet| quiet.progress == seen.progress).unwrap_or(began);
        self.quiet = Some(quiet);
        self.serial = now_ns.saturating_sub(quiet.since_ns) >= QUIET_NS && now_ns >= self.rests_until_ns;
        if self.serial {
            self.began_ns.get_or_insert(now_ns);
        }
    }

    pub fn is_still(seen: &Seen, cpu_s: Option<f64>) -> bool {
        cpu_s.is_some_and(|cpu_s| cpu_s <= STILL * seen.interval.dt_s)
    }

    /// Whether it lends contexts by its phase.
    pub fn lends(&self) -> bool {
        self.serial || self.idle
    }

    /// It computes in parallel now.
    pub fn is_parallel(&mut self, now_ns: u64) {
        (self.idle, self.still) = (false, None);
        self.end_serial(now_ns);
    }

    fn end_serial(&mut self, now_ns: u64) {
        self.quiet = None;
        (self.serial, self.starting) = (false, false);
        let Some(began_ns) = self.began_ns.take() else { return };
        if now_ns.saturating_sub(began_ns) < SHORT_NS {
            self.rest_ns = (2 * self.rest_ns).clamp(SHORT_NS, MOST_REST_NS);
            self.rests_until_ns = now_ns.saturating_add(self.rest_ns);
        } else {
            self.rest_ns = 0;
        }
    }

    /// Whether a reading between two ticks shows that its serial phase or idleness is over. For a program
    /// that continues within its region only the next tick shows it.
    pub fn has_returned(&self, seen: &Seen) -> bool {
        let since = if self.idle { self.still } else { self.quiet };
        let enters = seen.in_region && !(self.idle && self.stopped);
        (self.serial || self.idle) && (enters || since.is_none_or(|since| since.progress != seen.progress))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Program;
    use crate::registry::tests::{grant, program, seen};
    use scaf_policy::efficiency::Interval;

    const TICK_NS: u64 = 250_000_000;

    fn quiet(progress: u64) -> Seen {
        Seen { in_region: false, progress, ..seen(4, 0) }
    }

    #[test]
    fn a_serial_phase_is_known_after_a_whole_tick_and_ends_with_its_first_region() {
        let mut p = program(1);
        grant(&mut p, 4, 0);
        p.phase.update(&quiet(7), Some(1.0), TICK_NS);
        assert!(!p.phase.serial && !p.request().serial);
        p.phase.update(&quiet(7), Some(1.0), 2 * TICK_NS);
        assert!(p.phase.serial && p.request().serial && !p.is_lent());
        grant(&mut p, 1, 2 * TICK_NS);
        assert!(p.is_lent() && !p.phase.has_returned(&quiet(7)));
        assert!(
            p.phase.has_returned(&Seen { in_region: true, ..quiet(7) }) && p.phase.has_returned(&quiet(8))
        );
        p.phase.update(&quiet(8), Some(1.0), 3 * TICK_NS);
        assert!(!p.phase.serial && !p.is_lent());
        p.phase.update(&Seen { in_region: true, ..quiet(8) }, Some(1.0), 4 * TICK_NS);
        p.phase.update(&quiet(8), Some(1.0), 5 * TICK_NS);
        assert!(!p.phase.serial);
    }

    #[test]
    fn a_program_that_starts_is_serial_until_its_first_region() {
        let mut p = program(1);
        let none = Seen { last_team: 0, ..quiet(0) };
        p.phase.begins(TICK_NS);
        assert!(p.phase.serial && p.phase.lends() && !p.phase.has_returned(&none));
        for at in 2..40 {
            p.phase.update(&none, Some(1.0), at * TICK_NS);
            assert!(p.phase.serial && !p.phase.unsuitable);
        }
        assert!(p.phase.has_returned(&Seen { in_region: true, ..none }) && p.phase.has_returned(&quiet(1)));
        p.phase.is_parallel(40 * TICK_NS);
        assert!(!p.phase.serial && !p.phase.starting);
        // However short it was, the next one counts as well.
        assert_eq!(p.phase.rest_ns, 0);
    }

    #[test]
    fn whoever_starts_and_computes_on_several_threads_for_long_or_sleeps_is_unsuitable() {
        let unsuitable_at = |seen: Seen, cpu: &[f64]| {
            let mut p = program(1);
            p.phase.begins(0);
            (1..=cpu.len()).find(|at| {
                p.phase.update(&seen, Some(cpu[at - 1]), *at as u64 * TICK_NS);
                p.phase.unsuitable
            })
        };
        let none = Seen { last_team: 0, ..quiet(0) };
        assert_eq!(unsuitable_at(none, &[1.0, 1.5, 1.0, 1.5, 1.0]), None);
        assert_eq!(unsuitable_at(none, &[1.0, 1.5, 1.5]), Some(3));
        assert_eq!(unsuitable_at(none, &[0.0; 20]), Some(9));
        // Its first region has begun, and only isn't noticed yet.
        assert_eq!(unsuitable_at(Seen { in_region: true, ..none }, &[2.0; 20]), None);
    }

    #[test]
    fn short_phases_are_let_be_for_longer_and_longer() {
        let mut p = program(1);
        let mut found = Vec::new();
        for at in 0..400 {
            let progress = at / 3;
            p.phase.update(&Seen { in_region: at % 3 == 2, ..quiet(progress) }, Some(1.0), at * TICK_NS);
            found.extend(p.phase.serial.then_some(at));
        }
        let rests: Vec<u64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(found.len() <= 9 && rests.is_sorted(), "{found:?}");
        let mut at = 600;
        while !p.phase.serial || p.phase.began_ns.is_some_and(|began| at * TICK_NS < began + SHORT_NS) {
            p.phase.update(&quiet(999), Some(1.0), at * TICK_NS);
            at += 1;
        }
        p.phase.update(&Seen { in_region: true, ..quiet(1000) }, Some(1.0), at * TICK_NS);
        assert_eq!(p.phase.rest_ns, 0);
    }

    #[test]
    fn whoever_computes_on_several_contexts_is_not_serial_though_no_region_runs() {
        let mut p = program(1);
        for (at, cpu_s) in [(1, Some(1.0)), (2, Some(1.5)), (3, Some(1.0)), (4, None), (5, Some(1.0))] {
            p.phase.update(&quiet(7), cpu_s, at * TICK_NS);
            assert!(!p.phase.serial, "{at}");
        }
        p.phase.update(&quiet(7), Some(1.0), 6 * TICK_NS);
        assert!(p.phase.serial);
    }

    #[test]
    fn a_program_is_idle_after_two_seconds_without_a_region_or_cpu_time() {
        let mut p = program(1);
        let still = Seen { last_team: 0, ..quiet(7) };
        let idle_at = |p: &mut Program, ticks: std::ops::Range<u64>, seen: Seen, cpu_s: Option<f64>| {
            ticks.clone().find(|at| {
                p.phase.update(&seen, cpu_s, at * TICK_NS);
                p.phase.idle
            })
        };
        // Whatever it is that its clock doesn't tell, it computes.
        assert_eq!(idle_at(&mut p, 1..20, still, None), None);
        assert_eq!(idle_at(&mut p, 20..40, still, Some(0.01)), Some(28));
        assert!(p.phase.has_returned(&Seen { in_region: true, ..still }) && !p.phase.has_returned(&still));
        assert_eq!(idle_at(&mut p, 40..41, still, Some(0.2)), None);
        assert_eq!(idle_at(&mut p, 41..60, still, Some(0.0)), Some(49));
        assert_eq!(idle_at(&mut p, 60..61, Seen { progress: 8, ..still }, Some(0.0)), None);
        assert_eq!(idle_at(&mut p, 61..70, Seen { in_region: true, ..still }, Some(0.0)), None);
        // Stopped within a region it is idle, too, until it goes on.
        let within = Seen { in_region: true, progress: 8, ..still };
        p.phase.stopped = true;
        assert_eq!(idle_at(&mut p, 61..80, within, Some(0.0)), Some(69));
        assert!(!p.phase.has_returned(&within) && p.phase.has_returned(&Seen { progress: 9, ..within }));
        p.phase.stopped = false;
        assert_eq!(idle_at(&mut p, 70..80, within, Some(0.0)), None);
        // A packet says so at once.
        assert_eq!(idle_at(&mut p, 80..89, still, Some(0.0)), Some(88));
        p.phase.is_parallel(89 * TICK_NS);
        assert!(!p.phase.idle && !p.phase.has_returned(&Seen { in_region: true, ..still }));
    }

    #[test]
    fn whoever_computes_while_it_says_that_it_waits_is_not_believed_for_a_second() {
        let mut p = program(1);
        p.phase.waits_since_ns = Some(0);
        // Nobody has borrowed: it polls.
        p.phase.update(&quiet(7), Some(1.0), TICK_NS);
        assert_eq!(p.phase.waits_since_ns, Some(0));
        // The intervals are of a second each.
        p.phase.lends_since_ns = Some(4 * TICK_NS);
        p.phase.update(&quiet(7), Some(1.0), 5 * TICK_NS);
        p.phase.update(&quiet(7), Some(0.1), 8 * TICK_NS);
        assert_eq!(p.phase.waits_since_ns, Some(0));
        p.phase.update(&quiet(7), Some(1.0), 12 * TICK_NS);
        assert_eq!(p.phase.waits_since_ns, None);
        assert_eq!(p.phase.disbelieved_ns, 12 * TICK_NS + DISBELIEF_NS);
    }

    #[test]
    fn at_a_hundred_ticks_a_second_one_is_not_enough() {
        let mut p = program(1);
        for at in 0..20 {
            p.phase.update(&quiet(7), Some(1.0), at * 10_000_000);
            assert!(!p.phase.serial, "{at}");
        }
        p.phase.update(&quiet(7), Some(1.0), QUIET_NS);
        assert!(p.phase.serial);
    }

    #[test]
    fn what_a_program_does_while_its_contexts_are_lent_is_not_what_it_is_judged_by() {
        let mut p = program(1);
        grant(&mut p, 4, 0);
        // The first interval has its start in it.
        (0..2).for_each(|_| p.measured(seen(4, 0), false));
        let judged = (p.request().dop, p.request().efficiency);
        assert!(judged.1.is_some());
        grant(&mut p, 1, TICK_NS);
        p.grant.lent = true;
        p.measured(quiet(7), false);
        assert_eq!((p.request().dop, p.request().efficiency), judged);
        let of_one = |p: &Program| p.evidence.observed.past().mix.serial;
        p.evidence.seen =
            Some(Seen { interval: Interval { parallel_s: 0.0, ..quiet(7).interval }, ..quiet(7) });
        p.ran(&[]);
        assert_eq!(of_one(&p), 0.0);
        grant(&mut p, 2, 2 * TICK_NS);
        p.ran(&[]);
        assert_eq!(of_one(&p), 1.0);
    }
}
