//! `scaf run`: becomes the program, whatever it is, and gets out of its way.

use crate::support::{Setup, compiled, is_resized_to, released, root_user};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn script(setup: &Setup, text: &str, mode: u32) -> PathBuf {
    let path = setup.folder().join("script");
    std::fs::write(&path, text).expect("writing a script");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("chmod");
    path
}

#[test]
fn what_is_not_there_or_not_executable_ends_as_in_a_shell() {
    let setup = Setup::new("equi");
    let done = setup.at(Path::new("no-such-program")).run();
    assert_eq!(done.code(), Some(127));
    assert!(done.err.contains("no-such-program: not found"), "{done:?}");
    let done = setup.at(&script(&setup, "#!/bin/sh\n", 0o644)).run();
    assert_eq!(done.code(), Some(126));
    assert!(done.err.contains("not executable"), "{done:?}");
    let done = setup.at(&script(&setup, "#!/no/such/interpreter\n", 0o755)).run();
    assert_eq!(done.code(), Some(127));
    assert!(done.err.contains("interpreter"), "{done:?}");
}

#[test]
fn contradictions_are_named() {
    let setup = Setup::new("equi");
    let done = setup.at(Path::new("true")).option("--min", 3).option("--max", 2).run();
    assert_eq!(done.code(), Some(1));
    assert!(done.err.contains("--min 3 is more than --max 2"), "{done:?}");
    assert_eq!(setup.at(Path::new("true")).option("--weight", 0).run().code(), Some(2));
}

#[test]
fn a_static_program_runs_with_one_line_of_warning() {
    let setup = Setup::new("equi");
    let done = setup.program("static").threads(2).run();
    assert_eq!((done.code(), done.number("team")), (Some(5), 2));
    assert!(done.err.lines().count() == 1 && done.err.contains("statically linked"), "{done:?}");
}

#[test]
fn a_setuid_program_runs_with_one_line_of_warning() {
    needs!(root_user(), "root, to make a setuid program");
    let setup = Setup::new("equi");
    let copy = setup.folder().join("other-users");
    std::fs::copy(compiled("loops"), &copy).expect("copying a program");
    std::os::unix::fs::chown(&copy, Some(65_534), None).expect("chown");
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(0o4755)).expect("chmod");
    let done = setup.at(&copy).run();
    assert_eq!((done.code(), done.number("wrong")), (Some(0), 0));
    assert!(done.err.lines().count() == 1 && done.err.contains("setuid"), "{done:?}");
}

/// Runs it as it is and by `scaf run`, which may say one line.
fn runs_as_it_is(setup: &Setup, program: &Path, why: &str) {
    let alone = setup.at(program).unmanaged().run();
    let done = setup.at(program).run();
    assert_eq!((done.code(), &done.out), (alone.code(), &alone.out));
    assert!(done.err.lines().count() == 1 && done.err.contains(why), "{done:?}");
    assert_eq!((done.code(), done.out.as_str()), (Some(7), "ran=1\n"));
}

#[test]
fn a_program_with_musl_runs_with_one_line_of_warning() {
    runs_as_it_is(&Setup::new("equi"), &compiled("musl"), "musl");
}

#[test]
fn a_32_bit_program_runs_with_one_line_of_warning() {
    let (setup, program) = (Setup::new("equi"), compiled("small"));
    needs!(std::process::Command::new(&program).output().is_ok(), "a kernel that executes 32-bit programs");
    runs_as_it_is(&setup, &program, "isn't a 64-bit program");
}

/// With qemu-user and binfmt_misc it would run. Without these only the refusal can be tried: it is ours, not
/// that of a shell that reads machine code.
#[test]
fn another_machines_program_is_refused_as_by_a_shell() {
    let setup = Setup::new("equi");
    let mut binary = std::fs::read("/bin/true").expect("a program");
    binary[18..20].copy_from_slice(&8u16.to_le_bytes()); // e_machine: MIPS
    let program = setup.folder().join("mips");
    std::fs::write(&program, binary).expect("a program");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("chmod");
    let done = setup.at(&program).run();
    assert_eq!((done.code(), done.out.as_str()), (Some(126), ""));
    let lines: Vec<&str> = done.err.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("isn't a program for"), "{done:?}");
    assert!(lines[1].ends_with("a program that this machine can't execute"), "{done:?}");
}

#[test]
fn scripts_and_small_programs_run() {
    let setup = Setup::new("equi");
    assert_eq!(setup.at(Path::new("/bin/true")).run().well().out, "");
    let with_shebang = script(&setup, "#!/bin/sh\necho \"$0 $1\"; exit 3\n", 0o755);
    let done = setup.at(&with_shebang).args(["one"]).run();
    assert_eq!((done.code(), done.out), (Some(3), format!("{} one\n", with_shebang.display())));
    let program = compiled("loops");
    let starts = script(&setup, &format!("#!/usr/bin/env bash\n'{}'\n", program.display()), 0o755);
    assert_eq!(setup.at(&starts).run().well().number("wrong"), 0);
}

#[test]
fn what_a_script_starts_is_managed() {
    let setup = Setup::new("equi");
    let line = format!("#!/bin/sh\n'{}'\n:\n", compiled("loops").display());
    let program = setup.at(&script(&setup, &line, 0o755)).option("--max", 1).start();
    let child = setup.until("its child is attached", |snapshot| {
        snapshot.programs.iter().find(|program| is_resized_to(program, 1) && program.regions > 100).cloned()
    });
    assert_ne!(child.pid, program.pid());
    assert_eq!(program.finish().well().number("last"), 1);
}

#[test]
fn exit_codes_and_signals_pass_through() {
    let setup = Setup::new("equi");
    for code in [0, 1, 42, 255] {
        let done = setup.at(Path::new("sh")).args(["-c", &format!("exit {code}")]).run();
        assert_eq!(done.code(), Some(code));
    }
    for signal in [libc::SIGTERM, libc::SIGKILL, libc::SIGINT] {
        let program = setup.program("loops").start();
        program.until("it is attached", |_| true);
        program.signal(signal);
        assert_eq!(program.finish_by_itself().ended_by(), Some(signal));
    }
}

fn environment(setup: &Setup, before: &[(&str, &str)]) -> Vec<String> {
    let mut start = setup.at(Path::new("env"));
    for (name, value) in before {
        start = start.env(name, value);
    }
    start.run().well().out.lines().map(str::to_owned).collect()
}

#[test]
fn the_environment_says_of_waiting_what_the_user_says() {
    let setup = Setup::new("equi");
    let waiting = |set: &[(&str, &str)]| {
        let mut lines = environment(&setup, set);
        let names = ["OMP_WAIT_POLICY=", "GOMP_SPINCOUNT=", "SCAF_SPIN="];
        lines.retain(|line| names.iter().any(|name| line.starts_with(name)));
        lines
    };
    assert!(waiting(&[]).is_empty());
    for (name, value) in [("OMP_WAIT_POLICY", "active"), ("GOMP_SPINCOUNT", "5"), ("SCAF_SPIN", "7")] {
        assert_eq!(waiting(&[(name, value)]), [format!("{name}={value}")]);
    }
}

#[test]
fn the_rest_of_the_environment_keeps_its_order() {
    let setup = Setup::new("equi");
    let scaf = released("scaf").canonicalize().expect("scaf");
    let line = format!(
        "exec /usr/bin/env -i Z_FIRST=1 A_SECOND=2 SCAF_SOCKET=\"$SCAF_SOCKET\" '{}' run -- /usr/bin/env",
        scaf.display()
    );
    let done = setup.at(Path::new("sh")).args(["-c", &line]).run().well();
    assert!(done.out.contains("Z_FIRST=1\nA_SECOND=2\n"), "{done:?}");
}

#[test]
fn a_program_runs_though_nobody_can_be_told_that_it_is_unmanaged() {
    let setup = Setup::new("equi");
    let scaf = released("scaf").canonicalize().expect("scaf");
    let line = format!("SCAF_LIB=/missing '{}' run -- echo well 2> /dev/full", scaf.display());
    let done = setup.at(Path::new("sh")).args(["-c", &line]).run().well();
    assert_eq!(done.out, "well\n");
}

#[test]
fn libraries_that_are_preloaded_already_stay_so() {
    let setup = Setup::new("equi");
    let ours = released("libscaf.so").canonicalize().expect("libscaf.so");
    let line = |others: &str| format!("LD_PRELOAD={}{others}", ours.display());
    assert!(environment(&setup, &[]).contains(&line("")));
    let other = compiled("libtail");
    let other = other.to_str().expect("a plain path");
    assert!(environment(&setup, &[("LD_PRELOAD", other)]).contains(&line(&format!(":{other}"))));
}

#[test]
fn scaf_run_starts_a_daemon_where_there_is_none_and_it_leaves_when_idle() {
    let setup = Setup::without_daemon("equi");
    // No socket is named here: it is found, or made, in the user's runtime folder.
    let program = setup.program("loops").env("SCAF_SOCKET", "").start();
    let socket = setup.folder().join("scaf/scafd.sock");
    let ask = || {
        let scaf =
            setup.at(&released("scaf")).unmanaged().env("SCAF_SOCKET", &socket).args(["ps", "--json"]).run();
        serde_json::from_str::<scafd::control::Snapshot>(&scaf.out).ok()
    };
    let daemon = crate::support::wait_for("the program is attached to the new daemon", || {
        ask().filter(|snapshot| snapshot.programs.iter().any(|found| found.pid == program.pid()))
    });
    assert_eq!(daemon.scope, "session");
    program.finish().well();
    crate::support::wait_for("the daemon leaves", || (!socket.exists()).then_some(()));
}

#[test]
fn a_molded_program_starts_at_the_size_that_is_granted_and_keeps_it() {
    let setup = Setup::new("equi");
    let molded = || setup.program("loops").flag("--mold").start();
    let alone = molded();
    alone.until_resized_to(2);
    let beside = molded();
    let seen = beside.until("its regions", |program| program.regions > 100);
    assert_eq!((seen.natural, seen.dop), (1, Some(1)));
    alone.finish().well();
    setup.until("it is alone", |snapshot| (snapshot.programs.len() == 1).then_some(()));
    beside.until("more regions", |program| program.regions > seen.regions + 1000);
    let done = beside.finish().well();
    assert_eq!((done.number("last"), done.number("wrong")), (1, 0));
}
