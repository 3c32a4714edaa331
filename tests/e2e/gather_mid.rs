//! Teams that are gathered in the middle of their one region, and go back to threads of their own.

use crate::support::{By, Done, Running, Setup, Start, compiled_by, wait_for};
use scafd::control::{Mechanism, Program};

/// gcc's code on libgomp and on LLVM's runtime, and clang's.
const COMPILERS: [By; 3] = [By::Itself, By::GccForLlvms, By::Clang];

/// A program that is one region, of a team of this size, with gathering switched on.
fn doing<'h>(setup: &'h Setup, by: By, kind: &str, team: u32) -> Running<'h> {
    begun(midway(setup, by, kind, team))
}

fn midway<'h>(setup: &'h Setup, by: By, kind: &str, team: u32) -> Start<'h> {
    like_midway(setup, by, "midway", kind, team)
}

/// The same of another program that includes that one.
fn like_midway<'h>(setup: &'h Setup, by: By, name: &str, kind: &str, team: u32) -> Start<'h> {
    setup.at(&compiled_by(by, name)).args([kind, &team.to_string()])
}

/// The program in its one region, once the daemon knows it.
fn begun(start: Start) -> Running {
    let program = start.start();
    program.until("small regions", |program| program.dop.is_some() && program.regions > 2);
    program.signal(libc::SIGUSR2);
    // If its grant became smaller before that, the region would be gathered from its start.
    wait_for("its one region", || program.printed().contains("begun").then_some(()));
    program
}

fn until(program: &Running, dop: u32, gathered: bool) {
    program.until(&format!("DoP {dop}, gathered: {gathered}"), |program| {
        program.dop == Some(dop) && (program.mechanism == Mechanism::Gather) == gathered
    });
}

fn until_gathered(program: &Running, times: u32) {
    let gathered = |program: &Program| program.mechanism == Mechanism::Gather;
    (0..times).for_each(|_| drop(program.until("gathered", gathered)));
}

fn right(done: Done) -> Done {
    let done = done.well();
    assert_eq!(done.number("wrong"), 0);
    done
}

#[test]
fn a_team_is_gathered_when_another_program_comes_and_goes_back_when_it_leaves() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        for kind in ["meeting", "seldom"] {
            let program = doing(&setup, by, kind, 2);
            until(&program, 2, false);
            for _ in 0..2 {
                let other = begun(midway(&setup, By::Itself, "meeting", 2));
                until(&program, 1, true);
                other.finish().well();
                until(&program, 2, false);
            }
            right(program.finish());
        }
    }
}

#[test]
fn a_team_that_is_larger_than_its_grant_gains_and_loses_carriers() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let (program, other) = (doing(&setup, by, "meeting", 5), doing(&setup, by, "meeting", 3));
        until(&program, 1, true);
        until(&other, 1, true);
        right(program.finish());
        until(&other, 2, true);
        right(other.finish());
    }
}

#[test]
fn a_team_that_never_had_a_context_for_each_thread_is_gathered_too() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = doing(&setup, by, "meeting", 7);
        until(&program, 2, true);
        right(program.finish());
        // The kernel shares the PUs among threads better where they hardly ever wait.
        let program = doing(&setup, by, "hardly", 3);
        until(&program, 2, true);
        program.signal(libc::SIGUSR1);
        until(&program, 2, false);
        right(program.finish());
        // As many threads as PUs: it runs as without scaf.
        let program = doing(&setup, by, "meeting", 2);
        until(&program, 2, false);
        right(program.finish());
    }
}

#[test]
fn a_gathered_team_that_waits_in_the_kernel_is_folded() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let program = begun(midway(&setup, by, "pipes", 3).option("--max", 1));
        program.until("threads of their own", |program| {
            program.dop == Some(1) && matches!(program.mechanism, Mechanism::Fold | Mechanism::Park)
        });
        right(program.finish());
    }
}

#[test]
fn a_gathered_program_takes_its_signals() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let (program, other) = (doing(&setup, by, "meeting", 4), doing(&setup, by, "meeting", 4));
        until(&program, 1, true);
        until(&other, 1, true);
        program.signal(libc::SIGUSR1);
        other.signal(libc::SIGTERM);
        assert_eq!(other.finish_by_itself().ended_by(), Some(libc::SIGTERM));
        assert_eq!(right(program.finish()).number("handled"), 1);
    }
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_of_one_region() {
    for seed in 1..2 {
        let setup = Setup::chaos(seed);
        for by in COMPILERS {
            for (kind, team) in [("meeting", 2), ("seldom", 4), ("pipes", 3), ("meeting", 7)] {
                let program = doing(&setup, by, kind, team);
                if kind != "pipes" {
                    until_gathered(&program, 5);
                }
                std::thread::sleep(std::time::Duration::from_millis(500));
                right(program.finish());
            }
        }
    }
}

/// What programs have besides that midway gathering has to hand over to members and back.
#[test]
fn tasks_choices_and_cached_variables_are_members_and_threads_by_turns() {
    let programs = [
        ("midway_tasks", By::Itself),
        ("midway_tasks", By::GccForLlvms),
        ("midway_tasks", By::Clang),
        ("midway_later", By::Itself),
        ("midway_later", By::GccForLlvms),
        ("midway_later", By::Clang),
        ("midway_chosen", By::Itself),
        ("midway_chosen", By::GccForLlvms),
        ("midway_chosen", By::Clang),
        ("midway_cached", By::Itself),
    ];
    for seed in 1..2 {
        let setup = Setup::chaos(seed);
        for (name, by) in programs {
            for team in [2, 5] {
                let program = begun(like_midway(&setup, by, name, "meeting", team));
                until_gathered(&program, 5);
                for _ in 0..2 {
                    program.signal(libc::SIGUSR1);
                    std::thread::sleep(std::time::Duration::from_millis(500));
                }
                right(program.finish());
            }
        }
    }
}

/// A group of tasks that members opened is the threads' when they are that again. One that threads opened is
/// the runtime's, so they aren't gathered within it, nor behind the region's first task.
#[test]
fn groups_of_tasks_go_home_with_their_members_and_keep_threads_from_becoming_such() {
    let setup = Setup::new("equi");
    for by in COMPILERS {
        let later = || begun(like_midway(&setup, by, "midway_later", "meeting", 2));
        let other = || begun(midway(&setup, By::Itself, "meeting", 2));
        let a_while = || std::thread::sleep(std::time::Duration::from_millis(300));

        let program = later();
        until(&program, 2, false);
        let first = other();
        until(&program, 1, true);
        program.signal(libc::SIGUSR1);
        a_while();
        until(&program, 1, true);
        first.finish().well();
        until(&program, 2, false);
        program.signal(libc::SIGUSR1);
        a_while();
        right(program.finish());

        let program = later();
        until(&program, 2, false);
        program.signal(libc::SIGUSR1);
        a_while();
        let second = other();
        program.until("one PU", |program| program.dop == Some(1));
        for _ in 0..2 {
            a_while();
            assert_ne!(program.seen().map(|program| program.mechanism), Some(Mechanism::Gather));
            program.signal(libc::SIGUSR1);
        }
        second.finish().well();
        right(program.finish());
    }
}
