//! Numbers with their errors, and the time of a run at a DoP from the times at others.

use serde::{Deserialize, Serialize};

/// DoPs remembered of a region; the one not seen for longest makes room.
pub(crate) const POINTS: usize = 16;
/// Two intervals in a row that differ from earlier ones by this factor are another phase of the program.
pub(crate) const PHASE: f64 = 1.3;
/// Relative error of a guess for each factor e in contexts between it and what was observed.
pub(crate) const GUESS: f64 = 0.3;

/// A number with its relative standard error.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    /// Its standard error over its value.
    pub error: f64,
}

/// Seconds a run at `p`, from those at some DoPs in order; from one, the speedup is p to the `exponent`.
pub(crate) fn seconds(points: &[(u32, Estimate)], p: u32, exponent: f64) -> Option<Estimate> {
    let from = |(dop, estimate): (u32, Estimate), exponent: f64| {
        let away = (f64::from(p.max(1)) / f64::from(dop.max(1))).ln();
        Estimate {
            value: estimate.value * (-exponent * away).exp(),
            error: estimate.error + GUESS * away.abs(),
        }
    };
    let steady = |low, high| slope(low, high).clamp(0.0, 1.0);
    let above = points.partition_point(|(dop, _)| *dop < p);
    match (&points[..above], &points[above..]) {
        (_, [(dop, there), ..]) if *dop == p => Some(*there),
        ([.., low], [high, ..]) => {
            let slope = slope(*low, *high);
            let (one, other) = (from(*low, slope), from(*high, slope));
            Some(if one.error < other.error { one } else { other })
        }
        ([.., second, nearest], []) => Some(from(*nearest, steady(*second, *nearest))),
        ([], [nearest, second, ..]) => Some(from(*nearest, steady(*nearest, *second))),
        ([nearest], []) | ([], [nearest]) => Some(from(*nearest, exponent)),
        ([], []) => None,
    }
}

/// The power of p with which the speed grows from one point to the next.
fn slope(low: (u32, Estimate), high: (u32, Estimate)) -> f64 {
    (low.1.value / high.1.value).ln() / (f64::from(high.0.max(1)) / f64::from(low.0.max(1))).ln()
}
