//! Contexts that a program can't use in a serial phase are lent, and are back as soon as it enters a region.

use crate::support::{House, Running, wait_for};

/// When each region began and ended so far, in ns of CLOCK_MONOTONIC.
fn regions(program: &Running) -> Vec<(u64, u64)> {
    let times = |line: &str| {
        let (begin, end) = line.strip_prefix("region=")?.split_once(' ')?;
        Some((begin.parse().ok()?, end.parse().ok()?))
    };
    program.printed().lines().filter_map(times).collect()
}

/// When that decision was made, in seconds, if it gave both contexts away.
fn wide_at(house: &House, number: u64) -> Option<f64> {
    let told: serde_json::Value =
        serde_json::from_str(&house.says(&["why", "--json", "--at", &number.to_string()])).expect("JSON");
    let decision = &told["decision"];
    let wide = decision["allocation"]["shares"][0]["dop"]["contexts"] == 2;
    wide.then(|| decision["machine"]["now_s"].as_f64()).flatten()
}

/// A daemon that would find out by itself only once a second.
fn slow_house() -> House {
    House::configured("curve", "rate_hz = 1\ncount_load = false\n")
}

#[test]
fn contexts_lent_in_a_serial_phase_are_back_in_the_middle_of_the_region_that_ends_it() {
    let house = slow_house();
    let program = house.program("serial_phases").args(["2600", "300"]).threads(2).start();
    // Nobody asks the daemon anything meanwhile: that would wake it.
    wait_for("three serial phases", || (regions(&program).len() >= 4).then_some(()));
    let all = regions(&program);
    let latest = house.snapshot().decisions;
    let wide: Vec<f64> = (1..=latest).filter_map(|number| wide_at(&house, number)).collect();
    // The first region comes with the program itself. The others take 0.3 s, and a tick comes once in 1 s.
    for (begin, end) in &all[1..] {
        let within = |at: &&f64| (*begin as f64..*end as f64).contains(&(**at * 1e9));
        assert!(wide.iter().any(|at| within(&at)), "{all:?} {wide:?}");
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
