//! A program whose runtime is loaded with it counts as one context until its first region.

use crate::support::{Running, Setup, cpus_of, wait_for};
use libc::SIGUSR1;

fn next_stage(program: &Running) {
    program.signal(SIGUSR1);
}

#[test]
fn whoever_computes_before_its_first_region_has_one_context_and_a_share_from_then_on() {
    let setup = Setup::on_topology("core:4 pu:1", "curve", "");
    // One region for all its life: what four threads on fewer real PUs are worth is never measured.
    let other = setup.program("long_tasks").threads(4).start();
    other.until("all contexts", |program| program.dop == Some(4));
    let program = setup.program("before_regions").args(["computes"]).threads(4).start();
    let starting = program.until("one context", |program| program.dop == Some(1));
    assert_eq!(starting.regions, 0);
    assert!(starting.reason.contains("serial phase"), "{}", starting.reason);
    other.until("the rest", |program| program.dop == Some(3));
    next_stage(&program);
    program.until("a share", |program| program.regions > 0 && program.dop > Some(1));
    assert_eq!(program.finish().well().number("wrong"), 0);
    other.finish().well();
}

#[test]
fn libraries_that_count_their_pus_find_all_of_them_before_the_first_region() {
    // Each has a half, by a policy that lends nothing.
    let setup = Setup::new("equi");
    let other = setup.program("loops").start();
    let all = cpus_of(other.pid()).expect("it runs");
    let half =
        |program: &Running| cpus_of(program.pid()).is_some_and(|pus| pus.len() <= all.len().div_ceil(2));
    let program = setup.program("before_regions").args(["computes"]).start();
    wait_for("the other one is narrowed", || half(&other).then_some(()));
    assert_eq!(cpus_of(program.pid()), Some(all.clone()));
    next_stage(&program);
    wait_for("its region, narrowed", || half(&program).then_some(()));
    assert_eq!(program.finish().well().number("wrong"), 0);
    other.finish().well();
}

/// A program that does something else than to compute on one thread is detached, and attaches at its region.
fn is_let_go_who(does: &str) {
    let setup = Setup::new("equi");
    let program = setup.program("before_regions").args(["computes", does]).start();
    assert_eq!(program.until("it starts", |program| program.dop.is_some()).regions, 0);
    next_stage(&program);
    wait_for("it is detached", || program.seen().is_none().then_some(()));
    next_stage(&program);
    program.until("its regions", |program| program.regions > 0);
    assert_eq!(program.finish().well().number("wrong"), 0);
}

#[test]
fn whoever_starts_threads_of_its_own_instead_is_left_alone() {
    is_let_go_who("threads");
}

#[test]
fn whoever_sleeps_instead_is_left_alone() {
    is_let_go_who("sleeps");
}

#[test]
fn a_program_without_a_runtime_isnt_attached() {
    let setup = Setup::new("equi");
    let sleeper = setup.at("/bin/sleep".as_ref()).args(["1"]).start();
    let program = setup.program("before_regions").args(["computes"]).start();
    program.until("it starts", |program| program.dop.is_some());
    assert_eq!(setup.snapshot().programs.len(), 1);
    next_stage(&program);
    program.finish().well();
    sleeper.finish_by_itself().well();
}
