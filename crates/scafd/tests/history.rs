//! The history of the last minutes, and changes of limits, over the socket.

#[macro_use]
mod support;

use rustix::net::{SendFlags, send};
use scafd::control::{History, LimitValues, Others, Reply, Request, Snapshot};
use std::time::{Duration, Instant};
use support::{Client, Daemon, connect_as, is_root, until};

const ONE: u32 = 65_533;
const OTHER: u32 = 65_534;

/// No test: what the programs of the tests run.
#[test]
fn a_client_process() {
    support::client::main();
}

fn history(reply: Reply) -> History {
    match reply {
        Reply::History(history) => *history,
        other => panic!("{other:?}"),
    }
}

fn ask_as(uid: u32, daemon: &Daemon, request: &Request) -> Reply {
    let socket = connect_as(uid, &daemon.socket).expect("no connection");
    send(&socket, &serde_json::to_vec(request).unwrap(), SendFlags::NOSIGNAL).unwrap();
    Daemon::take(&socket)
}

/// Asks by `ask` for what is new, and takes it in.
fn follow(known: &mut Option<Snapshot>, mut ask: impl FnMut(&Request) -> Reply) -> Vec<Snapshot> {
    let mut seen = Vec::new();
    loop {
        let answer = history(ask(&Request::History(known.as_ref().map_or(0, |it| it.moment))));
        if let Some(base) = answer.base {
            *known = Some(*base);
            seen.extend(known.clone());
        }
        let known = known.as_mut().expect("no base");
        for frame in &answer.frames {
            known.advance(frame);
            seen.push(known.clone());
        }
        if known.moment == answer.latest {
            return seen;
        }
    }
}

#[test]
fn who_comes_and_goes_is_seen_within_a_third_of_a_second_and_later() {
    let daemon = Daemon::pretending(8);
    let mut known = None;
    follow(&mut known, |request| daemon.ask(request));
    let mut delays = Vec::new();
    for _ in 0..5 {
        let client = Client::attach(&daemon, 8);
        let came = Instant::now();
        until("its arrival", || {
            follow(&mut known, |request| daemon.ask(request));
            known.as_ref().is_some_and(|now| now.programs.len() == 1).then_some(())
        });
        delays.push(came.elapsed());
        assert_eq!(known.as_ref().unwrap().programs[0].dop, Some(8));
        drop(client);
        until("its departure", || {
            follow(&mut known, |request| daemon.ask(request));
            known.as_ref().is_some_and(|now| now.programs.is_empty()).then_some(())
        });
    }
    // Others may use the machine just now.
    let best = delays.iter().min().unwrap();
    assert!(*best < Duration::from_millis(300), "{delays:?}");
    let mut anew = None;
    let all = follow(&mut anew, |request| daemon.ask(request));
    let arrivals = all.windows(2).filter(|two| two[0].programs.len() < two[1].programs.len()).count();
    assert_eq!(arrivals, 5);
    assert!(all.windows(2).all(|two| two[0].now_ns < two[1].now_ns));
    assert!(all.last().unwrap().decision_ns > 0);
}

#[test]
fn moments_are_kept_four_times_a_second_while_there_are_programs() {
    let daemon = Daemon::pretending(8);
    let _client = Client::attach(&daemon, 8);
    std::thread::sleep(Duration::from_secs(2));
    let answer = history(daemon.ask(&Request::History(0)));
    let [first, .., last] = &answer.frames[..] else { panic!("{answer:?}") };
    let each_s = (last.now_ns - first.now_ns) as f64 * 1e-9 / (answer.frames.len() - 1) as f64;
    // The first ones may be of its arrival.
    assert!((0.2..1.0).contains(&each_s) || answer.frames.len() < 7, "{each_s} s");
}

#[test]
fn the_machine_is_told_and_the_policy_is_part_of_what_was() {
    let daemon = Daemon::pretending(6);
    let Reply::Machine(machine) = daemon.ask(&Request::Machine) else { panic!("no machine") };
    assert_eq!(machine.pus.len(), 6);
    let mut known = None;
    follow(&mut known, |request| daemon.ask(request));
    let _client = Client::attach(&daemon, 6);
    daemon.ask(&Request::SetPolicy("curve".into()));
    until("the other policy", || {
        follow(&mut known, |request| daemon.ask(request));
        known.as_ref().is_some_and(|now| now.policy == "curve").then_some(())
    });
}

#[test]
fn each_user_is_told_the_past_of_the_own_programs_and_how_many_others_there_were() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let [one, other] =
        [ONE, OTHER].map(|uid| Client::with(&daemon, &[("NATURAL", "4"), ("UID", &uid.to_string())]));
    let strange = format!("\"pid\":{}", other.pid());
    until("both", || {
        let seen = follow(&mut None, |request| daemon.ask(request));
        seen.last().is_some_and(|now| now.programs.len() == 2).then_some(())
    });
    drop(other);
    let alone = Others::default();
    let mut seen = Vec::new();
    until("the other's departure", || {
        seen = follow(&mut None, |request| ask_as(ONE, &daemon, request));
        seen.last().is_some_and(|now| now.others == alone && now.programs.len() == 1).then_some(())
    });
    assert!(seen.iter().any(|then| then.others.programs == 1 && then.programs.len() == 1));
    assert!(seen.iter().flat_map(|then| &then.programs).all(|it| it.uid == ONE && it.pid == one.pid()));
    let text = serde_json::to_string(&ask_as(ONE, &daemon, &Request::History(0))).unwrap();
    assert!(!text.contains(&format!("\"uid\":{OTHER}")) && !text.contains(&strange), "{text}");
    let all = follow(&mut None, |request| daemon.ask(request));
    assert!(all.iter().any(|then| then.programs.len() == 2));
}

#[test]
fn limits_are_changed_by_the_programs_user_and_by_root_and_nobody_else() {
    needs!(is_root(), "root, to be other users");
    let daemon = Daemon::for_all(8);
    let mut client = Client::with(&daemon, &[("NATURAL", "8"), ("UID", &ONE.to_string())]);
    client.wait_for_dop(Some(8));
    let id = daemon.program(client.pid()).unwrap().id;
    let most = |max| Request::SetLimitsOf(id, LimitValues { max: Some(max), ..LimitValues::default() });
    let strangers = ask_as(OTHER, &daemon, &most(1));
    assert!(matches!(&strangers, Reply::Error(why) if why.contains("no managed program")), "{strangers:?}");
    assert!(matches!(ask_as(ONE, &daemon, &most(3)), Reply::Limits(LimitValues { max: Some(3), .. })));
    client.wait_for_dop(Some(3));
    let heavy = Request::SetLimitsOf(id, LimitValues { weight: Some(9.0), ..LimitValues::default() });
    assert!(matches!(ask_as(ONE, &daemon, &heavy), Reply::Limits(LimitValues { weight: Some(1.0), .. })));
    assert!(matches!(daemon.ask(&heavy), Reply::Limits(LimitValues { weight: Some(9.0), .. })));
    assert!(matches!(daemon.ask(&most(70_000)), Reply::Error(_)));
}

/// Not a test but a measurement, of a release build: what 240 programs and a viewer of them cost the
/// daemon, which takes 256 connections of a user.
#[test]
#[ignore = "takes half a minute and prints numbers"]
fn what_keeping_and_telling_costs() {
    let daemon = Daemon::start(&["--dry-run", "--topology", "package:4 core:128 pu:2", "--policy", "equi"]);
    let mut clients: Vec<Client> = (0..240).map(|_| Client::attach(&daemon, 64)).collect();
    for client in &mut clients {
        client.tell("enter 4");
    }
    let cpu_s = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", daemon.pid())).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split_whitespace().collect();
        let ticks = fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap();
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64
    };
    let share = |mut watch: Option<&mut Option<Snapshot>>| {
        let (began, before) = (Instant::now(), cpu_s());
        while began.elapsed() < Duration::from_secs(10) {
            if let Some(known) = &mut watch {
                follow(known, |request| daemon.ask(request));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        (cpu_s() - before) / began.elapsed().as_secs_f64() * 100.0
    };
    std::thread::sleep(Duration::from_secs(3));
    let alone = share(None);
    let mut known = None;
    follow(&mut known, |request| daemon.ask(request));
    let watched = share(Some(&mut known));
    eprintln!("{alone:.2}% of a core without viewers, {watched:.2}% with one");
}
