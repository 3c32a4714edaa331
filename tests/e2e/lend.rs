//! Contexts that a program can't use in a serial phase are lent, and are back as soon as it enters a region.

use crate::support::{House, Running};
use std::collections::BTreeSet;

/// When each region began and ended so far, in ns of CLOCK_MONOTONIC.
fn regions(program: &Running) -> Vec<(u64, u64)> {
    let times = |line: &str| {
        let (begin, end) = line.strip_prefix("region=")?.split_once(' ')?;
        Some((begin.parse().ok()?, end.parse().ok()?))
    };
    program.printed().lines().filter_map(times).collect()
}

/// A daemon that would find out by itself only once a second.
fn slow_house() -> House {
    House::configured("curve", "rate_hz = 1\ncount_load = false\n")
}

#[test]
fn contexts_lent_in_a_serial_phase_are_back_in_the_middle_of_the_region_that_ends_it() {
    let house = slow_house();
    let program = house.program("serial_phases").args(["2600", "300"]).threads(2).start();
    let mut granted = BTreeSet::new();
    program.until("three serial phases", |seen| {
        if seen.dop == Some(2) {
            granted.insert(seen.granted_ns);
        }
        regions(&program).len() >= 4
    });
    // The first region comes with the program itself. The others take 0.3 s, and a tick comes once in 1 s.
    let all = regions(&program);
    for (begin, end) in &all[1..] {
        assert!(granted.range(begin..end).next().is_some(), "{all:?} {granted:?}");
    }
    program.finish().well();
}

#[test]
fn a_program_that_computes_by_other_means_than_regions_keeps_its_contexts() {
    let house = slow_house();
    let program = house.program("threads_of_its_own").threads(2).start();
    let before = program.until("its region", |program| program.regions > 0).granted_ns;
    let decisions = house.snapshot().decisions;
    house.until("some decisions more", |snapshot| (snapshot.decisions > decisions + 5).then_some(()));
    let seen = program.seen().expect("it runs");
    assert_eq!((seen.dop, seen.granted_ns), (Some(2), before));
    program.finish().well();
}
