//! The real daemon with programs that are processes of their own.

#[macro_use]
mod support;

use scaf_policy::PuSet;
use scaf_proto::hello::{FLAG_STARTING, Hello};
use scafd::control::{Mechanism, Reply, Request};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;
use support::{Client, Daemon, alive, connect, kill, stderr, two_pus, until};

/// No test: what the programs of the tests run.
#[test]
fn a_client_process() {
    support::client::main();
}

#[test]
fn a_program_alone_gets_what_it_can_use() {
    let daemon = Daemon::pretending(8);
    let mut a = Client::attach(&daemon, 6);
    assert_eq!(a.dop(), Some(6));
    let program = daemon.program(a.pid()).unwrap();
    assert_eq!((program.dop, program.natural, program.pus.len()), (Some(6), 6, 6));
    assert!(!program.reason.is_empty());
}

#[test]
fn the_grant_stands_on_the_page_before_the_welcome() {
    let daemon = Daemon::pretending(4);
    for _ in 0..5 {
        assert_eq!(Client::attach(&daemon, 4).dop(), Some(4));
        until("its share to be free", || daemon.snapshot().programs.is_empty().then_some(()));
    }
}

#[test]
fn two_programs_share_and_the_one_left_gets_everything() {
    let daemon = Daemon::pretending(4);
    let mut a = Client::attach(&daemon, 4);
    let mut b = Client::attach(&daemon, 4);
    assert_eq!((a.dop(), b.dop()), (Some(2), Some(2)));
    let programs = daemon.snapshot().programs;
    assert!(programs[0].pus.intersection(&programs[1].pus).is_empty(), "{programs:?}");
    b.kill();
    a.wait_for_dop(Some(4));
}

/// Two programs on four contexts, the first in a serial phase with fewer contexts than it can use.
fn serial_beside_another(daemon: &Daemon) -> [Client; 2] {
    let programs = [Client::attach(daemon, 4), Client::attach(daemon, 4)];
    let [mut serial, other] = programs;
    for verb in ["enter 2", "leave 2"] {
        serial.tell(verb);
    }
    until("a serial phase that is known", || (serial.tell("lent") == "true").then_some(()));
    [serial, other]
}

#[test]
fn a_program_that_returns_from_a_serial_phase_is_decided_about_at_once_and_told_so() {
    let daemon = Daemon::lending(4);
    let [mut serial, mut other] = serial_beside_another(&daemon);
    serial.wait_for_dop(Some(1));
    assert_eq!(other.tell("lent"), "false");
    serial.tell("entered 1");
    until("its return", || (serial.tell("lent") == "false").then_some(()));
    serial.wait_for_dop(Some(2));
    until("another serial phase", || (serial.tell("lent") == "true").then_some(()));
    serial.tell("enter 2");
    until("its return by its page", || (serial.tell("lent") == "false").then_some(()));
}

#[test]
fn a_program_that_says_it_returns_ten_thousand_times_causes_a_few_decisions() {
    let daemon = Daemon::lending(4);
    let [mut serial, _other] = serial_beside_another(&daemon);
    let (began, before) = (std::time::Instant::now(), daemon.snapshot().decisions);
    for _ in 0..100 {
        serial.tell("entered 100");
    }
    let decisions = daemon.snapshot().decisions - before;
    let most = 10.0 * began.elapsed().as_secs_f64() + 3.0;
    assert!(decisions as f64 <= most, "{decisions} in {:?}", began.elapsed());
}

/// Two ranks of a job on four contexts, that have been in a region just now.
fn ranks(daemon: &Daemon) -> [Client; 2] {
    let mut ranks = [Client::attach(daemon, 4), Client::attach(daemon, 4)];
    for rank in &mut ranks {
        rank.wait_for_dop(Some(2));
        rank.tell("works");
    }
    ranks
}

fn until_it_has(daemon: &Daemon, rank: &Client, contexts: u32, why: &str) {
    until(&format!("{contexts} contexts, {why}"), || {
        let seen = daemon.program(rank.pid())?;
        (seen.dop == Some(contexts) && seen.reason.contains(why)).then_some(())
    });
}

#[test]
fn a_rank_that_waits_lends_to_its_job_and_has_its_contexts_again_when_it_works() {
    let daemon = Daemon::pretending(4);
    let [mut one, mut other] = ranks(&daemon);
    for _ in 0..3 {
        one.tell("waits");
        until_it_has(&daemon, &other, 4, "and 2 borrowed from program");
        until("it is told", || (one.tell("lent") == "true").then_some(()));
        one.tell("works");
        until_it_has(&daemon, &other, 2, "equal part of 4 contexts among 2");
        until("it is told", || (one.tell("lent") == "false").then_some(()));
    }
    // Both wait: there is nobody to lend to.
    one.tell("waits");
    until_it_has(&daemon, &other, 4, "borrowed");
    other.tell("waits");
    other.wait_for_dop(Some(2));
    other.tell("works");
    until_it_has(&daemon, &other, 4, "borrowed");
    one.kill();
    until_it_has(&daemon, &other, 4, "among 1");
}

#[test]
fn a_rank_in_a_region_lends_nothing_whatever_it_says() {
    let daemon = Daemon::pretending(4);
    let [mut one, mut other] = ranks(&daemon);
    one.tell("enter 2");
    one.tell("waits");
    let decisions = daemon.snapshot().decisions;
    until("some decisions more", || (daemon.snapshot().decisions > decisions + 3).then_some(()));
    assert_eq!((other.dop(), one.tell("lent").as_str()), (Some(2), "false"));
}

#[test]
fn a_rank_that_flickers_ten_thousand_times_causes_no_decision() {
    let daemon = Daemon::pretending(4);
    let [mut one, other] = ranks(&daemon);
    let (began, before) = (std::time::Instant::now(), daemon.snapshot().decisions);
    for _ in 0..100 {
        one.tell("flickers 100");
    }
    let decisions = daemon.snapshot().decisions - before;
    let most = 10.0 * began.elapsed().as_secs_f64() + 3.0;
    assert!(decisions as f64 <= most, "{decisions} in {:?}", began.elapsed());
    one.tell("works");
    until_it_has(&daemon, &other, 2, "equal part");
}

#[test]
fn affinities_are_narrowed_and_given_back() {
    let daemon = Daemon::on_two_pus();
    needs!(two_pus().len() == 2, "two PUs");
    let a = Client::attach(&daemon, 2);
    let own = scafd::observe::affinity(0).unwrap();
    let mut b = Client::attach(&daemon, 2);
    until("one PU each", || (a.affinity().len() == 1 && b.affinity().len() == 1).then_some(()));
    assert_ne!(a.affinity(), b.affinity());
    assert_eq!(b.tell("folded"), "true");
    let threads = scafd::observe::Observer::new("/".as_ref()).process(a.pid()).threads().unwrap();
    assert!(threads.len() >= 2);
    for thread in threads {
        assert_eq!(scafd::observe::affinity(thread).unwrap(), a.affinity());
    }
    daemon.signal(libc::SIGTERM);
    until("their own affinities", || (a.affinity() == own && b.affinity() == own).then_some(()));
    b.wait_for_dop(None);
}

#[test]
fn a_program_that_does_nothing_yet_may_count_all_its_pus() {
    let daemon = Daemon::on_two_pus();
    needs!(two_pus().len() == 2, "two PUs");
    let own = scafd::observe::affinity(0).unwrap();
    let mut waits = Client::attach(&daemon, 2);
    let mut computes = Client::attach(&daemon, 2);
    until("one PU each", || (waits.affinity().len() == 1).then_some(()));
    computes.tell("enter 1");
    computes.wait_for_dop(Some(2));
    until("its own affinity", || (waits.affinity() == own).then_some(()));
    assert_eq!((waits.dop(), waits.tell("lent")), (Some(1), "true".to_owned()));
    waits.tell("enter 1");
    waits.tell("entered 1");
    until("one PU each", || (waits.affinity().len() == 1).then_some(()));
    computes.wait_for_dop(Some(1));
}

#[test]
fn a_cpuset_that_changes_while_the_daemon_runs_is_followed() {
    let all = two_pus();
    let Some(cpuset) = support::Cpuset::new(&all).filter(|_| all.len() == 2) else {
        support::skip::skipped("root, two PUs, and the cpuset controller of version 1");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("scafd.toml");
    std::fs::write(&config, "policy = 'equi'\ncount_load = false\n").unwrap();
    let daemon = Daemon::start(&["--config", config.to_str().unwrap()]);
    cpuset.take_in(daemon.pid());
    let mut client = Client::attach(&daemon, 2);
    client.wait_for_dop(Some(2));
    let one: PuSet = all.iter().take(1).collect();
    cpuset.set(&one);
    client.wait_for_dop(Some(1));
    let now = daemon.snapshot();
    assert_eq!((&now.pus, &now.programs[0].pus), (&one, &one));
    cpuset.set(&all);
    client.wait_for_dop(Some(2));
    assert_eq!(daemon.snapshot().pus, all);
}

#[test]
fn a_guardian_that_dies_has_a_successor_that_knows_what_it_knew() {
    let mut daemon = Daemon::on_two_pus();
    needs!(two_pus().len() == 2, "two PUs");
    let own = scafd::observe::affinity(0).unwrap();
    let a = Client::attach(&daemon, 2);
    let b = Client::attach(&daemon, 2);
    until("one PU each", || (a.affinity().len() == 1 && b.affinity().len() == 1).then_some(()));
    let first = daemon.children();
    first.iter().for_each(|pid| kill(*pid, libc::SIGKILL));
    drop(b);
    until("all PUs", || (a.affinity() == own).then_some(()));
    let b = Client::attach(&daemon, 2);
    until("one PU each", || (a.affinity().len() == 1 && b.affinity().len() == 1).then_some(()));
    let second = daemon.children();
    assert!(!second.is_empty() && second.iter().all(|pid| !first.contains(pid)), "{first:?} {second:?}");
    daemon.signal(libc::SIGKILL);
    daemon.wait();
    until("its work", || (a.affinity() == own && b.affinity() == own).then_some(()));
    until("its end", || second.iter().all(|pid| !alive(*pid)).then_some(()));
    let next = Daemon::command(&daemon.socket, &["--policy", "equi"]).spawn().unwrap();
    daemon.child = next;
    until("a new daemon", || connect(&daemon.socket));
}

/// The programs come to no region, so it is the guardian who finds out.
#[test]
fn a_daemon_that_is_stopped_leaves_no_narrow_program_and_narrows_again_when_it_goes_on() {
    needs!(two_pus().len() == 2, "two PUs");
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("scafd.toml");
    std::fs::write(&config, "lease_s = 1\ncount_load = false\n").unwrap();
    let daemon = Daemon::start(&["--policy", "equi", "--config", config.to_str().unwrap()]);
    let own = scafd::observe::affinity(0).unwrap();
    let [a, b] = [Client::attach(&daemon, 2), Client::attach(&daemon, 2)];
    let narrow = || (a.affinity().len() == 1 && b.affinity().len() == 1).then_some(());
    until("one PU each", narrow);
    for _ in 0..2 {
        daemon.signal(libc::SIGSTOP);
        until("all PUs", || (a.affinity() == own && b.affinity() == own).then_some(()));
        daemon.signal(libc::SIGCONT);
        until("one PU each again", narrow);
    }
}

#[test]
fn a_killed_daemon_leaves_no_narrow_program_and_no_guardian() {
    let mut daemon = Daemon::on_two_pus();
    needs!(two_pus().len() == 2, "two PUs");
    let own = scafd::observe::affinity(0).unwrap();
    let mut a = Client::attach(&daemon, 2);
    let b = Client::attach(&daemon, 2);
    until("one PU each", || (a.affinity().len() == 1 && b.affinity().len() == 1).then_some(()));
    let child: u32 = a.tell("spawn").parse().unwrap();
    let guardian = daemon.children();
    assert!(!guardian.is_empty());
    daemon.signal(libc::SIGKILL);
    daemon.wait();
    until("the guardian's work", || (a.affinity() == own && b.affinity() == own).then_some(()));
    until("the child's own affinity", || (scafd::observe::affinity(child).unwrap() == own).then_some(()));
    until("the guardian's end", || guardian.iter().all(|pid| !alive(*pid)).then_some(()));
    kill(child, libc::SIGKILL);
    let next = Daemon::command(&daemon.socket, &["--policy", "equi"]).spawn().unwrap();
    daemon.child = next;
    until("a new daemon", || connect(&daemon.socket));
}

#[test]
fn a_narrow_programs_child_that_does_not_attach_is_set_free() {
    let daemon = Daemon::on_two_pus();
    needs!(two_pus().len() == 2, "two PUs");
    let own = scafd::observe::affinity(0).unwrap();
    let mut a = Client::attach(&daemon, 2);
    let _b = Client::attach(&daemon, 2);
    until("one PU", || (a.affinity().len() == 1).then_some(()));
    let child: u32 = a.tell("spawn").parse().unwrap();
    until("the child's own affinity", || (scafd::observe::affinity(child).unwrap() == own).then_some(()));
    kill(child, libc::SIGKILL);
}

#[test]
fn sigterm_leaves_nothing_behind() {
    let mut daemon = Daemon::start(&["--policy", "equi"]);
    let mut a = Client::attach(&daemon, 2);
    let children = daemon.children();
    daemon.signal(libc::SIGTERM);
    assert!(daemon.wait().success());
    assert_eq!(a.dop(), None);
    assert_eq!(std::fs::read_dir(daemon.dir.path()).unwrap().count(), 0);
    assert!(children.iter().all(|pid| !alive(*pid)));
}

#[test]
fn a_second_daemon_is_refused_with_the_firsts_pid() {
    let daemon = Daemon::pretending(2);
    let mut second = Daemon::command(&daemon.socket, &["--dry-run", "--policy", "equi"]).spawn().unwrap();
    let status = until("the second one's end", || second.try_wait().unwrap());
    assert_eq!(status.code(), Some(1));
    let text = stderr(&mut second);
    assert!(text.contains(&format!("already running (pid {})", daemon.pid())), "{text}");
    assert_eq!(daemon.snapshot().pid, daemon.pid());
    // Who could open the lock could keep the next daemon from having it.
    let lock = daemon.socket.with_extension("lock").metadata().unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&lock) & 0o777, 0o600);
}

/// A process that was just born has its parent's lock for a moment, also where that is killed meanwhile.
#[test]
fn a_lock_that_outlives_its_daemon_is_waited_for() {
    let mut held = None;
    let daemon = Daemon::start_in(&["--dry-run", "--policy", "equi"], |_, folder| {
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let lock = folder.join("scafd.lock");
        std::fs::write(&lock, format!("{}\n", ended.id())).unwrap();
        let lock = std::fs::File::open(&lock).unwrap();
        lock.lock().unwrap();
        held = Some(std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            drop(lock);
        }));
    });
    held.unwrap().join().unwrap();
    assert_eq!(daemon.snapshot().pid, daemon.pid());
}

#[test]
fn garbage_is_answered_by_closing_the_connection() {
    let daemon = Daemon::pretending(2);
    let mut a = Client::attach(&daemon, 2);
    let huge = vec![b'x'; 10_000];
    for garbage in [&b"\0"[..], b"SCAF", &huge, b"GET / HTTP/1.1\r\n\r\n"] {
        let socket = connect(&daemon.socket).unwrap();
        rustix::net::send(&socket, garbage, rustix::net::SendFlags::NOSIGNAL).unwrap();
        let (welcome, n, fds) = support::client::receive(&socket);
        assert!(welcome.is_none() && n == 0 && fds.is_empty());
    }
    assert_eq!(a.dop(), Some(2));
}

#[test]
fn values_out_of_range_are_refused() {
    let daemon = Daemon::pretending(2);
    let socket = connect(&daemon.socket).unwrap();
    let hello = support::client::hello(0);
    rustix::net::send(&socket, hello.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
    assert_eq!(support::client::receive(&socket).1, 0);
}

#[test]
fn another_version_is_told_ours_and_gets_no_pages() {
    let daemon = Daemon::pretending(2);
    let socket = connect(&daemon.socket).unwrap();
    let hello = scaf_proto::hello::Hello { version: 99, ..support::client::hello(2) };
    rustix::net::send(&socket, hello.as_bytes(), rustix::net::SendFlags::NOSIGNAL).unwrap();
    let (welcome, n, fds) = support::client::receive(&socket);
    assert!(welcome.is_none() && n == size_of::<scaf_proto::hello::Welcome>() && fds.is_empty());
    assert!(daemon.snapshot().programs.is_empty());
}

#[test]
fn a_garbled_report_page_harms_nobody() {
    let daemon = Daemon::pretending(4);
    let mut bad = Client::attach(&daemon, 4);
    let mut good = Client::attach(&daemon, 4);
    good.tell("enter 1");
    let mut decisions = daemon.snapshot().decisions;
    for byte in [255, 127, 1, 254, 0] {
        bad.tell(&format!("garble {byte}"));
        decisions = until("a few ticks", || {
            let now = daemon.snapshot().decisions;
            (now > decisions + 2).then_some(now)
        });
        for program in daemon.snapshot().programs {
            assert!(program.efficiency.is_none_or(|e| e > 0.0 && e <= 1.0), "{program:?}");
            assert!(program.dop.is_some_and(|dop| (1..=4).contains(&dop)), "{program:?}");
        }
    }
    assert!(good.dop() >= Some(2));
}

#[test]
fn a_client_can_change_neither_its_grant_nor_the_pages_size() {
    let daemon = Daemon::pretending(2);
    assert_eq!(Client::attach(&daemon, 2).tell("overwrite"), "false");
}

#[test]
fn the_verdict_about_a_program_comes_with_its_grant() {
    let daemon = Daemon::pretending(2);
    let mut a = Client::attach(&daemon, 2);
    until("a verdict", || {
        let program = daemon.program(a.pid()).unwrap();
        (!program.mechanism_reason.contains("being inspected")).then_some(())
    });
    let program = daemon.program(a.pid()).unwrap();
    let resizable = a.tell("resizable");
    assert_eq!(resizable == "1", program.mechanism == Mechanism::Resize, "{program:?}");
    if resizable == "1" {
        a.tell("more 3");
        until("another verdict", || (a.tell("resizable") == "3").then_some(()));
    }
}

#[test]
fn a_running_team_is_seen_and_a_larger_one_is_folded() {
    let daemon = Daemon::pretending(4);
    let mut a = Client::attach(&daemon, 4);
    let _b = Client::attach(&daemon, 4);
    a.tell("enter 4");
    let program = until("its team", || daemon.program(a.pid()).filter(|p| p.in_region));
    assert_eq!((program.team, program.dop, program.mechanism), (4, Some(2), Mechanism::Fold));
    a.tell("leave 4");
    until("its end", || daemon.program(a.pid()).filter(|p| !p.in_region && p.regions == 1));
}

#[test]
fn a_program_that_binds_its_threads_has_its_share_as_any_other() {
    let daemon = Daemon::pretending(4);
    let mut a = Client::with(&daemon, &[("NATURAL", "4"), ("FLAGS", "1")]);
    assert_eq!(a.dop(), Some(4));
    assert_ne!(daemon.program(a.pid()).unwrap().mechanism, Mechanism::Unmanaged);
    let mut b = Client::attach(&daemon, 4);
    assert_eq!(b.dop(), Some(2));
    a.wait_for_dop(Some(2));
}

#[test]
fn the_users_maximum_is_kept() {
    let daemon = Daemon::pretending(8);
    assert_eq!(Client::with(&daemon, &[("NATURAL", "8"), ("MAX", "3")]).dop(), Some(3));
}

#[test]
fn the_policy_can_be_changed_and_unknown_ones_are_answered_with_the_known() {
    let daemon = Daemon::pretending(4);
    let mut a = Client::attach(&daemon, 4);
    assert_eq!(a.dop(), Some(4));
    let reply = daemon.ask(&Request::SetPolicy("unmanaged".into()));
    assert_eq!(reply, Reply::Policy("unmanaged".into()));
    a.wait_for_dop(None);
    let Reply::Error(why) = daemon.ask(&Request::SetPolicy("best".into())) else { panic!("no error") };
    assert!(why.contains("equi"), "{why}");
    let Reply::Error(why) = daemon.ask_raw(b"{\"nonsense\": 1}") else { panic!("no error") };
    assert!(why.contains("not understood"), "{why}");
    assert_eq!(daemon.snapshot().policy, "unmanaged");
}

#[test]
fn a_stopped_client_holds_nobody_up() {
    let daemon = Daemon::pretending(4);
    let stopped = Client::attach(&daemon, 4);
    kill(stopped.pid(), libc::SIGSTOP);
    let mut a = Client::attach(&daemon, 4);
    assert_eq!(a.dop(), Some(2));
    kill(stopped.pid(), libc::SIGCONT);
}

#[test]
fn more_programs_than_contexts_get_one_each() {
    let daemon = Daemon::pretending(2);
    let mut clients: Vec<Client> = (0..5).map(|_| Client::attach(&daemon, 2)).collect();
    assert!(clients.iter_mut().all(|client| client.dop() == Some(1)));
    assert_eq!(daemon.snapshot().programs.len(), 5);
}

#[test]
fn who_has_all_programs_that_he_may_have_can_still_look_at_them_and_the_last_ones_are_for_regions() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scafd.toml");
    std::fs::write(&file, "max_clients_per_uid = 3\npolicy = 'equi'\n").unwrap();
    let daemon = Daemon::start(&["--dry-run", "--config", file.to_str().unwrap()]);
    let is_refused = |flags| {
        let more = connect(&daemon.socket).unwrap();
        let hello = Hello { flags, ..support::client::hello(2) };
        rustix::io::write(&more, hello.as_bytes()).unwrap();
        let (welcome, bytes, _) = support::client::receive(&more);
        assert!(bytes > 0, "{welcome:?}");
        welcome.is_none_or(|welcome| welcome.program == 0)
    };
    let mut held: Vec<Client> = (0..2).map(|_| Client::attach(&daemon, 2)).collect();
    // It may never have a region: the last one is for somebody who has.
    assert!(is_refused(FLAG_STARTING));
    held.push(Client::attach(&daemon, 2));
    assert!(held[2].dop().is_some() && is_refused(0));
    assert_eq!(daemon.snapshot().programs.len(), 3);
    let looking: Vec<_> = (0..40).filter_map(|_| connect(&daemon.socket)).collect();
    assert_eq!(looking.len(), 40);
    until("the last one to be turned away", || {
        let more = connect(&daemon.socket)?;
        (support::client::receive(&more).1 == 0).then_some(())
    });
}

#[test]
fn a_session_without_clients_ends() {
    let mut daemon = Daemon::start(&["--policy", "equi", "--idle-exit", "1"]);
    assert!(daemon.wait().success());
    assert_eq!(std::fs::read_dir(daemon.dir.path()).unwrap().count(), 0);
}

#[test]
fn a_session_ends_though_a_program_never_read_its_welcome() {
    let mut daemon = Daemon::start(&["--policy", "equi", "--idle-exit", "1"]);
    let attach = || {
        let program = connect(&daemon.socket).unwrap();
        rustix::io::write(&program, support::client::hello(2).as_bytes()).unwrap();
        until("it is a program", || daemon.program(std::process::id()));
        program
    };
    // The newer one is meant: the older one is detached.
    let (older, newer) = (attach(), attach());
    support::client::receive(&newer);
    drop(newer);
    until("no program", || daemon.snapshot().programs.is_empty().then_some(()));
    std::thread::sleep(Duration::from_secs(2));
    assert!(alive(daemon.child.id()), "it ended with a client");
    drop(older);
    assert!(daemon.wait().success());
}

#[test]
fn a_wrong_configuration_is_refused_with_file_and_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("scafd.toml");
    std::fs::write(&file, "# mine\nspeed = 9\n").unwrap();
    let mut child =
        Daemon::command(&dir.path().join("s.sock"), &["--config", file.to_str().unwrap()]).spawn().unwrap();
    assert_eq!(until("its end", || child.try_wait().unwrap()).code(), Some(1));
    let text = stderr(&mut child);
    assert!(text.contains(&format!("{}:2: ", file.display())), "{text}");
}

#[test]
fn users_ask_for_their_profiles_and_who_keeps_none_says_so() {
    let daemon = Daemon::on_two_pus();
    assert_eq!(daemon.ask(&Request::Profiles), Reply::Profiles(vec![]));
    assert_eq!(daemon.ask(&Request::Profile(7)), Reply::Profile(None));
    assert_eq!(daemon.ask(&Request::Forget(7)), Reply::Forgotten(0));
    assert_eq!(daemon.ask(&Request::ForgetAll), Reply::Forgotten(0));
    let pretending = Daemon::pretending(4);
    assert!(matches!(pretending.ask(&Request::Profiles), Reply::Error(why) if why.contains("--dry-run")));
}

/// From here on the process's calls of that number fail.
unsafe fn refuse_call(number: libc::c_long) -> std::io::Result<()> {
    let is = |code: u32, k: u32, jf: u8| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut program = [
        is(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        is(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number as u32, 1),
        is(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0),
        is(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: two system calls on memory of ours.
    let set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    if set { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[test]
fn where_the_system_keeps_affinities_from_it_it_ends_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Daemon::command(&dir.path().join("scafd.sock"), &[]);
    // SAFETY: between fork and exec only system calls are made.
    unsafe { command.pre_exec(|| refuse_call(libc::SYS_sched_getaffinity)) };
    let mut daemon = command.spawn().unwrap();
    let status = until("its end", || daemon.try_wait().unwrap());
    let text = stderr(&mut daemon);
    assert!(!status.success() && text.contains("sched_getaffinity"), "{status}: {text}");
}
