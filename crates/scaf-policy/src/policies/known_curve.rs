//! A program's speedup between and beyond observed DoPs, its error, and what it may be at best. Between two
//! DoPs and beyond the last it is a power of p, as in [`crate::observed`]; at 1 it is 1.
//!
//! Of a team that is kept all DoPs count as the useful one below ([`crate::steps`]), measured ones too.

use crate::estimate::{Estimate, GUESS};
use crate::fusion::Measured;
use crate::{Program, steps};

/// The power of p where only one context is known: TACO's programs (table 1) have 10.9 on 24 on average.
const TYPICAL: f64 = 0.75;
/// DoPs at which curves are looked at: all up to the first number, then each larger by the second. Fewer of
/// them for more programs than the last: none gets much, and each look costs 20 ns.
const FINE: (u32, f64) = (32, 1.08);
const ROUGH: (u32, f64) = (6, 1.3);
const MANY: usize = 64;
/// Relative error of an efficiency that is all that is known.
const UNSURE: f64 = 0.15;
/// Bounds, since others may say anything.
const MOST_DOUBT: f64 = 1.0;
const LEAST_SPEEDUP: f64 = 1e-3;
const MOST_SPEEDUP: f64 = 1e6;
/// Least distance for the power beyond the last point, as a logarithm: between neighbours it is mostly noise.
const SPAN: f64 = 0.4;
/// Relative error of the line between neighbours, besides that of the distance. Of 12 times the 154 mixes of
/// TACO's programs on 24 contexts the worst has 92.1% of the oracle's STP after 5 s (without the line, 86.9).
const BEND: f64 = 0.02;
/// How far a speedup may be above its guess at best, for each factor e in contexts away from observed ones:
/// beyond, and between two. With 2, 2.7 on 6 contexts and a guess of 5.1 on 19 may be 17; TACO's ua.A has
/// 11.7.
const OPTIMISM_BEYOND: f64 = 2.0;
const OPTIMISM_BETWEEN: f64 = 0.6;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct At {
    pub p: u32,
    pub ln: f64,
}

impl At {
    pub fn new(p: u32) -> At {
        // Shortcut for the most frequent DoP of many programs.
        At { p, ln: if p <= 1 { 0.0 } else { f64::from(p).ln() } }
    }
}

pub(super) struct Grid {
    /// All DoPs up to this one are in the grid.
    dense: u32,
    dops: Vec<At>,
}

impl Grid {
    pub fn new(most: u32, programs: usize) -> Grid {
        let (dense, factor) = if programs > MANY { ROUGH } else { FINE };
        let mut dops = Vec::new();
        let mut p = 1;
        while p < most {
            dops.push(At::new(p));
            p = if p < dense { p + 1 } else { (f64::from(p) * factor) as u32 };
        }
        dops.push(At::new(most.max(1)));
        Grid { dense, dops }
    }

    /// DoPs of the grid from `least` to `most`, with both.
    pub fn within(&self, least: u32, most: u32) -> impl Iterator<Item = At> + '_ {
        let from = self.dops.partition_point(|at| at.p <= least);
        let between = self.dops[from..].iter().copied().take_while(move |at| at.p < most);
        let last = (most > least).then(|| At::new(most));
        [At::new(least)].into_iter().chain(between).chain(last)
    }

    /// DoPs from `least` to `most` between which what a team of that size does is a straight line: both ends
    /// of each step if it is kept.
    pub fn steps(&self, team: u32, least: u32, most: u32) -> Box<dyn Iterator<Item = u32> + '_> {
        if team == 0 {
            return Box::new(self.within(least, most).map(|at| at.p));
        }
        let first = std::iter::successors(Some(least), move |p| steps::next(team, *p));
        let first = first.take_while(move |p| *p <= most);
        let last = move |p| steps::next(team, p).map_or(most, |next| most.min(next - 1));
        Box::new(first.flat_map(move |p| [p, last(p)]))
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    at: At,
    /// The speedup's logarithm.
    ln: f64,
    error: f64,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct KnownCurve {
    /// In their order; the first is 1, whose speedup is 1.
    points: Vec<Point>,
    /// The power of p beyond the last point.
    beyond: f64,
    /// Members of a team that is kept, else 0.
    team: u32,
}

impl KnownCurve {
    /// From the points of a curve, whatever they hold; `None` where none is sound. A point at DoP 1 counts.
    /// `team` is [`Program::fixed_team`].
    pub fn of(curve: &[Measured], team: u32) -> Option<KnownCurve> {
        let mut points = vec![Point { at: At::new(1), ln: 0.0, error: 0.0 }];
        let mut seen = false;
        for Measured { dop, speedup: Estimate { value, error } } in curve {
            let sound = value.is_finite() && *value > 0.0;
            seen |= sound && *dop > 0;
            let at = counted(team, At::new(*dop));
            if sound && at.p > 1 {
                let error = if error.is_finite() { error.clamp(0.0, MOST_DOUBT) } else { MOST_DOUBT };
                let ln = value.clamp(LEAST_SPEEDUP, MOST_SPEEDUP).ln();
                points.push(Point { at, ln, error });
            }
        }
        // Of several DoPs that count as one, the surest.
        points.sort_by(|a, b| a.at.p.cmp(&b.at.p).then(a.error.total_cmp(&b.error)));
        points.dedup_by_key(|point| point.at.p);
        let points = straightened(&points);
        let last = *points.last()?;
        let before = points.iter().rfind(|point| last.at.ln - point.at.ln >= SPAN);
        let power = |before: &Point| ((last.ln - before.ln) / (last.at.ln - before.at.ln)).clamp(0.0, 1.0);
        let beyond = before.map_or(TYPICAL, power);
        seen.then_some(KnownCurve { points, beyond, team })
    }

    /// From what was observed and the profile at other DoPs; if nothing beyond one context, the efficiency.
    pub fn observed(program: &Program) -> Option<KnownCurve> {
        let seen = |point: &&Measured| !program.curve.iter().any(|seen| seen.dop == point.dop);
        let all: Vec<Measured> =
            program.curve.iter().chain(program.profile.iter().filter(seen)).copied().collect();
        let known = KnownCurve::of(&all, program.fixed_team);
        if known.as_ref().is_some_and(|known| !known.is_serial()) {
            return known;
        }
        let judged = program.efficiency.filter(|e| e.is_finite()).and_then(|efficiency| {
            let value = (efficiency.clamp(0.0, 1.0) * f64::from(program.dop)).max(LEAST_SPEEDUP);
            let point = Measured { dop: program.dop, speedup: Estimate { value, error: UNSURE } };
            KnownCurve::of(&[point], program.fixed_team)
        });
        judged.or(known)
    }

    /// The last point below `at`, and the first that isn't.
    fn around(&self, at: At) -> (Point, Option<Point>) {
        let above = self.points.partition_point(|point| point.at.p < at.p);
        (self.points[above.max(1) - 1], self.points.get(above).copied())
    }

    pub fn at(&self, at: At) -> Estimate {
        let at = counted(self.team, at);
        let (low, high) = self.around(at);
        let doubt = |point: Point| point.error + GUESS * (at.ln - point.at.ln).abs();
        let (ln, error) = match high {
            Some(there) if there.at.p == at.p => (there.ln, there.error),
            Some(high) => (between(low, high, at), doubt(low).min(doubt(high))),
            None => (low.ln + self.beyond * (at.ln - low.at.ln), doubt(low)),
        };
        Estimate { value: speedup(ln), error: error.min(MOST_DOUBT) }
    }

    /// The speedup at best, with `optimism` from 0 (as guessed) to 1.
    pub fn at_best(&self, at: At, optimism: f64) -> f64 {
        let at = counted(self.team, at);
        let (low, high) = self.around(at);
        let below = at.ln - low.at.ln;
        let (ln, away, error) = match high {
            Some(there) if there.at.p == at.p => (there.ln, 0.0, there.error),
            // As for a rope between two posts: half as far from both as from one.
            Some(high) => {
                let above = high.at.ln - at.ln;
                let error = (low.error + GUESS * below).min(high.error + GUESS * above);
                (between(low, high, at), OPTIMISM_BETWEEN * below * above / (below + above), error)
            }
            None => (low.ln + self.beyond * below, OPTIMISM_BEYOND * below, low.error + GUESS * below),
        };
        speedup(ln) * (1.0 + optimism * (away + error.min(MOST_DOUBT)))
    }

    pub fn is_serial(&self) -> bool {
        self.points.len() == 1
    }

    pub fn saw(&self, p: u32) -> bool {
        let p = steps::useful(self.team, p);
        self.points.binary_search_by_key(&p, |point| point.at.p).is_ok()
    }

    /// The DoPs from `least` to `most` to look at: those of the grid and the observed ones. Of many programs
    /// seen on one context only, all curves are alike, and a few DoPs tell them.
    /// Of a team that is kept, both ends of each step.
    pub fn knots<'a>(&'a self, grid: &'a Grid, least: u32, most: u32) -> Box<dyn Iterator<Item = At> + 'a> {
        if self.team > 0 {
            return Box::new(grid.steps(self.team, least, most).map(At::new));
        }
        let dense = grid.dense;
        let seen = self.points.iter().map(|point| point.at);
        let few = self.is_serial() && dense < FINE.0;
        let looked_at = move |at: &At| !few || at.p.is_power_of_two() || at.p == least || at.p == most;
        let of_grid = grid.within(least, most).filter(looked_at);
        Box::new(of_grid.chain(seen.filter(move |at| at.p > dense && at.p > least && at.p < most)))
    }

    /// Whether two DoPs come to the same.
    pub fn is_same(&self, one: u32, other: u32) -> bool {
        steps::useful(self.team, one) == steps::useful(self.team, other)
    }
}

/// A DoP as a team of that size counts it.
fn counted(team: u32, at: At) -> At {
    if team == 0 {
        return at;
    }
    At { p: steps::useful(team, at.p), ln: steps::counts_as(team, at.p).ln() }
}

/// Each inner point averaged with the line between its neighbours, by their errors.
fn straightened(points: &[Point]) -> Vec<Point> {
    let straighten = |(i, point): (usize, &Point)| {
        let (Some(low), Some(high)) = (i.checked_sub(1).map(|i| points[i]), points.get(i + 1)) else {
            return *point;
        };
        let (below, above) = (point.at.ln - low.at.ln, high.at.ln - point.at.ln);
        let share = below / (below + above);
        let ends = ((1.0 - share) * low.error).hypot(share * high.error);
        let error = ends + BEND + GUESS * below.min(above);
        // Weights are inverse variances.
        let trust = error.powi(2) / (error.powi(2) + point.error.powi(2));
        let ln = trust * point.ln + (1.0 - trust) * between(low, *high, point.at);
        Point { ln, error: point.error * trust.sqrt(), ..*point }
    };
    points.iter().enumerate().map(straighten).collect()
}

fn between(low: Point, high: Point, at: At) -> f64 {
    low.ln + (high.ln - low.ln) * (at.ln - low.at.ln) / (high.at.ln - low.at.ln)
}

fn speedup(ln: f64) -> f64 {
    ln.exp().clamp(LEAST_SPEEDUP, MOST_SPEEDUP)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(points: &[(u32, f64)]) -> KnownCurve {
        let measured = |(dop, value)| Measured { dop, speedup: Estimate { value, error: 0.02 } };
        KnownCurve::of(&points.iter().copied().map(measured).collect::<Vec<_>>(), 0).unwrap()
    }

    #[test]
    fn of_a_team_that_is_kept_dops_between_two_steps_are_the_lower_one_measured_or_not() {
        let measured = |(dop, value, error)| Measured { dop, speedup: Estimate { value, error } };
        let points = [(5, 3.0, 0.02), (7, 9.0, 0.3), (6, 4.0, 0.02), (16, 8.0, 0.02)].map(measured);
        let known = KnownCurve::of(&points, 16).unwrap();
        let value = |p| known.at(At::new(p)).value;
        assert!((value(6) - 4.0).abs() < 0.1, "the sure one of those on 6 and 7: {}", value(6));
        for (p, same) in [(5, 4), (7, 6), (9, 8), (15, 8), (20, 16)] {
            assert_eq!(known.at(At::new(p)), known.at(At::new(same)), "{p}");
            assert_eq!(known.at_best(At::new(p), 1.0), known.at_best(At::new(same), 1.0), "{p}");
            assert!(known.is_same(p, same) && known.saw(p) == known.saw(same), "{p}");
        }
        assert!(known.saw(5) && !known.saw(8) && !known.is_same(7, 8));
        let grid = Grid::new(24, 2);
        let knots: Vec<u32> = known.knots(&grid, 5, 15).map(|at| at.p).collect();
        assert_eq!(knots, [5, 5, 6, 7, 8, 15]);
        assert!(KnownCurve::of(&points, 1).unwrap().is_serial());
    }

    #[test]
    fn between_and_beyond_it_is_a_power_of_p() {
        let known = known(&[(4, 2.0), (16, 4.0)]);
        for (p, speedup) in [(1, 1.0), (2, 2f64.sqrt()), (4, 2.0), (9, 3.0), (16, 4.0), (64, 8.0)] {
            assert!((known.at(At::new(p)).value - speedup).abs() < 1e-9, "{p}");
        }
        assert!(known.at(At::new(64)).error > known.at(At::new(20)).error);
        assert_eq!(known.at(At::new(16)).error, 0.02);
    }

    #[test]
    fn a_point_that_is_unsure_gives_way_to_its_neighbours_and_a_sure_one_hardly() {
        let point = |(dop, value, error)| Measured { dop, speedup: Estimate { value, error } };
        // TACO's ua.A has 10.0 on 17 contexts; measured once, 14% too low.
        let at_17 = |error| {
            let points = [(11, 5.28, 0.013), (17, 8.62, error), (19, 11.4, 0.044)].map(point);
            KnownCurve::of(&points, 0).unwrap().at(At::new(17))
        };
        let (unsure, sure) = (at_17(0.11), at_17(0.013));
        assert!(unsure.value > 9.2 && unsure.error < 0.09, "{unsure:?}");
        assert!(sure.value < 8.72 && sure.error < 0.013, "{sure:?}");
    }

    #[test]
    fn neighbours_that_differ_by_noise_do_not_make_a_slope() {
        let steep = known(&[(12, 6.0), (13, 7.5)]);
        assert!(steep.at(At::new(24)).value < 13.0, "{:?}", steep.at(At::new(24)));
    }

    #[test]
    fn hope_is_largest_beyond_what_was_seen_and_none_where_it_was() {
        let known = known(&[(6, 2.7)]);
        let ratio = |p| known.at_best(At::new(p), 1.0) / known.at(At::new(p)).value;
        assert!(ratio(24) > ratio(12) && ratio(12) > ratio(3) && ratio(3) > ratio(6));
        assert!((ratio(6) - 1.02).abs() < 1e-9);
        assert_eq!(known.at_best(At::new(24), 0.0), known.at(At::new(24)).value);
    }

    #[test]
    fn without_a_curve_the_profile_or_the_efficiency_has_to_do_and_without_them_nothing_is_known() {
        let program = Program { dop: 8, efficiency: Some(0.5), ..Program::new(crate::ProgramId(1), 16) };
        assert!((KnownCurve::observed(&program).unwrap().at(At::new(8)).value - 4.0).abs() < 1e-9);
        let on_one = KnownCurve::observed(&Program { dop: 1, ..program.clone() }).unwrap();
        assert!(on_one.is_serial() && (on_one.at(At::new(16)).value - 8.0).abs() < 1e-9);
        assert_eq!(KnownCurve::observed(&Program { dop: 0, ..program.clone() }), None);
        let measured = |dop, value| Measured { dop, speedup: Estimate { value, error: 0.05 } };
        // The efficiency now says more than the speedup on one context.
        let on_one =
            Program { curve: vec![measured(1, 1.0)], profile: vec![measured(1, 1.0)], ..program.clone() };
        assert!((KnownCurve::observed(&on_one).unwrap().at(At::new(8)).value - 4.0).abs() < 1e-9);
        assert!(KnownCurve::observed(&Program { efficiency: None, ..on_one }).unwrap().is_serial());
        let profile = vec![measured(4, 3.0), measured(8, 5.0)];
        let known = |curve| {
            KnownCurve::observed(&Program { curve, profile: profile.clone(), ..program.clone() }).unwrap()
        };
        assert!((known(vec![]).at(At::new(8)).value - 5.0).abs() < 1e-9);
        let both = known(vec![measured(8, 4.5)]);
        assert!(
            (both.at(At::new(8)).value - 4.5).abs() < 0.15 && (both.at(At::new(4)).value - 3.0).abs() < 0.15
        );
        assert_eq!(KnownCurve::observed(&Program { efficiency: Some(f64::NAN), ..program }), None);
    }
}
