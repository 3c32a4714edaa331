//! Gathered teams: members that a kernel thread runs by turns see and compute what threads of their own do.

use crate::support::{By, Done, Running, Setup, Start, clang_kernel, compiled, compiled_by, kernel};
use scafd::control::Mechanism;

/// gcc's code on libgomp and on LLVM's runtime, and clang's.
const COMPILERS: [By; 3] = [By::Itself, By::GccForLlvms, By::Clang];

const KINDS: [&str; 11] = [
    "meeting",
    "sharing",
    "pipe",
    "condition",
    "holding",
    "sleeping",
    "fork",
    "jump",
    "signal",
    "nesting",
    "depth",
];

/// What tasks of gathered members do; `serving` needs threads of its own.
const TASKS: [&str; 9] =
    ["tree", "chain", "producing", "depending", "grouping", "looping", "copying", "parts", "serving"];

/// Programs of their own for objects in tasks, and for tasks that add up.
const OTHER_TASKS: [&str; 4] = ["objects", "sums-of-grouping", "sums-of-looping", "sums-of-region"];

fn creating<'h>(setup: &'h Setup, by: By, kind: &str) -> Start<'h> {
    match kind.strip_prefix("sums-of-") {
        Some(kind) => setup.at(&compiled_by(by, "gathered_reductions")).args([kind]),
        None if kind == "objects" => setup.at(&compiled_by(by, "gathered_objects")),
        None => setup.at(&compiled_by(by, "gathered_tasks")).args([kind]),
    }
}

/// All of these, as each compiler makes them. gcc's loops of tasks and larger data of them are too much for
/// LLVM's runtime as it is.
fn all_tasks() -> impl Iterator<Item = (By, &'static str)> {
    const FAIL: [&str; 3] = ["looping", "copying", "objects"];
    let fails = |by, kind| by == By::GccForLlvms && FAIL.contains(&kind);
    let kinds = || TASKS.into_iter().chain(OTHER_TASKS);
    let all = COMPILERS.into_iter().flat_map(move |by| kinds().map(move |kind| (by, kind)));
    all.filter(move |(by, kind)| !fails(*by, kind))
}

/// The test program doing `kind` for ever, with a grant of one PU.
fn doing<'h>(setup: &'h Setup, by: By, kind: &str) -> Running<'h> {
    setup.at(&compiled_by(by, "gathered")).args([kind]).option("--max", 1).start()
}

/// What only LLVM's runtime has calls for.
const LLVMS_KINDS: [&str; 8] =
    ["static", "setting", "turns", "adding", "one-by-one", "nesting", "copying", "strictly"];

/// The same for what clang makes of that.
fn asking<'h>(setup: &'h Setup, kind: &str) -> Start<'h> {
    setup.at(&compiled_by(By::Clang, "gathered_llvm")).args([kind])
}

/// Loops whose iterations wait for each other, as far as each compiler and runtime gets them right by itself:
/// gcc's code on LLVM's runtime doesn't with a part of them.
const ACROSS: [(By, &[&str]); 3] = [
    (By::Itself, &["waiting", "depth", "nesting", "size", "cancelling"]),
    (By::GccForLlvms, &["depth", "size", "cancelling"]),
    (By::Clang, &["waiting", "depth", "nesting", "size", "cancelling"]),
];

fn across<'h>(setup: &'h Setup) -> impl Iterator<Item = (String, Start<'h>)> {
    ACROSS.into_iter().flat_map(move |(by, kinds)| {
        let program = move || setup.at(&compiled_by(by, "gathered_across"));
        kinds.iter().map(move |kind| (format!("{kind} by {by:?}"), program().args([*kind])))
    })
}

fn right(done: Done) {
    assert_eq!(done.well().number("wrong"), 0);
}

/// It is right after so many regions.
fn rounds(program: Running, regions: u64) {
    program.until("rounds", |program| program.regions > regions);
    right(program.finish());
}

/// It is gathered, and right in so many further regions.
fn gathers_and_goes_on(program: Running, what: &str, carriers: u32, regions: u64) {
    let seen = program.until_gathered(what, carriers);
    program.until("more rounds", |program| program.regions > seen.regions + regions);
    right(program.finish());
}

#[test]
fn gathered_members_see_what_threads_of_their_own_see() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        for kind in ["meeting", "sharing", "jump", "signal", "nesting", "depth"] {
            let program = doing(&setup, by, kind);
            gathers_and_goes_on(program, &format!("{kind} by {by:?}"), 1, 200);
        }
    }
}

#[test]
fn where_libgomp_limits_threads_members_are_right_too() {
    let setup = Setup::new("equi");
    let within = setup.at(&compiled_by(By::Itself, "gathered")).args(["meeting"]).threads(4);
    let program = within.env("OMP_THREAD_LIMIT", "64").option("--max", 1).start();
    gathers_and_goes_on(program, "a team within the limit", 1, 200);
    let beyond = setup.program("waits").threads(4).env("OMP_THREAD_LIMIT", "3");
    let program = beyond.option("--max", 1).start();
    program.until("rounds", |program| program.dop == Some(1) && program.regions > 10);
    right(program.finish());
}

/// What libgomp's threads have by themselves.
#[test]
fn gathered_members_keep_what_is_their_threads_own() {
    let setup = Setup::new("equi");
    let doing = |kind| setup.program("gathered_kept").args([kind]).option("--max", 1).start();
    for kind in ["rounding", "choosing-rounding", "choosing"] {
        gathers_and_goes_on(doing(kind), kind, 1, 200);
    }
    // Its members wait in the kernel, so it is soon folded again.
    let program = doing("ahead");
    program.until("members that wait in the kernel", |program| {
        let gathered = matches!(program.mechanism, Mechanism::Gather);
        program.regions > 500 && (gathered || program.ungathered.contains("wait for each other"))
    });
    right(program.finish());
}

const SCHEDULES: [&str; 5] = ["static", "static,3", "dynamic,2", "guided", "auto"];

/// The test program of loops, which leave their schedule open.
fn sharing<'h>(setup: &'h Setup, schedule: &str) -> Start<'h> {
    setup.program("gathered_shares").env("OMP_SCHEDULE", schedule)
}

#[test]
fn gathered_members_share_out_loops_of_every_schedule() {
    let setup = Setup::new("equi");
    for schedule in SCHEDULES {
        let program = sharing(&setup, schedule).option("--max", 1).start();
        gathers_and_goes_on(program, schedule, 1, 2_000);
    }
}

/// Iterations that wait for others, on one carrier and, where threads soon reach the idle barrier, on two.
#[test]
fn gathered_members_wait_for_iterations() {
    let setup = Setup::new("equi");
    let twice = across(&setup).filter(|(what, _)| what.ends_with("Itself"));
    let starts = across(&setup).map(|start| (1, start)).chain(twice.map(|start| (2, start)));
    for (carriers, (what, start)) in starts {
        let program = start.option("--max", carriers).start();
        gathers_and_goes_on(program, &what, carriers, 100);
    }
}

/// Loops that come with memory which all share, by gcc: LLVM's runtime refuses them.
const GIVEN: [&str; 3] = ["adding", "condition", "scanning"];

fn given<'h>(setup: &'h Setup, kind: &str) -> Start<'h> {
    setup.program("gathered_given").args([kind])
}

#[test]
fn gathered_members_share_memory_of_loops() {
    let setup = Setup::new("equi");
    for (carriers, kind) in [1, 2].into_iter().flat_map(|carriers| GIVEN.map(|kind| (carriers, kind))) {
        let program = given(&setup, kind).option("--max", carriers).start();
        gathers_and_goes_on(program, kind, carriers, 100);
    }
}

/// A scan has barriers within its loop, at which no team becomes members or threads.
#[test]
fn scans_of_a_team_whose_grant_changes_all_the_time_are_right() {
    let setup = Setup::chaos(1);
    for _ in 0..4 {
        rounds(given(&setup, "scanning").start(), 20_000);
    }
}

const SPINS: [&str; 8] = ["plain", "acquire", "flush", "fence", "pause", "yield", "function", "flags"];

/// Threads that wait by spinning on memory of their own, in loops of each shape.
fn spinning<'h>(setup: &'h Setup, by: By, kind: &str) -> Start<'h> {
    setup.at(&compiled_by(by, "gathered_spins")).args([kind])
}

#[test]
fn members_that_spin_on_memory_let_others_run() {
    let setup = Setup::new("equi");
    for (by, kind) in COMPILERS.into_iter().flat_map(|by| SPINS.map(|kind| (by, kind))) {
        let program = spinning(&setup, by, kind).option("--max", 1).start();
        gathers_and_goes_on(program, &format!("{kind} by {by:?}"), 1, 2_000);
    }
}

#[test]
fn members_of_a_program_in_cpp_that_spin_let_others_run() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = setup.at(&compiled_by(by, "gathered_waiting")).option("--max", 1).start();
        gathers_and_goes_on(program, &format!("{by:?}"), 1, 2_000);
    }
}

#[test]
fn loops_that_yield_do_so_in_a_child_too() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = spinning(&setup, by, "fork").option("--max", 1).start();
        gathers_and_goes_on(program, &format!("fork by {by:?}"), 1, 20);
    }
}

#[test]
fn loops_of_programs_that_start_threads_of_their_own_are_left_alone() {
    let setup = Setup::new("equi");
    for name in ["gathered_spins_beside", "gathered_waiting_beside"] {
        let program = setup.at(&compiled(name)).args(["plain"]).option("--max", 1).start();
        let seen =
            program.until("it is let go", |program| program.mechanism_reason.contains("wait for themselves"));
        assert_eq!(seen.mechanism, Mechanism::Unmanaged, "{seen:?}");
        program.until("more rounds", |program| program.regions > seen.regions + 20);
        assert_ne!(program.seen().expect(name).mechanism, Mechanism::Gather);
        right(program.finish());
    }
}

/// Tasks on one carrier, and on two, of which one is fed by the other.
#[test]
fn gathered_members_run_tasks() {
    let setup = Setup::new("equi");
    for carriers in [1, 2] {
        for (by, kind) in all_tasks() {
            let program = creating(&setup, by, kind).option("--max", carriers).start();
            // On a busy machine these were seen folded on two carriers.
            let may_fold = kind == "parts" || OTHER_TASKS.contains(&kind);
            if kind == "serving" || may_fold && carriers == 2 {
                program.until("rounds", |program| program.regions > 20);
            } else {
                program.until_gathered(&format!("{kind} by {by:?}"), carriers);
            }
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 100);
            right(program.finish());
        }
    }
}

/// A program's first region is rehearsed, and sometimes not gathered afterwards, above all on a busy machine.
#[test]
fn a_region_behind_a_rehearsal_has_the_size_of_its_clause() {
    let setup = Setup::chaos(1);
    for _ in 0..25 {
        let start = |_| creating(&setup, By::Clang, "producing").start();
        let programs = [(); 4].map(start);
        programs.into_iter().for_each(|program| right(program.finish()));
    }
}

/// The kernels that are made of tasks, in teams that keep their size.
#[test]
fn gathered_kernels_of_tasks_compute_the_same() {
    let setup = Setup::new("equi");
    let kernels = ["fib", "sort", "sparselu"].map(|name| [kernel(name), clang_kernel(name)]);
    for kernel in kernels.as_flattened() {
        let start = || setup.at(kernel).args(["--class=S", "--form=tasks", "--repeat=40"]).threads(4);
        let expected = patient(start().unmanaged()).run().well().json();
        for carriers in [1, 2] {
            let start = start().option("--max", carriers).flag("--exact");
            let got = start.run().well().json();
            assert_eq!((&got["verified"], &got["value"]), (&true.into(), &expected["value"]), "{got}");
        }
    }
}

#[test]
fn members_that_wait_for_each_other_in_the_kernel_are_all_run() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        for kind in ["pipe", "condition", "holding", "sleeping"] {
            let program = doing(&setup, by, kind);
            // A region that needs help often is folded in the end.
            let seen = program.until("rounds", |program| program.regions > 20);
            program.until("more rounds", |program| program.regions > seen.regions + 20);
            program.until("folded", |program| program.mechanism == Mechanism::Fold);
            right(program.finish());
        }
    }
}

/// Somebody else may have kept its members from running, or that was long ago.
#[test]
fn a_region_that_was_folded_for_its_waits_is_gathered_again_after_a_while() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = doing(&setup, by, "sleeping");
        program.until("rounds", |program| program.regions > 20);
        program.until("folded", |program| program.mechanism == Mechanism::Fold);
        program.signal(libc::SIGUSR1);
        program.until_gathered(&format!("awake by {by:?}"), 1);
        right(program.finish());
    }
}

#[test]
fn a_member_that_runs_out_of_stack_ends_its_program() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let done = doing(&setup, by, "overflow").finish_by_itself();
        assert_eq!(done.ended_by(), Some(libc::SIGSEGV));
    }
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_of_gathered_teams() {
    for seed in 1..2 {
        let setup = Setup::chaos(seed);
        for (by, kind) in COMPILERS.into_iter().flat_map(|by| KINDS.map(|kind| (by, kind))) {
            rounds(setup.at(&compiled_by(by, "gathered")).args([kind]).start(), 100);
        }
        for (by, kind) in all_tasks() {
            rounds(creating(&setup, by, kind).start(), 100);
        }
        for (_, start) in across(&setup) {
            rounds(start.start(), 100);
        }
        for kind in GIVEN {
            rounds(given(&setup, kind).start(), 300);
        }
        for schedule in SCHEDULES {
            rounds(sharing(&setup, schedule).start(), 1_000);
        }
        for (by, kind) in COMPILERS.into_iter().flat_map(|by| SPINS.map(|kind| (by, kind))) {
            rounds(spinning(&setup, by, kind).start(), 100);
        }
    }
}

#[test]
fn members_of_llvms_teams_are_answered_as_their_runtime_answers() {
    let setup = Setup::new("equi");
    let schedules = ["static", "static,2", "dynamic,3", "guided", "auto"];
    let kinds = LLVMS_KINDS.map(|kind| (kind, "dynamic"));
    for (kind, schedule) in kinds.into_iter().chain(schedules.map(|schedule| ("setting", schedule))) {
        let program = asking(&setup, kind).env("OMP_SCHEDULE", schedule).option("--max", 1).start();
        gathers_and_goes_on(program, &format!("{kind}, {schedule}"), 1, 200);
    }
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_on_llvms_runtime() {
    for seed in 1..2 {
        let setup = Setup::chaos(seed);
        for kind in LLVMS_KINDS {
            rounds(asking(&setup, kind).start(), 300);
        }
    }
}

#[test]
fn the_master_may_end_the_process_while_members_compute() {
    let setup = Setup::new("equi");
    for most in [1, 2] {
        let done = asking(&setup, "exit").option("--max", most).start().finish_by_itself();
        assert_eq!(done.code(), Some(7), "{done:#?}");
    }
}

/// With threads that don't spin: more of them than PUs take half a minute on a busy machine otherwise.
fn patient(start: Start<'_>) -> Start<'_> {
    start.env("OMP_WAIT_POLICY", "passive")
}

/// A kernel of clang's whose teams keep their size.
fn computing<'h>(setup: &'h Setup, name: &str, form: &str, repeat: u32) -> Start<'h> {
    let words = ["--class=S".to_owned(), format!("--form={form}"), format!("--repeat={repeat}")];
    setup.at(&clang_kernel(name)).args(words).threads(3).flag("--exact")
}

/// Name, form, repeats of about 0.2 s, and whether the value is the same whatever order sums are added up in.
const KERNELS: [(&str, &str, u32, bool); 7] = [
    ("cg", "region", 10, false),
    ("mg", "loops", 60, false),
    ("ft", "loops", 3, false),
    ("is", "loops", 30, true),
    ("ep", "region", 1, false),
    ("triad", "loops", 15, true),
    ("phases", "loops", 5, true),
];

#[test]
fn kernels_of_clang_compute_the_same_gathered() {
    for setup in [|| Setup::new("equi"), || Setup::chaos(3)] {
        let setup = setup();
        for (name, form, repeat, deterministic) in KERNELS {
            let start = |repeat| computing(&setup, name, form, repeat);
            let expected = patient(start(repeat).unmanaged()).run().well().json();
            let got = start(repeat).run().well().json();
            assert_eq!(got["verified"], true, "{got}");
            assert!(!deterministic || got["value"] == expected["value"], "{got}");
        }
    }
}

/// One with short regions: where members compute for long and never meet, the team is folded.
#[test]
fn a_kernel_of_clang_is_gathered() {
    let setup = Setup::new("equi");
    let program = computing(&setup, "cg", "region", 1_000_000).option("--max", 1).start();
    program.until_gathered("cg", 1);
}

#[test]
fn whatever_a_member_may_ask_that_isnt_answered_keeps_the_team_on_threads() {
    let setup = Setup::new("equi");
    // The runtime's settings, binding, a wait policy, and nesting.
    let meeting = compiled("gathered");
    let programs = [
        setup.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]).env("KMP_BLOCKTIME", "0"),
        setup.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]).env("KMP_GTID_MODE", "2"),
        setup.at(&meeting).args(["meeting"]).env("OMP_PROC_BIND", "true"),
        setup.at(&meeting).args(["meeting"]).env("OMP_WAIT_POLICY", "passive"),
        setup.at(&meeting).args(["meeting"]).env("OMP_MAX_ACTIVE_LEVELS", "2"),
    ];
    for start in programs {
        let program = start.option("--max", 1).start();
        let seen = program.until("rounds", |program| program.regions > 200);
        assert_ne!(seen.mechanism, Mechanism::Gather);
        program.finish().well();
    }
}

/// LLVM's runtime keeps a clause's number for the next region that it runs, which isn't the gathered one.
#[test]
fn a_clause_is_for_its_own_region_only() {
    let setup = Setup::chaos(1);
    for by in COMPILERS {
        let program = setup.at(&compiled_by(by, "one_clause")).threads(2).start();
        program.until("gathered", |program| program.mechanism == Mechanism::Gather);
        let seen = program.until("rounds", |program| program.regions > 1_000);
        program.until("more rounds", |program| program.regions > seen.regions + 1_000_000);
        right(program.finish());
    }
}

/// Nobody is bound, whatever a region's clause says.
/// LLVM's threads spin for 0.2 s and then sleep, and once there were more of them than PUs the runtime says
/// that they don't spin at all, which is not so.
#[test]
fn a_team_that_was_there_before_the_daemon_is_gathered() {
    for by in [By::GccForLlvms, By::Clang] {
        let setup = Setup::without_daemon("equi");
        let program = setup.at(&compiled_by(by, "gathered_bound"));
        // `scaf run` would start a daemon.
        let program = program.preloaded().start();
        std::thread::sleep(std::time::Duration::from_millis(300));
        setup.start_daemon();
        gathers_and_goes_on(program, &format!("before the daemon by {by:?}"), 2, 2_000);
    }
}

#[test]
fn regions_with_a_clause_that_binds_are_gathered() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = setup.at(&compiled_by(by, "gathered_bound")).option("--max", 1).start();
        gathers_and_goes_on(program, &format!("bound by {by:?}"), 1, 2_000);
    }
    drop(setup);
    let setup = Setup::chaos(1);
    for by in COMPILERS {
        rounds(setup.at(&compiled_by(by, "gathered_bound")).start(), 1_000);
    }
}
