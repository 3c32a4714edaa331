//! The worth of a division of the machine: the sum of speedups (STP) against that with equal parts. Pure:
//! from a snapshot.

use scaf_policy::{Dop, Machine, ProgramId, Settings, by_name, metrics};
use scafd::control::{Program, Snapshot};
use std::collections::BTreeMap;

/// What a division is worth.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Worth {
    /// The sum of speedups as they are.
    pub stp: f64,
    /// The same with equal parts.
    pub equal: f64,
    /// Programs whose speedup is known, and who count here.
    pub known: usize,
    /// Programs that have contexts.
    pub programs: usize,
}

impl Worth {
    /// How much more it is than equal parts, as a share of these; `None` if nothing is known.
    pub fn gain(&self) -> Option<f64> {
        (self.known > 0 && self.equal > 0.0).then(|| self.stp / self.equal - 1.0)
    }
}

/// What the division at that moment is worth.
pub fn of(snapshot: &Snapshot) -> Worth {
    let equal = equal_parts(snapshot);
    let mut worth = Worth::default();
    let (mut is, mut would) = (Vec::new(), Vec::new());
    for program in &snapshot.programs {
        let Some(dop) = program.dop else { continue };
        worth.programs += 1;
        let Some(part) = equal.get(&program.id) else { continue };
        if let (Some(now), Some(then)) = (speedup(program, dop), speedup(program, *part)) {
            is.push(now);
            would.push(then);
        }
    }
    worth.known = is.len();
    (worth.stp, worth.equal) = (metrics::stp(&is), metrics::stp(&would));
    worth
}

/// What each program would have with equal parts, within what it may and can have.
pub fn equal_parts(snapshot: &Snapshot) -> BTreeMap<u64, u32> {
    let Some(mut equi) = by_name("equi", &Settings::default()) else { return BTreeMap::new() };
    let machine = Machine::new(snapshot.capacity, 0.0);
    let claims: Vec<scaf_policy::Program> =
        snapshot.programs.iter().filter(|program| program.dop.is_some()).map(claim).collect();
    let shares = equi.allocate(&machine, &claims).shares;
    let dop = |share: &scaf_policy::Share| match share.dop {
        Dop::Contexts(dop) => Some((share.id.0, dop)),
        Dop::Unmanaged => None,
    };
    shares.iter().filter_map(dop).collect()
}

fn claim(program: &Program) -> scaf_policy::Program {
    scaf_policy::Program {
        user: program.uid,
        min: program.min,
        max: if program.max == 0 { u32::MAX } else { program.max },
        weight: program.weight,
        ..scaf_policy::Program::new(ProgramId(program.id), program.natural)
    }
}

/// A program's speedup at that DoP. `None` if nothing is known.
pub fn speedup(program: &Program, dop: u32) -> Option<f64> {
    let known = along(program.curve.iter().map(|point| (point.dop, point.speedup)), dop);
    known.or_else(|| {
        let (now, efficiency) = (program.dop?, program.efficiency?);
        let at = f64::from(dop.max(1));
        Some(power((1.0, 1.0), (f64::from(now), efficiency * f64::from(now)), at))
            .filter(|_| now > 1 || dop <= 1)
    })
}

/// The speedup at that DoP of a curve of DoPs and speedups: between and beyond these a power of the DoP, as
/// the policies see it. `None` if nothing is known.
pub fn along(curve: impl Iterator<Item = (u32, f64)>, dop: u32) -> Option<f64> {
    let at = f64::from(dop.max(1));
    let mut below = (1.0, 1.0);
    let (mut before, mut empty) = (below, true);
    for (dop, speedup) in curve {
        empty = false;
        if dop <= 1 || speedup <= 0.0 {
            continue;
        }
        let here = (f64::from(dop), speedup);
        if here.0 >= at {
            return Some(power(below, here, at));
        }
        (before, below) = (below, here);
    }
    if below.0 > 1.0 {
        // Beyond the last point, but no better than each context as good as the last one's mean.
        return Some(power(before, below, at).min(below.1 * at / below.0));
    }
    Some(1.0).filter(|_| dop <= 1 && !empty)
}

/// The power of p through two points, at p = `at`.
fn power(low: (f64, f64), high: (f64, f64), at: f64) -> f64 {
    let span = (high.0 / low.0).ln();
    if span <= 0.0 || high.1 <= 0.0 {
        return high.1.max(0.0);
    }
    let exponent = (high.1 / low.1).ln() / span;
    low.1 * (at / low.0).powf(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ps::tests::{program, snapshot};
    use scafd::control::CurvePoint;

    fn with_curve(id: u64, dop: u32, points: &[(u32, f64)]) -> Program {
        let point = |&(dop, speedup): &(u32, f64)| CurvePoint {
            dop,
            speedup,
            error_ratio: 0.05,
            observed: None,
            sources: vec![],
        };
        let curve = points.iter().map(point).collect();
        Program { id, natural: 8, dop: Some(dop), efficiency: None, curve, ..program() }
    }

    #[test]
    fn a_division_that_gives_more_to_whom_it_helps_more_gains() {
        let good = with_curve(1, 6, &[(1, 1.0), (4, 4.0), (6, 6.0), (8, 8.0)]);
        let bad = with_curve(2, 2, &[(1, 1.0), (2, 1.2), (4, 1.3)]);
        let worth = of(&scafd::control::Snapshot { capacity: 8, ..snapshot(vec![good, bad]) });
        assert_eq!((worth.known, worth.programs), (2, 2));
        assert!((worth.stp - 7.2).abs() < 1e-9 && (worth.equal - 5.3).abs() < 1e-9, "{worth:?}");
        assert!((worth.gain().unwrap() - (7.2 / 5.3 - 1.0)).abs() < 1e-9);
    }

    #[test]
    fn who_is_unknown_or_unmanaged_does_not_count() {
        let unknown = with_curve(1, 4, &[]);
        let unmanaged = Program { dop: None, ..with_curve(2, 4, &[(4, 3.0)]) };
        let worth = of(&snapshot(vec![unknown, unmanaged]));
        assert_eq!((worth.known, worth.programs, worth.gain()), (0, 1, None));
    }

    #[test]
    fn between_points_and_beyond_a_speedup_is_a_power_of_the_dop() {
        let program = with_curve(1, 4, &[(1, 1.0), (4, 2.0)]);
        assert!((speedup(&program, 2).unwrap() - 2f64.sqrt()).abs() < 1e-9);
        assert!((speedup(&program, 16).unwrap() - 4.0).abs() < 1e-9);
        assert_eq!(speedup(&program, 1), Some(1.0));
        let judged = Program { efficiency: Some(0.5), ..with_curve(1, 4, &[]) };
        assert!((speedup(&judged, 4).unwrap() - 2.0).abs() < 1e-9);
    }
}
