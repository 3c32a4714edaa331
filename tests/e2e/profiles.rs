//! What a program's first run taught, and its second starts with.

use crate::speedups::{observed, until_both_are_observed};
use crate::support::{Running, Setup, kernel};

fn start<'h>(setup: &'h Setup, repeat: &str) -> Running<'h> {
    let half_serial = ["--class=W", "--serial-us=1000", "--parallel-us=1000", repeat];
    setup.at(&kernel("phases")).args(half_serial).threads(2).start()
}

fn learn(setup: &Setup) {
    let program = start(setup, "--repeat=1000");
    until_both_are_observed(&program);
    program.signal(libc::SIGTERM);
    program.finish_by_itself();
}

#[test]
fn a_second_run_starts_with_the_curve_of_the_first_though_the_daemon_is_another() {
    let setup = Setup::exploring("equi");
    learn(&setup);
    setup.end_daemon(libc::SIGTERM);
    // From here on nobody is sent to one context to learn anything.
    setup.configure("count_load = false\n");
    setup.start_daemon();
    assert!(setup.says(&["profile"]).contains("phases"));
    let kept: serde_json::Value =
        serde_json::from_str(&setup.says(&["profile", "show", "phases", "--json"])).expect("JSON");
    let kept = kept["curve"]["points"][1]["speedup"].as_f64().expect("a speedup on two contexts");
    let second = start(&setup, "--repeat=1000");
    let seen = second.until("what the first run taught", |program| program.earlier_runs == 1);
    let now = observed(&seen, 2).and_then(|point| point.observed).expect("a curve");
    assert!((0.6..1.6).contains(&(now / kept)), "{now} now, {kept} kept");
    let third = start(&setup, "--repeat=1001");
    let seen = third.until("what the first run taught", |program| program.earlier_runs > 0);
    assert!(observed(&seen, 2).is_some(), "{seen:#?}");
    second.signal(libc::SIGTERM);
    third.signal(libc::SIGTERM);
}

#[test]
fn what_is_forgotten_or_not_to_be_kept_is_unknown_to_the_next_run() {
    let setup = Setup::exploring("equi");
    learn(&setup);
    setup.until("the program is gone", |snapshot| snapshot.programs.is_empty().then_some(()));
    assert!(setup.says(&["profile", "show", "phases", "--json"]).contains("region_curves"));
    assert_eq!(setup.says(&["profile", "forget", "phases"]), "1 forgotten\n");
    let second = start(&setup, "--repeat=1000");
    let seen = second.until_inspected();
    assert_eq!(seen.earlier_runs, 0);
    second.signal(libc::SIGTERM);
    second.finish_by_itself();
    setup.end_daemon(libc::SIGTERM);
    std::fs::remove_dir_all(setup.folder().join("data")).expect("the second run was kept");
    setup.configure("memory = false\nexplore = true\ncount_load = false\n");
    setup.start_daemon();
    learn(&setup);
    setup.end_daemon(libc::SIGTERM);
    assert!(!setup.folder().join("data").exists());
}
