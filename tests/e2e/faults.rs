//! The daemon dies, stops, comes back, comes late; programs die. Nobody else is harmed.

use crate::support::{Setup, cpus_of, kernel, wait_for};

#[test]
fn a_killed_daemon_harms_nobody_and_affinities_are_given_back() {
    let setup = Setup::new("equi");
    let socket = setup.socket();
    {
        let rigid = setup.program("promises").args(["clause"]).threads(3).start();
        let other = setup.program("loops").start();
        rigid.until("one PU", |program| program.dop == Some(1) && program.effective_ns.is_some());
        other.until_resized_to(1);
        crate::support::kill(setup.daemon());
        for pid in [rigid.pid(), other.pid()] {
            wait_for("both PUs again", || cpus_of(pid).filter(|cpus| cpus.len() == 2));
        }
        rigid.finish().well();
        let other = other.finish().well();
        assert_eq!(other.number("wrong"), 0);
    }
    assert!(socket.exists());
    setup.program("loops").preloaded().run().well();
    setup.end_daemon(libc::SIGKILL);
    setup.start_daemon();
    setup.program("loops").run().well();
}

#[test]
fn a_program_without_a_daemon_has_its_own_teams_again() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").option("--max", 1).start();
    program.until_resized_to(1);
    crate::support::kill(setup.daemon());
    wait_for("both PUs again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(program.finish().well().number("last"), 2);
}

#[test]
fn programs_are_attached_again_when_a_daemon_is_back() {
    for signal in [libc::SIGKILL, libc::SIGTERM] {
        let setup = Setup::new("equi");
        let words = ["--class=W", "--repeat=100000"];
        let program = setup.at(&kernel("cg")).args(words).option("--max", 1).start();
        let first = program.until_resized_to(1);
        setup.end_daemon(signal);
        setup.start_daemon();
        let again = program.until_resized_to(1);
        assert!(again.attached_ns > first.attached_ns);
    }
}

#[test]
fn a_stopped_daemon_holds_nobody_up() {
    let setup = Setup::configured("equi", "lease_s = 600\n");
    let running = setup.program("loops").option("--max", 1).start();
    running.until_resized_to(1);
    setup.signal_daemon(libc::SIGSTOP);
    // Through `scaf run` and without it: the socket takes connections, but nobody answers.
    assert_eq!(setup.program("loops").run().well().number("wrong"), 0);
    assert_eq!(setup.program("loops").preloaded().run().well().number("wrong"), 0);
    assert_eq!(running.finish().well().number("last"), 1);
    let late = setup.program("loops").start();
    setup.signal_daemon(libc::SIGCONT);
    late.until("its answer came late, and was taken", |program| program.regions > 100);
    late.finish().well();
}

#[test]
fn where_the_daemon_hangs_programs_have_all_contexts_until_it_goes_on() {
    let setup = Setup::configured("equi", "lease_s = 1\n");
    let program = setup.program("loops").option("--max", 1).start();
    program.until_resized_to(1);
    setup.signal_daemon(libc::SIGSTOP);
    wait_for("both PUs again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
    let said = setup.refuses(&["ps"]);
    assert!(said.contains("is stopped or hangs"), "{said}");
    setup.signal_daemon(libc::SIGCONT);
    program.until_resized_to(1);
    wait_for("one PU", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn where_daemon_and_guardian_are_killed_together_programs_free_themselves() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").option("--max", 1).start();
    program.until_resized_to(1);
    wait_for("one PU", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    setup.signal_daemon(libc::SIGSTOP);
    crate::support::kill(setup.guardian().expect("a guardian"));
    setup.end_daemon(libc::SIGKILL);
    wait_for("both PUs again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
    assert_eq!(program.finish().well().number("wrong"), 0);
}

/// The program is stopped: it can do nothing about it itself.
#[test]
fn a_new_daemon_gives_back_what_one_had_narrowed_that_was_killed_with_its_guardian() {
    gives_back_what_one_had_narrowed(&Setup::new("equi"));
}

/// What is narrowed is its broker's to write down.
#[test]
fn a_new_daemon_for_all_users_gives_back_what_one_had_narrowed() {
    let Some(setup) = Setup::for_all(&["equi"], "") else { return };
    setup.start_daemon();
    gives_back_what_one_had_narrowed(&setup);
}

fn gives_back_what_one_had_narrowed(setup: &Setup) {
    let program = setup.program("loops").option("--max", 1).start();
    program.until_resized_to(1);
    wait_for("one PU", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 1));
    program.signal(libc::SIGSTOP);
    setup.signal_daemon(libc::SIGSTOP);
    let helpers = [setup.broker(), setup.guardian()];
    assert!(helpers[1].is_some(), "a guardian");
    helpers.into_iter().flatten().for_each(crate::support::stop);
    helpers.into_iter().flatten().for_each(crate::support::kill);
    setup.end_daemon(libc::SIGKILL);
    assert_eq!(cpus_of(program.pid()).map(|cpus| cpus.len()), Some(1));
    setup.start_daemon();
    wait_for("both PUs again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
    program.signal(libc::SIGCONT);
    program.until_resized_to(1);
    assert_eq!(program.finish().well().number("wrong"), 0);
    setup.end_daemon(libc::SIGTERM);
    assert!(!setup.socket().with_extension("narrowed").exists());
}

#[test]
fn of_daemons_that_start_at_once_one_stays_and_what_it_narrows_is_written_down() {
    let setup = Setup::prepared(&["equi"], "");
    let narrowed = setup.socket().with_extension("narrowed");
    let mut all: Vec<_> = (0..5).map(|_| setup.daemon_command().spawn().expect("a daemon")).collect();
    wait_for("all but one end", || {
        all.retain_mut(|daemon| matches!(daemon.try_wait(), Ok(None)));
        (all.len() <= 1).then_some(())
    });
    let mut last = all.pop().expect("one that stays");
    wait_for("it answers", || setup.ask());
    assert!(narrowed.exists());
    crate::support::end(&mut last);
    assert!(!narrowed.exists() && !setup.socket().exists());
}

#[test]
fn a_guardian_that_is_stopped_keeps_no_daemon_from_ending() {
    let setup = Setup::new("equi");
    let guardian = setup.guardian().expect("a guardian");
    crate::support::stop(guardian);
    setup.end_daemon(libc::SIGTERM);
}

/// Leases are times of a clock that a time namespace moves: they are over at once there, or never.
#[test]
fn a_program_whose_clock_is_another_is_right() {
    for ahead in ["100000", "-1000"] {
        let moved = ["unshare", "--time", "--monotonic", ahead];
        let tried = std::process::Command::new(moved[0]).args(&moved[1..]).arg("true").status();
        needs!(tried.is_ok_and(|it| it.success()), "root, and time namespaces");
        let setup = Setup::configured("equi", "lease_s = 1\n");
        let program = setup.program("loops").option("--max", 1).under(&moved).start();
        program.until("it is attached", |program| program.regions > 100);
        std::thread::sleep(std::time::Duration::from_secs(2));
        setup.signal_daemon(libc::SIGSTOP);
        wait_for("both PUs again", || cpus_of(program.pid()).filter(|cpus| cpus.len() == 2));
        setup.signal_daemon(libc::SIGCONT);
        assert_eq!(program.finish().well().number("wrong"), 0);
    }
}

#[test]
fn a_daemon_may_come_late() {
    let setup = Setup::without_daemon("equi");
    let program = setup.program("loops").preloaded().start();
    std::thread::sleep(std::time::Duration::from_millis(100));
    setup.start_daemon();
    let pid = program.pid();
    setup.until("it is attached", |snapshot| {
        snapshot.programs.iter().any(|program| program.pid == pid && program.regions > 100).then_some(())
    });
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn the_share_of_a_program_that_is_killed_in_a_region_is_free() {
    let setup = Setup::new("equi");
    let long = ["--class=S", "--iterations=1", "--parallel-us=10000000", "--chunks=8", "--repeat=100"];
    let long = setup.at(&kernel("phases")).args(long).start();
    long.until("it is in its long region", |program| program.in_region);
    let other = setup.program("loops").start();
    other.until_resized_to(1);
    long.signal(libc::SIGKILL);
    assert_eq!(long.finish_by_itself().ended_by(), Some(libc::SIGKILL));
    other.until_resized_to(2);
    other.finish().well();
}

#[test]
fn many_programs_that_come_and_go_leave_nothing_behind() {
    let setup = Setup::new("scaf");
    for _ in 0..5 {
        let programs: Vec<_> = (0..6).map(|_| setup.program("loops").start()).collect();
        for (number, program) in programs.into_iter().enumerate() {
            if number % 2 == 0 {
                program.signal(libc::SIGKILL);
                program.finish();
            } else {
                program.finish().well();
            }
        }
    }
    setup.until("nobody is left", |snapshot| snapshot.programs.is_empty().then_some(()));
    let files = std::fs::read_dir(format!("/proc/{}/fd", setup.daemon())).map_or(0, Iterator::count);
    assert!(files < 24, "the daemon has {files} files open");
}
