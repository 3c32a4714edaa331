//! Which programs are in a serial phase, so that a policy may lend their contexts.
//!
//! A program that is outside of parallel regions may still compute on many threads, by other means than OpenMP. So what its CPU clock
//! says counts as well; and how many of its threads want to run ([`crate::daemon`]), for on a busy machine no clock tells.

use super::Program;
use crate::estimate::Seen;

/// Outside of regions for at least so long, and for a whole tick: at 4 Hz the tick is longer.
const QUIET_NS: u64 = 200_000_000;
/// Contexts that a serial program is busy on, at most: one, and what its idle threads take until they sleep.
const BUSY: f64 = 1.25;

/// A phase that is over so soon after it was found was not worth moving everybody: the program isn't serial again for this time, and after
/// each further such phase for twice as long, up to the second time.
const SHORT_NS: u64 = 1_000_000_000;
/// See [`SHORT_NS`].
const MOST_REST_NS: u64 = 32_000_000_000;

/// When a program was serial, and how long it isn't taken for that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Loans {
    began_ns: Option<u64>,
    rest_ns: u64,
    rests_until_ns: u64,
}

/// The beginning of a time without parallel regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quiet {
    /// In nanoseconds of CLOCK_MONOTONIC.
    since_ns: u64,
    /// [`Seen::progress`] then.
    progress: u64,
}

impl Program {
    /// Finds out, at a tick, whether it is in a serial phase; never before its first region, when libraries that are being loaded count
    /// the PUs that they may have for good. `seen` is the interval before `now_ns`, in which it used
    /// `cpu_s` of CPU time; `None` if that isn't known, and then it isn't serial.
    pub fn listen(&mut self, seen: &Seen, cpu_s: Option<f64>, now_ns: u64) {
        let busy = cpu_s.is_none_or(|cpu_s| cpu_s > BUSY * seen.interval.dt_s);
        if busy || seen.in_region || seen.last_team == 0 {
            self.is_parallel(now_ns);
            return;
        }
        let began = Quiet { since_ns: now_ns, progress: seen.progress };
        // What was left in this interval is no whole tick.
        let quiet = self.quiet.filter(|quiet| quiet.progress == seen.progress).unwrap_or(began);
        self.quiet = Some(quiet);
        self.serial =
            now_ns.saturating_sub(quiet.since_ns) >= QUIET_NS && now_ns >= self.loans.rests_until_ns;
        if self.serial {
            self.loans.began_ns.get_or_insert(now_ns);
        }
    }

    /// It isn't in a serial phase, or not any more.
    pub fn is_parallel(&mut self, now_ns: u64) {
        self.quiet = None;
        self.serial = false;
        let Some(began_ns) = self.loans.began_ns.take() else { return };
        if now_ns.saturating_sub(began_ns) < SHORT_NS {
            self.loans.rest_ns = (2 * self.loans.rest_ns).clamp(SHORT_NS, MOST_REST_NS);
            self.loans.rests_until_ns = now_ns.saturating_add(self.loans.rest_ns);
        } else {
            self.loans.rest_ns = 0;
        }
    }

    /// Whether a reading of its page between two ticks shows that it has left its serial phase.
    pub fn has_returned(&self, seen: &Seen) -> bool {
        self.serial && (seen.in_region || self.quiet.is_none_or(|quiet| quiet.progress != seen.progress))
    }

    /// Whether all its contexts but those that it keeps anyway are lent: what it does meanwhile is not what it is to be judged by, or one that
    /// is serial for long would get none back.
    pub fn lends_all(&self) -> bool {
        self.grant.lent && self.contexts() <= self.wishes.min.max(1)
    }

    /// Whether it is told to say when it enters a region: it is in a serial phase and has fewer contexts than it can use. Whatever
    /// the policy had in mind with that, it may think otherwise then.
    pub fn is_lent(&self) -> bool {
        self.serial && self.grant.dop.is_some_and(|dop| dop < self.natural())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{grant, program, seen};
    use super::*;
    use scaf_policy::efficiency::Interval;

    const TICK_NS: u64 = 250_000_000;

    fn quiet(progress: u64) -> Seen {
        Seen { in_region: false, progress, ..seen(4, 0) }
    }

    #[test]
    fn a_serial_phase_is_known_after_a_whole_tick_and_ends_with_its_first_region() {
        let mut p = program(1);
        grant(&mut p, 4, 0);
        p.listen(&quiet(7), Some(1.0), TICK_NS);
        assert!(!p.serial && !p.request().serial);
        p.listen(&quiet(7), Some(1.0), 2 * TICK_NS);
        assert!(p.serial && p.request().serial && !p.is_lent());
        grant(&mut p, 1, 2 * TICK_NS);
        assert!(p.is_lent() && !p.has_returned(&quiet(7)));
        // In a region, or one has begun and ended meanwhile.
        assert!(p.has_returned(&Seen { in_region: true, ..quiet(7) }) && p.has_returned(&quiet(8)));
        p.listen(&quiet(8), Some(1.0), 3 * TICK_NS);
        assert!(!p.serial && !p.is_lent());
        p.listen(&Seen { in_region: true, ..quiet(8) }, Some(1.0), 4 * TICK_NS);
        p.listen(&quiet(8), Some(1.0), 5 * TICK_NS);
        assert!(!p.serial);
    }

    #[test]
    fn short_phases_are_let_be_for_longer_and_longer() {
        let mut p = program(1);
        let mut found = Vec::new();
        // Two ticks without regions, and one with.
        for at in 0..400 {
            let progress = at / 3;
            p.listen(&Seen { in_region: at % 3 == 2, ..quiet(progress) }, Some(1.0), at * TICK_NS);
            found.extend(p.serial.then_some(at));
        }
        let rests: Vec<u64> = found.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(found.len() <= 9 && rests.is_sorted(), "{found:?}");
        // A long one makes up for them.
        let mut at = 600;
        while !p.serial || p.loans.began_ns.is_some_and(|began| at * TICK_NS < began + SHORT_NS) {
            p.listen(&quiet(999), Some(1.0), at * TICK_NS);
            at += 1;
        }
        p.listen(&Seen { in_region: true, ..quiet(1000) }, Some(1.0), at * TICK_NS);
        assert_eq!(p.loans.rest_ns, 0);
    }

    #[test]
    fn whoever_computes_on_several_contexts_is_not_serial_though_no_region_runs() {
        let mut p = program(1);
        for (at, cpu_s) in [(1, Some(1.0)), (2, Some(1.5)), (3, Some(1.0)), (4, None), (5, Some(1.0))] {
            p.listen(&quiet(7), cpu_s, at * TICK_NS);
            assert!(!p.serial, "{at}");
        }
        p.listen(&quiet(7), Some(1.0), 6 * TICK_NS);
        assert!(p.serial);
    }

    #[test]
    fn at_a_hundred_ticks_a_second_one_is_not_enough() {
        let mut p = program(1);
        for at in 0..20 {
            p.listen(&quiet(7), Some(1.0), at * 10_000_000);
            assert!(!p.serial, "{at}");
        }
        p.listen(&quiet(7), Some(1.0), QUIET_NS);
        assert!(p.serial);
    }

    #[test]
    fn what_a_program_does_while_its_contexts_are_lent_is_not_what_it_is_judged_by() {
        let mut p = program(1);
        grant(&mut p, 4, 0);
        p.measured(seen(4, 0), false);
        let judged = (p.request().dop, p.request().efficiency);
        assert!(judged.1.is_some());
        grant(&mut p, 1, TICK_NS);
        p.grant.lent = true;
        p.measured(quiet(7), false);
        assert_eq!((p.request().dop, p.request().efficiency), judged);
        let of_one = |p: &Program| p.observed.past().mix.serial;
        p.seen = Some(Seen { interval: Interval { parallel_s: 0.0, ..quiet(7).interval }, ..quiet(7) });
        p.ran(&[]);
        assert_eq!(of_one(&p), 0.0);
        // A policy that lends nothing has it judged by its serial phases, too.
        grant(&mut p, 2, 2 * TICK_NS);
        p.ran(&[]);
        assert_eq!(of_one(&p), 1.0);
    }
}
