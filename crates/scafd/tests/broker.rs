//! A daemon for all users has no rights of its own; a broker has them. Played by root; others see that
//! nothing was tested.

#[macro_use]
mod support;

use scaf_memory::Checked;
use scaf_policy::PuSet;
use scafd::apply::gang::stop::{GangBy, Way};
use scafd::apply::gang::{Gangs, Member, Turn};
use scafd::apply::guardian::{Guardian, Lease};
use scafd::apply::{Apply, Target, Trouble};
use scafd::control::{Reply, Request};
use scafd::observe::counters::{Code, Counter};
use scafd::privileges::{BROKERS, GANGS};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Client, Daemon, alive, connect_as, is_root, kill, two_pus, until};

const ONE: u32 = 65_533;
const OTHER: u32 = 65_534;
const SLICE: Duration = Duration::from_millis(50);

/// No test: what the programs of the tests run.
#[test]
fn a_client_process() {
    support::client::main();
}

/// Whether we can be other users, and narrow programs.
fn can_play() -> bool {
    is_root() && two_pus().len() == 2
}

fn program_of(daemon: &Daemon, uid: u32) -> Client {
    Client::of(daemon, uid, &[("NATURAL", "2")])
}

fn status(pid: u32, key: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_else(|| panic!("no {key}"));
    line.trim_start_matches(':').split_whitespace().next().unwrap_or_default().to_owned()
}

fn children_called(pid: u32, name: &str) -> Vec<u32> {
    let called = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
    };
    let process = scafd::observe::Observer::new(Path::new("/")).process(pid);
    process.children(9).into_iter().filter(called).collect()
}

fn broker_of(daemon: &Daemon) -> u32 {
    until("a broker", || children_called(daemon.pid(), "scafd-broker").pop())
}

fn guardian_of(daemon: &Daemon) -> u32 {
    until("a guardian", || children_called(broker_of(daemon), "scafd-guardian").pop())
}

fn narrow(programs: &[&Client]) {
    for program in programs {
        until("one PU", || (program.affinity().len() == 1).then_some(()));
    }
}

fn wide(programs: &[&Client]) {
    for program in programs {
        until("both PUs", || (program.affinity() == two_pus()).then_some(()));
    }
}

#[test]
fn what_decides_and_talks_has_no_rights_and_what_has_them_is_small() {
    needs!(can_play(), "root and two PUs");
    let mut daemon = Daemon::for_all_on_two_pus("");
    // It may be connected to before; but the process that answers has dropped all rights.
    daemon.snapshot();
    assert_ne!(status(daemon.pid(), "Uid"), "0");
    for caps in ["CapEff", "CapPrm", "CapInh"] {
        assert_eq!(status(daemon.pid(), caps), "0000000000000000", "{caps}");
    }
    assert_eq!(
        (status(daemon.pid(), "Seccomp"), status(daemon.pid(), "NoNewPrivs")),
        ("2".into(), "1".into())
    );
    for pid in [broker_of(&daemon), guardian_of(&daemon)] {
        let rights = u64::from_str_radix(&status(pid, "CapPrm"), 16).unwrap();
        assert_eq!(rights & !BROKERS.bits(), 0, "process {pid}: {rights:x}");
    }
    let mut programs = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&programs.each_ref());
    let name = std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let all = daemon.snapshot().programs;
    assert!(all.len() == 2 && all.iter().all(|program| program.name == name), "{all:?}");
    for program in &mut programs {
        until("its inspection", || (program.tell("resizable") == "1").then_some(()));
    }
    let [one, other] = programs;
    drop(other);
    wide(&[&one]);
    let again = program_of(&daemon, OTHER);
    narrow(&[&one, &again]);
    let [broker, guardian] = [broker_of(&daemon), guardian_of(&daemon)];
    daemon.signal(libc::SIGTERM);
    assert!(daemon.wait().success());
    wide(&[&one, &again]);
    assert!(!alive(broker) && !alive(guardian) && !daemon.socket.exists());
}

#[test]
fn what_programs_teach_is_kept_by_a_user_without_rights() {
    needs!(can_play(), "root and two PUs");
    let daemon = Daemon::for_all_on_two_pus("");
    let checked = Checked {
        executable: "e".into(),
        name: "n".into(),
        resizable: true,
        date: "2026-01-01".into(),
        runs: 1,
        ..Checked::default()
    };
    let socket = connect_as(ONE, &daemon.socket).unwrap();
    let ask = serde_json::to_vec(&Request::KeepChecked(Box::new(checked))).unwrap();
    rustix::net::send(&socket, &ask, rustix::net::SendFlags::NOSIGNAL).unwrap();
    let reply = Daemon::take(&socket);
    assert!(matches!(reply, Reply::Kept), "{reply:?}");
    let file = std::fs::metadata(daemon.dir.path().join(format!("memory/{ONE}.sqlite"))).unwrap();
    assert_ne!(file.uid(), 0);
}

#[test]
fn a_killed_daemons_broker_gives_everything_back_and_ends() {
    needs!(can_play(), "root and two PUs");
    let mut daemon = Daemon::for_all_on_two_pus("");
    let programs = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&programs.each_ref());
    let [broker, guardian] = [broker_of(&daemon), guardian_of(&daemon)];
    daemon.signal(libc::SIGKILL);
    daemon.wait();
    wide(&programs.each_ref());
    until("their end", || (!alive(broker) && !alive(guardian)).then_some(()));
}

#[test]
fn a_killed_broker_ends_the_daemon_and_the_guardian_gives_everything_back() {
    needs!(can_play(), "root and two PUs");
    let mut daemon = Daemon::for_all_on_two_pus("");
    let programs = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&programs.each_ref());
    let guardian = guardian_of(&daemon);
    kill(broker_of(&daemon), libc::SIGKILL);
    assert!(!daemon.wait().success());
    wide(&programs.each_ref());
    until("its end", || (!alive(guardian)).then_some(()));
}

#[test]
fn a_killed_guardian_is_followed_by_another_one() {
    needs!(can_play(), "root and two PUs");
    let mut daemon = Daemon::for_all_on_two_pus("");
    let first = guardian_of(&daemon);
    kill(first, libc::SIGKILL);
    until("its end", || (!alive(first)).then_some(()));
    let programs = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&programs.each_ref());
    assert_ne!(guardian_of(&daemon), first);
    kill(broker_of(&daemon), libc::SIGKILL);
    assert!(!daemon.wait().success());
    wide(&programs.each_ref());
}

#[test]
fn where_the_daemon_hangs_the_guardian_gives_everything_back_until_it_goes_on() {
    needs!(can_play(), "root and two PUs");
    let daemon = Daemon::for_all_on_two_pus("lease_s = 1\n");
    let programs = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&programs.each_ref());
    daemon.signal(libc::SIGSTOP);
    wide(&programs.each_ref());
    daemon.signal(libc::SIGCONT);
    narrow(&programs.each_ref());
}

#[test]
fn a_daemon_whose_broker_hangs_ends_and_the_guardian_gives_everything_back() {
    needs!(can_play(), "root and two PUs");
    let mut daemon = Daemon::for_all_on_two_pus("lease_s = 1\n");
    let [one, other] = [program_of(&daemon, ONE), program_of(&daemon, OTHER)];
    narrow(&[&one, &other]);
    let broker = broker_of(&daemon);
    kill(broker, libc::SIGSTOP);
    drop(other);
    wide(&[&one]);
    assert!(!daemon.wait().success());
    kill(broker, libc::SIGCONT);
    until("its end", || (!alive(broker)).then_some(()));
    wide(&[&one]);
}

/// The daemon's side, played by the test: it has the socket that programs come to.
struct Played {
    backend: Apply,
    listener: OwnedFd,
    path: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Played {
    fn new() -> Played {
        Played::with(|_| None)
    }

    fn with(gangs: impl FnOnce(&Guardian) -> Option<Gangs>) -> Played {
        use rustix::net::{
            AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with,
        };
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        let path = folder.path().join("s");
        let lease = Lease::new().unwrap();
        let backend = || {
            let guardian = Guardian::start(lease)?;
            let gangs = gangs(&guardian);
            Ok(Apply::new(guardian).with_gangs(gangs))
        };
        let (broker, way) = scafd::broker_process::start(&path, BROKERS | GANGS, lease, backend).unwrap();
        let gangs = Way::of_code(way).map(|way| Gangs::through(broker.clone(), way, SLICE));
        let fd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        bind(&fd, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        listen(&fd, 9).unwrap();
        let backend = Apply::through(broker, lease, false).with_gangs(gangs);
        Played { backend, listener: fd, path, _folder: folder }
    }

    /// A program of that user's comes, and the connection with it.
    fn program(&self, uid: u32) -> (std::process::Child, OwnedFd) {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let mut command = std::process::Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        command.args(["--exact", "a_client_process", "--nocapture"]).uid(uid);
        command
            .env("SCAFD_TEST_SOCKET", &self.path)
            .env("SCAFD_TEST_THREADS", "10")
            .stdout(std::process::Stdio::null());
        let child = command.spawn().unwrap();
        let connection = rustix::net::accept_with(&self.listener, rustix::net::SocketFlags::CLOEXEC).unwrap();
        (child, connection)
    }
}

fn denied(done: Result<PuSet, Trouble>) -> bool {
    matches!(done, Err(Trouble::Denied { source, .. }) if source.raw_os_error() == Some(libc::EPERM))
}

// The test's own threads are other tests' as well, and the broker is forked from one of them.
#[test]
fn a_broker_touches_nobody_who_did_not_attach() {
    needs!(can_play(), "root and two PUs");
    let mut played = Played::new();
    let (own, pu) = (two_pus(), two_pus().iter().take(1).collect::<PuSet>());
    let observer = scafd::observe::Observer::new(Path::new("/"));
    let (mut came, connection) = played.program(ONE);
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let target = |pid| Target {
        pid,
        starttime: observer.process(pid).stat().unwrap().starttime,
        own: &own,
        masks: &[],
        any_mask: false,
    };
    let threads_of = |pid| observer.process(pid).threads().unwrap();
    // Before it is said to have come; and processes of others, ourselves and the first one among them.
    for pid in [came.id(), bystander.id(), std::process::id(), 1] {
        assert!(denied(played.backend.narrow(&target(pid), &pu)), "process {pid}");
    }
    // Nobody comes by a connection that we made ourselves, or by one that is none.
    let (to_ourselves, _end) = std::os::unix::net::UnixStream::pair().unwrap();
    let made = support::connect(&played.path).unwrap();
    for not_come in [to_ourselves.as_fd(), made.as_fd(), std::io::stderr().as_fd()] {
        assert!(played.backend.attach(not_come).is_err());
    }
    assert!(denied(played.backend.narrow(&target(std::process::id()), &pu)));
    played.backend.attach(connection.as_fd()).unwrap();
    assert_eq!(played.backend.narrow(&target(came.id()), &pu).unwrap(), pu);
    assert!(threads_of(came.id()).iter().all(|tid| scafd::observe::affinity(*tid).unwrap() == pu));
    for pid in [bystander.id(), std::process::id(), 1] {
        assert!(denied(played.backend.narrow(&target(pid), &pu)), "process {pid}");
        let seen = observer.clone().through(played.backend.broker().cloned()).process(pid).path();
        assert!(seen.is_err(), "process {pid}");
    }
    // The kernel's own event of a thread's time, which needs no hardware.
    let clock = Code { kind: 1, config: [1, 0, 0] };
    let count = |pid| Counter::open_by(played.backend.broker(), clock, pid, pid);
    assert!(count(bystander.id()).is_err() && count(1).is_err());
    assert_eq!(count(came.id()).is_ok(), Counter::open(clock, came.id()).is_ok());
    // A later process with its id isn't it.
    let later = Target { starttime: target(came.id()).starttime + 1, ..target(came.id()) };
    assert!(matches!(played.backend.narrow(&later, &pu), Err(Trouble::Gone(_))));
    played.backend.leave(came.id());
    assert!(denied(played.backend.narrow(&target(came.id()), &pu)));
    drop(played);
    assert_eq!(scafd::observe::affinity(came.id()).unwrap(), own);
    for child in [&mut came, &mut bystander] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn turns_are_carried_out_by_the_broker_for_those_who_attached() {
    needs!(can_play(), "root and two PUs");
    let Ok(way) = Way::choose(Path::new("/"), GangBy::Auto) else {
        support::skip::skipped("a way to stop programs");
        return;
    };
    let mut played = Played::with(|guardian| Some(Gangs::new(way, SLICE, guardian.stops())));
    let observer = scafd::observe::Observer::new(Path::new("/"));
    let mut programs: Vec<_> = [ONE, OTHER].map(|uid| played.program(uid)).into();
    for (_, connection) in &programs {
        played.backend.attach(connection.as_fd()).unwrap();
    }
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let pids = [programs[0].0.id(), programs[1].0.id(), bystander.id()];
    let turn = |pid| {
        let starttime = observer.process(pid).stat().unwrap().starttime;
        Turn { slices: 1, members: vec![Member { pid, starttime }] }
    };
    let held =
        |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap().contains("/scaf-gang-");
    let [one, other, _] = pids;
    played.backend.gangs().unwrap().take(pids.map(turn).into());
    for pid in [one, other] {
        until("its turns", || held(pid).then_some(()));
    }
    assert!(!held(bystander.id()) && played.backend.gangs().unwrap().failed().is_empty());
    // Where the daemon isn't heard of any more all go on, until it is again.
    let in_ms = |ms: u64| Some(scafd::observe::clock::now_ns() + ms * 1_000_000);
    played.backend.renew(in_ms(1));
    for pid in [one, other] {
        until("the lease is over", || (!held(pid)).then_some(()));
    }
    assert!(played.backend.renew(in_ms(600_000)));
    for pid in [one, other] {
        until("its turns again", || held(pid).then_some(()));
    }
    played.backend.gangs().unwrap().take(Vec::new());
    for pid in [one, other] {
        until("it goes on", || (!held(pid)).then_some(()));
    }
    drop(played);
    for child in programs.iter_mut().map(|(child, _)| child).chain([&mut bystander]) {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_helper_is_nobody_once_it_has_opened_its_files() {
    needs!(can_play(), "root and two PUs");
    let daemon = Daemon::for_all_on_two_pus("");
    let program = program_of(&daemon, ONE);
    let mut helper = std::process::Command::new(env!("CARGO_BIN_EXE_scafd"))
        .args(["--inspect", &program.pid().to_string(), "--inspect-as", &format!("{ONE}:0")])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // It waits for what is known of files.
    until("its filter", || (status(helper.id(), "Seccomp") == "2").then_some(()));
    assert!(![ONE.to_string(), "0".into()].contains(&status(helper.id(), "Uid")));
    assert_eq!(status(helper.id(), "CapPrm"), "0000000000000000");
    assert_eq!(std::fs::metadata(format!("/proc/{}/mem", helper.id())).unwrap().uid(), 0);
    drop(helper.stdin.take());
    let said = helper.wait_with_output().unwrap();
    let last = said.stdout.trim_ascii().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = serde_json::from_slice(last).unwrap();
    let scafd::inspect::Line::Answer(answer) = line else { panic!("{line:?}") };
    let scafd::inspect::Verdict { objections, origin, is_first, .. } = &answer.verdict;
    assert!(objections.is_empty() && origin.is_some() && !is_first, "{answer:?}");
}

/// How often this thread has waited for something so far (`ru_nvcsw`, getrusage(2)).
fn waits() -> i64 {
    // SAFETY: all zeroes is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a local variable.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) }, 0);
    usage.ru_nvcsw
}

#[test]
fn narrowing_ten_threads_through_the_broker_is_one_question() {
    const TIMES: i64 = 200;
    needs!(can_play(), "root and two PUs");
    let mut played = Played::new();
    let (own, pu) = (two_pus(), two_pus().iter().take(1).collect::<PuSet>());
    let (mut came, connection) = played.program(ONE);
    played.backend.attach(connection.as_fd()).unwrap();
    let (pid, observer) = (came.id(), scafd::observe::Observer::new(Path::new("/")));
    until("ten threads", || (observer.process(pid).threads().unwrap().len() >= 10).then_some(()));
    let starttime = observer.process(pid).stat().unwrap().starttime;
    let masks = [pu.clone()];
    let target = Target { pid, starttime, own: &own, masks: &masks, any_mask: false };
    let (begin, before) = (Instant::now(), waits());
    for _ in 0..TIMES {
        played.backend.narrow(&target, &pu).unwrap();
        played.backend.restore(&target).unwrap();
    }
    // One for narrowing, one for the affinity back. A question for each thread would be ten times as many.
    let waited = waits() - before;
    let us = begin.elapsed().as_secs_f64() * 1e6 / TIMES as f64;
    eprintln!("narrowing 10 threads and back: {us:.0} us, {waited} waits in {TIMES} times");
    assert!(waited <= 3 * TIMES, "{waited} waits in {TIMES} times");
    drop(played);
    came.kill().unwrap();
    came.wait().unwrap();
}
