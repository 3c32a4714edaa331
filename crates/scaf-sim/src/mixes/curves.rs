//! Speedup curves: from a table of measurements, or from a formula.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A program's true speedup on each number of contexts.
#[derive(Clone, PartialEq, Debug)]
pub struct Curve {
    /// The program's name.
    pub name: String,
    /// Speedups on 1, 2, 3, ... contexts, all finite and positive.
    speedups: Vec<f64>,
}

impl Curve {
    /// The curve of a formula, from 1 to `contexts`; what isn't finite and at least 0.001 counts as 0.001.
    pub fn of(name: impl Into<String>, contexts: u32, speedup: impl Fn(f64) -> f64) -> Curve {
        let sane = |s: f64| if s.is_finite() { s.max(1e-3) } else { 1e-3 };
        let speedups = (1..=contexts.max(1)).map(|p| sane(speedup(f64::from(p)))).collect();
        Curve { name: name.into(), speedups }
    }

    /// Straight lines between points in the order of DoPs, from 1 at DoP 1; constant beyond the last.
    pub fn through(name: impl Into<String>, contexts: u32, points: &[(f64, f64)]) -> Curve {
        let points: Vec<(f64, f64)> =
            [(1.0, 1.0)].into_iter().chain(points.iter().copied().filter(|(p, _)| *p > 1.0)).collect();
        Curve::of(name, contexts, |p| {
            let above = points.partition_point(|(at, _)| *at < p);
            match (points[..above].last(), points.get(above)) {
                (Some((p0, s0)), Some((p1, s1))) => s0 + (s1 - s0) * (p - p0) / (p1 - p0),
                (Some((_, last)), None) => *last,
                (None, _) => 1.0,
            }
        })
    }

    /// Contexts up to which the curve is known.
    pub fn contexts(&self) -> u32 {
        self.speedups.len() as u32
    }

    /// The speedup on `p` contexts; beyond [`Curve::contexts`] that of the last, at 0 contexts 0.
    pub fn at(&self, p: u32) -> f64 {
        if p == 0 { 0.0 } else { self.speedups[(p as usize).min(self.speedups.len()) - 1] }
    }
}

/// Why a table of speedups can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// It isn't CSV.
    #[error("not a table of speedups: {0}")]
    Csv(#[from] csv::Error),
    /// A column isn't named after a DoP.
    #[error("column {0:?} should be named p and a number of contexts, as in p12, and hold numbers")]
    Column(String),
    /// A value is no speedup.
    #[error("{benchmark}: {speedup} is no speedup; it has to be positive and finite")]
    Speedup {
        /// The program.
        benchmark: String,
        /// The value.
        speedup: f64,
    },
    /// No row is of the kind asked for.
    #[error("no row of kind {asked:?}; there are {there:?}")]
    Kind {
        /// The kind asked for.
        asked: String,
        /// The kinds in the table.
        there: Vec<String>,
    },
}

#[derive(Deserialize)]
struct CurveLine {
    benchmark: String,
    kind: String,
    #[serde(flatten)]
    speedups: BTreeMap<String, f64>,
}

/// The curves in a table with columns `benchmark`, `kind` and one for each measured DoP (`p2`, `p12`), of the
/// rows of one kind; lines that begin with # are comments.
pub fn from_csv(text: &str, kind: &str, contexts: u32) -> Result<Vec<Curve>, TableError> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let (mut curves, mut there) = (Vec::new(), Vec::new());
    for row in reader.deserialize() {
        let CurveLine { benchmark, kind: its, speedups } = row?;
        if its != kind {
            there.push(its);
            continue;
        }
        let mut points = Vec::new();
        for (column, speedup) in speedups {
            let dop = column.strip_prefix('p').and_then(|p| p.parse::<u32>().ok());
            let dop = dop.ok_or(TableError::Column(column))?;
            if !speedup.is_finite() || speedup <= 0.0 {
                return Err(TableError::Speedup { benchmark, speedup });
            }
            points.push((f64::from(dop), speedup));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        curves.push(Curve::through(benchmark, contexts, &points));
    }
    there.sort();
    there.dedup();
    if curves.is_empty() { Err(TableError::Kind { asked: kind.into(), there }) } else { Ok(curves) }
}

/// Programs whose curves have one form.
#[derive(Clone, PartialEq, Debug)]
pub struct Family {
    /// The form.
    pub name: &'static str,
    /// Its programs.
    pub curves: Vec<Curve>,
}

/// The forms that no table has.
pub fn families(contexts: u32) -> Vec<Family> {
    let family = |name, curves| Family { name, curves };
    vec![
        family("amdahl", [0.0, 0.01, 0.03, 0.06, 0.12, 0.25, 0.5, 0.9].map(|f| amdahl(f, contexts)).into()),
        family(
            "usl",
            [
                (0.0, 0.001),
                (0.01, 0.002),
                (0.02, 0.0),
                (0.03, 0.004),
                (0.05, 0.01),
                (0.1, 0.02),
                (0.2, 0.005),
                (0.3, 0.05),
            ]
            .map(|(sigma, kappa)| usl(sigma, kappa, contexts))
            .into(),
        ),
        family("power", [0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9, 1.0].map(|a| power(a, contexts)).into()),
        family("staircase", [4, 6, 8, 10, 12, 16, 24, 32].map(|pieces| staircase(pieces, contexts)).into()),
    ]
}

/// Amdahl's law with the share `serial` (0 to 1).
pub fn amdahl(serial: f64, contexts: u32) -> Curve {
    Curve::of(format!("amdahl {serial}"), contexts, |p| 1.0 / (serial + (1.0 - serial) / p))
}

/// Gunther's universal scalability law: contention `sigma`, coherence `kappa`; knee: sqrt((1 - sigma) /
/// kappa).
pub fn usl(sigma: f64, kappa: f64, contexts: u32) -> Curve {
    let speedup = move |p: f64| p / (1.0 + sigma * (p - 1.0) + kappa * p * (p - 1.0));
    Curve::of(format!("usl {sigma} {kappa}"), contexts, speedup)
}

/// p to the power `exponent`.
pub fn power(exponent: f64, contexts: u32) -> Curve {
    Curve::of(format!("power {exponent}"), contexts, |p| p.powf(exponent))
}

/// `pieces` of equal work, of which each context does one at a time: pieces / (pieces / p, rounded up).
pub fn staircase(pieces: u32, contexts: u32) -> Curve {
    let all = f64::from(pieces.max(1));
    Curve::of(format!("staircase {pieces}"), contexts, |p| all / (all / p).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# by somebody\nbenchmark,kind,p2,p4\na,solo,1.5,2.5\nb,solo,2,4\na,full,2,5\n";

    #[test]
    fn between_measured_points_are_straight_lines() {
        let curves = from_csv(TABLE, "solo", 8).unwrap();
        assert_eq!(curves.len(), 2);
        let a = &curves[0];
        assert_eq!((a.name.as_str(), a.contexts()), ("a", 8));
        assert_eq!([0, 1, 2, 3, 4, 8, 9].map(|p| a.at(p)), [0.0, 1.0, 1.5, 2.0, 2.5, 2.5, 2.5]);
    }

    #[test]
    fn a_table_that_cannot_be_used_says_why() {
        let said = |text: &str| from_csv(text, "solo", 8).unwrap_err().to_string();
        assert!(said("benchmark,kind,p2\na,full,2\n").contains("full"));
        assert!(said("benchmark,kind,two\na,solo,2\n").contains("two"));
        assert!(said("benchmark,kind,p2\na,solo,-2\n").contains("-2"));
        assert!(said("benchmark,kind,p2\na,solo\n").contains("not a table"));
    }

    #[test]
    fn every_formula_begins_at_1_and_no_speedup_is_nonsense() {
        for family in families(24) {
            assert_eq!(family.curves.len(), 8, "{}", family.name);
            for curve in family.curves {
                assert!((curve.at(1) - 1.0).abs() < 1e-9, "{curve:?}");
                assert!((1..=24).all(|p| curve.at(p) > 0.0 && curve.at(p) <= f64::from(p)), "{curve:?}");
            }
        }
        let knee = usl(0.0, 0.01, 24);
        assert!(knee.at(10) > knee.at(8) && knee.at(10) > knee.at(14));
        assert_eq!(Curve::of("odd", 2, |_| f64::NAN).at(2), 1e-3);
    }
}
