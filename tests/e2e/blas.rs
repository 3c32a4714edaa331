//! numpy's OpenBLAS, which has threads of its own. Their number follows the grant; what the program and its
//! user set is kept. Results are the same but for the last bits, and under `--exact` to the last bit.

use crate::real_programs::python;
use crate::support::{Running, Setup, root, wait_for};
use scafd::control::{Program, Runtime};
use std::time::{Duration, Instant};

/// numpy rounds on two threads, if nobody says otherwise.
fn numpy<'h>(setup: &'h Setup, arguments: &[&str], options: &[&str]) -> Running<'h> {
    let script = root().join("tests/programs/numpy_rounds.py");
    let start = setup.at(&python()).args([script.as_os_str()]).args(arguments);
    let program = options.iter().fold(start, |start, option| start.flag(option)).start();
    until_ready(&program);
    program
}

fn until_ready(program: &Running) {
    wait_for("it has begun its rounds", || program.printed().contains("ready").then_some(()));
}

fn openblas(program: &Program) -> Option<&Runtime> {
    program.runtimes.iter().find(|runtime| runtime.name == "OpenBLAS")
}

fn until_threads(program: &Running, threads: u32) -> Program {
    program.until(&format!("{threads} threads of OpenBLAS"), |seen| {
        openblas(seen).is_some_and(|openblas| openblas.threads == threads)
    })
}

fn sleep(seconds: f64) {
    std::thread::sleep(Duration::from_secs_f64(seconds));
}

fn has_its_threads_follow(kind: &str) {
    let setup = Setup::new("equi");
    let program = numpy(&setup, &[kind], &[]);
    let seen = until_threads(&program, 2);
    assert!(openblas(&seen).is_some_and(|openblas| openblas.file.contains("openblas")), "{seen:?}");
    let neighbour = setup.program("loops").start();
    until_threads(&program, 1);
    wait_for("a round ended with one", || program.printed().contains("seen=1").then_some(()));
    let verbose = setup.says(&["ps", "-v"]);
    assert!(verbose.contains("OpenBLAS, 1 of 2 threads"), "{verbose}");
    assert_eq!(neighbour.finish().well().number("wrong"), 0);
    until_threads(&program, 2);
    wait_for("a round ended with two", || program.printed().contains("seen=2").then_some(()));
    let done = program.finish().well();
    assert_eq!((done.number("wrong"), done.text("used"), done.text("told")), (0, "1-2", "2-2"), "{done:#?}");
}

tests! {
    matrix_products_follow_the_grant_and_stay_right: has_its_threads_follow("gemm");
    factorisations_follow_the_grant_and_stay_right: has_its_threads_follow("cholesky");
}

#[test]
fn two_numpy_programs_have_one_thread_each() {
    let setup = Setup::new("equi");
    let (first, second) = (numpy(&setup, &["gemm"], &[]), numpy(&setup, &["cholesky"], &[]));
    until_threads(&first, 1);
    until_threads(&second, 1);
    assert_eq!(first.finish().well().number("wrong"), 0);
    until_threads(&second, 2);
    assert_eq!(second.finish().well().number("wrong"), 0);
}

#[test]
fn an_exact_program_keeps_its_threads_and_every_bit() {
    let setup = Setup::new("equi");
    let program = numpy(&setup, &["gemm"], &["--exact"]);
    until_threads(&program, 2);
    let neighbour = setup.program("loops").start();
    let seen = program.until("one context", |program| program.dop == Some(1));
    assert!(seen.exact, "{seen:?}");
    sleep(1.0);
    let seen = until_threads(&program, 2);
    assert!(openblas(&seen).is_some_and(|openblas| openblas.promise.contains("results")), "{seen:?}");
    neighbour.finish().well();
    let done = program.finish().well();
    assert_eq!((done.number("different"), done.text("used")), (0, "2-2"), "{done:#?}");
}

#[test]
fn a_users_own_number_of_threads_is_kept() {
    let setup = Setup::new("equi");
    let script = root().join("tests/programs/numpy_rounds.py");
    let program = setup.at(&python()).args([script.as_os_str()]).args(["gemm"]);
    let program = program.env("OPENBLAS_NUM_THREADS", "1").start();
    until_ready(&program);
    sleep(1.0);
    assert!(program.seen().is_none(), "{:?}", program.seen());
    let done = program.finish().well();
    assert_eq!(
        (done.text("used"), done.text("told"), done.number("different")),
        ("1-1", "1-1", 0),
        "{done:#?}"
    );
}

#[test]
fn what_threadpoolctl_limits_stays_limited_whatever_is_granted() {
    let setup = Setup::new("equi");
    let program = numpy(&setup, &["gemm", "limit"], &[]);
    until_threads(&program, 2);
    for _ in 0..3 {
        let neighbour = setup.program("loops").start();
        program.until("one context", |program| program.dop == Some(1));
        sleep(1.0);
        neighbour.finish().well();
        program.until("two contexts", |program| program.dop == Some(2));
        sleep(1.0);
    }
    let done = program.finish().well();
    assert_eq!((done.number("exceeded"), done.number("wrong")), (0, 0), "{done:#?}");
    // Outside of the limit it is told its own number, and has it where it is granted.
    assert_eq!((done.text("told"), done.text("used")), ("2-2", "1-2"), "{done:#?}");
}

#[test]
fn a_forked_child_has_all_threads_of_its_own_and_computes_right() {
    let setup = Setup::new("equi");
    let program = numpy(&setup, &["cholesky", "fork"], &[]);
    until_threads(&program, 2);
    let neighbour = setup.program("loops").start();
    until_threads(&program, 1);
    sleep(2.0);
    neighbour.finish().well();
    let done = program.finish().well();
    assert!(done.number("children") > 0, "{done:#?}");
    assert_eq!((done.number("wrong"), done.number("child_wrong")), (0, 0), "{done:#?}");
    assert_eq!(done.number("child_threads"), 2, "{done:#?}");
}

#[test]
fn when_the_daemon_is_killed_threads_come_back() {
    let setup = Setup::new("equi");
    let program = numpy(&setup, &["gemm"], &[]);
    let neighbour = numpy(&setup, &["cholesky"], &[]);
    until_threads(&program, 1);
    setup.end_daemon(libc::SIGKILL);
    let begun = Instant::now();
    sleep(2.5);
    let done = program.finish().well();
    assert_eq!((done.number("last"), done.number("wrong")), (2, 0), "{:?}: {done:#?}", begun.elapsed());
    assert_eq!(neighbour.finish().well().number("wrong"), 0);
}
