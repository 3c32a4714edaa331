//! libgomp's own waits follow the fold: libgomp knows that a folded team has more threads than PUs.

use crate::support::{House, Running, kernel, wait_for};
use std::path::Path;

fn threads(program: &Running) -> usize {
    std::fs::read_dir(format!("/proc/{}/task", program.pid())).map_or(0, Iterator::count)
}

fn until_it_has(program: &Running, count: usize) {
    wait_for(&format!("{count} threads"), || (threads(program) == count).then_some(()));
}

#[test]
fn idle_threads_are_there_while_a_team_is_folded_and_gone_afterwards() {
    let house = House::open("equi");
    let program = house.program("waits").threads(2).start();
    program.until("alone", |program| program.dop == Some(2) && program.regions > 10);
    until_it_has(&program, 2);
    let guest = house.program("waits").threads(2).start();
    program.until_folded();
    // Two of its own, the one that called for them, and one more than there are PUs.
    until_it_has(&program, 4);
    guest.finish().well();
    program.until("alone again", |program| program.dop == Some(2));
    until_it_has(&program, 2);
    let done = program.finish().well();
    assert_eq!((done.number("wrong"), done.number("early")), (0, 0));
}

#[test]
fn they_come_in_the_middle_of_a_region_whose_threads_wait_for_tasks() {
    let house = House::open("equi");
    let program = house.program("long_tasks").threads(2).start();
    program.until("its only region", |program| program.in_region && program.dop == Some(2));
    let before = threads(&program);
    let guest = house.program("waits").threads(2).start();
    program.until("folded", |program| program.in_region && program.dop == Some(1));
    until_it_has(&program, before + 2);
    guest.finish().well();
    // They leave with the fold, and come again with the next one.
    until_it_has(&program, before);
    let guest = house.program("waits").threads(2).start();
    until_it_has(&program, before + 2);
    guest.finish().well();
    let done = program.finish().well();
    assert!(done.number("wrong") == 0 && done.number("rounds") > 0, "{done:#?}");
}

#[test]
fn whoever_limits_threads_or_chose_how_to_wait_gets_none_of_ours() {
    let house = House::open("equi");
    for (name, value) in [("OMP_THREAD_LIMIT", "2"), ("OMP_WAIT_POLICY", "passive")] {
        let program = house.program("waits").threads(2).env(name, value).option("--max", 1).start();
        let seen = program.until("one PU", |program| program.dop == Some(1) && program.regions > 10);
        program.until("rounds", |program| program.regions > seen.regions + 10);
        assert_eq!(threads(&program), 2, "{name}");
        program.finish().well();
    }
}

#[test]
fn where_the_system_has_no_more_threads_the_program_goes_on_without() {
    let house = House::open("equi");
    let limited = ["sh", "-c", "ulimit -s 262144; ulimit -v 1000000; exec \"$@\"", "sh"];
    let program = house.at(&kernel("cg")).args(["--class=W", "--form=region", "--repeat=3"]);
    let done = program.threads(2).option("--max", 1).under(&limited).run().well();
    assert_eq!(done.json()["verified"], true);
}

#[test]
fn where_threads_cannot_end_the_program_goes_on_without() {
    let house = House::open("equi");
    let bubblewrap = Path::new("/usr/bin/bwrap");
    let libraries = ["/usr/lib/x86_64-linux-gnu/libgcc_s.so.1", "/usr/lib64/libgcc_s.so.1"];
    let library = libraries.into_iter().find(|library| Path::new(library).exists());
    let (Some(library), true) = (library, bubblewrap.exists()) else {
        println!("not tried: bubblewrap is missing, or libgcc_s is somewhere else");
        return;
    };
    let cg = kernel("cg");
    let words = ["--dev-bind", "/", "/", "--bind", "/dev/null", library, cg.to_str().expect("a plain path")];
    let program = house.at(bubblewrap).args(words).args(["--class=W", "--repeat=5"]);
    let done = program.threads(2).option("--max", 1).flag("--exact").run().well();
    assert_eq!(done.json()["verified"], true);
}
