//! What people see: `scaf top` in a real terminal, names, `scaf ps --watch`, `scaf run --verbose`.

use crate::real_programs::python;
use crate::support::{PATIENCE, Setup, compiled, released, root, wait_for};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// `scaf top` in a terminal of 80 columns and 24 lines.
struct Terminal {
    server: String,
}

impl Terminal {
    fn with(setup: &Setup, variables: &str, arguments: &str) -> Terminal {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let terminal = Terminal { server: format!("scaf-e2e-{}-{number}", std::process::id()) };
        let socket = setup.socket();
        let scaf = released("scaf");
        let command =
            format!("env SCAF_SOCKET={} {variables} {} top {arguments}", socket.display(), scaf.display());
        terminal.tmux(&["new-session", "-d", "-x", "80", "-y", "24", &command]);
        terminal
    }

    fn tmux(&self, words: &[&str]) -> String {
        let command = Command::new("tmux").args(["-L", &self.server, "-f", "/dev/null"]).args(words).output();
        let output = command.expect("tmux is missing: run scripts/setup.sh");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn until(&self, what: &str, look: impl Fn(&str) -> bool) -> String {
        wait_for(what, || Some(self.tmux(&["capture-pane", "-p"])).filter(|screen| look(screen)))
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let pids = self.tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]);
        self.tmux(&["kill-server"]);
        // Nobody goes on without a terminal.
        let lives = || pids.lines().any(|pid| std::path::Path::new("/proc").join(pid).exists());
        let until = Instant::now() + PATIENCE;
        while lives() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(std::thread::panicking() || !lives(), "left without a terminal: {pids}");
    }
}

#[test]
fn a_terminal_shows_who_comes_what_they_have_and_that_they_went() {
    let setup = Setup::new("equi");
    let terminal = Terminal::with(&setup, "LANG=C NO_COLOR=1", "");
    terminal.until("nobody yet", |screen| screen.contains("no managed programs"));
    let first = setup.program("loops").option("--name", "first").threads(2).start();
    terminal.until("its arrival", |screen| screen.contains("first") && screen.contains("live"));
    let second = setup.program("loops").option("--name", "second").threads(2).start();
    let both = terminal.until("both", |screen| screen.contains("second") && screen.contains("2 programs"));
    assert!(both.is_ascii() && both.contains("why: ") && both.contains("policy equi"), "{both}");
    terminal.press(&["Tab"]);
    terminal.until("what happened", |screen| screen.contains("s ago  second came"));
    terminal.press(&["/"]);
    terminal.press(&["s", "e", "c", "Enter"]);
    terminal.until("the second alone", |screen| !screen.contains(" first  "));
    terminal.press(&["w"]);
    terminal.press(&["3", "Enter"]);
    second.until("its weight", |program| program.weight == 3.0);
    terminal.press(&["Escape"]);
    second.finish().well();
    terminal.until("its end", |screen| screen.contains("1 program,"));
    terminal.press(&["["]);
    terminal.until("the past", |screen| screen.contains("s ago, of"));
    first.finish().well();
    terminal.press(&["q"]);
    wait_for("its end", || (!terminal.tmux(&["list-sessions"]).contains("windows")).then_some(()));
}

#[test]
fn a_recording_is_shown_as_it_was() {
    let setup = Setup::new("equi");
    let file = setup.folder().join("trace.jsonl");
    let record = setup.recording(&file);
    let program = setup.program("loops").option("--name", "recorded").threads(2).start();
    wait_for("a few decisions", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        (text.lines().count() > 4).then_some(())
    });
    program.finish().well();
    record.end();
    let terminal = Terminal::with(&setup, "LANG=C", &format!("--replay {}", file.display()));
    let screen = terminal.until("its end", |screen| screen.contains("paused"));
    assert!(screen.contains("recorded") && screen.contains("contexts a"), "{screen}");
}

#[test]
fn a_script_is_known_by_its_name_and_two_of_them_by_their_numbers() {
    let setup = Setup::new("equi");
    let script = root().join("tests/programs/numpy_rounds.py");
    let start = || setup.at(&python()).args([script.as_os_str()]).args(["gemm"]).start();
    let (first, second) = (start(), start());
    let mut names = [&first, &second].map(|program| program.until("it is managed", |_| true).name);
    names.sort();
    assert_eq!(names, ["numpy_rounds.py", "numpy_rounds.py#2"]);
    first.finish().well();
    second.finish().well();
}

#[test]
fn ps_is_printed_again_and_again_as_lines_of_json() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").option("--name", "seen").start();
    program.until("it is managed", |program| program.dop.is_some());
    let mut ps = Command::new(released("scaf"))
        .args(["ps", "--json", "--watch=0.1", "--sort", "contexts", "--user"])
        .arg(rustix::process::getuid().as_raw().to_string())
        .env("SCAF_SOCKET", setup.socket())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scaf ps");
    let out = BufReader::new(ps.stdout.take().expect("its output"));
    let lines: Vec<String> = out.lines().map_while(Result::ok).take(3).collect();
    for line in &lines {
        let snapshot: scafd::control::Snapshot = serde_json::from_str(line).expect("a snapshot a line");
        assert_eq!(snapshot.programs[0].name, "seen");
    }
    // Its reader has gone, which ends it.
    assert!(lines.len() == 3 && ps.wait().expect("its end").success());
    assert!(setup.refuses(&["ps", "--user", "nobody-of-that-name"]).contains("no user"));
    program.finish().well();
}

#[test]
fn a_line_at_its_end_says_what_a_program_had_and_its_status_is_handed_on() {
    let setup = Setup::new("equi");
    let program = setup.program("loops").flag("--verbose").threads(2).start();
    std::thread::sleep(std::time::Duration::from_secs(1));
    let done = program.finish();
    assert!(done.code() == Some(0) && done.err.lines().count() == 1, "{done:?}");
    let said = done.err.contains("contexts on average, speedup ") && done.err.contains("with equal parts");
    assert!(said, "{done:?}");
    let failing = setup.at("/bin/sh".as_ref()).flag("--verbose").args(["-c", "exit 3"]).run();
    assert_eq!(failing.code(), Some(3), "{failing:?}");
    let killed = setup.at(&compiled("loops")).flag("--verbose").start();
    wait_for("it is managed", || setup.snapshot().programs.first().map(|_| ()));
    killed.signal(libc::SIGTERM);
    let done = killed.finish_by_itself();
    assert_eq!(done.ended_by(), Some(libc::SIGTERM), "{done:?}");
}
