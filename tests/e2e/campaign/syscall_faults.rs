//! A fault at each of the daemon's system calls, or its broker's, one a run: the daemon starts, two programs
//! come, compute and leave, and it is asked to end.

use super::daemon::{
    BRIEF, LEASE, REGION, Who, child_of, connect, is_wide, masks, nothing_is_left, send, soon,
};
use super::programs::{BRIEF as KERNELS, ENDLESS, StartedProgram};
use super::ptrace::{Next, Traced};
use super::{ALL, Tally, faults};
use crate::support::Setup;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    Kill(Who),
    /// Until programs have been seen to have all PUs; others than the daemon for [`PAUSE`].
    Stop(Who),
    Fail(i32),
}

const PAUSE: Duration = Duration::from_millis(30);
const ERRORS: [i32; 6] = [libc::ENOMEM, libc::EMFILE, libc::EINTR, libc::ENOSPC, libc::EIO, libc::ENFILE];

/// What tracing and programs tell each other.
#[derive(Default)]
struct Shared {
    daemon: AtomicU32,
    listens: AtomicBool,
    program: AtomicU32,
    program_killed: AtomicBool,
    is_unguarded: AtomicBool,
    is_stopped: AtomicBool,
    goes_on: AtomicBool,
    /// The fault has happened, or can't any more.
    is_over: AtomicBool,
}

struct Outcome {
    calls: u64,
    /// The call at which it happened; `None` if nobody was there.
    hit: Option<i64>,
    status: ExitStatus,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    of: Who,
    at: u64,
    fault: Fault,
}

/// Runs a daemon until its end, with a fault at that call. The daemon's calls count from its own first ones
/// on, not the loader's and the standard library's, where programs have to be there from when it listens.
fn trace(command: Command, Place { of, at, fault }: Place, shared: &Shared) -> Outcome {
    let is_broker = of == Who::Broker;
    let mut traced = if is_broker { Traced::start_for_child(command) } else { Traced::start(command) };
    shared.daemon.store(traced.pid(), SeqCst);
    let (mut calls, mut hit, mut is_own) = (0, None, is_broker);
    let late =
        matches!(fault, Fault::Kill(Who::Helper | Who::Program) | Fault::Stop(Who::Helper | Who::Program));
    loop {
        let number = match traced.next(None) {
            Next::Call(number) => number,
            Next::Late => continue,
            Next::Ended(status) => {
                shared.daemon.store(0, SeqCst);
                shared.is_over.store(true, SeqCst);
                return Outcome { calls, hit, status };
            }
        };
        // It reads its configuration at first; whoever listens waits for events.
        is_own |= number == libc::SYS_statx;
        let listens = number == libc::SYS_epoll_create1 || shared.listens.load(SeqCst);
        shared.listens.store(listens, SeqCst);
        if !is_own || late && !listens || matches!(number, libc::SYS_exit | libc::SYS_exit_group) {
            continue;
        }
        calls += 1;
        if calls == at {
            hit = inject(&mut traced, of, number, fault, shared).then_some(number);
            traced.set_free();
            shared.is_over.store(true, SeqCst);
        }
    }
}

/// True if there was somebody, and something that can fail.
fn inject(traced: &mut Traced, of: Who, number: i64, fault: Fault, shared: &Shared) -> bool {
    let daemon = traced.pid();
    let whom = |who| match who {
        Who::Daemon | Who::All => Some(daemon),
        Who::Program => Some(shared.program.load(SeqCst)).filter(|pid| *pid != 0),
        other => child_of(daemon, other),
    };
    match fault {
        Fault::Fail(errno) => return traced.fail(number, errno),
        // Held as it is, none of its threads gets further than to its next call.
        Fault::Stop(Who::Daemon) => {
            shared.is_stopped.store(true, SeqCst);
            while !shared.goes_on.load(SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Fault::Stop(who) if who == of => std::thread::sleep(PAUSE),
        Fault::Kill(who) => {
            if who == Who::All {
                // The guardian first: it would act.
                for other in [Who::Guardian, Who::Broker] {
                    child_of(daemon, other).into_iter().for_each(|pid| send(pid, libc::SIGKILL));
                }
            }
            let Some(pid) = whom(who) else { return false };
            shared.program_killed.store(who == Who::Program, SeqCst);
            send(pid, libc::SIGKILL);
        }
        Fault::Stop(who) => {
            let Some(pid) = whom(who) else { return false };
            send(pid, libc::SIGSTOP);
            traced.set_free();
            traced.next(Some(Instant::now() + PAUSE));
            send(pid, libc::SIGCONT);
        }
    }
    true
}

fn run(setup: &Setup, place: Place) -> Outcome {
    let Place { of, at, fault } = place;
    let shared = Shared::default();
    let command = setup.daemon_command();
    shared.is_unguarded.store(fault == Fault::Kill(Who::All), SeqCst);
    let begin = Instant::now();
    let outcome = std::thread::scope(|scope| {
        let tracer = scope.spawn(|| trace(command, place, &shared));
        // Once its fault is over its calls aren't seen any more.
        let listens = || {
            let is_unseen = of != Who::Daemon || shared.is_over.load(SeqCst);
            shared.listens.load(SeqCst) || is_unseen && connect(&setup.socket()).is_some()
        };
        while !listens() && !tracer.is_finished() {
            if shared.is_stopped.load(SeqCst) {
                shared.goes_on.store(true, SeqCst);
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        if !tracer.is_finished() {
            programs(setup, at, &shared);
        }
        while !tracer.is_finished() {
            shared.goes_on.store(true, SeqCst);
            let daemon = shared.daemon.load(SeqCst);
            if daemon != 0 {
                let patience = begin.elapsed() < 2 * REGION;
                send(daemon, if patience { libc::SIGTERM } else { libc::SIGKILL });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        tracer.join().expect("the tracer")
    });
    assert!(begin.elapsed() < 2 * REGION, "the daemon didn't end: {place:?}: {:?}", outcome.hit);
    nothing_is_left(setup, &[]);
    outcome
}

/// Two programs come; a kernel ends by itself, the other one is asked to.
fn programs(setup: &Setup, number: u64, shared: &Shared) {
    let number = number as usize;
    let by_scaf_run = number.is_multiple_of(4);
    let mut endless = ENDLESS[number % ENDLESS.len()].start(setup, true);
    let mut kernel = KERNELS[number % KERNELS.len()].start(setup, by_scaf_run);
    let victim = [&endless, &kernel][number / 2 % 2].pid();
    shared.program.store(victim, SeqCst);
    let most = if shared.is_unguarded.load(SeqCst) { REGION } else { LEASE };
    let mut checked = false;
    let mut check = |member: &StartedProgram| {
        let stopped = shared.is_stopped.load(SeqCst);
        let dead = shared.is_over.load(SeqCst) && shared.daemon.load(SeqCst) == 0;
        if (stopped || dead) && !checked {
            soon(format!("{:?} is wide, fault at {number}", masks(member.pid())), most, || {
                is_wide(member.pid())
            });
            shared.goes_on.store(true, SeqCst);
            checked = true;
        }
    };
    while !kernel.has_ended() {
        check(&endless);
        std::thread::sleep(Duration::from_micros(500));
    }
    check(&endless);
    shared.program.store(0, SeqCst);
    let all = if shared.program_killed.load(SeqCst) { Some(victim) } else { None };
    for member in [&mut kernel, &mut endless] {
        if all == Some(member.pid()) {
            member.was_killed();
        }
    }
    kernel.relieve();
    endless.relieve();
}

/// How a daemon may end whose fault this was.
fn check_end(place: Place, outcome: &Outcome, log: &str, tally: &mut Tally) {
    let (fault, status) = (place.fault, outcome.status);
    let said = || format!("{place:?}, {:?}: {status:?}\n{log}", outcome.hit);
    // The standard library ends a thread or process that is refused what no kernel refuses, or memory for a
    // new thread's handlers. The daemon starts another reader when it needs one. Nothing else panics.
    let of_std = |line: &&str| {
        let fails = matches!(fault, Fault::Fail(_));
        fails && line.contains("panicked at /") && line.contains("/library/std/src/sys/")
    };
    let its = log.lines().filter(of_std).count();
    assert!(log.matches("panicked at").count() == its, "{}", said());
    match (fault, status.code(), status.signal()) {
        (_, Some(0), _) => tally.add(format!("{}: it lives, and ends at SIGTERM", name(fault))),
        (Fault::Kill(Who::Daemon | Who::All), None, Some(libc::SIGKILL)) => {
            tally.add(format!("{}: killed", name(fault)));
        }
        // It may hear of its broker's end before its own comes.
        (Fault::Kill(Who::All), Some(1), _) if place.of == Who::Broker => {
            tally.add(format!("{}: it ends, and says why", name(fault)));
        }
        // It is of no use without its broker.
        (Fault::Kill(Who::Broker) | Fault::Fail(_), Some(1), _) => {
            tally.add(format!("{}: it ends, and says why", name(fault)))
        }
        // No memory for a value of its own.
        (Fault::Fail(_), None, Some(libc::SIGABRT)) if log.contains("memory allocation of") => {
            tally.add(format!("{}: out of memory, it aborts", name(fault)));
        }
        // All panics are the standard library's.
        (Fault::Fail(_), Some(101), _) | (Fault::Fail(_), None, Some(libc::SIGABRT)) if its > 0 => {
            tally.add(format!("{}: the standard library ends it", name(fault)));
        }
        // It asks for what no kernel refuses.
        (Fault::Fail(_), None, Some(libc::SIGABRT)) if log.contains("Fatal glibc error") => {
            tally.add(format!("{}: the C library ends it", name(fault)));
        }
        // Before there is a handler.
        (_, None, Some(libc::SIGTERM)) => tally.add(format!("{}: SIGTERM at its start", name(fault))),
        _ => panic!("{}", said()),
    }
}

fn name(fault: Fault) -> String {
    match fault {
        Fault::Kill(who) => format!("{who:?} killed at a call").to_lowercase(),
        Fault::Stop(who) => format!("{who:?} stopped at a call").to_lowercase(),
        Fault::Fail(_) => "a call fails".to_owned(),
    }
}

/// At every call, or at each so many, until a daemon's run is over.
fn sweep(title: &str, stride: u64, fault: impl Fn(u64) -> Fault) {
    sweep_in(|| Some(Setup::prepared(&["equi"], BRIEF)), title, Who::Daemon, stride, fault);
}

/// The same with a daemon for all users, at its calls or its broker's.
fn sweep_for_all(title: &str, of: Who, stride: u64, fault: impl Fn(u64) -> Fault) {
    let title = format!("for all users: {title} at the {of:?}'s calls").to_lowercase();
    sweep_in(|| Setup::for_all(&["equi"], BRIEF), &title, of, stride, fault);
}

fn sweep_in(
    setup: impl Fn() -> Option<Setup>,
    title: &str,
    of: Who,
    stride: u64,
    fault: impl Fn(u64) -> Fault,
) {
    let mut tally = Tally::default();
    let (mut at, mut beyond, mut hits) = (1 + stride / 2, 0, 0);
    let mut lost = Vec::new();
    // Runs differ in length by some calls.
    while beyond < 3 && lost.len() < 20 {
        let Some(setup) = setup() else { return };
        for _ in 0..50 {
            let place = Place { of, at, fault: fault(at) };
            at += stride;
            let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let said = setup.log().len();
                let outcome = run(&setup, place);
                check_end(place, &outcome, &setup.log()[said..], &mut tally);
                outcome
            }));
            let Ok(outcome) = attempt else {
                lost.push(place);
                break;
            };
            beyond = if outcome.calls < place.at { beyond + 1 } else { 0 };
            hits += u64::from(outcome.hit.is_some());
            if beyond == 3 {
                break;
            }
        }
    }
    assert!(lost.is_empty(), "{title}: {lost:?}");
    // A helper isn't there for long.
    assert!(hits > 0 || stride > 10, "{title}: nothing happened");
    tally.tell(&format!("{title}, each {stride}: {hits} faults"));
}

fn error_at(at: u64) -> Fault {
    Fault::Fail(ERRORS[at as usize % ERRORS.len()])
}

/// As many calls as are left out between two faults, where all faults are `every`.
fn stride(every: u64) -> u64 {
    (ALL * every / faults(30)).max(1)
}

#[test]
fn the_daemon_is_killed_at_its_calls() {
    sweep("the daemon is killed", stride(1), |_| Fault::Kill(Who::Daemon));
}

#[test]
fn daemon_and_guardian_are_killed_at_the_daemons_calls() {
    sweep("daemon and guardian are killed", stride(2), |_| Fault::Kill(Who::All));
}

#[test]
fn the_daemon_is_stopped_at_its_calls() {
    // Each takes two seconds.
    sweep("the daemon is stopped for longer than its lease", stride(10), |_| Fault::Stop(Who::Daemon));
}

#[test]
fn others_are_killed_at_the_daemons_calls() {
    for who in [Who::Guardian, Who::Helper, Who::Program] {
        sweep(&format!("{who:?} is killed"), stride(1), |_| Fault::Kill(who));
    }
}

#[test]
fn others_are_stopped_at_the_daemons_calls() {
    for who in [Who::Guardian, Who::Helper, Who::Program] {
        sweep(&format!("{who:?} is stopped"), stride(1), |_| Fault::Stop(who));
    }
}

#[test]
fn the_daemons_calls_fail() {
    sweep("a call fails", stride(1), error_at);
}

/// Whoever serves all users, at the calls of one of them.
fn each_is_killed(of: Who, every: u64) {
    for (who, name) in
        [(Who::Broker, "the broker"), (Who::Daemon, "the daemon"), (Who::Guardian, "the guardian")]
    {
        sweep_for_all(&format!("{name} is killed"), of, stride(every), |_| Fault::Kill(who));
    }
    sweep_for_all("daemon, broker and guardian are killed", of, stride(2 * every), |_| Fault::Kill(Who::All));
}

#[test]
fn whoever_serves_all_users_is_killed_at_the_daemons_calls() {
    each_is_killed(Who::Daemon, 4);
}

#[test]
fn whoever_serves_all_users_is_killed_at_the_brokers_calls() {
    each_is_killed(Who::Broker, 1);
}

#[test]
fn a_broker_is_stopped_at_the_daemons_calls() {
    sweep_for_all("the broker is stopped", Who::Daemon, stride(4), |_| Fault::Stop(Who::Broker));
}

#[test]
fn a_broker_is_stopped_at_its_calls() {
    sweep_for_all("the broker is stopped", Who::Broker, stride(1), |_| Fault::Stop(Who::Broker));
}

#[test]
fn calls_of_a_daemon_for_all_users_fail() {
    sweep_for_all("a call fails", Who::Daemon, stride(4), error_at);
}

#[test]
fn calls_of_a_broker_fail() {
    sweep_for_all("a call fails", Who::Broker, stride(1), error_at);
}
