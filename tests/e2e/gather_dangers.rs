//! Gathered teams, attacked: what programs do that a kernel thread which runs several members could get wrong.

use crate::support::{Done, House, Running, compiled};
use scafd::control::Mechanism;

/// The test program doing `kind`, gathered on up to `carriers`.
fn doing<'h>(house: &'h House, kind: &str, carriers: u32) -> Running<'h> {
    house.at(&compiled("dangers")).args([kind]).env("SCAF_GATHER", "1").option("--max", carriers).start()
}

fn until_gathered(program: &Running, what: &str, carriers: u32) {
    program.until(&format!("{what} gathered"), |program| {
        program.mechanism == Mechanism::Gather && program.dop == Some(carriers)
    });
}

fn right(what: &str, done: Done) {
    assert_eq!(done.well().number("wrong"), 0, "{what}");
}

/// Kinds whose regions are gathered again and again.
const KINDS: [&str; 10] = [
    "throwing",
    "allocating",
    "storm",
    "walking",
    "coroutines",
    "rounding",
    "values",
    "locals",
    "sizes",
    "clocks",
];

#[test]
fn members_do_all_that_threads_may_do() {
    let house = House::giving_all("equi");
    for carriers in [1, 2] {
        for kind in KINDS {
            let what = format!("{kind} on {carriers}");
            let program = doing(&house, kind, carriers);
            until_gathered(&program, &what, carriers);
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 100);
            right(&what, program.finish());
        }
    }
}

/// They sleep besides, so that other carriers come, and their regions are folded in the end.
#[test]
fn members_may_sleep_start_programs_and_send_themselves_signals() {
    let house = House::giving_all("equi");
    for kind in ["raising", "spawning", "another-master"] {
        for carriers in [1, 2] {
            let program = doing(&house, kind, carriers);
            program.until("rounds", |program| program.regions > 100);
            right(kind, program.finish());
        }
    }
}

#[test]
fn masters_that_come_and_go_have_teams_of_their_own() {
    let house = House::giving_all("equi");
    let program = doing(&house, "masters", 1);
    program.until("rounds", |program| program.regions > 10_000);
    right("masters", program.finish());
}

/// Its connection to the daemon is closed, too.
#[test]
fn a_program_may_close_all_descriptors() {
    let house = House::giving_all("equi");
    let program = doing(&house, "closing", 1);
    std::thread::sleep(std::time::Duration::from_secs(1));
    right("closing", program.finish());
}

#[test]
fn a_program_may_end_in_any_member() {
    let house = House::giving_all("equi");
    let exit = doing(&house, "exit", 1).finish_by_itself();
    assert_eq!((exit.code(), exit.number("wrong")), (Some(7), 0));
    assert_eq!(doing(&house, "abort", 1).finish_by_itself().ended_by(), Some(libc::SIGABRT));
    assert_eq!(doing(&house, "terminate", 1).finish_by_itself().code(), Some(9));
}
