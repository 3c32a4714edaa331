//! `scaf web` beside the real daemon, and a real Prometheus that asks two of them.

#[path = "../../crates/scaf/tests/web/http.rs"]
mod http;

use crate::support::{Setup, released, root, root_user, wait_for};
use http::Events;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

struct Web {
    child: Child,
    port: u16,
    token: String,
}

impl Web {
    fn start(setup: &Setup, socket: &Path, change: impl FnOnce(&mut Command)) -> Web {
        let mut command = setup.command(&released("scaf"));
        command.args(["web", "--port=0"]).env("SCAF_SOCKET", socket).stdout(Stdio::piped());
        change(&mut command);
        let mut child = command.spawn().expect("scaf web");
        let mut address = String::new();
        let mut said = BufReader::new(child.stdout.take().expect("its output"));
        said.read_line(&mut address).expect("its address");
        let (before, token) = address.trim().split_once("/?token=").expect("a token");
        let port = before.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        Web { child, port, token: token.to_owned() }
    }

    fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    fn get(&self, path: &str) -> String {
        let reply = http::get(self.port, path, &[&self.bearer()]);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn who_comes_is_shown_at_once_with_what_he_has_and_what_others_would_decide() {
    let setup = Setup::new("equi");
    let web = Web::start(&setup, &setup.socket(), |_| {});
    let mut events = Events::ask(web.port, &format!("{}\r\n", web.bearer()));
    events.until("event: moments");
    let first = setup.program("loops").option("--name", "newcomer").threads(2).start();
    events.until("\"name\":\"newcomer\"");
    first.until("a grant", |program| program.dop == Some(2));
    let second = setup.program("loops").option("--name", "second").threads(2).start();
    second.until("a grant", |program| program.dop == Some(1));
    events.until("\"name\":\"second\"");
    let metrics = web.get("/metrics");
    for line in [
        "scaf_daemon_up 1.0",
        "scaf_program_contexts{program=\"newcomer\"} 1.0",
        "scaf_program_contexts{program=\"second\"} 1.0",
        "scaf_granted_contexts 2.0",
        "scaf_arrivals_total 2.0",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
    let what_if: serde_json::Value = serde_json::from_str(&web.get("/what-if")).expect("JSON");
    let equi = what_if["answers"].as_array().expect("answers").iter().find(|it| it["policy"] == "equi");
    assert_eq!(equi.expect("equi")["contexts"], what_if["given"]["contexts"], "{what_if:#}");
    first.finish().well();
    second.finish().well();
    let departures = |web: &Web| web.get("/metrics").contains("scaf_departures_total 2.0\n");
    wait_for("both departures", || departures(&web).then_some(()));
    // The daemon's end and the next one are shown, and its programs are counted on.
    setup.end_daemon(libc::SIGTERM);
    events.until("event: lost\ndata: \"no daemon");
    setup.start_daemon();
    events.until("event: lost\ndata: null");
    assert!(departures(&web));
}

#[test]
fn another_user_sees_nothing() {
    needs!(root_user(), "root, to be another user");
    let setup = Setup::new("equi");
    let program = setup.program("loops").option("--name", "secret").threads(2).start();
    program.until("a grant", |program| program.dop.is_some());
    // A page of his own shows what the daemon tells him: he can't even reach one that isn't for all users.
    let stranger = Web::start(&setup, &setup.socket(), |command| _ = command.uid(65_534).gid(65_534));
    let metrics = stranger.get("/metrics");
    assert!(metrics.contains("scaf_daemon_up 0.0\n") && !metrics.contains("secret"), "{metrics}");
    // Of ours he has no token.
    let ours = Web::start(&setup, &setup.socket(), |_| {});
    // Who comes is in what the daemon keeps within a quarter of a second.
    wait_for("our program", || ours.get("/metrics").contains("secret").then_some(()));
    for path in ["/", "/metrics", "/events", "/what-if", &format!("/?token={}", stranger.token)] {
        let reply = http::get(ours.port, path, &[&stranger.bearer()]);
        assert!(reply.status == 401 && !reply.body.contains("secret"), "{path}: {reply:?}");
    }
    // Nor can he read it from the process.
    let pid = ours.child.id();
    let look = format!("cat /proc/{pid}/environ /proc/{pid}/cmdline /proc/{pid}/mem");
    let read = Command::new("sh").args(["-c", &look]).uid(65_534).gid(65_534).output().expect("sh");
    assert!(!String::from_utf8_lossy(&read.stdout).contains(&ours.token));
    program.finish().well();
}

#[test]
fn a_real_prometheus_scrapes_two_daemons_and_has_our_alerts() {
    needs!(Command::new("prometheus").arg("--version").output().is_ok(), "prometheus");
    let setup = Setup::new("equi");
    let other = setup.folder().join("other.sock");
    let mut command = setup.command(&released("scafd"));
    command.args(["--session", "--idle-exit", "0", "--dry-run", "--topology", "core:8 pu:1", "--config"]);
    command.arg(setup.folder().join("scafd.toml")).arg("--socket");
    let log = std::fs::File::create(setup.folder().join("other.log")).expect("a log");
    let mut second = command.arg(&other).stderr(log).spawn().expect("scafd");
    let token = setup.folder().join("token");
    let webs = [setup.socket(), other].map(|socket| {
        wait_for("its socket", || socket.exists().then_some(()));
        Web::start(&setup, &socket, |command| _ = command.arg("--token-file").arg(&token))
    });
    let program = setup.program("loops").option("--name", "scraped").threads(2).start();
    program.until("a grant", |program| program.dop == Some(2));

    let port =
        std::net::TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr()).expect("a port").port();
    let config = setup.folder().join("prometheus.yml");
    let text = format!(
        "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\n\
         rule_files: [{}]\n\
         scrape_configs:\n  - job_name: scaf\n    authorization: {{ credentials_file: {} }}\n    \
         static_configs: [{{ targets: [\"127.0.0.1:{}\", \"127.0.0.1:{}\"] }}]\n",
        root().join("packaging/prometheus/alerts.yml").display(),
        token.display(),
        webs[0].port,
        webs[1].port
    );
    std::fs::write(&config, text).expect("its configuration");
    let mut command = setup.command(Path::new("prometheus"));
    let log = std::fs::File::create(setup.folder().join("prometheus.log")).expect("a log");
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.tsdb.path={}", setup.folder().join("data").display()))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stderr(log);
    let mut prometheus = command.spawn().expect("prometheus");
    let ask = |path: &str| -> Option<serde_json::Value> {
        let mut stream = http::connect(port).ok()?;
        let request = format!("GET /api/v1/{path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut all = String::new();
        stream.read_to_string(&mut all).ok()?;
        serde_json::from_str(all.split_once("\r\n\r\n")?.1).ok()
    };
    let value = |query: &str| {
        let said = ask(&format!("query?query={query}"))?;
        said["data"]["result"].as_array()?.first()?["value"][1].as_str()?.parse::<f64>().ok()
    };
    wait_for("both daemons", || value("sum(scaf_daemon_up)").filter(|it| *it == 2.0));
    wait_for("its contexts", || {
        value("sum(scaf_program_contexts%7Bprogram=%22scraped%22%7D)").filter(|it| *it == 2.0)
    });
    wait_for("both capacities", || value("sum(scaf_capacity_contexts)").filter(|it| *it == 10.0));
    wait_for("a rate", || value("sum(rate(scaf_program_context_seconds_total[10s]))").filter(|it| *it > 1.0));
    let rules = ask("rules").expect("rules");
    let rules = rules["data"]["groups"][0]["rules"].as_array().expect("rules").clone();
    assert_eq!(rules.len(), 4, "{rules:#?}");
    let targets = ask("targets").expect("targets");
    for target in targets["data"]["activeTargets"].as_array().expect("targets") {
        assert_eq!((&target["health"], &target["lastError"]), (&"up".into(), &"".into()), "{target:#}");
    }
    program.finish().well();
    for child in [&mut prometheus, &mut second] {
        // SAFETY: a plain system call.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        child.wait().expect("its end");
    }
}
