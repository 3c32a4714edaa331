//! Programs with threads of their own, by include/scaf.h: the examples, and what else may be done with it.

use crate::real_programs::python;
use crate::speedups::until_both_are_observed;
use crate::support::{Running, Setup, example, library_folder, released, root, wait_for};
use std::path::{Path, PathBuf};
use std::process::Command;

fn until_it_runs_on(pool: &Running, threads: u32) {
    let line = format!("threads={threads}");
    wait_for(&line, || (pool.printed().lines().last() == Some(&line)).then_some(()));
}

fn expected(setup: &Setup) -> i64 {
    setup.at(&example("pool")).args(["2"]).unmanaged().run().well().number("sum")
}

#[test]
fn a_pool_follows_the_grant_down_and_up_and_computes_the_same() {
    let setup = Setup::new("equi");
    let pool = setup.at(&example("pool")).start();
    until_it_runs_on(&pool, 2);
    let seen = pool.until("it runs", |program| program.dop == Some(2) && program.regions > 10);
    assert_eq!((seen.natural, seen.team), (2, 2));
    pool.until("its name is known", |program| {
        program.runtimes.iter().any(|pool| pool.file == "pool" && (pool.threads, pool.most) == (2, 2))
    });
    let neighbour = setup.program("loops").start();
    until_it_runs_on(&pool, 1);
    pool.until("one thread by itself", |program| program.team == 1 && program.effective_ns.is_some());
    neighbour.until_resized_to(1);
    neighbour.finish().well();
    until_it_runs_on(&pool, 2);
    let done = pool.finish().well();
    assert_eq!((done.number("wrong"), done.number("sum")), (0, expected(&setup)));
}

#[test]
fn a_pool_has_all_its_threads_when_the_daemon_is_killed_and_follows_the_next_one() {
    let setup = Setup::new("equi");
    let pool = setup.at(&example("pool")).option("--max", 1).start();
    until_it_runs_on(&pool, 1);
    setup.end_daemon(libc::SIGKILL);
    until_it_runs_on(&pool, 2);
    setup.start_daemon();
    until_it_runs_on(&pool, 1);
    assert_eq!(pool.finish().well().number("wrong"), 0);
}

#[test]
fn a_pool_of_python_threads_computes_the_same() {
    let setup = Setup::new("equi");
    let script = root().join("examples/pool.py");
    let words = [script.as_os_str(), "400".as_ref()];
    let expected = setup.at(&python()).args(words).unmanaged().run().well();
    let pool = setup.at(&python()).args(words).start();
    pool.until("it is attached", |program| program.dop == Some(2));
    let neighbour = setup.program("loops").start();
    pool.until("one context", |program| program.dop == Some(1));
    neighbour.finish().well();
    assert_eq!(pool.finish().well().out, expected.out);
}

#[test]
fn what_a_pool_does_is_observed_at_each_dop() {
    let setup = Setup::exploring("equi");
    let pool = setup.program("api").start();
    until_both_are_observed(&pool);
    // It rests between its rounds, so it counts as starting for two seconds.
    let seen = pool.until("it is judged", |program| program.efficiency.is_some());
    assert!(seen.promised_regions == 0, "{seen:?}");
    pool.finish().well();
}

#[test]
fn a_forked_child_goes_on_with_its_parents_pool() {
    let setup = Setup::new("equi");
    let program = setup.program("api").args(["fork"]).option("--max", 1).start();
    setup.until("parent and child", |snapshot| {
        let both = snapshot.programs.iter().filter(|program| program.regions > 3 && program.dop == Some(1));
        (both.count() == 2).then_some(())
    });
    let done = program.finish().well();
    assert_eq!((done.number("last"), done.number("child_managed")), (1, 1));
}

#[test]
fn a_program_may_bring_the_library_itself() {
    let setup = Setup::new("equi");
    let loads = setup.program("api").args(["rounds".into(), released("libscaf.so")]).unmanaged();
    let loads = loads.env("SCAF_SOCKET", setup.socket()).env("SCAF_MAX", "1").start();
    loads.until("it is managed", |program| program.dop == Some(1) && program.regions > 3);
    assert_eq!(loads.finish().well().number("last"), 1);
    let linked = library_folder().join("api_linked");
    let library = released("libscaf.so");
    let folder = library.parent().unwrap_or(Path::new("."));
    let source = root().join("tests/programs/api.c");
    let words = ["-O2", "-pthread", "-Wl,--no-as-needed"].map(PathBuf::from).into_iter();
    let include = format!("-I{}", root().join("include").display());
    let (search, find) = (format!("-L{}", folder.display()), format!("-Wl,-rpath,{}", folder.display()));
    let words = words.chain([source, include.into(), search.into(), find.into(), "-lscaf".into()]);
    let status = Command::new("gcc").args(words).arg("-o").arg(&linked).status();
    assert!(status.is_ok_and(|status| status.success()));
    for managed in [setup.at(&linked).unmanaged(), setup.at(&linked)] {
        let program = managed.env("SCAF_SOCKET", setup.socket()).start();
        program.until("it is managed", |program| program.dop == Some(2) && program.regions > 3);
        assert_eq!(program.finish().well().number("last"), 2);
    }
}

#[test]
fn limits_are_what_the_header_says_they_are() {
    let setup = Setup::new("equi");
    let done = setup.program("api").args(["limits"]).run().well();
    let expected = [
        ("pool", 1),
        ("version", 1),
        ("too_few", 0),
        ("too_many", 0),
        ("of_none", 65_535),
        ("of_unknown", 2 * 65_535),
        ("pools", 32),
        ("of_narrow", 1),
        ("waits", 1),
        ("differs", 1),
        ("gone", 65_535),
        ("errno", 77),
    ];
    for (key, value) in expected {
        assert_eq!(done.number(key), value, "{key}");
    }
    let alone = setup.program("api").args(["limits"]).unmanaged().run().well();
    let absent = [("pool", 0), ("version", 0), ("of_narrow", 65_535), ("differs", 1), ("errno", 77)];
    for (key, value) in absent {
        assert_eq!(alone.number(key), value, "{key} without the library");
    }
}

#[test]
fn whoever_waits_for_a_pool_that_is_gone_comes_back() {
    let setup = Setup::new("equi");
    let program = setup.program("api").args(["gone"]).start();
    wait_for("it is back", || program.printed().contains("back=1").then_some(()));
    program.until("a program without pools keeps one context's share", |program| {
        program.natural == 1 && program.dop == Some(1)
    });
    program.finish().well();
    setup.program("api").args(["gone"]).unmanaged().run().well();
}

#[test]
fn teams_have_their_own_size_within_a_block_of_exact_results() {
    let setup = Setup::new("equi");
    let program = setup.program("exact_blocks").option("--max", 1).start();
    let seen = program.until_resized_to(1);
    program.until("more regions", |program| program.regions > seen.regions + 30);
    let done = program.finish().well();
    assert_eq!(
        (done.number("outside"), done.number("within_least"), done.number("within_most")),
        (1, 2, 2),
        "{done:#?}"
    );
    let alone = setup.program("exact_blocks").threads(2).unmanaged().run().well();
    assert_eq!((alone.number("outside"), alone.number("within_least")), (2, 2));
}

#[test]
fn odd_uses_harm_nobody() {
    let setup = Setup::new("chaos");
    let program = setup.program("api").args(["odd"]).start();
    program.until("many rounds", |program| program.regions > 100);
    program.finish().well();
}

#[test]
fn the_header_compiles_as_c_and_as_cpp_and_its_abi_is_what_it_was() {
    let uses = library_folder().join("uses_scaf.c");
    let text = r#"
        #include "scaf.h"
        #include "scaf.h"
        typedef char size_of_work[sizeof(struct scaf_work) == 64 ? 1 : -1];
        typedef char version[SCAF_API_VERSION == 1 ? 1 : -1];
        typedef char most[SCAF_MOST_THREADS == 65535u && SCAF_MOST_POOLS == 32u ? 1 : -1];
        int uses(void);
        int uses(void)
        {
            size_of_work a;
            version b;
            struct scaf_work work;
            uint32_t pool = scaf_register("pool", 2);
            a[0] = b[0] = 0;
            scaf_begin(&work, pool, (uint64_t)7, scaf_dop(pool));
            scaf_end(&work, 1);
            pool = scaf_wait(pool, 1, -1);
            scaf_unregister(pool);
            scaf_exact(1);
            scaf_exact(0);
            return scaf_managed() + (int)scaf_api_version() + a[0] + b[0];
        }
"#;
    std::fs::write(&uses, text).expect("a source");
    let include = format!("-I{}", root().join("include").display());
    let gccs = [("gcc", "c99"), ("gcc", "c17"), ("g++", "c++11"), ("g++", "c++20")];
    for (compiler, standard) in gccs.into_iter().chain([("clang", "c99"), ("clang++", "c++11")]) {
        let language = if standard.starts_with("c++") { "c++" } else { "c" };
        let mut command = Command::new(compiler);
        command.args(["-x", language, &format!("-std={standard}"), &include, "-c", "-o", "/dev/null"]);
        command.args(["-Wall", "-Wextra", "-pedantic", "-Werror"]).arg(&uses);
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
            Err(e) => assert!(compiler.starts_with("clang"), "{compiler}: {e}"),
        }
    }
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(released("libscaf.so")).output();
    let symbols = String::from_utf8_lossy(&symbols.expect("nm, of binutils").stdout).into_owned();
    let mut ours: Vec<&str> =
        symbols.lines().filter_map(|line| line.split_once(" T ")).map(|(_, name)| name).collect();
    ours.retain(|name| name.starts_with("scaf"));
    ours.sort_unstable();
    let names = "api_version begin dop end exact managed register unregister wait";
    assert_eq!(ours, names.split(' ').map(|name| format!("scaf_{name}")).collect::<Vec<_>>());
}
