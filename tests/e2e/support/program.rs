//! A program in a setup. Our small programs run rounds until their standard input ends, then print lines of
//! `key=value`. A test waits for what it wants to see, ends the program, and looks at what it computed.

use super::setup::send;
use super::{PATIENCE, Setup, released, root_user};
use scafd::control::{Mechanism, Program};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Run,
    Preload,
    Unmanaged,
}

pub struct Start<'h> {
    setup: &'h Setup,
    way: Way,
    program: PathBuf,
    options: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    before: Vec<OsString>,
    user: Option<u32>,
    preloads: Option<OsString>,
}

impl<'h> Start<'h> {
    pub(super) fn new(setup: &'h Setup, program: &Path) -> Start<'h> {
        Start {
            setup,
            way: Way::Run,
            program: program.to_owned(),
            options: Vec::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            before: Vec::new(),
            user: setup.user(),
            preloads: None,
        }
    }

    pub fn option(mut self, name: &str, value: impl ToString) -> Self {
        self.options.extend([name.into(), value.to_string().into()]);
        self
    }

    pub fn flag(mut self, name: &str) -> Self {
        self.options.push(name.into());
        self
    }

    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// With a library of the system's preloaded, beside libscaf if that is.
    pub fn preloading(mut self, library: &str) -> Self {
        self.preloads = Some(library.into());
        self
    }

    pub fn threads(self, threads: u32) -> Self {
        self.env("OMP_NUM_THREADS", threads.to_string())
    }

    /// A command that starts the command line that follows it, as `taskset -c 0` does.
    pub fn under(mut self, command: &[&str]) -> Self {
        self.before.extend(command.iter().map(OsString::from));
        self
    }

    /// At high priority, if permitted: other processes would take CPU time that is measured.
    pub fn before_others(self) -> Self {
        if root_user() { self.under(&["nice", "-n", "-19"]) } else { self }
    }

    pub fn of(mut self, user: u32) -> Self {
        self.user = Some(user);
        self
    }

    pub fn unmanaged(mut self) -> Self {
        self.way = Way::Unmanaged;
        self
    }

    /// With the client library, but without `scaf run`, which would look who listens at the setup's socket.
    pub fn preloaded(mut self) -> Self {
        self.way = Way::Preload;
        self
    }

    fn command(&self) -> Command {
        let mut words: Vec<OsString> = Vec::new();
        if let Some(user) = self.user {
            let numbers = [format!("--reuid={user}"), format!("--regid={user}")];
            words.push("setpriv".into());
            words.extend(numbers.map(OsString::from));
            words.push("--clear-groups".into());
        }
        words.extend(self.before.iter().cloned());
        if self.way == Way::Run {
            words.extend([released("scaf").into(), "run".into()]);
            words.extend(self.options.iter().cloned());
            words.push("--".into());
        }
        words.push(self.program.clone().into());
        words.extend(self.arguments.iter().cloned());
        let mut command = self.setup.command(Path::new(&words[0]));
        command.args(&words[1..]);
        if self.way != Way::Unmanaged {
            command.env("SCAF_SOCKET", self.setup.socket());
        }
        let ours = (self.way == Way::Preload).then(|| released("libscaf.so").into_os_string());
        let preloads: Vec<OsString> = ours.into_iter().chain(self.preloads.clone()).collect();
        if !preloads.is_empty() {
            command.env("LD_PRELOAD", preloads.join(OsStr::new(":")));
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts it; it runs until it is asked to end, or ends by itself.
    pub fn start(self) -> Running<'h> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let place = |kind| self.setup.folder().join(format!("{number}.{kind}"));
        let (out, err) = (place("out"), place("err"));
        let file = |path: &Path| File::create(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(file(&out)).stderr(file(&err));
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let input = child.stdin.take();
        Running { setup: self.setup, child, input, out, err, ended: false }
    }

    pub fn run(self) -> Done {
        self.start().finish()
    }
}

pub struct Running<'h> {
    setup: &'h Setup,
    child: Child,
    input: Option<ChildStdin>,
    out: PathBuf,
    err: PathBuf,
    ended: bool,
}

pub fn is_resized_to(program: &Program, team: u32) -> bool {
    program.mechanism == Mechanism::Resize && program.team == team && program.dop == Some(team)
}

impl Running<'_> {
    /// Its process id, which is `scaf run`'s: that becomes the program.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn seen(&self) -> Option<Program> {
        self.setup.snapshot().programs.into_iter().find(|program| program.pid == self.pid())
    }

    pub fn until(&self, what: &str, look: impl Fn(&Program) -> bool) -> Program {
        let what = format!("{what}; it wrote: {}{}", read(&self.out), read(&self.err));
        self.setup.until(&what, |snapshot| {
            snapshot.programs.iter().find(|program| program.pid == self.pid() && look(program)).cloned()
        })
    }

    pub fn until_resized_to(&self, team: u32) -> Program {
        self.until(&format!("a team of {team} by resizing"), |program| is_resized_to(program, team))
    }

    /// On so many carriers.
    pub fn until_gathered(&self, what: &str, carriers: u32) -> Program {
        self.until(&format!("{what} gathered"), |program| {
            program.mechanism == Mechanism::Gather && program.dop == Some(carriers)
        })
    }

    pub fn until_inspected(&self) -> Program {
        self.until("its code has been inspected", |program| {
            program.dop.is_some() && program.mechanism_reason != "its code is being inspected"
        })
    }

    pub fn until_folded(&self) -> Program {
        self.until("one PU by folding", |program| {
            let folded = matches!(program.mechanism, Mechanism::Fold | Mechanism::Park);
            folded && program.dop == Some(1) && program.effective_ns.is_some()
        })
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let input = self.input.as_mut().expect("its input is open");
        input.write_all(text.as_bytes()).expect("it reads");
    }

    pub fn printed(&self) -> String {
        read(&self.out)
    }

    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    pub fn signal(&self, signal: i32) {
        send(self.pid(), signal);
    }

    pub fn finish(mut self) -> Done {
        self.input = None;
        self.finish_by_itself()
    }

    pub fn finish_by_itself(mut self) -> Done {
        let deadline = Instant::now() + 2 * PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("waiting for a program") {
                break status;
            }
            assert!(
                Instant::now() < deadline,
                "it doesn't end; it wrote: {}{}",
                read(&self.out),
                read(&self.err)
            );
            std::thread::sleep(Duration::from_millis(5));
        };
        self.ended = true;
        Done { status, out: read(&self.out), err: read(&self.err) }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            send(self.child.id(), libc::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

#[derive(Debug)]
pub struct Done {
    status: ExitStatus,
    pub out: String,
    pub err: String,
}

/// The program ended well, and found nothing wrong.
pub fn right(what: &str, done: Done) {
    assert_eq!(done.well().number("wrong"), 0, "{what}");
}

impl Done {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn ended_by(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Itself, if it ended well and complained of nothing.
    #[track_caller]
    pub fn well(self) -> Done {
        assert!(self.status.success() && self.err.is_empty(), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn text(&self, key: &str) -> &str {
        let find = |line: &&str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with('='));
        let line = self.out.lines().find(find).unwrap_or_else(|| panic!("no {key}: {self:#?}"));
        &line[key.len() + 1..]
    }

    #[track_caller]
    pub fn number(&self, key: &str) -> i64 {
        self.text(key).parse().unwrap_or_else(|e| panic!("{key}: {e}: {self:#?}"))
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(self.out.trim()).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }
}
