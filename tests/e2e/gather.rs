//! Gathered teams: members that a kernel thread runs by turns see and compute what threads of their own do.

use crate::support::{By, Done, House, Running, compiled, compiled_by};
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

/// The test program doing `kind` for ever, with a grant of one PU and gathering switched on.
fn doing<'h>(house: &'h House, by: By, kind: &str) -> Running<'h> {
    house.at(&compiled_by(by, "gathered")).args([kind]).env("SCAF_GATHER", "1").option("--max", 1).start()
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
    for by in COMPILERS {
        for kind in ["meeting", "sharing", "fork", "jump", "signal", "nesting", "depth"] {
            let program = doing(&house, by, kind);
            until_gathered(&program, &format!("{kind} by {by:?}"));
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 200);
            right(program.finish());
        }
    }
}

#[test]
fn members_that_wait_for_each_other_in_the_kernel_are_all_run() {
    let house = House::giving_all("equi");
    for by in COMPILERS {
        for kind in ["pipe", "condition", "holding", "sleeping"] {
            let program = doing(&house, by, kind);
            // A region that needs help often is folded in the end.
            let seen = program.until("rounds", |program| program.regions > 20);
            program.until("more rounds", |program| program.regions > seen.regions + 20);
            program.until("folded", |program| program.mechanism == Mechanism::Fold);
            right(program.finish());
        }
    }
}

#[test]
fn a_member_that_runs_out_of_stack_ends_its_program() {
    let house = House::giving_all("equi");
    for by in COMPILERS {
        let done = doing(&house, by, "overflow").finish_by_itself();
        assert_eq!(done.ended_by(), Some(libc::SIGSEGV));
    }
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_of_gathered_teams() {
    for seed in 1..3 {
        let house = House::chaos(seed);
        for (by, kind) in COMPILERS.into_iter().flat_map(|by| KINDS.map(|kind| (by, kind))) {
            let program = house.at(&compiled_by(by, "gathered")).args([kind]).env("SCAF_GATHER", "1").start();
            program.until("rounds", |program| program.regions > 100);
            right(program.finish());
        }
    }
}

#[test]
fn whatever_a_member_may_ask_that_isnt_answered_keeps_the_team_on_threads() {
    let house = House::giving_all("equi");
    // Tasks, cancellation, settings of the runtime's, places of one's own, and a choice of how to wait.
    let meeting = compiled("gathered");
    let programs = [
        house.at(&compiled_by(By::Clang, "task_reductions")).threads(2),
        house.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]).env("KMP_BLOCKTIME", "0"),
        house.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]).env("KMP_GTID_MODE", "2"),
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
