//! Programs that take turns: by a freezer, in groups of their own; nobody stays stopped, whatever happens.

use crate::support::{Running, Setup, kernel, kill, root_user, skip, wait_for};
use scafd::apply::gang::stop::{GangBy, Way};
use scafd::control::{Mechanism, Snapshot};
use std::path::{Path, PathBuf};

/// The freezer of this machine; `None`, and a message, where there is none.
fn freezer() -> Option<Way> {
    let way = Way::choose(Path::new("/"), GangBy::Freezer).ok();
    way.filter(|_| root_user()).or_else(|| {
        skip::skipped("root, and a freezer of control groups");
        None
    })
}

/// Two programs that spin for themselves on two threads, for longer than any test lasts, and take turns.
fn spinners(setup: &Setup) -> (Running<'_>, Running<'_>) {
    let words = ["spin", "0", "9000000000000000000"];
    let spinner =
        || setup.at(&kernel("gang")).args(words).option("--name", "spinner").flag("--rigid").threads(2);
    let both = (spinner().start(), spinner().start());
    setup.until("they take turns", |snapshot| turns(snapshot, 2));
    both
}

fn group(pid: u32, way: Way) -> Option<PathBuf> {
    let group = scafd::observe::cgroup::group_of(Path::new("/"), pid, way.controller()?)?;
    group.to_string_lossy().contains("scaf-gang-").then_some(group)
}

fn gets_on(pid: u32) -> bool {
    let cpu_ns = || scafd::observe::clock::cpu_ns(pid).unwrap_or(0);
    let before = cpu_ns();
    std::thread::sleep(std::time::Duration::from_millis(20));
    cpu_ns() - before > 1_000_000
}

fn turns(snapshot: &Snapshot, count: usize) -> Option<()> {
    (snapshot.turns.as_ref()?.round.len() == count).then_some(())
}

fn stopped_one(a: u32, b: u32) -> u32 {
    wait_for("one of them is stopped", || [a, b].into_iter().find(|pid| !gets_on(*pid)))
}

#[test]
fn rigid_programs_take_turns_and_run_alone_again_when_the_other_leaves() {
    let Some(way) = freezer() else { return };
    let setup = Setup::new("equi");
    let (a, b) = spinners(&setup);
    let seen = a.until("all contexts", |program| program.dop == Some(2));
    assert_eq!(seen.mechanism, Mechanism::Gang);
    assert!(setup.says(&["ps"]).contains("turns, by "));
    for pid in [a.pid(), b.pid()] {
        wait_for("a group of its own", || group(pid, way));
        wait_for("its turn", || gets_on(pid).then_some(()));
    }
    stopped_one(a.pid(), b.pid());
    let groups = [a.pid(), b.pid()].map(|pid| group(pid, way));
    drop(b);
    setup.until("no turns any more", |snapshot| snapshot.turns.is_none().then_some(()));
    wait_for("it is where it was", || group(a.pid(), way).is_none().then_some(()));
    drop(a);
    for group in groups.into_iter().flatten() {
        wait_for("no group is left", || (!group.exists()).then_some(()));
    }
}

#[test]
fn who_may_not_be_stopped_runs_in_the_others_turns_too() {
    if freezer().is_none() {
        return;
    }
    let setup = Setup::new("equi");
    let words = ["spin", "0", "9000000000000000000"];
    let spinner = |flag| setup.at(&kernel("gang")).args(words).flag("--rigid").flag(flag).threads(2);
    let turns = spinner("--turns").start();
    let never = setup.program("loops").flag("--no-turns").threads(2).start();
    let seen = never.until("that it is never stopped", |program| program.reason.contains("never stopped"));
    assert!(seen.reason.contains("--no-turns"), "{}", seen.reason);
    setup.until("it is in each turn", |snapshot| {
        let round = &snapshot.turns.as_ref()?.round;
        let id = snapshot.programs.iter().find(|program| program.pid == never.pid())?.id;
        let has = |turn: &scaf_policy::Turn| turn.members.iter().any(|member| member.0 == id);
        round.iter().all(has).then_some(())
    });
    never.finish().well();
    drop(turns);
}

#[test]
fn a_program_that_is_stopped_can_be_ended_by_signals() {
    let Some(_) = freezer() else { return };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGKILL] {
        let setup = Setup::new("equi");
        let (a, b) = spinners(&setup);
        let stopped = stopped_one(a.pid(), b.pid());
        let (stopped, _other) = if stopped == a.pid() { (a, b) } else { (b, a) };
        stopped.signal(signal);
        assert_eq!(stopped.finish_by_itself().ended_by(), Some(signal));
        setup.until("the other has no turns to take", |snapshot| snapshot.turns.is_none().then_some(()));
    }
}

#[test]
fn whoever_is_stopped_goes_on_when_the_daemon_dies_stops_or_ends() {
    let Some(way) = freezer() else { return };
    for signal in [libc::SIGKILL, libc::SIGTERM, libc::SIGSTOP] {
        let setup = Setup::new("equi");
        let (a, b) = spinners(&setup);
        let stopped = stopped_one(a.pid(), b.pid());
        let group = group(stopped, way).expect("a group");
        setup.signal_daemon(signal);
        wait_for("it goes on", || gets_on(stopped).then_some(()));
        if signal == libc::SIGSTOP {
            setup.signal_daemon(libc::SIGCONT);
            stopped_one(a.pid(), b.pid());
        } else {
            wait_for("no group is left", || (!group.exists()).then_some(()));
            for _ in 0..20 {
                for pid in [a.pid(), b.pid()] {
                    wait_for("each goes on", || gets_on(pid).then_some(()));
                }
            }
            setup.end_daemon(signal);
        }
    }
}

#[test]
fn whoever_is_stopped_goes_on_when_first_the_guardian_is_killed_and_then_the_daemon() {
    let Some(way) = freezer() else { return };
    let setup = Setup::new("equi");
    let (a, b) = spinners(&setup);
    let first = setup.guardian().expect("a guardian");
    kill(first);
    wait_for("its successor", || setup.guardian().filter(|pid| *pid != first));
    let stopped = stopped_one(a.pid(), b.pid());
    let group = group(stopped, way).expect("a group");
    setup.signal_daemon(libc::SIGKILL);
    wait_for("it goes on", || gets_on(stopped).then_some(()));
    wait_for("no group is left", || (!group.exists()).then_some(()));
    setup.end_daemon(libc::SIGKILL);
}

#[test]
fn a_program_that_spins_is_found_out_and_takes_turns_instead_of_waiting_for_itself() {
    let Some(_) = freezer() else { return };
    let setup = Setup::new("equi");
    let words = ["--class=W", "--repeat=100000"];
    // Where it may not be gathered its loops don't yield.
    let rigid = setup.at(&kernel("lu_rigid")).args(words).threads(2).env("SCAF_GATHER", "0").start();
    rigid.until_inspected();
    let other = setup.program("loops").start();
    setup.until("they take turns", |snapshot| turns(snapshot, 2));
    let seen = rigid.until("all contexts", |program| program.dop == Some(2));
    assert!(seen.mechanism == Mechanism::Gang && seen.mechanism_reason.contains("spin"), "{seen:?}");
    other.until("a turn of its own with all contexts", |program| program.dop == Some(2));
    assert_eq!(other.finish().well().number("wrong"), 0);
}

/// Its full team would need turns, for which the other one would be stopped.
#[test]
fn a_program_that_is_known_to_wait_for_itself_starts_with_its_share_beside_others() {
    let Some(_) = freezer() else { return };
    let setup = Setup::new("equi");
    let other = setup.program("loops").start();
    other.until_inspected();
    let start = || setup.program("spins_often");
    let rigid = start().start();
    setup.until("they take turns", |snapshot| turns(snapshot, 2));
    // Beside one that takes turns anyway it starts in full.
    let third = start().start();
    third.until("all its threads", |program| program.natural == 2);
    drop((rigid, third));
    setup.until("no turns any more", |snapshot| snapshot.turns.is_none().then_some(()));
    let molded = start().start();
    let seen = molded.until("one thread", |program| program.natural == 1 && program.regions > 10);
    assert_ne!(seen.mechanism, Mechanism::Gang);
    molded.until_inspected();
    // Nor is one in the way of another.
    let fourth = start().start();
    fourth.until("one thread, too", |program| program.natural == 1 && program.regions > 10);
    assert_eq!(setup.snapshot().turns, None);
    for one in [molded, fourth] {
        let done = one.finish().well();
        assert_eq!((done.number("most"), done.number("wrong")), (1, 0));
    }
    let chosen = start().threads(2).start();
    chosen.until("as many threads as its user says", |program| program.natural == 2);
    drop(chosen);
    assert_eq!(other.finish().well().number("wrong"), 0);
    let alone = start().start();
    alone.until("alone it has all", |program| program.natural == 2);
    alone.until_inspected();
    // The two together need turns, whatever the second one starts with.
    start().start().until("all, too", |program| program.natural == 2);
}

#[test]
fn programs_that_are_not_rigid_take_no_turns_unless_that_is_asked_for() {
    let setup = Setup::new("equi");
    let programs: Vec<_> = (0..3).map(|_| setup.program("loops").start()).collect();
    setup.until("all are there", |snapshot| (snapshot.programs.len() == 3).then_some(()));
    assert_eq!(setup.snapshot().turns, None);
    programs.into_iter().for_each(|program| drop(program.finish().well()));
}

#[test]
fn children_of_a_program_that_takes_turns_are_put_back() {
    let Some(way) = freezer() else { return };
    let setup = Setup::new("equi");
    let (a, b) = spinners(&setup);
    let folder = wait_for("a group", || group(a.pid(), way));
    let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
    std::fs::write(folder.join("cgroup.procs"), child.id().to_string()).expect("moving it");
    wait_for("it is put back", || group(child.id(), way).is_none().then_some(()));
    child.kill().expect("its end");
    child.wait().expect("its end");
    drop((a, b));
}

#[test]
fn a_stop_by_its_user_outlives_its_turns_and_the_other_has_all_the_time() {
    let Some(_) = freezer() else { return };
    let setup = Setup::new("equi");
    let (a, b) = spinners(&setup);
    wait_for("its turn", || gets_on(a.pid()).then_some(()));
    a.signal(libc::SIGSTOP);
    wait_for("the other one is stopped no more", || (0..20).all(|_| gets_on(b.pid())).then_some(()));
    assert!((0..5).all(|_| !gets_on(a.pid())));
    a.signal(libc::SIGCONT);
    wait_for("it goes on", || gets_on(a.pid()).then_some(()));
    stopped_one(a.pid(), b.pid());
}
