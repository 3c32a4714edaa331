use serde::{Deserialize, Serialize};

/// How a region's speedup depends on its DoP on an empty machine. S(1) is 1 for every shape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Straight lines between points (DoP, speedup) in rising order, from (1, 1); constant beyond the last.
    Points(Vec<(u32, f64)>),
    /// Amdahl's law with this share of serial work, 0 to 1.
    Amdahl(f64),
    /// Amdahl's law through the point (DoP, speedup): 1 <= speedup <= DoP.
    AmdahlThrough(u32, f64),
    /// Gunther's universal scalability law, with contention and coherence: p / (1 + a (p - 1) + b p (p - 1)).
    Usl(f64, f64),
    /// This power of p, 0 to 1.
    Power(f64),
}

/// The largest DoP.
pub const MOST_CONTEXTS: u32 = 65_536;

impl Shape {
    /// The speedup on `p` contexts (0 counts as 1): positive and finite if [`Shape::check`] passes.
    pub fn at(&self, p: u32) -> f64 {
        let x = f64::from(p.max(1));
        if p <= 1 {
            return 1.0;
        }
        match self {
            Shape::Points(points) => between(points, p),
            Shape::Amdahl(serial) => amdahl(*serial, x),
            Shape::AmdahlThrough(at, speedup) => amdahl(serial_share(*at, *speedup), x),
            Shape::Usl(contention, coherence) => {
                x / (1.0 + contention * (x - 1.0) + coherence * x * (x - 1.0))
            }
            Shape::Power(exponent) => x.powf(*exponent),
        }
    }

    /// The speedup on any real number of contexts: straight lines between whole ones, and 0 at 0.
    pub fn part(&self, contexts: f64) -> f64 {
        let below = contexts.max(0.0).floor();
        let at = |p: f64| if p < 1.0 { 0.0 } else { self.at(p as u32) };
        at(below) + (at(below + 1.0) - at(below)) * (contexts.max(0.0) - below)
    }

    /// What is wrong with it, if anything.
    pub fn check(&self) -> Result<(), String> {
        let share = |value: f64, what: &str| {
            if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(format!("{what} is {value}, not 0 to 1")) }
        };
        match self {
            Shape::Points(points) => {
                let dops = points.iter().map(|(dop, _)| *dop);
                if points.is_empty() || !dops.clone().zip(dops.clone().skip(1)).all(|(a, b)| a < b) {
                    return Err("its points need growing DoPs, at least one".into());
                }
                let sound = |(dop, s): &(u32, f64)| {
                    (1..=MOST_CONTEXTS).contains(dop) && s.is_finite() && (1e-3..=1e6).contains(s)
                };
                match points.iter().find(|point| !sound(point)) {
                    Some((dop, s)) => Err(format!("{s} on {dop} contexts is no speedup")),
                    None => Ok(()),
                }
            }
            Shape::Amdahl(serial) => share(*serial, "the serial share"),
            Shape::AmdahlThrough(dop, speedup) => {
                if *dop >= 2 && *speedup >= 1.0 && *speedup <= f64::from(*dop) {
                    Ok(())
                } else {
                    Err(format!("Amdahl's law can't go through {speedup} on {dop} contexts"))
                }
            }
            Shape::Usl(contention, coherence) => {
                share(*contention, "the contention")?;
                share(*coherence, "the coherence")
            }
            Shape::Power(exponent) => share(*exponent, "the exponent"),
        }
    }
}

fn amdahl(serial: f64, p: f64) -> f64 {
    1.0 / (serial + (1.0 - serial) / p)
}

fn serial_share(dop: u32, speedup: f64) -> f64 {
    let p = f64::from(dop.max(2));
    ((p / speedup - 1.0) / (p - 1.0)).clamp(0.0, 1.0)
}

fn between(points: &[(u32, f64)], p: u32) -> f64 {
    let above = points.partition_point(|(at, _)| *at < p);
    let before = points[..above].last().copied().unwrap_or((1, 1.0));
    match points.get(above) {
        Some((at, speedup)) if *at > before.0 => {
            let part = f64::from(p - before.0) / f64::from(at - before.0);
            before.1 + (speedup - before.1) * part
        }
        Some((_, speedup)) => *speedup,
        None => before.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn points_are_met_and_joined_by_straight_lines() {
        let shape = Shape::Points(vec![(2, 1.8), (6, 3.8)]);
        assert_eq!([1, 2, 4, 6, 9].map(|p| (shape.at(p) * 10.0).round()), [10.0, 18.0, 28.0, 38.0, 38.0]);
        assert_eq!(Shape::Points(vec![(1, 1.0), (3, 2.0)]).at(2), 1.5);
    }

    #[test]
    fn amdahl_s_law_goes_through_the_point_that_it_was_told() {
        let shape = Shape::AmdahlThrough(64, 50.0);
        assert!((shape.at(64) - 50.0).abs() < 1e-9 && shape.at(32) > 25.0);
    }

    #[test]
    fn the_universal_law_has_a_knee() {
        let shape = Shape::Usl(0.02, 0.002);
        assert!(shape.at(22) > shape.at(8) && shape.at(22) > shape.at(64));
    }

    #[test]
    fn what_is_no_curve_is_refused() {
        let bad = [
            Shape::Points(vec![]),
            Shape::Points(vec![(2, 1.0), (2, 2.0)]),
            Shape::Points(vec![(2, f64::NAN)]),
            Shape::Amdahl(1.5),
            Shape::AmdahlThrough(4, 5.0),
            Shape::Power(f64::INFINITY),
            Shape::Usl(-1.0, 0.0),
        ];
        for shape in bad {
            assert!(shape.check().is_err(), "{shape:?}");
        }
    }

    proptest! {
        #[test]
        fn a_sound_shape_has_a_positive_speedup_everywhere(
            points in proptest::collection::vec((0u32..70_000, proptest::num::f64::ANY), 0..6),
            a in proptest::num::f64::ANY, b in proptest::num::f64::ANY, dop in 0u32..70_000,
            p in 0u32..70_000,
        ) {
            for shape in [
                Shape::Points(points), Shape::Amdahl(a), Shape::AmdahlThrough(dop, a), Shape::Usl(a, b),
                    Shape::Power(a),
            ] {
                if shape.check().is_ok() {
                    let s = shape.at(p);
                    prop_assert!(s.is_finite() && s > 0.0, "{shape:?} at {p}: {s}");
                }
            }
        }
    }
}
