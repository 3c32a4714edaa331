//! What the daemon knows of a program's speedup.

use crate::support::{Running, Setup, kernel};
use scafd::control::{CurvePoint, Program};
use scafd::observe::counters::{Counter, Name};

/// The point at `dop`, if the program ran there and at one context.
pub fn observed(program: &Program, dop: u32) -> Option<CurvePoint> {
    program.curve.iter().find(|point| point.dop == dop && point.observed.is_some()).cloned()
}

pub fn until_both_are_observed(program: &Running) -> Program {
    let done = program.until("both DoPs observed", |program| {
        observed(program, 1).is_some() && observed(program, 2).is_some_and(|point| point.error_ratio < 0.15)
    });
    program.until("its contexts back", |program| program.dop == Some(2));
    done
}

#[test]
fn a_program_alone_is_sent_to_one_context_and_gets_its_contexts_back() {
    let setup = Setup::exploring("equi");
    let half_serial = ["--class=W", "--serial-us=1000", "--parallel-us=1000", "--repeat=1000"];
    let program = setup.at(&kernel("phases")).args(half_serial).threads(2).before_others().start();
    let seen = until_both_are_observed(&program);
    assert_eq!(observed(&seen, 1).map(|point| point.speedup), Some(1.0));
    // Half of it is serial, so that it is 1.33 on two contexts, and nothing makes it 2. The first few regions
    // may be others' who held a thread up.
    program.until("its speedup", |program| {
        observed(program, 2).is_some_and(|point| point.speedup > 0.5 && point.speedup < 1.9)
    });
    program.signal(libc::SIGTERM);
}

#[test]
fn a_region_that_never_ends_is_known_by_its_barriers() {
    let setup = Setup::exploring("equi");
    let program =
        setup.at(&kernel("cg")).args(["--class=W", "--form=region", "--repeat=1000"]).threads(2).start();
    let seen = until_both_are_observed(&program);
    assert!(seen.in_region || seen.regions > 0);
    program.signal(libc::SIGTERM);
}

#[test]
fn without_exploring_nothing_is_observed_where_a_program_never_was() {
    let setup = Setup::new("equi");
    let program = setup.at(&kernel("phases")).args(["--class=W", "--repeat=1000"]).threads(2).start();
    let seen = program.until("measured", |program| program.curve.iter().any(|point| point.dop == 2));
    assert_eq!((observed(&seen, 1), observed(&seen, 2)), (None, None));
    assert!(seen.curve.iter().all(|point| point.dop == 1 || point.error_ratio > 0.1), "{:?}", seen.curve);
    program.signal(libc::SIGTERM);
}

#[test]
fn counters_of_a_real_programs_threads_make_a_speedup() {
    let clock = "task-clock".parse::<Name>().ok().and_then(|name| name.resolve("/".as_ref()).ok());
    if clock.is_none_or(|clock| Counter::open(clock, 0).is_err()) {
        return; // a sandbox forbids it
    }
    let setup = Setup::counting("equi");
    let half_serial = ["--class=W", "--serial-us=1000", "--parallel-us=1000", "--repeat=1000"];
    let program = setup.at(&kernel("phases")).args(half_serial).threads(2).start();
    let seen = program.until("a speedup by counters", |program| {
        program.counters.is_some_and(|counters| counters.speedup.is_some())
    });
    let counters = seen.counters.expect("just seen");
    // A thread does as much a cycle at any DoP here, so the speedup is at most 1.33, but for what else runs.
    assert_eq!(counters.speedup_dop, Some(2));
    assert!(counters.speedup.is_some_and(|speedup| speedup > 0.1 && speedup < 4.0), "{counters:?}");
    assert!(counters.rates.ipc.is_some_and(|ipc| (0.9..1.1).contains(&ipc)), "{counters:?}");
    program.signal(libc::SIGTERM);
}
