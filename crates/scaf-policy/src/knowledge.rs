//! What is known of a running program's speedup: how the daemon and the simulator make a policy's input of
//! measurements. A program is *judged* at the DoP that was measured last.

use crate::efficiency::{Interval, LowPass};
use crate::estimate::Estimate;
use crate::fusion::{self, Fused, Inputs, Measured, Source};
use crate::observed::Observed;
use std::collections::{BTreeMap, BTreeSet};

pub const MOST_POINTS: usize = 64;
/// Useful time at an earlier DoP is remembered for so many seconds, at so many DoPs.
const KEPT_S: f64 = 30.0;
const MOST_KEPT: usize = 16;
/// A remembered speedup with a larger error is ignored: an unknown program is taken for worth an equal part.
const WORTHLESS: f64 = 0.5;

/// How far a program has come. What it does before its first parallel work, such as reading its input, won't
/// come again, so it is forgotten then. Until a quarter of the time is parallel, or for two seconds, useful
/// time says nothing: some programs have a first region long before their work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stage {
    #[default]
    New,
    /// It had no parallel work yet.
    Idle,
    /// It came with parallel work in its first interval, or has had little of it since: for so many ms.
    Starts(u32),
    /// Parallel work began in the latest interval.
    Begins,
    Begun,
}

/// Longest start of a program that is neither serial nor parallel, in milliseconds.
const LONGEST_START_MS: u32 = 2_000;
/// Part of an interval in regions from which on a program is at its work.
const AT_WORK: f64 = 0.25;

impl Stage {
    /// The stage after another interval, of `dt_s` seconds and `parallel_s` in regions; `worked` says whether
    /// there was parallel work by its end.
    pub fn next(self, worked: bool, dt_s: f64, parallel_s: f64) -> Stage {
        let (ms, few) = ((dt_s * 1e3) as u32, parallel_s < AT_WORK * dt_s);
        match self {
            Stage::New if worked => Stage::Starts(ms),
            Stage::Idle if worked => Stage::Begins,
            Stage::New | Stage::Idle => Stage::Idle,
            Stage::Begins if few => Stage::Starts(ms),
            Stage::Starts(before) if few && before < LONGEST_START_MS => {
                Stage::Starts(before.saturating_add(ms))
            }
            _ => Stage::Begun,
        }
    }

    /// Whether useful time says something of the program.
    pub fn is_measured(self) -> bool {
        matches!(self, Stage::Idle | Stage::Begun)
    }

    /// Whether it has had parallel work.
    pub fn has_begun(self) -> bool {
        !matches!(self, Stage::New | Stage::Idle)
    }
}

/// Useful time over wall time, smoothed, at the DoP measured last and at earlier ones. Without the earlier
/// ones a program with one context for a moment would pass for a perfect one: on one context nothing is lost.
#[derive(Clone, Debug)]
pub struct Useful {
    rc_s: f64,
    dop: Option<u32>,
    at: BTreeMap<u32, Smoothed>,
}

#[derive(Clone, Debug)]
struct Smoothed {
    efficiency: LowPass,
    age_s: f64,
}

impl Useful {
    /// Nothing measured yet; the filter's time constant is `rc_s` seconds.
    pub fn new(rc_s: f64) -> Useful {
        Useful { rc_s, dop: None, at: BTreeMap::new() }
    }

    pub fn forget(&mut self) {
        self.dop = None;
        self.at.clear();
    }

    /// Takes in an interval on `dop` contexts. One without length is ignored.
    pub fn add(&mut self, dop: u32, interval: &Interval) {
        let dt_s = interval.dt_s;
        if dt_s.is_nan() || dt_s <= 0.0 {
            return;
        }
        if self.dop != Some(dop) {
            // An earlier time at this DoP may be of another phase.
            self.at.remove(&dop);
            self.dop = Some(dop);
        }
        self.at.values_mut().for_each(|there| there.age_s += dt_s);
        let new = || Smoothed { efficiency: LowPass::new(self.rc_s), age_s: 0.0 };
        let there = self.at.entry(dop).or_insert_with(new);
        there.age_s = 0.0;
        there.efficiency.update(dt_s, interval.efficiency());
        self.at.retain(|_, there| there.age_s < KEPT_S);
        if self.at.len() > MOST_KEPT
            && let Some(oldest) =
                self.at.iter().max_by(|a, b| a.1.age_s.total_cmp(&b.1.age_s)).map(|(dop, _)| *dop)
        {
            self.at.remove(&oldest);
        }
    }

    /// The latest efficiency, 0 to 1, and its DoP; `None` before the first measurement.
    pub fn efficiency(&self) -> Option<(u32, f64)> {
        let dop = self.dop?;
        Some((dop, self.at.get(&dop)?.efficiency.value()?))
    }

    /// The speedup measured nearest to `dop`, by the DoPs' ratio; that at DoP 1 only if there is no other.
    pub fn near(&self, dop: u32) -> Option<Measured> {
        let away = |at: u32| (f64::from(at) / f64::from(dop.max(1))).ln().abs();
        let nearest = self.at.keys().copied().min_by(|a, b| {
            let one = |at: u32| at == 1 && dop != 1;
            one(*a).cmp(&one(*b)).then(away(*a).total_cmp(&away(*b)))
        })?;
        let efficiency = self.at.get(&nearest)?.efficiency.value()?;
        Some(Measured::useful(nearest, efficiency * f64::from(nearest)))
    }

    pub fn dops(&self) -> impl Iterator<Item = u32> + '_ {
        self.at.keys().copied()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    pub useful: &'a Useful,
    /// What its regions did at each DoP, in this run and earlier ones.
    pub observed: &'a Observed,
    pub counters: Option<Measured>,
    /// The DoP that it would have alone.
    pub natural: u32,
}

/// The speedup at a DoP that the program had, and its sources.
#[derive(Clone, PartialEq, Debug)]
pub struct CurvePoint {
    /// The DoP, and the speedup there.
    pub measured: Measured,
    /// Sources that have a tenth of its weight or more.
    pub sources: Vec<Source>,
}

impl Knowledge<'_> {
    /// The speedup at `dop` by all sources, and by observation alone; `None` if it isn't finite.
    pub fn speedup(&self, dop: u32) -> Option<(Fused, Option<Estimate>)> {
        let (useful, counters) = (self.useful.near(dop), self.counters);
        let curve = self.observed.speedup(dop, useful.map_or(1.0, Measured::exponent));
        let fused = fusion::speedup(dop, &Inputs { useful, curve, counters })?;
        (fused.speedup.value.is_finite() && fused.speedup.error.is_finite()).then_some((fused, curve))
    }

    /// The DoP by which it is judged, and its efficiency there by all sources. Before it was measured: what
    /// earlier runs promise at the DoP that it would have alone.
    pub fn judged(&self) -> Option<(u32, f64)> {
        let measured = self.useful.efficiency();
        if measured.is_none() && (self.natural <= 1 || !self.observed.remembers()) {
            return None;
        }
        let dop = measured.map_or(self.natural, |(dop, _)| dop);
        let (Fused { speedup: Estimate { value, error }, .. }, _) = self.speedup(dop)?;
        (measured.is_some() || error < WORTHLESS).then(|| (dop, (value / f64::from(dop)).min(1.0)))
    }

    /// DoPs that this run or an earlier one had.
    pub fn had(&self) -> BTreeSet<u32> {
        let mut dops = self.observed.dops();
        dops.extend(self.useful.dops());
        dops
    }

    /// The curve at the DoPs that it had, up to the natural one: at most [`MOST_POINTS`], with `kept`.
    pub fn curve(&self, kept: u32) -> Vec<CurvePoint> {
        let mut dops = self.had();
        dops.retain(|dop| (1..=self.natural).contains(dop));
        let point = |dop: u32| {
            let (Fused { speedup, sources }, _) = self.speedup(dop)?;
            (speedup.value > 0.0).then_some(CurvePoint { measured: Measured { dop, speedup }, sources })
        };
        thinned(&dops, kept).filter_map(point).collect()
    }
}

/// The curve that the memory of earlier runs promises by itself.
pub fn promised(observed: &Observed) -> Vec<Measured> {
    let point = |dop: u32| Some(Measured { dop, speedup: observed.speedup(dop, 1.0)? });
    let good = |it: &Measured| it.speedup.value > 0.0 && it.speedup.error.is_finite();
    thinned(&observed.dops(), 1).filter_map(point).filter(good).collect()
}

/// At most [`MOST_POINTS`] of the DoPs, evenly picked, with the first, the last and `kept`.
fn thinned(dops: &BTreeSet<u32>, kept: u32) -> impl Iterator<Item = u32> + '_ {
    let surplus = dops.len() > MOST_POINTS;
    let step = if surplus { (dops.len() - 1) as f64 / (MOST_POINTS - 3) as f64 } else { 1.0 };
    let even = move |at: usize| at + 1 == dops.len() || (at as f64 % step) < 1.0;
    let chosen = dops.iter().enumerate().filter(move |(at, dop)| !surplus || even(*at) || **dop == kept);
    chosen.map(|(_, dop)| *dop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Runs, Spell};
    use proptest::prelude::*;

    fn interval(useful_s: f64) -> Interval {
        Interval { dt_s: 1.0, p: 4.0, parallel_s: 1.0, useful_s }
    }

    #[test]
    fn another_dop_begins_anew_and_no_time_says_nothing() {
        let mut useful = Useful::new(1.0);
        useful.add(4, &Interval { dt_s: 0.0, ..interval(4.0) });
        assert!(useful.efficiency().is_none() && useful.near(4).is_none());
        useful.add(4, &interval(4.0));
        useful.add(4, &interval(2.0));
        assert_eq!(useful.efficiency(), Some((4, 0.75)));
        useful.add(2, &Interval { p: 2.0, ..interval(2.0) });
        assert_eq!(useful.efficiency(), Some((2, 1.0)));
        useful.add(4, &interval(4.0));
        assert_eq!(useful.efficiency(), Some((4, 1.0)));
    }

    #[test]
    fn on_one_context_a_program_is_known_by_what_it_was_on_more_until_that_is_long_ago() {
        let mut useful = Useful::new(0.0);
        useful.add(1, &Interval { p: 1.0, ..interval(1.0) });
        assert_eq!(useful.near(8), Some(Measured::useful(1, 1.0)));
        useful.add(4, &interval(2.0));
        useful.add(1, &Interval { p: 1.0, ..interval(1.0) });
        assert_eq!(useful.efficiency(), Some((1, 1.0)));
        assert_eq!(useful.near(8), Some(Measured::useful(4, 2.0)));
        assert_eq!(useful.near(1), Some(Measured::useful(1, 1.0)));
        useful.add(1, &Interval { dt_s: KEPT_S, p: 1.0, ..interval(1.0) });
        assert_eq!(useful.near(8), Some(Measured::useful(1, 1.0)));
        for dop in 1..100 {
            useful.add(dop, &Interval { dt_s: 0.01, ..interval(1.0) });
        }
        assert_eq!(useful.dops().count(), MOST_KEPT);
    }

    #[test]
    fn a_program_is_judged_where_it_was_measured_and_known_where_it_ran() {
        let (mut useful, mut observed) = (Useful::new(0.0), Observed::default());
        let known = |useful: &Useful, observed: &Observed, natural| {
            let it = Knowledge { useful, observed, counters: None, natural };
            (it.judged(), it.curve(1).iter().map(|known| known.measured.dop).collect::<Vec<_>>())
        };
        assert_eq!(known(&useful, &observed, 8), (None, vec![]));
        let run = |dop| Runs::of(7, dop, 10.0, 1.0 / f64::from(dop));
        for dop in [1, 2, 4] {
            observed.add(&Spell { dop, dt_s: 1.0, parallel_s: 1.0, runs: &[run(dop)] });
        }
        useful.add(4, &interval(4.0));
        observed.add(&Spell { dop: 3, dt_s: 1.0, parallel_s: 1.0, runs: &[Runs { region: 8, ..run(3) }] });
        let (judged, dops) = known(&useful, &observed, 8);
        assert!(judged.is_some_and(|(dop, e)| dop == 4 && e > 0.9), "{judged:?}");
        assert_eq!(dops, [1, 2, 3, 4]);
        assert_eq!(known(&useful, &observed, 3).1, [1, 2, 3]);
    }

    #[test]
    fn a_program_begins_once() {
        let next = |stage: Stage, worked: &bool| stage.next(*worked, 0.25, 0.25);
        let after = |worked: &[bool]| worked.iter().fold(Stage::New, next);
        assert_eq!(
            [after(&[]), after(&[false]), after(&[false, false])],
            [Stage::New, Stage::Idle, Stage::Idle]
        );
        assert_eq!([after(&[false, true]), after(&[false, true, true])], [Stage::Begins, Stage::Begun]);
        assert_eq!([after(&[true]), after(&[true, true, true])], [Stage::Starts(250), Stage::Begun]);
    }

    #[test]
    fn a_start_with_little_parallel_work_says_nothing_for_a_while() {
        let mut stage = Stage::New.next(true, 0.25, 0.0);
        let mut starts = 0;
        while stage != Stage::Begun && starts < 100 {
            assert!(!stage.is_measured() && stage.has_begun());
            stage = stage.next(true, 0.25, 0.05);
            starts += 1;
        }
        assert_eq!(starts, 8);
        assert_eq!(Stage::Begins.next(true, 0.25, 0.05), Stage::Starts(250));
        assert_eq!(Stage::Starts(250).next(true, 0.25, 0.1), Stage::Begun);
        // Serial phases count once a program has begun its work.
        assert!(Stage::Begun.next(true, 0.25, 0.0).is_measured() && Stage::Idle.is_measured());
    }

    proptest! {
        #[test]
        fn of_many_dops_a_few_are_told_with_the_first_the_last_and_the_present_one(
            dops in proptest::collection::btree_set(1u32..70_000, 1..400), at in any::<prop::sample::Index>(),
        ) {
            let all: Vec<u32> = dops.iter().copied().collect();
            let kept = *at.get(&all);
            let few: Vec<u32> = thinned(&dops, kept).collect();
            prop_assert!(few.len() <= MOST_POINTS && few.len() >= dops.len().min(MOST_POINTS / 2));
            prop_assert!(few.is_sorted() && few.contains(&kept));
            prop_assert_eq!((few.first(), few.last()), (all.first(), all.last()));
        }
    }
}
