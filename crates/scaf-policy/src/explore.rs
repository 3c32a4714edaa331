//! Which DoP is worth a step: a short time at a DoP at which nothing was observed yet. First 1, then the DoP
//! farthest from those observed, which halves what is unknown, then 1 again until the speedup is sure. Steps
//! only go down: they take nothing from other programs.

use crate::observed::Observed;
use std::collections::BTreeSet;

/// Relative error above which an unknown DoP is worth a step.
const WORTH: f64 = 0.15;
/// Relative error of the speedup at the program's DoP above which another step to 1 is worth it.
const SURE: f64 = 0.08;

/// The DoP between `least` and `most` (the program's DoP) that is worth a step, if any; none `tried` lately.
pub fn step(observed: &Observed, (least, most): (u32, u32), tried: &BTreeSet<u32>) -> Option<u32> {
    let known = observed.dops_beside(most);
    if !known.contains(&most) {
        return None;
    }
    let may_be_alone = least <= 1 && most > 1 && !tried.contains(&1);
    if may_be_alone && !known.contains(&1) {
        return Some(1);
    }
    let candidates = (least.max(2)..most).filter(|dop| !known.contains(dop) && !tried.contains(dop));
    // The farthest from what is known is the most uncertain; computing every error would cost much.
    let distance = |dop: u32| {
        let away = |known: &u32| (f64::from(dop) / f64::from(*known)).ln().abs();
        known.iter().map(away).fold(f64::INFINITY, f64::min)
    };
    let farthest = candidates.max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
    let error = |dop: &u32| observed.speedup(*dop, 1.0).is_some_and(|speedup| speedup.error > WORTH);
    let unknown = farthest.filter(error);
    let unsure = || may_be_alone && observed.speedup(most, 1.0).is_some_and(|speedup| speedup.error > SURE);
    unknown.or_else(|| unsure().then_some(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Runs, Spell};

    fn ran_at(observed: &mut Observed, dop: u32) {
        let wall_s = 0.25;
        for _ in 0..6 {
            let runs = [Runs::of(1, dop, 10.0 * f64::from(dop).sqrt(), wall_s)];
            observed.add(&Spell { dop, dt_s: 0.25, parallel_s: wall_s, runs: &runs });
        }
    }

    fn steps(most: u32) -> Vec<u32> {
        let mut observed = Observed::default();
        ran_at(&mut observed, most);
        let mut steps = Vec::new();
        while let Some(dop) = step(&observed, (1, most), &BTreeSet::new()) {
            ran_at(&mut observed, dop);
            steps.push(dop);
        }
        steps
    }

    #[test]
    fn the_first_step_is_to_one_context_and_the_others_halve_what_is_unknown() {
        assert_eq!(steps(1), []);
        assert_eq!(steps(2), [1]);
        let of_16 = steps(16);
        assert_eq!(of_16[..2], [1, 4]);
        assert!(of_16.len() <= 6, "{of_16:?}");
        assert!(steps(1024).len() <= 30, "{:?}", steps(1024));
    }

    #[test]
    fn what_was_tried_is_let_be_and_floors_are_kept() {
        let mut observed = Observed::default();
        assert_eq!(step(&observed, (1, 8), &BTreeSet::new()), None);
        ran_at(&mut observed, 8);
        assert_ne!(step(&observed, (1, 8), &BTreeSet::from([1])), Some(1));
        assert!(step(&observed, (4, 8), &BTreeSet::new()).is_none_or(|dop| dop >= 4));
        assert_eq!(step(&observed, (8, 8), &BTreeSet::new()), None);
    }

    #[test]
    fn one_short_time_at_one_context_is_not_enough() {
        let mut observed = Observed::default();
        ran_at(&mut observed, 2);
        let once = [Runs::of(1, 1, 10.0, 0.25)];
        let spell = Spell { dop: 1, dt_s: 0.25, parallel_s: 0.25, runs: &once };
        let mut steps = 0;
        while step(&observed, (1, 2), &BTreeSet::new()) == Some(1) {
            observed.add(&spell);
            steps += 1;
        }
        assert!((2..=4).contains(&steps), "{steps}");
        assert_eq!(step(&Observed::default(), (1, 2), &BTreeSet::from([1])), None);
    }
}
