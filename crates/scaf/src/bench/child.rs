//! One run of a program, in its own process group. Its output goes to unnamed files, and a pidfd tells its
//! end.
//!
//! Dropping a [`Child`] kills the whole group, so a benchmark leaves no process behind. If the benchmark is
//! killed, its children die with it (PR_SET_PDEATHSIG).

use super::clock;
use super::interrupt::Interrupt;
use crate::environment::{self, Change};
use crate::host;
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Prefixes of variables that govern OpenMP, OpenBLAS or scaf; every run starts without them.
const GOVERNING: [&str; 5] = ["OMP_", "GOMP_", "KMP_", "OPENBLAS_", "SCAF_"];
const OUTPUT_BYTES: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct Recipe {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Changes to the clean environment.
    pub environment: Vec<Change>,
    /// PUs to bind the program to; `None` for all of ours.
    pub pus: Option<Vec<u32>>,
    /// Where the program starts, if not where we are.
    pub seat: Option<Arc<dyn Seat>>,
}

/// A control group that a program starts in, and what moves its threads from then on.
pub trait Seat: std::fmt::Debug + Send + Sync {
    /// The file by which a new process joins its group: it writes a 0.
    fn processes(&self) -> Result<File>;
    /// The program has started.
    fn started(&self, pid: u32);
}

impl Recipe {
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Recipe {
        Recipe { program, arguments, environment: vec![], pus: None, seat: None }
    }

    pub fn with(&self, environment: Vec<Change>, pus: Option<Vec<u32>>) -> Recipe {
        Recipe { environment, pus, ..self.clone() }
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        clean(&mut command);
        environment::apply(&mut command, &self.environment);
        command
    }
}

/// Removes all variables that govern OpenMP, OpenBLAS or scaf from a command's environment.
pub fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name == "LD_PRELOAD"
            || GOVERNING.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        {
            command.env_remove(name);
        }
    }
}

pub struct Child {
    child: std::process::Child,
    pidfd: OwnedFd,
    /// Start, in nanoseconds of CLOCK_MONOTONIC.
    pub started_ns: u64,
    /// Start of the present stop, in nanoseconds of CLOCK_MONOTONIC, and length of the stops before it.
    stopped_since: Option<u64>,
    stopped_ns: u64,
    stdout: File,
    stderr: File,
    reaped: bool,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    /// Seconds from start to end, less the time that it was stopped.
    pub seconds: f64,
    /// Nanoseconds of CLOCK_MONOTONIC.
    pub ended_ns: u64,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    pub fn failure(&self) -> Option<String> {
        if self.status.success() {
            return None;
        }
        let how = match self.status.signal() {
            Some(signal) => format!("was killed by signal {signal}"),
            None => format!("exited with {}", self.status.code().unwrap_or_default()),
        };
        let tail: Vec<&str> = self.stderr.lines().rev().take(5).collect();
        let words: Vec<&str> = tail.into_iter().rev().collect();
        Some(if words.is_empty() { how } else { format!("{how}: {}", words.join(" | ")) })
    }
}

impl Child {
    pub fn start(recipe: &Recipe) -> Result<Child> {
        let (stdout, stderr) = (output()?, output()?);
        let mut command = recipe.command();
        command.process_group(0).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
        let pus = recipe.pus.as_deref().map(host::cpu_set);
        let group = recipe.seat.as_ref().map(|seat| seat.processes()).transpose()?;
        let parent = rustix::process::getpid();
        // SAFETY: only system calls between fork and exec; nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                if rustix::process::getppid() != Some(parent) {
                    libc::_exit(1); // we died before the call above
                }
                if let Some(group) = &group {
                    rustix::io::write(group, b"0")?;
                }
                match &pus {
                    Some(set) => Ok(rustix::thread::sched_setaffinity(None, set)?),
                    None => Ok(()),
                }
            });
        }
        let started_ns = clock::now_ns();
        let mut child =
            command.spawn().with_context(|| format!("can't start {}", recipe.program.display()))?;
        if let Some(seat) = &recipe.seat {
            seat.started(child.id());
        }
        let pid = Pid::from_raw(child.id() as i32).context("process id")?;
        let pidfd = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => pidfd,
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(std::io::Error::from(error)).context("pidfd_open");
            }
        };
        let (stopped_since, stopped_ns) = (None, 0);
        Ok(Child { child, pidfd, started_ns, stopped_since, stopped_ns, stdout, stderr, reaped: false })
    }

    pub fn end(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Seconds since the start, less the time that it was stopped.
    pub fn age(&self) -> f64 {
        let now_ns = self.stopped_since.unwrap_or_else(clock::now_ns);
        clock::seconds(self.started_ns + self.stopped_ns, now_ns)
    }

    /// The outcome; `None` while the program runs. The rest of its process group is killed.
    pub fn ended(&mut self) -> Result<Option<Outcome>> {
        let (seconds, ended_ns) = (self.age(), clock::now_ns());
        let Some(status) = self.child.try_wait()? else { return Ok(None) };
        self.kill_group();
        self.reaped = true;
        Ok(Some(Outcome {
            seconds,
            ended_ns,
            status,
            stdout: content(&mut self.stdout)?,
            stderr: content(&mut self.stderr)?,
        }))
    }

    /// Waits for the program's end; `None` if it was killed because it took longer than `cap_s`.
    pub fn wait(mut self, cap_s: f64, interrupt: &Interrupt) -> Result<Option<Outcome>> {
        loop {
            if let Some(outcome) = self.ended()? {
                return Ok(Some(outcome));
            }
            let left = cap_s - self.age();
            if left <= 0.0 {
                return Ok(None);
            }
            interrupt.wait(&[self.end()], Duration::from_secs_f64(left))?;
        }
    }

    /// Stops the process group, or lets it continue.
    pub fn go_on(&mut self, on: bool) {
        self.signal(if on { Signal::CONT } else { Signal::STOP });
        match (on, self.stopped_since) {
            (true, Some(since)) => {
                self.stopped_ns += clock::now_ns() - since;
                self.stopped_since = None;
            }
            (false, None) => self.stopped_since = Some(clock::now_ns()),
            _ => {}
        }
    }

    /// Waits for the program's successful end within `cap_s`.
    pub fn success(self, program: &Path, cap_s: f64, interrupt: &Interrupt) -> Result<Outcome> {
        let program = program.display();
        let Some(outcome) = self.wait(cap_s, interrupt)? else {
            bail!(
                "{program} took more than {cap_s} s alone on the machine; give it a smaller size or a \
                 longer cap_s"
            );
        };
        match outcome.failure() {
            None => Ok(outcome),
            Some(how) => bail!("{program} {how}"),
        }
    }

    fn kill_group(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill_group();
            let _ = self.child.wait();
        }
    }
}

/// Runs a program to its successful end within `cap_s`.
pub fn run(recipe: &Recipe, cap_s: f64, interrupt: &Interrupt) -> Result<Outcome> {
    Child::start(recipe)?.success(&recipe.program, cap_s, interrupt)
}

/// A file for a program's output: without a name, nothing is left behind; unlike a pipe, it never blocks.
fn output() -> Result<File> {
    tempfile::tempfile().context("temporary file for a program's output")
}

fn content(file: &mut File) -> Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Recipe {
        Recipe::new("/bin/sh".into(), vec!["-c".into(), script.into()])
    }

    #[test]
    fn a_run_is_timed_and_its_output_kept() {
        let interrupt = Interrupt::install().unwrap();
        let outcome = run(&shell("echo out; echo err >&2; sleep 0.05"), 5.0, &interrupt).unwrap();
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("out\n", "err\n"));
        assert!((0.05..2.0).contains(&outcome.seconds), "{}", outcome.seconds);
    }

    #[test]
    fn a_failure_is_told_with_the_last_words() {
        let interrupt = Interrupt::install().unwrap();
        let error = run(&shell("echo bad luck >&2; exit 3"), 5.0, &interrupt).unwrap_err();
        assert!(error.to_string().contains("exited with 3: bad luck"), "{error}");
    }

    #[test]
    fn a_run_that_takes_too_long_is_killed_with_what_it_started() {
        let interrupt = Interrupt::install().unwrap();
        let mark = format!("{}.5", 70_000 + std::process::id());
        let child = Child::start(&shell(&format!("sleep {mark} & sleep {mark}"))).unwrap();
        assert!(child.wait(0.1, &interrupt).unwrap().is_none());
        let alive = || {
            std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
                let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let state = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
                !state.contains(") Z") && words == format!("sleep\0{mark}\0").into_bytes()
            })
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        while alive() {
            assert!(std::time::Instant::now() < deadline, "what it started lives on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_run_can_be_bound_to_pus() {
        let interrupt = Interrupt::install().unwrap();
        let pu = crate::host::allowed().iter().next().unwrap();
        let recipe = shell("grep Cpus_allowed_list /proc/self/status").with(vec![], Some(vec![pu]));
        let outcome = run(&recipe, 5.0, &interrupt).unwrap();
        assert_eq!(outcome.stdout.split_whitespace().last(), Some(pu.to_string().as_str()));
    }
}
