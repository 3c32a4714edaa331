//! Programs that are managed from outside: pools of threads of their own, and programs that ran already.

use crate::support::{Setup, compiled, cpus_of, root_user, threads_of, wait_for};
use scafd::control::{Mechanism, Snapshot};
use std::path::Path;

const NEEDS: &str = "root, a freezer of control groups, and samples (perf_event_open)";

fn has(snapshot: &Snapshot, pid: u32) -> bool {
    snapshot.programs.iter().any(|program| program.pid == pid)
}

fn each_threads_cpus(pid: u32) -> Vec<Option<Vec<u32>>> {
    threads_of(pid).into_iter().map(cpus_of).collect()
}

/// Whether it can be found out that a pool spins, and something be done about it.
fn can_manage_pools() -> bool {
    use scafd::observe::{Observer, samples::Samples};
    let mut samples = Samples::new(&Observer::new(Path::new("/")).process(std::process::id()));
    can_take_turns() && samples.follow(&[std::process::id()]).is_ok()
}

fn can_take_turns() -> bool {
    use scafd::apply::gang::stop::{GangBy, Way};
    root_user() && Way::choose(Path::new("/"), GangBy::Freezer).is_ok()
}

#[test]
fn two_pools_that_spin_take_turns_and_compute_what_they_compute_alone() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let start = || setup.program("spinning_pool").start();
    let (a, b) = (start(), start());
    let seen = a.until("turns", |program| program.mechanism == Mechanism::Gang);
    assert_eq!((seen.dop, seen.natural), (Some(2), 2));
    b.until("turns", |program| program.mechanism == Mechanism::Gang);
    b.finish().well();
    setup.until("no turns any more", |snapshot| snapshot.turns.is_none().then_some(()));
    a.finish().well();
}

#[test]
fn a_program_that_runs_already_is_adopted_and_released() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let program = setup.program("spinning_pool").unmanaged().start();
    let pid = program.pid();
    let before = cpus_of(pid);
    setup.says(&["adopt", &pid.to_string()]);
    setup.until("it is adopted", |snapshot| has(snapshot, pid).then_some(()));
    setup.says(&["adopt", "--release", &pid.to_string()]);
    setup.until("it is released", |snapshot| (!has(snapshot, pid)).then_some(()));
    assert_eq!(cpus_of(pid), before);
    program.finish().well();
}

#[test]
fn what_a_program_starts_is_adopted_for_itself() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let pool = compiled("spinning_pool");
    let text = format!("{}; true", pool.display());
    let shell = setup.at(Path::new("/bin/sh")).args(["-c", &text]).start();
    let seen = setup.until("the pool is adopted", |snapshot| {
        snapshot.programs.iter().find(|program| program.name == "spinning_pool").cloned()
    });
    assert_ne!(seen.pid, shell.pid());
    crate::support::kill(seen.pid);
    setup.until("it is gone", |snapshot| (!has(snapshot, seen.pid)).then_some(()));
    shell.finish_by_itself();
}

#[test]
fn who_may_be_waited_for_or_has_one_thread_is_not_adopted() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let others = [
        setup.program("spinning_pool").args(["listens"]).start(),
        setup.program("spinning_pool").args(["ticks"]).start(),
        setup.program("spinning_pool").flag("--no-turns").start(),
        setup.program("spinning_pool").args(["alone"]).start(),
    ];
    let pool = setup.program("spinning_pool").start();
    // It came last, and looks are made in the order in which they came.
    setup.until("the pool is adopted", |snapshot| has(snapshot, pool.pid()).then_some(()));
    let snapshot = setup.snapshot();
    for other in others {
        assert!(!has(&snapshot, other.pid()));
        other.finish().well();
    }
    pool.finish().well();
}

#[test]
fn a_users_word_has_a_pool_that_listens_take_turns() {
    needs!(can_take_turns(), "root, and a freezer of control groups");
    let setup = Setup::new("equi");
    let listens = |flag| setup.program("spinning_pool").args(["listens"]).flag(flag).start();
    let (a, b) = (listens("--turns"), listens("--turns"));
    for program in [&a, &b] {
        program.until("turns", |program| program.mechanism == Mechanism::Gang);
    }
    setup.until("both are stopped by turns", |snapshot| {
        let members = snapshot.turns.as_ref()?.round.iter().map(|turn| turn.members.len());
        members.eq([1, 1]).then_some(())
    });
    a.finish().well();
    b.finish().well();
}

#[test]
fn the_daemon_for_all_users_adopts_nobody() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    setup.start_daemon();
    let program = setup.program("spinning_pool").unmanaged().start();
    let said = setup.refuses(&["adopt", &program.pid().to_string()]);
    assert!(said.contains("the daemon for all users"), "{said}");
    program.finish().well();
}

#[test]
fn adopted_and_released_at_random_a_pool_keeps_its_affinity() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let (program, neighbour) =
        (setup.program("spinning_pool").unmanaged().start(), setup.program("loops").start());
    let pid = program.pid().to_string();
    let before = cpus_of(program.pid());
    for round in 0..20 {
        setup.says(&["adopt", &pid]);
        if round % 3 != 0 {
            setup.until("it is adopted", |snapshot| has(snapshot, program.pid()).then_some(()));
        }
        setup.says(&["adopt", "--release", &pid]);
        wait_for("its own affinity", || (cpus_of(program.pid()) == before).then_some(()));
    }
    neighbour.finish().well();
    program.finish().well();
}

#[test]
fn a_pool_that_waits_for_nobody_is_adopted_only_if_its_user_says_so() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let program = setup.program("spinning_pool").args(["computes"]).start();
    let spins = setup.program("spinning_pool").start();
    spins.until("that it spins is found out", |seen| seen.mechanism_reason.contains("spinning"));
    assert!(!has(&setup.snapshot(), program.pid()));
    setup.says(&["adopt", &program.pid().to_string()]);
    let seen = program.until("its share", |seen| seen.dop.is_some());
    assert!(!seen.mechanism_reason.contains("spinning"), "{}", seen.mechanism_reason);
    spins.finish().well();
    program.finish().well();
}

#[test]
fn what_an_adopted_program_uses_and_wants_is_measured() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let computes = setup.program("spinning_pool").args(["computes"]).unmanaged().start();
    setup.says(&["adopt", &computes.pid().to_string()]);
    let measured = |pid: u32| {
        setup.until("what it uses and wants", |snapshot| {
            let seen = snapshot.programs.iter().find(|program| program.pid == pid)?;
            Some((seen.efficiency?, seen.demand?, seen.natural))
        })
    };
    let (efficiency, demand, natural) = measured(computes.pid());
    assert!(efficiency > 0.0 && efficiency <= 1.0, "{efficiency}");
    // Two threads that compute all the time run, or wait for a context.
    assert!((1.3..2.3).contains(&demand) && natural == 2, "{demand}, {natural}");
    computes.finish().well();
    // Its second thread waits for the first one for four fifths of the time.
    let spins = setup.program("spinning_pool").unmanaged().start();
    setup.says(&["adopt", &spins.pid().to_string()]);
    let (efficiency, _, natural) = measured(spins.pid());
    assert!(efficiency < 0.9 && natural == 2, "{efficiency}, {natural}");
    spins.finish().well();
}

#[test]
fn a_pool_that_has_bound_its_threads_takes_turns_where_they_are() {
    needs!(can_manage_pools(), "{NEEDS}");
    let setup = Setup::new("equi");
    let start = || setup.program("spinning_pool").args(["binds"]).start();
    let (a, b) = (start(), start());
    let before = wait_for("bound threads", || {
        let each = each_threads_cpus(a.pid());
        (each.len() == 2 && each[0] != each[1]).then_some(each)
    });
    for program in [&a, &b] {
        program.until("turns", |program| program.mechanism == Mechanism::Gang);
    }
    assert_eq!(each_threads_cpus(a.pid()), before);
    setup.says(&["adopt", "--release", &a.pid().to_string()]);
    b.finish().well();
    assert_eq!(each_threads_cpus(a.pid()), before);
    a.finish().well();
}
