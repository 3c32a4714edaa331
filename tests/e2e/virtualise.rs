//! Regions of fixed size whose threads are independent run on as many threads as are granted.

use crate::support::{By, Done, House, Running, compiled_by};
use scafd::control::Mechanism;

/// The team that every region of `virtual` asks for.
const TEAM: i64 = 4;

fn until_virtualised(program: &Running) {
    program.until("fewer threads than the team has", |program| {
        program.mechanism == Mechanism::Virtualise && program.dop == Some(program.team)
    });
}

fn virtualised(by: By, how: &str) -> Done {
    let house = House::open("equi");
    let program =
        house.at(&compiled_by(by, "virtual")).args([how]).env("SCAF_GATHER", "0").option("--max", 1).start();
    until_virtualised(&program);
    let then = program.until("any", |_| true).regions;
    program.until("many rounds", |program| program.regions > then + 10_000);
    let done = program.finish().well();
    assert_eq!(done.number("wrong"), 0, "{done:#?}");
    done
}

#[test]
fn static_loops() {
    for by in [By::Itself, By::Clang, By::GccForLlvms] {
        let done = virtualised(by, "static");
        assert_eq!((done.number("fewest"), done.number("most")), (1, TEAM), "{by:?}");
    }
}

#[test]
fn each_threads_share_of_a_loop_is_what_it_was() {
    for by in [By::Itself, By::Clang] {
        assert_eq!(virtualised(by, "shares").number("fewest"), 1, "{by:?}");
    }
}

#[test]
fn loops_that_llvms_runtime_cuts_in_another_way_keep_their_team() {
    let house = House::open("equi");
    let program = house
        .at(&compiled_by(By::Clang, "virtual"))
        .args(["shares"])
        .env("SCAF_GATHER", "0")
        .option("--max", 1);
    let program = program.env("KMP_SCHEDULE", "static,greedy").start();
    let seen = program.until_folded();
    program.until_inspected();
    program.until("many rounds", |program| program.regions > seen.regions + 10_000);
    let done = program.finish().well();
    assert_eq!((done.number("fewest"), done.number("wrong")), (TEAM, 0), "{done:#?}");
}

tests! {
    loops_dealt_out_in_chunks: assert_eq!(virtualised(By::Itself, "chunks").number("fewest"), 1);
    regions_that_are_one_loop: virtualised(By::Itself, "one-loop");
}

#[test]
fn questions_about_the_team() {
    for by in [By::Itself, By::Clang] {
        assert_eq!(virtualised(by, "questions").number("fewest"), 1, "{by:?}");
    }
}

#[test]
fn two_real_threads_for_four() {
    let house = House::giving_all("equi");
    let program = house.program("virtual").args(["static"]).env("SCAF_GATHER", "0").start();
    program.until("two threads", |program| program.team == 2);
    let done = program.finish().well();
    assert_eq!((done.number("fewest"), done.number("wrong")), (2, 0), "{done:#?}");
}

#[test]
fn variables_of_threads_last_from_region_to_region() {
    for most in [1, 2] {
        let house = House::open("equi");
        let program = house.program("private").env("SCAF_GATHER", "0").option("--max", most).start();
        if most == 1 {
            until_virtualised(&program);
        }
        let seen = program.until_inspected();
        program.until("many rounds", |program| program.regions > seen.regions + 20_000);
        let done = program.finish().well();
        assert_eq!(done.number("wrong"), 0, "at most {most}: {done:#?}");
    }
}

/// Runs a kind of region whose threads need each other when asked to: helped, it is never virtualised again.
fn helped(by: By, how: &str, preload: Option<&str>) {
    let house = House::open("equi");
    let start = house.at(&compiled_by(by, "virtual")).args([how]).env("SCAF_GATHER", "0").option("--max", 1);
    let start = match preload {
        Some(library) => start.env("LD_PRELOAD", compiled_by(by, library)),
        None => start,
    };
    let program = start.start();
    until_virtualised(&program);
    for _ in 0..3 {
        program.signal(libc::SIGUSR1);
        let seen = program.until("its team is whole again", |program| i64::from(program.team) == TEAM);
        let seen = program.until("rounds", |program| program.regions > seen.regions + 1_000);
        assert_eq!(i64::from(seen.team), TEAM);
    }
    let done = program.finish().well();
    assert_eq!((done.number("fewest"), done.number("wrong")), (1, 0), "{done:#?}");
    assert_eq!(done.number("meetings"), 3);
}

#[test]
fn threads_that_wait_for_each_other_unseen_get_there() {
    for by in [By::Itself, By::Clang] {
        helped(by, "handshake", None);
    }
}

#[test]
fn a_barrier_where_none_was_to_be_is_passed_by_all() {
    for by in [By::Itself, By::Clang] {
        helped(by, "barrier", Some("libexp"));
    }
}

#[test]
fn code_behind_a_pointer_keeps_its_threads() {
    let house = House::open("equi");
    let program =
        house.program("virtual").args(["pointer"]).env("SCAF_GATHER", "0").option("--max", 1).start();
    let seen = program.until_folded();
    program.until_inspected();
    program.until("many rounds", |program| program.regions > seen.regions + 10_000);
    let done = program.finish().well();
    assert_eq!((done.number("fewest"), done.number("wrong")), (TEAM, 0), "{done:#?}");
}
