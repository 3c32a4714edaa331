//! Serial experiments: a program notices nothing of them, and they tell its speedup.

use crate::real_programs::{has_a_blas, python};
use crate::support::{Done, Running, Setup, kernel, root, wait_for};
use scafd::control::Program;
use std::time::Duration;

/// Tries every region of several threads, one after the other.
const EVERY: (&str, &str) = ("SCAF_EXPERIMENT_EVERY", "1");

fn setup() -> Setup {
    Setup::configured("equi", "rate_hz = 100\ncount_load = false\n")
}

/// Waits for the program's end, and counts its experiments: all, and those with a time. It polls.
fn count(mut program: Running, pause: Duration) -> (Done, u64, u64) {
    let (mut made, mut measured) = (0, 0);
    while !program.has_ended() {
        if let Some(seen) = program.seen() {
            (made, measured) = (seen.experiments.made, seen.experiments.measured);
        }
        std::thread::sleep(pause);
    }
    (program.finish_by_itself(), made, measured)
}

fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let text = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    text.flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

fn is_there(pid: u32) -> bool {
    std::fs::metadata(format!("/proc/{pid}")).is_ok()
}

#[test]
fn a_program_notices_nothing() {
    let setup = setup();
    let folder = setup.folder().to_str().expect("a folder's name").to_owned();
    for threads in [2, 4] {
        let program = setup
            .program("experiments")
            .args(["parent", &folder])
            .threads(threads)
            .env(EVERY.0, EVERY.1)
            .start();
        program.until("many experiments, with and without a result", |program| {
            let it = &program.experiments;
            it.made >= 100 && it.measured >= 20 && it.made >= it.measured + 50
        });
        let done = program.finish().well();
        assert!(done.number("rounds") > 10, "{done:#?}");
        assert_eq!((done.number("wrong"), done.number("children_ended")), (0, 0), "{done:#?}");
        assert_eq!(done.number("timer_fired"), 1, "{done:#?}");
        assert_eq!(done.out.matches("first=1\n").count(), 1, "{done:#?}");
    }
}

fn waiting(setup: &Setup) -> Running<'_> {
    setup.program("experiments").args(["alone"]).threads(2).env(EVERY.0, EVERY.1).start()
}

#[test]
fn a_region_that_never_ends_alone_is_ended() {
    let setup = setup();
    let program = waiting(&setup);
    program.until("its deadline", |program| program.experiments.latest.contains("deadline"));
    assert!(program.finish().well().number("rounds") > 0);
}

#[test]
fn an_experiment_ends_with_its_program() {
    for signal in [Some(libc::SIGKILL), None] {
        let setup = setup();
        let program = waiting(&setup);
        let child = wait_for("an experiment", || children(program.pid()).first().copied());
        match signal {
            Some(signal) => {
                program.signal(signal);
                assert_eq!(program.finish().ended_by(), Some(signal));
            }
            None => {
                program.finish().well();
                assert!(!is_there(child), "it was to be gone with the program");
            }
        }
        // In a container whose first process takes nobody in, a dead one stays.
        wait_for("the experiment's end", || {
            let status = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            (status.is_empty() || status.contains(") Z ")).then_some(())
        });
    }
}

#[test]
fn a_thousand_experiments_change_no_kernels_result() {
    let setup = setup();
    let (mut all, mut all_measured) = (0, 0);
    let kernels = [
        ("ep", "loops", 2, false),
        ("cg", "loops", 40, false),
        ("cg", "region", 20, false),
        ("mg", "loops", 200, false),
        ("ft", "loops", 20, false),
        ("is", "loops", 200, true),
        ("sort", "tasks", 100, true),
        ("sparselu", "tasks", 500, true),
        ("fib", "tasks", 300, true),
        ("triad", "loops", 100, true),
        ("phases", "loops", 40, true),
        ("lu", "loops", 2, true),
        ("lu_rigid", "rigid", 2, true),
    ];
    let start = |name: &str, form: &str, repeat: u32| {
        let words = ["--class=S".to_owned(), format!("--form={form}"), format!("--repeat={repeat}")];
        setup.at(&kernel(name)).args(&words).threads(2)
    };
    let expected = kernels
        .map(|(name, form, _, same)| same.then(|| start(name, form, 1).unmanaged().run().well().json()));
    for _ in 0..10 {
        for ((name, form, repeat, _), expected) in kernels.iter().zip(&expected) {
            let (done, made, measured) = {
                // They run for a moment only.
                count(start(name, form, *repeat).env(EVERY.0, EVERY.1).start(), Duration::ZERO)
            };
            let got = done.well().json();
            assert_eq!(got["verified"], true, "{got}");
            if let Some(expected) = expected {
                assert_eq!(got["value"], expected["value"], "{got}");
            }
            println!("{name} {form}: {made} experiments, {measured} with a time");
            (all, all_measured) = (all + made, all_measured + measured);
        }
        if all >= 1_000 {
            break;
        }
    }
    println!("{all} experiments, {all_measured} with a time");
    assert!(all >= 1_000 && all_measured > 300, "{all} experiments, {all_measured} with a time");
}

#[test]
fn experiments_change_no_real_programs_result() {
    let setup = setup();
    for script in ["sklearn_kmeans.py", "sklearn_hgb.py", "lightgbm_fit.py", "xgboost_fit.py"] {
        let script = root().join("bench/real").join(script);
        let start = || {
            let start = setup.at(&python()).args([&script]).threads(2);
            // While its threads are at work, no experiment is made.
            if has_a_blas(&script) { start.env("OPENBLAS_NUM_THREADS", "1") } else { start }
        };
        let expected = start().unmanaged().run();
        let (done, made, measured) = count(start().env(EVERY.0, "50").start(), Duration::from_millis(50));
        let script = script.display();
        println!("{script}: {made} experiments, {measured} with a time");
        assert_eq!((expected.code(), done.code()), (Some(0), Some(0)), "{done:#?}");
        assert_eq!(done.json()["value"], expected.json()["value"], "{script}: {done:#?}");
        assert!(made > 0, "{script}");
    }
}

fn computing<'h>(setup: &'h Setup) -> Running<'h> {
    let words = ["--class=W", "--serial-us=1000", "--parallel-us=100000", "--repeat=100000"];
    setup.at(&kernel("phases")).args(words).threads(2).start()
}

fn is_known(program: &Program) -> bool {
    program.experiments.measured > 0
        && program.curve.iter().any(|point| point.dop == 2 && point.observed.is_some())
}

#[test]
fn a_region_is_tried_once_and_its_speedup_known() {
    let setup = Setup::configured("equi", "experiments = 'always'\ncount_load = false\n");
    let program = computing(&setup);
    let seen = program.until("its speedup is observed", is_known);
    let speedup =
        seen.curve.iter().find(|point| point.dop == 2).and_then(|point| point.observed).unwrap_or(0.0);
    assert!(speedup > 0.5 && speedup < 2.5, "{seen:#?}");
    let regions = seen.regions;
    let later = program.until("it runs on", |program| program.regions > regions + 20);
    assert_eq!(later.dop, Some(2));
    assert!(later.experiments.made <= 3, "{later:#?}");
    program.signal(libc::SIGTERM);
}

#[test]
fn nothing_is_tried_unless_it_is_wanted_and_of_use() {
    // Off by default; and lazily, while the program is alone.
    for configuration in ["", "experiments = 'lazy'\n"] {
        let setup = Setup::configured("equi", configuration);
        let program = computing(&setup);
        let seen = program.until("it runs", |program| program.regions > 10);
        assert_eq!(seen.experiments.made, 0, "{seen:#?}");
        program.signal(libc::SIGTERM);
    }
}
