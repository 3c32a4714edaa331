//! What an unprivileged user may try against a daemon that serves all users. Played by root; others see that
//! nothing was tested.

#[macro_use]
mod support;

use rustix::net::{SendFlags, send};
use scaf_policy::PuSet;
use scafd::control::{Others, Reply, Request, Snapshot};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Instant;
use support::{Client, Daemon, connect_as, connects_until_it_is_kept_out, is_root, until};

const ATTACKER: u32 = 65_533;
const OTHER: u32 = 65_534;

/// No test: what the programs of the tests run.
#[test]
fn a_client_process() {
    support::client::main();
}

fn program_of(daemon: &Daemon, uid: u32) -> Client {
    Client::with(daemon, &[("NATURAL", "2"), ("UID", &uid.to_string())])
}

/// Asks as that user, and doesn't take the answer.
fn asked(daemon: &Daemon, uid: u32, request: &Request) -> Option<OwnedFd> {
    let socket = connect_as(uid, &daemon.socket)?;
    send(&socket, &serde_json::to_vec(request).unwrap(), SendFlags::NOSIGNAL).ok()?;
    Some(socket)
}

fn seen_by(daemon: &Daemon, uid: u32) -> Snapshot {
    match Daemon::take(&asked(daemon, uid, &Request::Snapshot).expect("no connection")) {
        Reply::Snapshot(snapshot) => *snapshot,
        other => panic!("{other:?}"),
    }
}

/// Most memory that the daemon has ever had, in KiB.
fn peak_kib(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn of_other_users_programs_only_number_and_contexts_are_told() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let [own, other] = [ATTACKER, OTHER].map(|uid| program_of(&daemon, uid));
    let seen = seen_by(&daemon, ATTACKER);
    let pids: Vec<u32> = seen.programs.iter().map(|program| program.pid).collect();
    assert_eq!((pids, seen.others), (vec![own.pid()], Others { programs: 1, contexts: 2 }));
    let all = daemon.snapshot();
    assert_eq!((all.programs.len(), all.others), (2, Others::default()));
    drop(other);
    until("its departure", || (seen_by(&daemon, ATTACKER).others == Others::default()).then_some(()));
}

#[test]
fn answers_that_nobody_takes_fill_no_memory() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let mut programs: Vec<Client> = (0..80).map(|_| program_of(&daemon, ATTACKER)).collect();
    for program in &mut programs {
        program.tell("runtimes");
    }
    let untaken: Vec<_> = (0..300).filter_map(|_| asked(&daemon, ATTACKER, &Request::Snapshot)).collect();
    assert!(!untaken.is_empty());
    // Others are served meanwhile.
    assert_eq!(seen_by(&daemon, OTHER).others.programs, 80);
    assert_eq!(daemon.snapshot().programs.len(), 80);
    assert!(peak_kib(&daemon) < 64 << 10, "{} KiB", peak_kib(&daemon));
}

#[test]
fn silent_connections_keep_nobody_else_out() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let users = (60_000..60_004).flat_map(|uid| [uid; 256]);
    let silent: Vec<OwnedFd> = users.filter_map(|uid| connect_as(uid, &daemon.socket)).collect();
    assert!(!silent.is_empty());
    assert!(seen_by(&daemon, OTHER).programs.is_empty());
    let program = program_of(&daemon, OTHER);
    assert_eq!(daemon.snapshot().programs[0].pid, program.pid());
}

#[test]
fn who_attaches_all_the_time_is_turned_away_and_others_are_not() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let mut flood = program_of(&daemon, ATTACKER);
    let start = Instant::now();
    let attached: f64 = flood.tell("flood 1000").parse().unwrap();
    let most = 128.0 + 64.0 * start.elapsed().as_secs_f64();
    assert!((100.0..=most).contains(&attached), "{attached}, at most {most}");
    assert_eq!(program_of(&daemon, OTHER).dop(), Some(2));
}

#[test]
fn who_connects_in_a_loop_is_kept_out_by_the_kernel_for_a_moment_and_nobody_else_is() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let program = program_of(&daemon, ATTACKER);
    if !connects_until_it_is_kept_out(ATTACKER, &daemon.socket) {
        return;
    }
    // Others come, its programs go on, and after a moment it may come as well.
    assert_eq!(program_of(&daemon, OTHER).dop(), Some(2));
    assert_eq!(daemon.program(program.pid()).unwrap().dop, Some(2));
    until("it is let in", || connect_as(ATTACKER, &daemon.socket));
    until("it is heard", || asked(&daemon, ATTACKER, &Request::Snapshot).filter(answers));
}

/// Whether an answer comes, and not the end.
fn answers(connection: &OwnedFd) -> bool {
    rustix::net::recv(connection, &mut [0u8; 9], rustix::net::RecvFlags::empty()).is_ok_and(|(_, n)| n > 0)
}

#[test]
fn a_program_that_talks_all_the_time_keeps_nobody_waiting_and_its_end_is_heard() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let mut talker = program_of(&daemon, ATTACKER);
    std::thread::scope(|scope| {
        let talk = scope.spawn(|| talker.tell("entered 40000"));
        assert_eq!(program_of(&daemon, OTHER).dop(), Some(2));
        talk.join().unwrap();
    });
    // It is still there, and its end is heard.
    assert_eq!(talker.dop(), Some(2));
    drop(talker);
    until("its departure", || daemon.snapshot().programs.is_empty().then_some(()));
}

/// A helper as the daemon starts it. It waits for what is known of files.
#[test]
fn an_inspection_helper_can_be_traced_by_nobody_and_start_nothing() {
    needs!(is_root(), "root, to be other users");
    // By its descriptor: the other user may not come to its path.
    let file = std::fs::File::open(env!("CARGO_BIN_EXE_scafd")).unwrap();
    let mut helper = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()))
        .args(["--inspect", &std::process::id().to_string()])
        .uid(OTHER)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", helper.id())).unwrap();
    until("its filter", || of("status").contains("Seccomp:\t2\n").then_some(()));
    // What isn't dumpable belongs to root, and no other user may trace it.
    let owner = std::fs::metadata(format!("/proc/{}/mem", helper.id())).unwrap().uid();
    assert_eq!(owner, 0);
    assert_eq!(of("oom_score_adj").trim(), "1000");
    let limits = of("limits");
    let processes = limits.lines().find(|line| line.starts_with("Max processes")).unwrap();
    assert_eq!(processes.split_whitespace().nth(2), Some("0"), "{processes}");
    drop(helper.stdin.take());
    assert!(helper.wait().unwrap().success());
}

#[test]
fn who_attaches_many_programs_takes_no_more_than_a_users_part() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(16);
    let natural = |uid: u32| Client::with(&daemon, &[("NATURAL", "16"), ("UID", &uid.to_string())]);
    let mut many: Vec<Client> = (0..15).map(|_| natural(ATTACKER)).collect();
    let mut other = natural(OTHER);
    other.tell("enter 1");
    // Whether they compute isn't known yet.
    assert_eq!(other.dop(), Some(8));
    // They never do.
    other.wait_for_dop(Some(16));
    assert_eq!(many[3].dop(), Some(1));
    assert_eq!(many[3].tell("lent"), "true");
    let place = |many: &[Client]| -> Vec<PuSet> {
        let pus = |pid| daemon.program(pid).unwrap().pus;
        many.iter().chain([&other]).map(|client| pus(client.pid())).collect()
    };
    assert_eq!(place(&many)[15].len(), 16);
    for client in &mut many {
        client.tell("enter 1");
        client.tell("entered 1");
    }
    // All have woken, and share what their user has.
    let lent = |client: &mut Client| client.tell("lent") == "true";
    until("their user's part", || (!many.iter_mut().any(lent)).then_some(()));
    let mut sets = place(&many);
    let own = sets.pop().unwrap();
    assert_eq!(own.len(), 8);
    assert!(sets.iter().all(|set| set.len() == 1 && set.intersection(&own).is_empty()), "{sets:?} {own}");
}

#[test]
fn all_attacks_at_once_leave_another_user_its_part() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(16);
    let natural = |uid: u32| Client::with(&daemon, &[("NATURAL", "16"), ("UID", &uid.to_string())]);
    let mut other = natural(OTHER);
    other.tell("enter 1");
    other.wait_for_dop(Some(16));
    let mut many: Vec<Client> = (0..40).map(|_| natural(ATTACKER)).collect();
    for (at, client) in many.iter_mut().enumerate() {
        client.tell("runtimes");
        client.tell("enter 1");
        if at % 8 == 0 {
            client.tell("garble 255");
        }
    }
    let mut flood = natural(ATTACKER);
    std::thread::scope(|scope| {
        let flood = scope.spawn(|| flood.tell("flood 300"));
        let mut held: Vec<OwnedFd> = Vec::new();
        while !flood.is_finished() {
            held.extend(asked(&daemon, ATTACKER, &Request::Snapshot));
            if let Some(silent) = connect_as(ATTACKER, &daemon.socket) {
                let _ = send(&silent, &[0xff; 100], SendFlags::NOSIGNAL);
                held.push(silent);
            }
            assert_eq!(other.dop(), Some(8));
        }
    });
    assert_eq!(seen_by(&daemon, OTHER).programs[0].dop, Some(8));
    assert!(peak_kib(&daemon) < 64 << 10, "{} KiB", peak_kib(&daemon));
}
