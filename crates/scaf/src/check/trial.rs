//! Repeated runs of one program from the same state: the same standard input and initial output files.

use crate::bench::clock;
use crate::bench::interrupt::Interrupt;
use crate::environment::{self, Change};
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, PidfdFlags, Signal};
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

/// Timeout of a run without a limit.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    Exited(i32),
    Killed(i32),
    /// Killed after that many seconds.
    TooLong(f64),
}

impl End {
    /// In words, to follow "it".
    pub fn text(self) -> String {
        match self {
            End::Exited(status) => format!("exited with {status}"),
            End::Killed(signal) => format!("was killed by signal {signal}"),
            End::TooLong(seconds) => format!("didn't end within {seconds:.0} s"),
        }
    }
}

/// A run's result.
#[derive(Debug)]
pub struct Came {
    pub end: End,
    pub seconds: f64,
    /// Standard output, then each output file.
    pub texts: Vec<Vec<u8>>,
    /// The end of its standard error.
    pub last_words: String,
}

pub struct Trial {
    program: PathBuf,
    words: Vec<OsString>,
    outputs: Vec<PathBuf>,
    /// The files' contents before the first run.
    before: Vec<Option<Vec<u8>>>,
    /// Their contents at the end: the first run's.
    after: Vec<Option<Vec<u8>>>,
    /// Our standard input if it is a regular file; each run reads it from the start.
    input: Option<PathBuf>,
}

impl Trial {
    /// A trial of `program`, called by the first of `words`, with the others as arguments.
    /// # Errors
    /// An output file can't be read although it is there.
    pub fn new(program: PathBuf, words: Vec<OsString>, outputs: Vec<PathBuf>) -> Result<Trial> {
        for path in &outputs {
            if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
                bail!("--output takes regular files, and {} is none", path.display());
            }
        }
        let before = outputs.iter().map(|path| content(path)).collect::<Result<Vec<_>>>()?;
        let stdin = Path::new("/proc/self/fd/0");
        let about = std::fs::metadata(stdin).ok();
        let input = about.as_ref().is_some_and(Metadata::is_file).then(|| stdin.to_owned());
        if about.is_some_and(|about| about.file_type().is_fifo()) {
            eprintln!(
                "scaf: standard input is a pipe, which can't be read again and again: the program has none; \
                 give it a file: < FILE"
            );
        }
        let after = before.clone();
        Ok(Trial { program, words, outputs, before, after, input })
    }

    /// Runs it, for `cap_s` seconds at most.
    /// # Errors
    /// It can't be started, its files can't be read or written, or the user interrupts.
    pub fn run(&mut self, changes: &[Change], cap_s: Option<f64>, interrupt: &Interrupt) -> Result<Came> {
        for (path, content) in self.outputs.iter().zip(&self.before) {
            put(path, content.as_deref())?;
            mark_as_old(path)?;
        }
        let [mut out, mut err] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let mut command = Command::new(&self.program);
        command.arg0(&self.words[0]).args(&self.words[1..]).process_group(0);
        command.stdin(match &self.input {
            Some(path) => File::open(path).context("standard input")?.into(),
            None => Stdio::null(),
        });
        command.stdout(out.try_clone()?).stderr(err.try_clone()?);
        environment::apply(&mut command, changes);
        // SAFETY: one system call between fork and exec.
        unsafe {
            command.pre_exec(|| Ok(rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?));
        }
        let began = clock::now_ns();
        let child = command.spawn().with_context(|| format!("can't start {}", self.program.display()))?;
        let end = Running(child).end(cap_s, interrupt)?;
        let seconds = clock::seconds(began, clock::now_ns());
        let mut texts = vec![read(&mut out)?];
        for path in &self.outputs {
            texts.push(content(path)?.unwrap_or_default());
        }
        let said = String::from_utf8_lossy(&read(&mut err)?).into_owned();
        let last = said.lines().rev().take(3).collect::<Vec<_>>();
        let last_words = last.into_iter().rev().collect::<Vec<_>>().join("\n");
        Ok(Came { end, seconds, texts, last_words })
    }

    /// Keeps the files' present contents as the final ones. A missing file is an error.
    pub fn keep_outputs(&mut self) -> Result<()> {
        self.after = self.outputs.iter().map(|path| content(path)).collect::<Result<Vec<_>>>()?;
        for (path, content) in self.outputs.iter().zip(&self.after) {
            if content.is_none() || is_marked_as_old(path) {
                bail!("it writes no file {}; name with --output what it does write", path.display());
            }
        }
        Ok(())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        for (path, content) in self.outputs.iter().zip(&self.after) {
            let _ = put(path, content.as_deref());
        }
    }
}

/// A running process; dropping it kills its process group.
struct Running(Child);

impl Running {
    fn end(mut self, cap_s: Option<f64>, interrupt: &Interrupt) -> Result<End> {
        let pid = Pid::from_raw(self.0.id() as i32).context("process id")?;
        let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty()).context("pidfd_open")?;
        let began = clock::now_ns();
        loop {
            if let Some(status) = self.0.try_wait()? {
                let end = status.code().map(End::Exited);
                return Ok(end.unwrap_or(End::Killed(status.signal().unwrap_or_default())));
            }
            let age = clock::seconds(began, clock::now_ns());
            let left = match cap_s {
                Some(cap_s) if age >= cap_s => return Ok(End::TooLong(cap_s)),
                Some(cap_s) => Duration::from_secs_f64(cap_s - age),
                None => FOR_EVER,
            };
            interrupt.wait(&[pidfd.as_fd()], left)?;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(group) = Pid::from_raw(self.0.id() as i32) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

fn read(file: &mut File) -> Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file's contents; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).with_context(|| path.display().to_string()),
    }
}

fn put(path: &Path, content: Option<&[u8]>) -> Result<()> {
    let done = match content {
        Some(bytes) => std::fs::write(path, bytes),
        None => match std::fs::remove_file(path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        },
    };
    done.with_context(|| path.display().to_string())
}

/// The modification time set before a run; another one afterwards shows that the run wrote the file.
fn old() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(86_400)
}

fn mark_as_old(path: &Path) -> Result<()> {
    match File::options().write(true).open(path) {
        Ok(file) => file.set_modified(old()).with_context(|| path.display().to_string()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(e) => Err(e).with_context(|| path.display().to_string()),
    }
}

fn is_marked_as_old(path: &Path) -> bool {
    std::fs::metadata(path).and_then(|about| about.modified()).is_ok_and(|time| time == old())
}
