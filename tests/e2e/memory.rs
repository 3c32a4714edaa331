//! What a program's first run taught, and its second starts with.

use crate::curve::{observed, until_both_are_observed};
use crate::support::{House, Running, kernel};

fn start<'h>(house: &'h House, repeat: &str) -> Running<'h> {
    let half_serial = ["--class=W", "--serial-us=1000", "--parallel-us=1000", repeat];
    house.at(&kernel("phases")).args(half_serial).threads(2).start()
}

fn learn(house: &House) {
    let program = start(house, "--repeat=1000");
    until_both_are_observed(&program);
    program.signal(libc::SIGTERM);
    program.finish_by_itself();
}

#[test]
fn a_second_run_starts_with_the_curve_of_the_first_though_the_daemon_is_another() {
    let house = House::exploring("equi");
    learn(&house);
    house.end_daemon(libc::SIGTERM);
    // From here on nobody is sent to one context to learn anything.
    house.configure("count_load = false\n");
    house.start_daemon();
    assert!(house.says(&["profile"]).contains("phases"));
    let kept: serde_json::Value =
        serde_json::from_str(&house.says(&["profile", "show", "phases", "--json"])).expect("JSON");
    let kept = kept["curve"]["points"][1]["speedup"].as_f64().expect("a speedup on two contexts");
    let second = start(&house, "--repeat=1000");
    let seen = second.until("what the first run taught", |program| program.earlier_runs == 1);
    let now = observed(&seen, 2).and_then(|point| point.observed).expect("a curve");
    assert!((0.6..1.6).contains(&(now / kept)), "{now} now, {kept} kept");
    let third = start(&house, "--repeat=1001");
    let seen = third.until("what the first run taught", |program| program.earlier_runs > 0);
    assert!(observed(&seen, 2).is_some(), "{seen:#?}");
    second.signal(libc::SIGTERM);
    third.signal(libc::SIGTERM);
}

#[test]
fn what_is_forgotten_or_not_to_be_kept_is_unknown_to_the_next_run() {
    let house = House::exploring("equi");
    learn(&house);
    house.until("the program is gone", |snapshot| snapshot.programs.is_empty().then_some(()));
    assert!(house.says(&["profile", "show", "phases", "--json"]).contains("region_curves"));
    assert_eq!(house.says(&["profile", "forget", "phases"]), "1 forgotten\n");
    let second = start(&house, "--repeat=1000");
    let seen = second.until_inspected();
    assert_eq!(seen.earlier_runs, 0);
    second.signal(libc::SIGTERM);
    second.finish_by_itself();
    house.end_daemon(libc::SIGTERM);
    std::fs::remove_dir_all(house.folder().join("data")).expect("the second run was kept");
    house.configure("memory = false\nexplore = true\ncount_load = false\n");
    house.start_daemon();
    learn(&house);
    house.end_daemon(libc::SIGTERM);
    assert!(!house.folder().join("data").exists());
}
