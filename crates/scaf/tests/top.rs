//! `scaf top` in a real terminal, watching a daemon that is made up: 256 programs on 1,024 PUs that all
//! change all the time.

mod fake;
#[path = "../../../tests/skip.rs"]
mod skip;

use fake::Fake;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A terminal of 80 columns and 24 lines with `scaf top` in it.
struct Terminal {
    server: String,
}

impl Terminal {
    /// `None` where there is no tmux.
    fn with(folder: &Path, variables: &str, arguments: &str) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            skip::skipped("tmux");
            return None;
        }
        let terminal = Terminal { server: format!("scaf-test-{}-{}", std::process::id(), arguments.len()) };
        let socket = folder.join("s");
        let command = format!(
            "env SCAF_SOCKET={} {variables} {} top {arguments}",
            socket.display(),
            env!("CARGO_BIN_EXE_scaf")
        );
        terminal.tmux(&["new-session", "-d", "-x", "80", "-y", "24", &command]);
        Some(terminal)
    }

    fn tmux(&self, words: &[&str]) -> String {
        let out =
            Command::new("tmux").args(["-L", &self.server, "-f", "/dev/null"]).args(words).output().unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    fn until(&self, what: &str, there: bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(what) == there {
                return screen;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "'{what}' isn't {there} in\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn shows(&self, what: &str) -> String {
        self.until(what, true)
    }

    fn hides(&self, what: &str) {
        self.until(what, false);
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Processor time of `scaf top` so far, in seconds.
    fn cpu_s(&self) -> f64 {
        let pid = self.tmux(&["display-message", "-p", "#{pane_pid}"]);
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap();
        let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split_whitespace().collect();
        let ticks: u64 = fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap();
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_terminal_shows_what_is_and_was_and_obeys_keys() {
    let fake = Fake::start(3);
    let Some(terminal) = Terminal::with(fake.folder.path(), "LANG=C", "") else { return };
    let screen = terminal.shows("made-up-3");
    assert!(screen.contains("3 programs, 12 of 1024 contexts") && screen.is_ascii(), "{screen}");
    fake.programs.store(4, Ordering::Relaxed);
    terminal.shows("made-up-4");
    terminal.press(&["/", "u", "p", "-", "2", "Enter"]);
    terminal.hides("made-up-1");
    terminal.shows("made-up-2");
    terminal.press(&["Escape"]);
    terminal.shows("made-up-1");
    terminal.press(&["Space"]);
    terminal.press(&["["]);
    terminal.hides("made-up-4");
    terminal.shows("s ago, of");
    terminal.press(&["l"]);
    terminal.shows("live");
    terminal.press(&["F2"]);
    terminal.press(&["Enter"]);
    terminal.shows("you may not have");
    terminal.tmux(&["resize-window", "-x", "120", "-y", "40"]);
    terminal.shows("LAST");
    terminal.press(&["?"]);
    terminal.shows("scaf top: keys");
    terminal.press(&["x", "q"]);
    let start = Instant::now();
    while terminal.tmux(&["list-sessions"]).contains("windows") {
        assert!(start.elapsed() < Duration::from_secs(60), "it doesn't end");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn of_256_programs_on_1024_pus_it_takes_less_than_a_twentieth_of_a_core() {
    let fake = Fake::start(256);
    let Some(terminal) = Terminal::with(fake.folder.path(), "LANG=C.UTF-8", "   ") else { return };
    terminal.shows("256 programs");
    std::thread::sleep(Duration::from_secs(2));
    let (began, before) = (Instant::now(), terminal.cpu_s());
    std::thread::sleep(Duration::from_secs(10));
    let share = (terminal.cpu_s() - before) / began.elapsed().as_secs_f64();
    eprintln!("{:.2}% of a core", share * 100.0);
    // It is made for people's builds; without optimisation it takes some times as much.
    let most = if cfg!(debug_assertions) { 0.5 } else { 0.05 };
    assert!(share < most, "{share}");
}

#[test]
fn where_there_is_no_terminal_it_says_what_to_use_instead() {
    let out = Command::new(env!("CARGO_BIN_EXE_scaf")).arg("top").output().unwrap();
    let text = String::from_utf8_lossy(&out.stderr);
    assert!(!out.status.success() && text.contains("scaf ps --json"), "{text}");
}
