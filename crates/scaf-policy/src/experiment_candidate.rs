//! Which region is worth a serial experiment (SCAF, section 4.3.1): a run on one context in a copy of the
//! process, for programs whose S(1) nothing else shows. It costs a context and the time to copy memory, so
//! the process has to be small and the region long. The speedup found is the *effective* one (TACO, 3.2).

use crate::observed::{Observed, RegionAt};

/// Shorter regions aren't tried, in seconds: copying the process would be a large part of them.
const LEAST_S: f64 = 0.005;
/// Nor are regions that would take longer alone, in seconds: a copy may not live longer.
const MOST_S: f64 = 1.5;
/// Nor are processes with more memory, in bytes.
pub const MOST_BYTES: u64 = 64 << 20;
/// Largest part of a run of the region that the price may be.
const SHARE: f64 = 0.05;
/// Price of copying a process in seconds, and of its memory in seconds a byte: 2.8 ms a megabyte if both
/// write to all of it. What a region will write isn't known, so all of the process's own memory counts.
const PRICE_S: f64 = 0.0005;
const PRICE_S_PER_BYTE: f64 = 0.0028 / (1 << 20) as f64;
/// Relative error of a speedup above which the region is worth a try.
const WORTH: f64 = 0.15;
/// A time of which a larger part went into copying memory says nothing about the region.
const LOST: f64 = 0.1;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Candidate {
    pub region: u64,
    pub mean_s: f64,
}

/// The region of a program with `dop` contexts that is most worth a try. Regions that `may` be tried count
/// while the program's speedup and their time on one context are unknown; those `due` again always count.
pub fn candidate(
    observed: &Observed,
    dop: u32,
    may: impl Fn(&RegionAt) -> bool,
    due: impl Fn(&RegionAt) -> bool,
) -> Option<Candidate> {
    if dop < 2 {
        return None;
    }
    let sure = observed.speedup(dop, 1.0).is_none_or(|speedup| speedup.error <= WORTH);
    let fits = |mean_s: f64| mean_s >= LEAST_S && mean_s * f64::from(dop) <= MOST_S;
    observed
        .regions_at(dop)
        .filter(|region| fits(region.mean_s) && (due(region) || (!sure && !region.alone && may(region))))
        .max_by(|a, b| a.lately_s.total_cmp(&b.lately_s))
        .map(|region| Candidate { region: region.region, mean_s: region.mean_s })
}

/// Whether a try is cheap: the process has `resident` bytes, `private` its own; a run takes `mean_s` seconds.
pub fn is_cheap(resident: u64, private: u64, mean_s: f64) -> bool {
    resident < MOST_BYTES && PRICE_S + private as f64 * PRICE_S_PER_BYTE <= SHARE * mean_s
}

/// The region's time on one context in seconds: `cpu_s` less `lost_s`, the time that went into copying
/// memory. `None` if `lost_s` is too large, or if either is impossible.
pub fn time_alone(cpu_s: f64, lost_s: f64) -> Option<f64> {
    let possible = cpu_s > 0.0 && cpu_s <= 2.0 * MOST_S && lost_s >= 0.0;
    (possible && lost_s <= LOST * cpu_s).then_some(cpu_s - lost_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observed::{Runs, Spell};

    const ANY: fn(&RegionAt) -> bool = |_| true;
    const NONE: fn(&RegionAt) -> bool = |_| false;

    fn add(observed: &mut Observed, dop: u32, runs: &[Runs]) {
        observed.add(&Spell { dop, dt_s: 0.25, parallel_s: 0.25, runs });
    }

    fn ran(dop: u32, regions: &[(u64, f64)]) -> Observed {
        let mut observed = Observed::default();
        let share = 0.25 / regions.len() as f64;
        let runs = |(region, mean_s): &(u64, f64)| Runs::of(*region, dop, share / mean_s, share);
        let runs: Vec<Runs> = regions.iter().map(runs).collect();
        (0..6).for_each(|_| add(&mut observed, dop, &runs));
        observed
    }

    #[test]
    fn the_region_with_most_time_is_tried_once() {
        let mut observed = ran(2, &[(1, 0.01), (2, 0.02)]);
        add(&mut observed, 2, &[Runs::of(2, 2, 12.0, 0.25)]);
        let first = candidate(&observed, 2, ANY, NONE).unwrap();
        assert_eq!(first.region, 2);
        assert!((first.mean_s - 0.0204).abs() < 0.001, "{first:?}");
        assert_eq!(candidate(&observed, 2, |it| it.region != 2, NONE).map(|it| it.region), Some(1));
        // A region that was tried is no candidate; with all tried, the program's speedup is known.
        observed.tried_alone(2, 0.036);
        assert_eq!(candidate(&observed, 2, ANY, NONE).map(|it| it.region), Some(1));
        observed.tried_alone(1, 0.018);
        assert_eq!(candidate(&observed, 2, ANY, NONE), None);
        assert_eq!(candidate(&observed, 2, ANY, |it| it.region == 1).map(|it| it.region), Some(1));
        let speedup = observed.speedup(2, 1.0).unwrap();
        assert!((speedup.value - 1.8).abs() < 0.05 && speedup.error < 0.2, "{speedup:?}");
    }

    #[test]
    fn nothing_is_tried_where_it_is_no_use() {
        assert_eq!(candidate(&Observed::default(), 2, ANY, NONE), None);
        assert_eq!(candidate(&ran(1, &[(1, 0.01)]), 1, ANY, NONE), None);
        // Too short; too long alone.
        assert_eq!(candidate(&ran(2, &[(1, 0.004)]), 2, ANY, NONE), None);
        assert_eq!(candidate(&ran(16, &[(1, 0.1)]), 16, ANY, NONE), None);
        assert!(candidate(&ran(2, &[(1, 0.1)]), 2, ANY, NONE).is_some());
        let mut known = ran(2, &[(1, 0.01)]);
        add(&mut known, 1, &[Runs::of(1, 1, 13.0, 0.25)]);
        assert_eq!(candidate(&known, 2, ANY, NONE), None);
    }

    #[test]
    fn the_price_is_a_small_part_of_the_run_beside_it() {
        assert!(is_cheap(10 << 20, 1 << 20, 0.1));
        assert!(!is_cheap(10 << 20, 1 << 20, 0.05));
        assert!(is_cheap(60 << 20, 32 << 20, 2.0) && !is_cheap(60 << 20, 32 << 20, 1.0));
        assert!(!is_cheap(64 << 20, 0, 100.0) && !is_cheap(0, 0, f64::NAN));
    }

    #[test]
    fn a_time_that_is_mostly_copying_or_impossible_says_nothing() {
        assert_eq!(time_alone(0.5, 0.0), Some(0.5));
        assert_eq!(time_alone(0.5, 0.04), Some(0.46));
        for (cpu_s, lost_s) in
            [(0.5, 0.06), (0.0, 0.0), (-1.0, 0.0), (9.0, 0.0), (0.5, -0.1), (f64::NAN, 0.0), (0.5, f64::NAN)]
        {
            assert_eq!(time_alone(cpu_s, lost_s), None, "{cpu_s} {lost_s}");
        }
    }
}
