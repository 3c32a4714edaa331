//! `scaf web` beside a daemon that is made up: what it serves, to whom, and what can't harm it.

#[path = "../fake/mod.rs"]
mod fake;

mod browser;
mod http;
mod served;
#[path = "../../../../tests/skip.rs"]
mod skip;
mod story;

use fake::Fake;
use http::{Events, PATIENCE, connect, exchange, get};
use served::{Served, command};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn served(programs: u32) -> (Fake, Served) {
    let fake = Fake::start(programs);
    let web = Served::start(&fake.folder.path().join("s"), &[]);
    (fake, web)
}

fn events(web: &Served, lines: &str) -> Events {
    Events::ask(web.port, &format!("Authorization: Bearer {}\r\n{lines}", web.token))
}

#[test]
fn the_printed_address_opens_the_page_and_nothing_else_does() {
    let (_fake, web) = served(3);
    let link = get(web.port, &format!("/?token={}", web.token), &[]);
    // No cookie: a browser would send it to other users' servers on this machine as well.
    assert_eq!((link.status, link.header("set-cookie")), (303, None));
    let secret = link.header("location").unwrap().trim_end_matches('/').to_owned();
    assert!(secret.len() > 30 && !secret.contains(&web.token), "{secret}");
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/uplot.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/metrics", "text/plain"),
    ] {
        let reply = get(web.port, &format!("{secret}{path}"), &[]);
        assert_eq!(reply.status, 200, "{path}");
        assert!(reply.header("content-type").unwrap().starts_with(kind), "{path}: {}", reply.head);
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        let stranger = get(web.port, path, &[]);
        assert_eq!((stranger.status, stranger.body.contains("made-up")), (401, false), "{path}");
    }
    assert_eq!(get(web.port, &format!("{secret}/nothing"), &[]).status, 404);
    let elsewhere = format!("GET {secret}/ HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    assert_eq!(exchange(&mut connect(web.port).unwrap(), elsewhere.as_bytes()).unwrap().status, 421);
    let change = format!("POST {secret}/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(exchange(&mut connect(web.port).unwrap(), change.as_bytes()).unwrap().status, 405);
    web.end();
}

#[test]
fn events_tell_all_there_was_and_what_comes() {
    let (fake, web) = served(3);
    let mut first = events(&web, "");
    first.until("event: moments");
    assert!(first.all.contains("event: hello\ndata: {\"host\":"), "{}", &first.all[..200]);
    first.until("made-up-3");
    fake.programs.store(4, Ordering::Relaxed);
    first.until("\"arrived\":[{\"id\":4,");
    // Who comes again goes on from there.
    let id = first.all.rsplit("id: ").next().and_then(|it| it.lines().next()).unwrap().to_owned();
    drop(first);
    let mut again = events(&web, &format!("Last-Event-ID: {id}\r\n"));
    again.until("event: moments");
    assert!(!again.all.contains("\"base\":{"), "{}", again.all);
    // What the daemon's end is, is told too, and that there is one again.
    drop(fake);
    again.until("event: lost\ndata: \"");
    let text = web.get("/metrics", &[]).body;
    assert!(text.contains("scaf_daemon_up 0.0\n") && !text.contains("scaf_program_contexts{"), "{text}");
}

#[test]
fn metrics_are_such_as_prometheus_wants() {
    let (_fake, web) = served(3);
    let open = web.get("/metrics", &["Accept: application/openmetrics-text;version=1.0.0,*/*;q=0.1"]);
    assert!(open.header("content-type").unwrap().starts_with("application/openmetrics-text"));
    assert!(open.body.ends_with("# EOF\n"), "{}", open.body);
    let text = web.get("/metrics", &[]).body;
    assert!(text.contains("\nscaf_program_contexts{program=\"made-up-2\"} 4.0\n"), "{text}");
    promtool(&["check", "metrics"], &text);
}

/// What it has to complain about is an error.
fn promtool(words: &[&str], input: &str) {
    let started = Command::new("promtool")
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut tool) = started else {
        skip::skipped("promtool");
        return;
    };
    tool.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = tool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}\n{input}");
}

fn packaging(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name)
}

#[test]
fn alerts_are_raised_when_they_should_be() {
    let file = |name: &str| packaging(name).display().to_string();
    for words in [["check", "rules"], ["test", "rules"]] {
        let name = if words[0] == "check" { "prometheus/alerts.yml" } else { "prometheus/alerts_test.yml" };
        promtool(&[words[0], words[1], &file(name)], "");
    }
}

#[test]
fn alerts_and_the_dashboard_name_only_metrics_that_there_are() {
    let documented = include_str!("../../../../docs/guide/metrics.md");
    let mut named = 0;
    for file in ["prometheus/alerts.yml", "grafana/scaf.json"] {
        let text = std::fs::read_to_string(packaging(file)).unwrap();
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        for word in words.filter(|word| word.starts_with("scaf_")) {
            let there =
                [format!("| `{word}`"), format!("| `{word}{{")].iter().any(|it| documented.contains(it));
            assert!(there, "{word} of {file}");
            named += 1;
        }
    }
    assert!(named > 20);
    let text = std::fs::read_to_string(packaging("grafana/scaf.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(board["panels"].as_array().unwrap().len() > 10);
}

#[test]
fn of_many_programs_there_are_only_so_many_series() {
    let fake = Fake::start(200);
    let web = Served::start(&fake.folder.path().join("s"), &["--programs=10"]);
    let text = web.get("/metrics", &[]).body;
    let series = text.lines().filter(|line| line.starts_with("scaf_program_contexts{")).count();
    assert_eq!(series, 11, "{text}");
    assert!(text.contains("scaf_program_contexts{program=\"(other)\"} 760.0\n"), "{text}");
}

#[test]
fn a_textfile_is_written_again_and_again_and_gone_at_the_end() {
    let fake = Fake::start(2);
    let file = fake.folder.path().join("scaf.prom");
    let name = file.display().to_string();
    let mut child =
        command(&fake.folder.path().join("s"), &["--textfile", &name, "--every=0.2"]).spawn().unwrap();
    let inode = || file.metadata().ok().map(|it| it.ino());
    let start = Instant::now();
    let mut seen = Vec::new();
    while seen.len() < 3 {
        assert!(start.elapsed() < PATIENCE, "{seen:?}");
        if let Some(now) = inode().filter(|now| seen.last() != Some(now)) {
            // Always a whole one, and soon one of a daemon that was slow to answer.
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.starts_with("# HELP scaf_daemon_up ") && text.ends_with('\n'), "{text}");
            if text.contains("scaf_daemon_up 1.0\n") && text.contains("made-up-2") {
                seen.push(now);
            }
        }
    }
    // SAFETY: a plain system call.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    assert!(child.wait().unwrap().success());
    let left: Vec<_> =
        std::fs::read_dir(fake.folder.path()).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["s"]);
}

#[test]
fn a_unix_socket_is_its_owners_alone() {
    let fake = Fake::start(2);
    let path = fake.folder.path().join("web.sock");
    let web = Served::start(&fake.folder.path().join("s"), &["--socket", path.to_str().unwrap()]);
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(web.address, path.display().to_string());
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let reply = exchange(&mut stream, b"GET /metrics HTTP/1.1\r\nHost: any\r\n\r\n").unwrap();
    assert!(reply.status == 200 && reply.body.contains("made-up-1"), "{reply:?}");
    // Another one can't take its place, but can once it has gone, however that was.
    let second =
        command(&fake.folder.path().join("s"), &["--socket", path.to_str().unwrap()]).output().unwrap();
    assert!(!second.status.success());
    if skip::has(rustix::process::geteuid().is_root(), "root, for a part: another user connects") {
        std::fs::set_permissions(fake.folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        let connect = format!("import socket; socket.socket(socket.AF_UNIX).connect('{}')", path.display());
        let stranger =
            Command::new("python3").args(["-c", &connect]).uid(65_534).gid(65_534).output().unwrap();
        assert!(String::from_utf8_lossy(&stranger.stderr).contains("PermissionError"), "{stranger:?}");
    }
    drop(web);
    assert!(path.exists());
    let third = Served::start(&fake.folder.path().join("s"), &["--socket", path.to_str().unwrap()]);
    third.end();
    assert!(!path.exists());
}

#[test]
fn a_wrong_token_file_and_a_taken_port_are_told_of() {
    let (fake, web) = served(1);
    let said = |arguments: &[&str]| {
        let output = command(&fake.folder.path().join("s"), arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&[&format!("--port={}", web.port)]).contains("try another --port"));
    let file = fake.folder.path().join("token");
    std::fs::write(&file, "0123456789abcdef0123456789abcdef\n").unwrap();
    assert!(said(&["--port=0", "--token-file", file.to_str().unwrap()]).contains("all users may read"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let own = Served::start(&fake.folder.path().join("s"), &["--token-file", file.to_str().unwrap()]);
    assert_eq!(own.token, "0123456789abcdef0123456789abcdef");
    if skip::has(rustix::process::geteuid().is_root(), "root, for a part: another user wrote the file") {
        std::os::unix::fs::chown(&file, Some(65_534), None).unwrap();
        let said = said(&["--port=0", "--token-file", file.to_str().unwrap()]);
        assert!(said.contains("user 65534 owns this file") && said.contains("remove it"), "{said}");
    }
}

/// A number that looks random, and the next one.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// Something that isn't a request, or isn't one to be liked.
fn hostile(dice: &mut Dice, token: &str) -> Vec<u8> {
    let long = "a".repeat(dice.below(40_000));
    let lines = "x: y\r\n".repeat(dice.below(500));
    let path = [
        "/",
        "/metrics",
        "/events",
        "/what-if?decision=99999999999999999999",
        "/../../etc/passwd",
        "*",
        "http://evil.example/",
        "/%00%ff",
        "//",
    ][dice.below(9)];
    let mut request = match dice.below(9) {
        0 => format!("GET {path}{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        1 => format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n"),
        2 => {
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 18446744073709551616\r\n\r\n")
        }
        3 => format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n"
        ),
        4 => format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {long}\r\n\r\n"),
        5 => format!("GET {path} HTTP/0.9\r\nHost: \u{7f}\0\r\n\r\n"),
        6 => format!("GET {path} HTTP/1.1\nHost: localhost\n folded: {long}\n\n"),
        7 => format!("CONNECT {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"),
        _ => format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n")
            .repeat(20),
    }
    .into_bytes();
    for _ in 0..dice.below(4) {
        let at = dice.below(request.len());
        request[at] = dice.below(256) as u8;
    }
    request.truncate(request.len() - dice.below(1 + request.len() / 4));
    request
}

#[test]
fn hostile_requests_do_no_harm_and_leave_nothing() {
    let number: usize = std::env::var("SCAF_REQUESTS").ok().and_then(|it| it.parse().ok()).unwrap_or(600);
    let (_fake, web) = served(3);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut throw = |number: usize| {
        for at in 0..number {
            let mut stream = connect(web.port).unwrap();
            _ = stream.write_all(&hostile(&mut dice, &web.token));
            // Some stay for a while; some want to hear it.
            if at % 3 == 0 {
                _ = stream.set_read_timeout(Some(Duration::from_millis(5)));
                _ = stream.read(&mut [0; 512]);
            }
        }
        let start = Instant::now();
        while web.descriptors() > 20 {
            assert!(start.elapsed() < PATIENCE, "{} descriptors", web.descriptors());
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    throw(200);
    let before = web.rss_kb();
    throw(number);
    let grown = web.rss_kb().saturating_sub(before);
    eprintln!("{number} hostile requests: {grown} KB more than {before} KB");
    assert_eq!(web.get("/metrics", &[]).status, 200);
    // What the made-up daemon tells in the meantime grows, too: 3 programs' moments for a minute or so.
    assert!(grown < 6_000, "{grown} KB");
    web.end();
}

#[test]
fn a_thousand_connections_keep_nobody_out() {
    let (_fake, web) = served(3);
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum.map(|most| most.min(4_096)).or(Some(4_096));
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let mut open: Vec<TcpStream> = Vec::new();
    for at in 0..1_000 {
        let mut stream = connect(web.port).unwrap();
        // Half of them begin to say something.
        if at % 2 == 0 {
            stream.write_all(b"GET / HT").unwrap();
        }
        open.push(stream);
    }
    let start = Instant::now();
    assert_eq!(web.get("/metrics", &[]).status, 200);
    eprintln!("beside 1,000 connections: {:?}, {} KB", start.elapsed(), web.rss_kb());
    // All of them are closed before long.
    for stream in &mut open {
        let start = Instant::now();
        while stream.read(&mut [0; 512]).is_ok_and(|length| length > 0) {
            assert!(start.elapsed() < PATIENCE);
        }
    }
    web.end();
}

/// A connection from that address of this machine.
fn connect_from(address: [u8; 4], port: u16) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        socket.connect(([127, 0, 0, 1], port).into()).await.unwrap().into_std().unwrap()
    });
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

#[test]
fn of_those_without_the_token_the_oldest_gives_way_and_no_one_with_it() {
    let (fake, web) = served(3);
    let mut page = events(&web, "");
    page.until("event: moments");
    let before = web.descriptors();
    let mut other = connect_from([127, 0, 0, 9], web.port);
    // Some say nothing, some begin to, and none comes to an end.
    let mut strangers: Vec<TcpStream> = Vec::new();
    for at in 0..300 {
        let mut stream = connect(web.port).unwrap();
        if at % 2 == 0 {
            _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n");
        }
        strangers.push(stream);
        if at % 30 == 0 {
            assert_eq!(web.get("/metrics", &[]).status, 200);
        }
    }
    // The oldest ones are closed at once, long before they are late; the latest aren't.
    let start = Instant::now();
    while web.descriptors() > before + 80 {
        assert!(start.elapsed() < Duration::from_secs(5), "{} descriptors", web.descriptors());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!strangers[0].read(&mut [0; 64]).is_ok_and(|length| length > 0));
    // Who comes from another address isn't in it, and has an answer.
    let reply = exchange(&mut other, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(reply.status, 401);
    // Nor is the page in it, though it was open before them all.
    fake.programs.store(4, Ordering::Relaxed);
    page.until("\"arrived\":[{\"id\":4,");
    web.end();
}

/// A user who opens connections as fast as can be keeps no page from being shown.
#[test]
fn a_flood_of_connections_keeps_nobody_out() {
    let (_fake, web) = served(3);
    let (port, ends) = (web.port, std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let flood = || {
        let ends = std::sync::Arc::clone(&ends);
        std::thread::spawn(move || {
            let (mut kept, mut number) = (std::collections::VecDeque::new(), 0u64);
            while !ends.load(Ordering::Relaxed) {
                number += 1;
                kept.extend(connect(port));
                if kept.len() > 100 {
                    kept.pop_front();
                }
            }
            number
        })
    };
    let floods: Vec<_> = (0..4).map(|_| flood()).collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..50 {
        let start = Instant::now();
        assert_eq!(web.get("/metrics", &[]).status, 200);
        slowest = slowest.max(start.elapsed());
    }
    ends.store(true, Ordering::Relaxed);
    let number: u64 = floods.into_iter().map(|flood| flood.join().unwrap()).sum();
    eprintln!("beside {number} connections: {slowest:?} at most");
    web.end();
}

#[test]
fn who_does_not_read_is_let_go() {
    let (fake, web) = served(256);
    let before = web.descriptors();
    let stream = events(&web, "");
    assert!(web.descriptors() > before);
    let start = Instant::now();
    while web.descriptors() > before {
        assert!(start.elapsed() < 2 * PATIENCE, "still there");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop((stream, fake));
    web.end();
}
