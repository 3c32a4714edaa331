//! Counters of real programs, by the kernel's own events: machines of clouds have no hardware counters.

#[macro_use]
mod support;

use scaf_policy::ProgramId;
use scaf_policy::counters::{Counts, Event, Reading};
use scafd::control::CountersAre;
use scafd::observe::Observer;
use scafd::observe::clock::cpu_ns;
use scafd::observe::counters::{Access, Chosen, Counter, Counting, Failure, Name, examine};
use scafd::observe::proc_pid::Process;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use support::{Client, Daemon, stderr, until};

/// No test: what the programs of the tests run.
#[test]
fn a_client_process() {
    support::client::main();
}

/// Whether these tests can run: a sandbox may forbid all events.
fn permitted() -> bool {
    Counter::open(name("task-clock").resolve(Path::new("/")).unwrap(), 0).is_ok()
}

fn name(text: &str) -> Name {
    text.parse().unwrap()
}

/// Opens an event for every thread that a program has now.
fn counters(event: &str, client: &Client) -> Vec<Counter> {
    let code = name(event).resolve(Path::new("/")).unwrap();
    let threads = Process::new(Path::new("/"), client.pid()).threads().unwrap();
    threads.into_iter().map(|tid| Counter::open(code, tid).unwrap()).collect()
}

fn sum(counters: &[Counter]) -> Reading {
    counters.iter().map(|counter| counter.read().unwrap()).fold(Reading::default(), Reading::plus)
}

fn stand_ins() -> Chosen {
    let mut chosen = Chosen::default();
    chosen[Event::Instructions as usize] = Some(name("task-clock"));
    chosen[Event::Cycles as usize] = Some(name("cpu-clock"));
    chosen
}

fn daemon() -> Daemon {
    Daemon::start(&["--dry-run", "--topology", "core:2 pu:1", "--policy", "equi"])
}

#[test]
fn threads_that_start_later_are_counted_and_those_that_have_ended_stay_counted() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let clock = counters("task-clock", &client);
    assert!(clock.len() >= 2);
    let cpu_before = cpu_ns(client.pid()).unwrap();
    let before = sum(&clock);
    client.tell("burn 3 40");
    client.tell("burn 2 40");
    let (after, cpu_after) = (sum(&clock), cpu_ns(client.pid()).unwrap());
    let (counted, used) = (after.count - before.count, cpu_after - cpu_before);
    assert!(counted >= 180_000_000, "{counted} ns");
    assert!(counted as f64 <= used as f64 * 1.1 + 5e6, "{counted} of {used} ns");
    let enabled = after.enabled_ns - before.enabled_ns;
    assert!(enabled as f64 >= used as f64 * 0.9, "{enabled} of {used} ns");
}

#[test]
fn a_forked_child_is_not_counted() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let clock = counters("task-clock", &client);
    let before = sum(&clock);
    client.tell("forkburn 200");
    let counted = sum(&clock).count - before.count;
    assert!(counted < 100_000_000, "{counted} ns");
}

#[test]
fn page_faults_are_counted_where_they_happen() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let faults = counters("page-faults", &client);
    let before = sum(&faults);
    client.tell("fault 1000");
    let counted = sum(&faults).count - before.count;
    assert!((1000..2000).contains(&counted), "{counted}");
}

#[test]
fn a_program_that_has_ended_can_still_be_read_and_not_opened() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let clock = counters("task-clock", &client);
    client.tell("burn 1 20");
    let pid = client.pid();
    client.kill();
    let last = sum(&clock);
    assert!(last.count >= 18_000_000);
    assert_eq!(sum(&clock), last);
    let error = Counter::open(name("task-clock").resolve(Path::new("/")).unwrap(), pid).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ESRCH));
}

#[test]
fn an_event_that_a_unit_names_in_sysfs_is_counted() {
    let Ok(code) = name("msr/tsc/").resolve(Path::new("/")) else { return };
    let Ok(counter) = Counter::open(code, 0) else { return };
    let (first, second) = (counter.read().unwrap(), counter.read().unwrap());
    assert!(second.count > first.count, "{first:?} {second:?}");
}

/// Reads a program once, with its CPU clock, and gives what was counted and what failed.
fn read(counting: &mut Counting, process: &Process, pid: u32) -> (Option<Counts>, Vec<Failure>) {
    let mut failures = Vec::new();
    let counts = counting.read(ProgramId(1), process, None, cpu_ns(pid), |failure| failures.push(failure));
    (counts, failures)
}

#[test]
fn a_program_is_counted_from_its_second_reading_on() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let observer = Observer::new(Path::new("/"));
    let process = observer.process(client.pid());
    let mut counting = observer.counting(Some(stand_ins()));
    assert_eq!(counting.access(), None);
    assert_eq!(read(&mut counting, &process, client.pid()), (None, vec![]));
    assert_eq!(counting.access(), Some(Access::There));
    client.tell("burn 2 40");
    let (counts, failures) = read(&mut counting, &process, client.pid());
    let counted = counts.unwrap().of(Event::Instructions).unwrap();
    assert!(counted.count >= 7e7 && counted.cpu_s >= 0.07 && counted.share == 1.0, "{counted:?}");
    assert_eq!(failures, []);
    counting.close(ProgramId(1));
    assert_eq!(read(&mut counting, &process, client.pid()).0, None);
}

#[test]
fn a_user_who_wants_all_counters_leaves_half_of_them_to_others() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let client = Client::attach(&daemon, 2);
    let process = Process::new(Path::new("/"), client.pid());
    let mut counting = Counting::new(Path::new("/"), Some(stand_ins()));
    let mut opened = |id: u64, owner| {
        counting.read(ProgramId(id), &process, owner, None, |_| ());
        counting.opened(ProgramId(id))
    };
    let each = opened(0, None);
    assert!(each > 0);
    let of_one: usize = (1..5000).map(|id| opened(id, Some(1))).sum();
    let of_other: usize = (5000..9999).map(|id| opened(id, Some(2))).sum();
    let of_all: usize = (9999..20_000).map(|id| opened(id, None)).sum();
    let most = each + of_one + of_other + of_all;
    let near = |opened: usize, wanted: usize| (wanted - each..=wanted).contains(&opened);
    assert!(near(of_one, (most - each) / 2), "{of_one} of {most}");
    assert!(near(of_other, (most - each - of_one) / 2), "{of_other} of {most}, {of_one}");
}

#[test]
fn threads_that_were_missed_are_found_out_by_the_programs_clock() {
    needs!(permitted(), "permission to count events");
    let daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    let pid = client.pid();
    let whole = Process::new(Path::new("/"), pid);
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("proc").join(pid.to_string()).join("task");
    std::fs::create_dir_all(task.join(pid.to_string())).unwrap();
    let mut counting = Counting::new(Path::new("/"), Some(stand_ins()));
    read(&mut counting, &Process::new(folder.path(), pid), pid);
    client.tell("burn 0 60");
    assert_eq!(read(&mut counting, &whole, pid).0, None);
    assert_eq!(read(&mut counting, &whole, pid).0, None);
    client.tell("burn 0 60");
    let counts = read(&mut counting, &whole, pid).0.unwrap();
    assert!(counts.of(Event::Cycles).unwrap().count >= 5e7);
}

#[test]
fn an_event_that_was_named_and_is_not_there_is_told_once() {
    needs!(permitted(), "permission to count events");
    let mut chosen = stand_ins();
    chosen[Event::StallsL2Miss as usize] = Some(name("nowhere/event=1/"));
    let mut counting = Counting::new(Path::new("/"), Some(chosen));
    let own = std::process::id();
    let process = Process::new(Path::new("/"), own);
    let (_, failures) = read(&mut counting, &process, own);
    assert!(
        matches!(&failures[..], [Failure::Chosen(why)] if why.contains("no unit 'nowhere'")),
        "{failures:?}"
    );
    assert_eq!(read(&mut counting, &process, own).1, []);
}

/// Forbids a process to count, as containers do: perf_event_open fails with EPERM.
fn forbid(command: &mut Command) {
    let statement = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_perf_event_open as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    // SAFETY: between fork and exec only two system calls are made; the filter lives as long as the closure.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
            let none = std::ptr::null::<libc::c_void>();
            let done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                    none,
                    none,
                ) == 0;
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        });
    }
}

#[test]
fn where_counting_is_forbidden_the_snapshot_says_so_and_the_log_does_not() {
    let topology = ["--dry-run", "--topology", "core:2 pu:1", "--policy", "equi"];
    let mut daemon = Daemon::start_as(&topology, forbid);
    let client = Client::attach(&daemon, 2);
    until("a tick", || (daemon.snapshot().counters == CountersAre::Forbidden).then_some(()));
    assert_eq!(daemon.program(client.pid()).unwrap().counters, None);
    daemon.signal(libc::SIGTERM);
    daemon.wait();
    let said = stderr(&mut daemon.child);
    assert!(!said.contains("count"), "{said}");
}

/// A daemon of two pretended contexts that is configured so.
fn configured(text: &str) -> (Daemon, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scafd.toml");
    std::fs::write(&file, text).unwrap();
    let topology = ["--dry-run", "--topology", "core:2 pu:1", "--policy", "equi"];
    let daemon = Daemon::start(&[&topology[..], &["--config", file.to_str().unwrap()]].concat());
    (daemon, folder)
}

#[test]
fn the_daemon_makes_a_speedup_of_what_it_counts_on_one_context_and_on_two() {
    needs!(permitted(), "permission to count events");
    let (daemon, _folder) =
        configured("rate_hz = 20\nevents = { instructions = 'task-clock', cycles = 'cpu-clock' }\n");
    let mut client = Client::attach(&daemon, 2);
    let pid = client.pid();
    let counters = |client: &mut Client| {
        client.tell("burn 0 20");
        daemon.program(pid)?.counters.filter(|counters| counters.rates.ipc.is_some())
    };
    let seen = until("counters", || counters(&mut client));
    assert_eq!(daemon.snapshot().counters, CountersAre::There);
    assert!(seen.rates.ipc.is_some_and(|ipc| (0.9..1.1).contains(&ipc)), "{seen:?}");
    assert!(seen.rates.instructions_per_s.is_some_and(|rate| rate > 0.0), "{seen:?}");
    assert!((seen.rates.counted_ratio - 1.0).abs() < 1e-9 && seen.rates.llc_hit_ratio.is_none(), "{seen:?}");
    assert_eq!((seen.speedup, seen.speedup_dop), (None, None));
    let mut other = Client::attach(&daemon, 2);
    client.wait_for_dop(Some(1));
    for _ in 0..20 {
        counters(&mut client);
    }
    other.kill();
    let seen = until("a speedup", || counters(&mut client).filter(|counters| counters.speedup.is_some()));
    assert_eq!(seen.speedup_dop, Some(2));
    assert!(seen.speedup.is_some_and(|speedup| speedup > 0.05 && speedup < 20.0), "{seen:?}");
    assert!(seen.error_ratio.is_some_and(|error| error > 0.1), "{seen:?}");
}

#[test]
fn counters_that_are_switched_off_are_not_read() {
    let (daemon, _folder) =
        configured("counters = 'off'\nevents = { instructions = 'task-clock', cycles = 'cpu-clock' }\n");
    let client = Client::attach(&daemon, 2);
    let start = daemon.snapshot().decisions;
    until("a few ticks", || (daemon.snapshot().decisions > start + 3).then_some(()));
    assert_eq!(daemon.snapshot().counters, CountersAre::Off);
    assert_eq!(daemon.program(client.pid()).unwrap().counters, None);
}

#[test]
fn where_there_are_no_counters_nothing_is_said_of_them() {
    let there = examine(Path::new("/")).access == Access::There;
    let mut daemon = daemon();
    let mut client = Client::attach(&daemon, 2);
    until("a few ticks", || {
        client.tell("burn 0 20");
        (daemon.snapshot().decisions > 5).then_some(())
    });
    let counters = daemon.program(client.pid()).unwrap().counters;
    assert_eq!(daemon.snapshot().counters == CountersAre::There, there);
    if there {
        until("counters", || daemon.program(client.pid()).unwrap().counters);
    } else {
        assert_eq!(counters, None);
    }
    daemon.signal(libc::SIGTERM);
    daemon.wait();
    let said = stderr(&mut daemon.child);
    assert!(!said.contains("count") && said.lines().count() <= 2, "{said}");
}
