//! Gathered teams: members that a kernel thread runs by turns see and compute what threads of their own do.

use crate::support::{By, Done, House, Running, Start, compiled, compiled_by, kernel};
use scafd::control::Mechanism;

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
const TASKS: [&str; 8] =
    ["tree", "chain", "producing", "depending", "grouping", "looping", "copying", "serving"];

/// The test program doing `kind` for ever, with a grant of one PU and gathering switched on.
fn doing<'h>(house: &'h House, kind: &str) -> Running<'h> {
    house.at(&compiled("gathered")).args([kind]).env("SCAF_GATHER", "1").option("--max", 1).start()
}

fn right(done: Done) {
    assert_eq!(done.well().number("wrong"), 0);
}

fn until_gathered(program: &Running, kind: &str) {
    program.until(&format!("{kind} gathered"), |program| {
        program.mechanism == Mechanism::Gather && program.dop == Some(1)
    });
}

#[test]
fn gathered_members_see_what_threads_of_their_own_see() {
    let house = House::giving_all("equi");
    for kind in ["meeting", "sharing", "fork", "jump", "signal", "nesting", "depth"] {
        let program = doing(&house, kind);
        if kind == "fork" {
            // Where the machine is busy, children take long, and the region is folded in the end.
            program.until("rounds", |program| program.regions > 20);
        } else {
            until_gathered(&program, kind);
        }
        let seen = program.seen().expect(kind);
        program.until("more rounds", |program| program.regions > seen.regions + 200);
        right(program.finish());
    }
}

const SCHEDULES: [&str; 5] = ["static", "static,3", "dynamic,2", "guided", "auto"];

/// The test program of loops, which leave their schedule open.
fn sharing<'h>(house: &'h House, schedule: &str) -> Start<'h> {
    house.program("gathered_shares").env("SCAF_GATHER", "1").env("OMP_SCHEDULE", schedule)
}

#[test]
fn gathered_members_share_out_loops_of_every_schedule() {
    let house = House::giving_all("equi");
    for schedule in SCHEDULES {
        let program = sharing(&house, schedule).option("--max", 1).start();
        until_gathered(&program, schedule);
        let seen = program.seen().expect(schedule);
        program.until("more rounds", |program| program.regions > seen.regions + 2_000);
        right(program.finish());
    }
}

/// Tasks on one carrier, and on two, of which one is fed by the other.
#[test]
fn gathered_members_run_tasks() {
    let house = House::giving_all("equi");
    for carriers in [1, 2] {
        for kind in TASKS {
            let start = house.program("gathered_tasks").args([kind]).env("SCAF_GATHER", "1");
            let program = start.option("--max", carriers).start();
            if kind == "serving" {
                program.until("rounds", |program| program.regions > 20);
            } else {
                program.until(&format!("{kind} gathered"), |program| {
                    program.mechanism == Mechanism::Gather && program.dop == Some(carriers)
                });
            }
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 100);
            right(program.finish());
        }
    }
}

/// The kernels that are made of tasks, in teams that keep their size.
#[test]
fn gathered_kernels_of_tasks_compute_the_same() {
    let house = House::giving_all("equi");
    for name in ["fib", "sort", "sparselu"] {
        let start = || house.at(&kernel(name)).args(["--class=S", "--form=tasks", "--repeat=40"]).threads(4);
        let expected = start().unmanaged().run().well().json();
        for carriers in [1, 2] {
            let start = start().env("SCAF_GATHER", "1").option("--max", carriers).flag("--exact");
            let got = start.run().well().json();
            assert_eq!((&got["verified"], &got["value"]), (&true.into(), &expected["value"]), "{got}");
        }
    }
}

#[test]
fn members_that_wait_for_each_other_in_the_kernel_are_all_run() {
    let house = House::giving_all("equi");
    for kind in ["pipe", "condition", "holding", "sleeping"] {
        let program = doing(&house, kind);
        // A region that needs help often is folded in the end.
        let seen = program.until("rounds", |program| program.regions > 20);
        program.until("more rounds", |program| program.regions > seen.regions + 20);
        program.until("folded", |program| program.mechanism == Mechanism::Fold);
        right(program.finish());
    }
}

#[test]
fn a_member_that_runs_out_of_stack_ends_its_program() {
    let house = House::giving_all("equi");
    let done = doing(&house, "overflow").finish_by_itself();
    assert_eq!(done.ended_by(), Some(libc::SIGSEGV));
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_of_gathered_teams() {
    for seed in 1..3 {
        let house = House::chaos(seed);
        for kind in KINDS {
            let program = house.at(&compiled("gathered")).args([kind]).env("SCAF_GATHER", "1").start();
            program.until("rounds", |program| program.regions > 100);
            right(program.finish());
        }
        for kind in TASKS {
            let program = house.program("gathered_tasks").args([kind]).env("SCAF_GATHER", "1").start();
            program.until("rounds", |program| program.regions > 100);
            right(program.finish());
        }
        for schedule in SCHEDULES {
            let program = sharing(&house, schedule).start();
            program.until("rounds", |program| program.regions > 1_000);
            right(program.finish());
        }
    }
}

#[test]
fn whatever_a_member_may_ask_that_isnt_answered_keeps_the_team_on_threads() {
    let house = House::giving_all("equi");
    // Another runtime, reductions over tasks, places of one's own, a choice of how to wait, and nesting.
    let meeting = compiled("gathered");
    let programs = [
        house.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]),
        house.program("task_reductions").threads(2),
        house.at(&meeting).args(["meeting"]).env("OMP_PROC_BIND", "true"),
        house.at(&meeting).args(["meeting"]).env("OMP_WAIT_POLICY", "passive"),
        house.at(&meeting).args(["meeting"]).env("OMP_MAX_ACTIVE_LEVELS", "2"),
    ];
    for start in programs {
        let program = start.env("SCAF_GATHER", "1").option("--max", 1).start();
        let seen = program.until("rounds", |program| program.regions > 200);
        assert_ne!(seen.mechanism, Mechanism::Gather);
        program.finish().well();
    }
}
