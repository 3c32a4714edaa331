//! Teams that are gathered in the middle of their one region, and go back to threads of their own.

use crate::support::{Done, House, Running, Start, compiled};
use scafd::control::Mechanism;

/// A program that is one region, of a team of this size, with gathering switched on.
fn doing<'h>(house: &'h House, kind: &str, team: u32) -> Running<'h> {
    begun(midway(house, kind, team))
}

fn midway<'h>(house: &'h House, kind: &str, team: u32) -> Start<'h> {
    house.at(&compiled("midway")).args([kind, &team.to_string()])
}

/// The program in its one region, once the daemon knows it.
fn begun(start: Start) -> Running {
    let program = start.start();
    program.until("small regions", |program| program.dop.is_some() && program.regions > 2);
    program.signal(libc::SIGUSR2);
    program
}

fn until(program: &Running, dop: u32, gathered: bool) {
    program.until(&format!("DoP {dop}, gathered: {gathered}"), |program| {
        program.dop == Some(dop) && (program.mechanism == Mechanism::Gather) == gathered
    });
}

fn right(done: Done) -> Done {
    let done = done.well();
    assert_eq!(done.number("wrong"), 0);
    done
}

#[test]
fn a_team_is_gathered_when_another_program_comes_and_goes_back_when_it_leaves() {
    let house = House::giving_all("equi");
    for kind in ["meeting", "seldom"] {
        let program = doing(&house, kind, 2);
        until(&program, 2, false);
        for _ in 0..2 {
            let other = begun(midway(&house, "meeting", 2));
            until(&program, 1, true);
            other.finish().well();
            until(&program, 2, false);
        }
        right(program.finish());
    }
}

#[test]
fn a_team_that_is_larger_than_its_grant_gains_and_loses_carriers() {
    let house = House::giving_all("equi");
    let (program, other) = (doing(&house, "meeting", 5), doing(&house, "meeting", 3));
    until(&program, 1, true);
    until(&other, 1, true);
    right(program.finish());
    // With all contexts of the machine a program runs as without us.
    until(&other, 2, false);
    right(other.finish());
}

#[test]
fn a_gathered_team_that_waits_in_the_kernel_is_folded() {
    let house = House::giving_all("equi");
    let program = begun(midway(&house, "pipes", 3).option("--max", 1));
    program.until("threads of their own", |program| {
        program.dop == Some(1) && matches!(program.mechanism, Mechanism::Fold | Mechanism::Park)
    });
    right(program.finish());
}

#[test]
fn a_gathered_program_takes_its_signals() {
    let house = House::giving_all("equi");
    let (program, other) = (doing(&house, "meeting", 4), doing(&house, "meeting", 4));
    until(&program, 1, true);
    until(&other, 1, true);
    program.signal(libc::SIGUSR1);
    other.signal(libc::SIGTERM);
    assert_eq!(other.finish_by_itself().ended_by(), Some(libc::SIGTERM));
    assert_eq!(right(program.finish()).number("handled"), 1);
}

#[test]
fn a_grant_that_changes_all_the_time_changes_no_result_of_one_region() {
    for seed in 1..4 {
        let house = House::chaos(seed);
        for (kind, team) in [("meeting", 2), ("seldom", 4), ("pipes", 3), ("meeting", 7)] {
            let program = doing(&house, kind, team);
            let times = |count| {
                let gathered = |program: &scafd::control::Program| program.mechanism == Mechanism::Gather;
                (0..count).for_each(|_| drop(program.until("gathered", gathered)));
            };
            if kind != "pipes" {
                times(5);
            }
            std::thread::sleep(std::time::Duration::from_secs(1));
            right(program.finish());
        }
    }
}
