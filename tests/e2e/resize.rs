//! Resizing really happens, and is undone when the machine is free again.

use crate::support::{By, Setup, compiled_by};
use scafd::control::Mechanism;

#[test]
fn two_programs_get_a_pu_each_and_the_survivor_gets_both() {
    for by in [By::Itself, By::Clang, By::GccForLlvms] {
        let setup = Setup::new("equi");
        let loops = compiled_by(by, "loops");
        let (a, b) = (setup.at(&loops).start(), setup.at(&loops).start());
        let (pid_a, pid_b) = (a.pid(), b.pid());
        setup.until("both have a PU of their own, with teams of one by resizing", |snapshot| {
            let find = |pid| snapshot.programs.iter().find(|program| program.pid == pid);
            let (a, b) = (find(pid_a)?, find(pid_b)?);
            let settled = [a, b].iter().all(|program| {
                program.mechanism == Mechanism::Resize && program.dop == Some(1) && program.team == 1
            });
            (settled && a.pus.len() == 1 && b.pus.len() == 1 && a.pus != b.pus).then_some(())
        });
        let a = a.finish().well();
        assert_eq!(a.number("last"), 1);
        b.until_resized_to(2);
        let b = b.finish().well();
        assert_eq!((b.number("last"), b.number("largest")), (2, 2));
        assert_eq!(a.number("sum"), b.number("sum"));
    }
}

#[test]
fn a_program_alone_has_all_pus() {
    let setup = Setup::new("scaf");
    let program = setup.program("loops").start();
    let seen = program.until("both PUs", |program| program.dop == Some(2) && program.pus.len() == 2);
    assert_eq!(seen.natural, 2);
    program.finish().well();
    setup.until("it is gone from the list", |snapshot| snapshot.programs.is_empty().then_some(()));
}

#[test]
fn a_team_never_grows_beyond_the_programs_own() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").threads(1).start();
    program.until("some rounds", |program| program.regions > 100);
    assert_eq!(program.finish().well().number("largest"), 1);
}

#[test]
fn a_limit_given_to_run_is_kept() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").option("--max", 1).option("--name", "modest").start();
    let seen = program.until_resized_to(1);
    assert_eq!((seen.name.as_str(), seen.max, seen.pus.len()), ("modest", 1, 1));
    assert_eq!(program.finish().well().number("last"), 1);
}

#[test]
fn the_policy_can_be_changed_while_programs_run() {
    let setup = Setup::new("equi");
    let (a, b) = (setup.program("loops").start(), setup.program("loops").start());
    a.until_resized_to(1);
    let changed = setup.at(&crate::support::released("scaf")).unmanaged().env("SCAF_SOCKET", setup.socket());
    assert_eq!(changed.args(["policy", "unmanaged"]).run().code(), Some(0));
    let free = a.until("it is unmanaged", |program| program.dop.is_none() && program.team == 2);
    assert_eq!(free.mechanism, Mechanism::Unmanaged);
    assert_eq!((a.finish().well().number("last"), b.finish().well().number("wrong")), (2, 0));
}

#[test]
fn a_region_is_active_with_one_thread_if_it_would_have_more() {
    for by in [By::Itself, By::Clang, By::GccForLlvms] {
        let setup = Setup::new("equi");
        let active = compiled_by(by, "active");
        // It asks how many threads it may have, so its teams keep their size unless its user knows better.
        let start = || setup.at(&active).flag("--malleable").option("--max", 1);
        let narrow = start().start();
        narrow.until_resized_to(1);
        let done = narrow.finish().well();
        assert_eq!((done.number("wrong"), done.number("last")), (0, 1));
        // Its regions have one thread by themselves.
        let limited = start().env("OMP_THREAD_LIMIT", "1").env("KMP_WARNINGS", "0");
        for start in [start().threads(1), limited, start().env("OMP_MAX_ACTIVE_LEVELS", "0")] {
            let alone = start.start();
            alone.until("some rounds", |program| program.regions > 100);
            assert_eq!(alone.finish().well().number("wrong"), 0);
        }
    }
}
