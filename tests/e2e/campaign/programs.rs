//! Real programs that check themselves, those that end by themselves and those that are asked to.

use super::daemon::{is_wide, masks};
use crate::support::{By, Done, Running, Setup, clang_kernel, compiled_by, kernel};
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub struct Workload {
    program: fn() -> PathBuf,
    words: &'static [&'static str],
    threads: u32,
    /// Whether it goes on until it is asked to end.
    endless: bool,
    /// What it prints, if that is the same each time.
    value: Option<&'static str>,
}

const fn kernel_workload(program: fn() -> PathBuf, words: &'static [&'static str]) -> Workload {
    Workload { program, words, threads: 2, endless: false, value: None }
}

const fn rounds(program: fn() -> PathBuf, words: &'static [&'static str], threads: u32) -> Workload {
    Workload { program, words, threads, endless: true, value: None }
}

/// Those that go on: teams that may be resized, that meet at barriers, and that keep their size.
pub const ENDLESS: [Workload; 4] = [
    rounds(|| compiled_by(By::Itself, "loops"), &[], 2),
    rounds(|| compiled_by(By::Clang, "waits"), &[], 2),
    rounds(|| compiled_by(By::Itself, "promises"), &["clause"], 3),
    rounds(|| compiled_by(By::Itself, "waits"), &[], 3),
];

/// The kernels that take the shortest, of both compilers.
pub const BRIEF: [Workload; 6] = [
    kernel_workload(|| kernel("cg"), &["--class=S"]),
    kernel_workload(|| clang_kernel("cg"), &["--class=S", "--form=region"]),
    Workload { value: Some("1307545"), ..kernel_workload(|| clang_kernel("is"), &["--class=S"]) },
    kernel_workload(|| kernel("mg"), &["--class=S"]),
    Workload { value: Some("8659120860746244954"), ..kernel_workload(|| kernel("sort"), &["--class=S"]) },
    Workload { value: Some("317811"), ..kernel_workload(|| clang_kernel("fib"), &["--class=S"]) },
];

pub struct StartedProgram<'h> {
    running: Running<'h>,
    workload: &'static Workload,
    since: Instant,
    killed: bool,
}

impl Workload {
    /// Starts it with the client library, by `scaf run` or without.
    pub fn start<'h>(&'static self, setup: &'h Setup, by_scaf_run: bool) -> StartedProgram<'h> {
        let start = setup.at(&(self.program)()).args(self.words).threads(self.threads);
        let start = if by_scaf_run { start } else { start.preloaded() };
        StartedProgram { running: start.start(), workload: self, since: Instant::now(), killed: false }
    }

    fn check(&self, done: Done, about: &str) {
        // `scaf run` says so where nobody answers.
        let complains = done.err.lines().any(|line| !line.starts_with("scaf: "));
        assert!(done.code() == Some(0) && !complains, "{about}: {done:#?}");
        if self.endless {
            assert_eq!(done.number("wrong"), 0, "{done:#?}");
            if done.out.contains("early=") {
                assert_eq!(done.number("early"), 0, "{done:#?}");
            }
            return;
        }
        let said = done.json();
        assert_eq!(said["verified"], true, "{said}");
        if let Some(value) = self.value {
            assert_eq!(said["value"], value, "{said}");
        }
    }
}

impl StartedProgram<'_> {
    pub fn pid(&self) -> u32 {
        self.running.pid()
    }

    pub fn about(&self) -> String {
        let (program, words) = ((self.workload.program)(), self.workload.words.join(" "));
        format!("{} {} {words}, here for {:?}", self.pid(), program.display(), self.since.elapsed())
    }

    pub fn age(&self) -> Duration {
        self.since.elapsed()
    }

    pub fn masks(&self) -> Vec<Vec<u32>> {
        masks(self.pid())
    }

    pub fn is_wide(&self) -> bool {
        is_wide(self.pid())
    }

    pub fn has_ended(&mut self) -> bool {
        self.running.has_ended()
    }

    pub fn kill(&mut self) {
        self.killed = true;
        self.running.signal(libc::SIGKILL);
    }

    pub fn was_killed(&mut self) {
        self.killed = true;
    }

    /// Tells it to end, and checks what it computed; how long it was there.
    pub fn relieve(self) -> Duration {
        let about = self.about();
        let done = self.running.finish();
        let after = self.since.elapsed();
        if !self.killed || done.ended_by() != Some(libc::SIGKILL) {
            self.workload.check(done, &about);
        }
        after
    }
}
