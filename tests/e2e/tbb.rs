//! Programs of oneTBB: PyPI's asks how many workers it may have, Debian's is too old for that and is folded.

use crate::support::{Running, Setup, Start, compiled, cpus_of, library_folder, root, wait_for};
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Tbb {
    Asks,
    IsFolded,
}
use Tbb::{Asks, IsFolded};

/// All that tests/programs/tbb.cpp can do in rounds.
const WAYS: [&str; 11] =
    ["loop", "loops", "arenas", "group", "pipeline", "graph", "enqueue", "threads", "throw", "fork", "cap"];

fn program<'h>(setup: &'h Setup, tbb: Tbb, way: &str) -> Start<'h> {
    let start = setup.program("tbb").args([way]);
    match tbb {
        Asks => start.env("LD_LIBRARY_PATH", pypi()),
        IsFolded => start,
    }
}

fn pypi() -> PathBuf {
    let folder = root().join(".venv/lib");
    assert!(folder.join("libtbb.so.12").exists(), "there is no oneTBB in .venv: run scripts/setup.sh");
    folder
}

/// Waits until the program says last that so many threads are at work at a time.
fn until_at_work(program: &Running, threads: u32) {
    let line = format!("now={threads}");
    wait_for(&format!("{line}, after {}", program.printed()), || {
        (program.printed().lines().last() == Some(&line)).then_some(())
    });
}

/// Folders in which Intel's manager, or what stands for it, is found.
fn other_manager(setup: &Setup) -> String {
    let folder = setup.folder().join("other");
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(compiled("libtcm"), folder.join("libtcm.so.1")).expect("a link");
    format!("{}:{}", folder.display(), pypi().display())
}

#[test]
fn a_running_loop_follows_the_grant_down_and_up() {
    let setup = Setup::new("equi");
    let program = program(&setup, Asks, "endless").start();
    until_at_work(&program, 2);
    let neighbour = setup.program("loops").start();
    until_at_work(&program, 1);
    neighbour.until_resized_to(1);
    neighbour.finish().well();
    until_at_work(&program, 2);
    assert_eq!(program.finish().well().number("concurrency"), 2);
}

#[test]
fn a_running_loop_of_an_old_version_is_folded() {
    let setup = Setup::new("equi");
    let program = program(&setup, IsFolded, "endless").start();
    until_at_work(&program, 2);
    let neighbour = setup.program("loops").start();
    neighbour.until_resized_to(1);
    wait_for("one PU", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    neighbour.finish().well();
    wait_for("both PUs", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
    assert_eq!(program.finish().well().number("concurrency"), 2);
}

#[test]
fn the_pus_are_counted_before_they_become_fewer() {
    let setup = Setup::new("equi");
    for tbb in [Asks, IsFolded] {
        let program = program(&setup, tbb, "loop").option("--max", 1).start();
        program.until("one context", |program| program.dop == Some(1));
        wait_for("one PU", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
        assert_eq!(program.finish().well().number("concurrency"), 2, "{tbb:?}");
    }
}

#[test]
fn with_one_context_the_threads_that_come_from_outside_work_alone() {
    let setup = Setup::new("equi");
    for way in ["loop", "loops", "arenas", "group", "pipeline", "graph", "throw"] {
        let program = program(&setup, Asks, way).option("--max", 1).start();
        program.until("one context", |program| program.dop == Some(1));
        until_at_work(&program, 1);
        program.finish().well();
    }
}

#[test]
fn loops_have_all_their_threads_when_the_daemon_is_killed_and_follow_the_next_one() {
    let setup = Setup::new("equi");
    let program = program(&setup, Asks, "endless").option("--max", 1).start();
    until_at_work(&program, 1);
    setup.end_daemon(libc::SIGKILL);
    until_at_work(&program, 2);
    setup.start_daemon();
    until_at_work(&program, 1);
    program.finish().well();
}

#[test]
fn without_a_daemon_it_is_as_without_us() {
    let setup = Setup::without_daemon("equi");
    for way in WAYS {
        let expected = program(&setup, Asks, way).unmanaged().run().well();
        let done = program(&setup, Asks, way).preloaded().run().well();
        assert_eq!(done.number("sum"), expected.number("sum"), "{way}");
    }
}

#[test]
fn results_are_the_same_under_chaos() {
    let setup = Setup::chaos(7);
    for tbb in [Asks, IsFolded] {
        for way in WAYS {
            let expected = program(&setup, tbb, way).unmanaged().run().well();
            let both = [program(&setup, tbb, way).start(), program(&setup, tbb, way).start()];
            std::thread::sleep(std::time::Duration::from_secs(1));
            for program in both {
                let done = program.finish().well();
                assert_eq!(done.number("different"), 0, "{tbb:?} {way}");
                assert_eq!(done.number("sum"), expected.number("sum"), "{tbb:?} {way}");
                assert_eq!(done.number("concurrency"), expected.number("concurrency"), "{tbb:?} {way}");
            }
        }
    }
}

#[test]
fn permits_go_through_their_states() {
    let setup = Setup::new("equi");
    let program = setup.program("tcm").args(["states"]).start();
    program.until("both contexts", |program| program.dop == Some(2));
    let done = program.finish().well();
    assert_eq!((done.number("connected"), done.number("wrong")), (1, 0));
}

/// Has permits change by chaos while tests/programs/tcm.c does something with them.
fn permits_are_right(seed: u64, how: &str) {
    let setup = Setup::chaos(seed);
    let program = setup.program("tcm").args([how]).start();
    program.until("a decision about it", |program| program.dop.is_some());
    let before = setup.snapshot().decisions;
    setup.until("three hundred decisions", |now| (now.decisions > before + 300).then_some(()));
    std::thread::sleep(std::time::Duration::from_secs(1));
    let done = program.finish().well();
    assert_eq!((done.number("connected"), done.number("wrong")), (1, 0));
    assert!(done.number("calls") > 0, "{done:#?}");
}

tests! {
    a_permit_may_be_released_by_the_callback_that_tells_of_its_change: permits_are_right(3, "callback");
    nobody_is_called_about_a_permit_that_is_released: permits_are_right(5, "threads");
}

#[test]
fn another_manager_is_asked_if_it_is_switched_on_and_ours_if_that_is_wanted() {
    const ASKED: &str = "the other manager was asked\n";
    let setup = Setup::new("equi");
    let folders = other_manager(&setup);
    let run = |settings: &[(&str, &str)]| {
        let mut start = setup.program("tbb").args(["endless"]).option("--max", 1);
        start = start.env("LD_LIBRARY_PATH", &folders);
        for (name, value) in settings {
            start = start.env(name, value);
        }
        let program = start.start();
        program.until("one context", |program| program.dop == Some(1));
        wait_for("it works", || program.printed().contains("now=").then_some(()));
        program.finish()
    };
    assert_eq!(run(&[("TCM_ENABLE", "1")]).err, ASKED);
    assert_eq!(run(&[]).err, "");
    assert_eq!(run(&[("TCM_ENABLE", "0")]).err, "");
    assert_eq!(run(&[("TCM_ENABLE", "1"), ("SCAF_TCM", "scaf")]).err, "");
    let linked = setup.program("tcm").env("LD_PRELOAD", compiled("libtcm")).args(["states"]);
    let done = linked.unmanaged().run();
    assert_eq!((done.number("connected"), &*done.err), (0, ASKED));
    let linked = setup.program("tcm").env("LD_PRELOAD", compiled("libtcm")).args(["states"]).run();
    assert_eq!((linked.number("connected"), &*linked.err), (0, ASKED));
    assert!(library_folder().is_dir());
}
