//! Gathered teams, attacked: what a kernel thread could get wrong that runs several members.

use crate::support::{By, Running, Setup, Start, compiled, compiled_by, right, root, wait_for};
use scafd::control::Mechanism;
use std::path::Path;

/// The test program doing `kind`, gathered on up to `carriers`.
fn doing<'h>(setup: &'h Setup, kind: &str, carriers: u32) -> Running<'h> {
    setup.at(&compiled("dangers")).args([kind]).option("--max", carriers).start()
}

/// Kinds whose regions are gathered again and again.
const KINDS: [&str; 11] = [
    "masking",
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
    let setup = Setup::new("equi");
    for carriers in [1, 2] {
        for kind in KINDS {
            let what = format!("{kind} on {carriers}");
            let program = doing(&setup, kind, carriers);
            program.until_gathered(&what, carriers);
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 100);
            right(&what, program.finish());
        }
    }
}

/// They sleep besides, so that other carriers come, and their regions are folded in the end.
#[test]
fn members_may_sleep_start_programs_and_send_themselves_signals() {
    let setup = Setup::new("equi");
    let dangers = ["raising", "spawning", "another-master"].map(|kind| (compiled("dangers"), kind));
    for (program, kind) in dangers.into_iter().chain([(compiled("gathered"), "fork")]) {
        for carriers in [1, 2] {
            let start = setup.at(&program).args([kind]);
            let program = start.option("--max", carriers).start();
            program.until("rounds", |program| program.regions > 100);
            right(kind, program.finish());
        }
    }
}

#[test]
fn masters_that_come_and_go_have_teams_of_their_own() {
    let setup = Setup::new("equi");
    let program = doing(&setup, "masters", 1);
    program.until("rounds", |program| program.regions > 10_000);
    right("masters", program.finish());
}

#[test]
fn threads_that_block_signals_for_good_are_not_gathered_from_then_on() {
    let setup = Setup::new("equi");
    // A member, a thread before anything is gathered, and the master.
    for kind in ["keeping", "kept", "keeping-master"] {
        for carriers in [1, 2] {
            let program = doing(&setup, kind, carriers);
            let why = "signal masks";
            program.until(why, |program| program.ungathered.contains(why));
            let seen = program.seen().expect(kind);
            program.until("more rounds", |program| program.regions > seen.regions + 100);
            right(kind, program.finish());
        }
    }
}

/// Its connection to the daemon is closed, too.
#[test]
fn a_program_may_close_all_descriptors() {
    let setup = Setup::new("equi");
    let program = doing(&setup, "closing", 1);
    std::thread::sleep(std::time::Duration::from_secs(1));
    right("closing", program.finish());
}

#[test]
fn a_program_may_end_in_any_member() {
    let setup = Setup::new("equi");
    let exit = doing(&setup, "exit", 1).finish_by_itself();
    assert_eq!((exit.code(), exit.number("wrong")), (Some(7), 0));
    assert_eq!(doing(&setup, "abort", 1).finish_by_itself().ended_by(), Some(libc::SIGABRT));
    assert_eq!(doing(&setup, "terminate", 1).finish_by_itself().code(), Some(9));
}

#[test]
fn people_are_told_why_teams_are_not_gathered() {
    let setup = Setup::new("equi");
    let gathered = compiled("gathered");
    let cases = [
        (setup.program("detached"), "it calls omp_fulfill_event"),
        (
            setup.at(&compiled_by(By::Clang, "gathered")).args(["meeting"]).env("KMP_GTID_MODE", "2"),
            "its runtime is LLVM's",
        ),
        (setup.at(&gathered).args(["meeting"]).env("OMP_STACKSIZE", "2M"), "OMP_STACKSIZE"),
        (setup.at(&gathered).args(["meeting"]).env("OMP_WAIT_POLICY", "passive"), "OMP_WAIT_POLICY"),
        (setup.at(&gathered).args(["meeting"]).env("GOMP_SPINCOUNT", "9"), "GOMP_SPINCOUNT"),
        (setup.program("handles"), "it calls pthread_"),
        (setup.at(&gathered).args(["timer"]), "it handles timers' signals"),
    ];
    for (start, why) in cases {
        let program = start.option("--max", 1).start();
        program.until(why, |program| program.ungathered.contains(why));
        assert_ne!(program.seen().map(|program| program.mechanism), Some(Mechanism::Gather));
        assert!(setup.says(&["ps", "-v"]).contains(why));
        program.finish().well();
    }
}

/// Nested functions of GNU C, Fortran's internal procedures as arguments, closures made by hand.
#[test]
fn members_stacks_are_executable_where_a_program_asks_for_it() {
    let setup = Setup::new("equi");
    let kinds = ["called", "tasks", "sorting"];
    let mut starts: Vec<(String, Start)> = Vec::new();
    for by in [By::Itself, By::GccForLlvms] {
        for kind in kinds {
            let start = setup.at(&compiled_by(by, "stack_code")).args([kind]);
            starts.push((format!("{kind} by {by:?}"), start));
        }
    }
    for name in ["stack_code_fortran", "stack_code_asked"] {
        starts.push((name.to_owned(), setup.program(name)));
    }
    for (what, start) in starts {
        let program = start.option("--max", 1).start();
        program.until_gathered(&what, 1);
        let seen = program.seen().expect("the program");
        program.until("more rounds", |program| program.regions > seen.regions + 100);
        right(&what, program.finish());
    }
}

#[test]
fn members_stacks_become_executable_where_a_library_asks_for_it_later() {
    let setup = Setup::new("equi");
    let start = setup.program("stack_code_later").args([compiled("libstack_code")]);
    let program = start.option("--max", 1).start();
    program.until_gathered("before", 1);
    program.signal(libc::SIGUSR2);
    wait_for("a call of the library", || program.printed().contains("begun").then_some(()));
    let seen = program.seen().expect("the program");
    program.until("gathered again", |program| {
        program.regions > seen.regions + 1_000 && program.mechanism == Mechanism::Gather
    });
    right("later", program.finish());
}

/// Locks owned by kernel threads, their numbers by an instruction and in Fortran, signals to them.
#[test]
fn regions_that_reach_what_belongs_to_the_kernel_thread_are_not_gathered() {
    let setup = Setup::new("equi");
    for (name, why) in [
        ("bound_owner", "it calls gettid"),
        ("bound_number", "it makes a system call of its own"),
        ("bound_stopping", "it calls "),
        ("bound_fortran", "it calls gettid"),
    ] {
        let program = setup.program(name).option("--max", 1).start();
        program.until(why, |program| program.ungathered.contains(why));
        let seen = program.seen().expect("the program");
        program.until("more rounds", |program| {
            assert_ne!(program.mechanism, Mechanism::Gather, "{name}");
            program.regions > seen.regions + 50
        });
        right(name, program.finish());
    }
}

#[test]
fn what_no_region_reaches_forbids_nothing() {
    let setup = Setup::new("equi");
    let program = setup.program("unreached").option("--max", 1).start();
    program.until_gathered("a program that does it elsewhere", 1);
    let seen = program.seen().expect("the program");
    program.until("more rounds", |program| program.regions > seen.regions + 5_000);
    right("unreached", program.finish());
}

/// A member takes the interpreter's lock, and another one of its carrier wants it.
#[test]
fn members_call_python() {
    let setup = Setup::new("equi");
    let script = root().join("tests/programs/gil.py");
    let python = root().join(".venv/bin/python");
    for carriers in [1, 2] {
        let start = setup.at(&python).args([script.clone(), compiled("libgil")]);
        let program = start.option("--max", carriers).start();
        program.until("gathered", |program| program.mechanism == Mechanism::Gather);
        let seen = program.seen().expect("the program");
        program.until("more rounds", |program| program.regions > seen.regions + 200);
        right("Python", program.finish());
    }
}

/// gdb finds every thread's frames to their end. Passes where there is no gdb.
#[test]
fn debuggers_see_where_members_are() {
    let setup = Setup::new("equi");
    let program = doing(&setup, "values", 1);
    program.until_gathered("values", 1);
    let words = ["-nx", "-batch", "-p", &program.pid().to_string(), "-ex", "thread apply all backtrace"];
    // Once in a while another member than the master is on the one carrier.
    wait_for("the master's frames, too", || {
        let Ok(said) = setup.command(Path::new("gdb")).args(words).output() else { return Some(()) };
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(text.contains("Thread 1") && !text.contains("Backtrace stopped"), "{text}");
        text.contains(" main (").then_some(())
    });
    right("values", program.finish());
}

#[test]
fn people_are_told_which_call_forbids_it_before_a_program_runs() {
    let setup = Setup::without_daemon("equi");
    let says = |name: &str| setup.says(&["doctor", &compiled(name).to_string_lossy()]);
    assert!(says("detached").contains("not gathered: it calls omp_fulfill_event"));
    assert!(says("handles").contains("not gathered: it calls pthread_kill"));
    assert!(!says("gathered").contains("not gathered"));
}

/// Threads of a process that block a signal.
fn blocking(pid: u32, signal: i32) -> usize {
    let blocks = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap_or_default();
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal - 1) & 1 != 0)
    };
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let status = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    status.filter(|status| blocks(status)).count()
}

#[test]
fn threads_whose_storage_is_lent_take_no_signals() {
    let setup = Setup::new("equi");
    let program = doing(&setup, "values", 1);
    program.until_gathered("values", 1);
    assert!(blocking(program.pid(), libc::SIGUSR2) >= 3, "the team's other threads");
    right("values", program.finish());
}
