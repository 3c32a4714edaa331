//! A setup: a folder with a daemon of its own, closed when the test ends. Nothing may be left then.

use super::{Start, compiled, cpu_list, released, root_user, shown, skip, wait_for};
use scaf_lab::slow::SlowMachine;
use scafd::control::Snapshot;
use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// In the environment of everything that is started in a setup; the value is its folder.
const MARK: &str = "SCAF_TEST_SETUP";
static TURN: Mutex<()> = Mutex::new(());
/// Whose programs are started where a daemon serves all users, unless said otherwise. He has no name.
const SOMEBODY: u32 = 65_533;

pub struct Setup {
    daemon: RefCell<Option<Child>>,
    policy: Vec<String>,
    for_all: bool,
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Setup {
    /// A setup whose daemon decides by `policy` about the first two PUs that this test may use.
    pub fn new(policy: &str) -> Setup {
        let setup = Setup::without_daemon(policy);
        setup.start_daemon();
        setup
    }

    /// A setup whose daemon tries DoPs of which nothing is known, whatever else runs: a program that has one
    /// context because the others are busy can't be compared with anything.
    pub fn exploring(policy: &str) -> Setup {
        Setup::configured(policy, "explore = true\n")
    }

    pub fn configured(policy: &str, text: &str) -> Setup {
        let setup = Setup::without_daemon(policy);
        setup.configure(text);
        setup.start_daemon();
        setup
    }

    /// A setup whose daemon decides for another machine: teams fit there, and nobody is moved.
    pub fn on_topology(topology: &str, policy: &str, text: &str) -> Setup {
        let words = [policy, "--verbose", "--dry-run", "--topology", topology];
        let setup = Setup::empty(words.map(String::from).to_vec());
        setup.configure(text);
        setup.start_daemon();
        setup
    }

    /// A setup whose daemon decides for a machine in slow motion.
    pub fn in_slow_motion(machine: &SlowMachine, policy: &str) -> Setup {
        let words = [policy, "--verbose"].map(String::from).into_iter().chain(machine.words());
        let setup = Setup::empty(words.collect());
        setup.start_daemon();
        machine.obey(setup.socket());
        setup
    }

    /// A setup whose daemon explores, and counts the kernel's own events in place of the processor's.
    pub fn counting(policy: &str) -> Setup {
        let events = "events = { instructions = 'task-clock', cycles = 'cpu-clock' }\n";
        Setup::configured(policy, &format!("explore = true\ncount_load = false\n{events}"))
    }

    /// A setup whose daemon has no sense at all. It isn't verbose, for it decides a thousand times a second.
    pub fn chaos(seed: u64) -> Setup {
        let setup = Setup::empty(vec!["chaos".into(), format!("--seed={seed}")]);
        setup.start_daemon();
        setup
    }

    /// A setup whose daemon is yet to come, or never comes.
    pub fn without_daemon(policy: &str) -> Setup {
        Setup::empty(vec![policy.to_owned(), "--verbose".into()])
    }

    /// A setup without a daemon; the one to come decides by `policy`, which may bring options of its own.
    pub fn prepared(policy: &[&str], text: &str) -> Setup {
        let setup = Setup::empty(policy.iter().map(ToString::to_string).collect());
        setup.configure(text);
        setup
    }

    /// The same for a daemon of all users, with a broker and another user's programs. `None` without root.
    pub fn for_all(policy: &[&str], text: &str) -> Option<Setup> {
        if !skip::has(root_user(), "root, for a daemon for all users") {
            return None;
        }
        let mut setup = Setup::prepared(policy, "");
        setup.for_all = true;
        setup.configure(text);
        let all_may_enter = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(setup.folder(), all_may_enter).expect("the setup's permissions");
        Some(setup)
    }

    /// The user of programs that are started here, if not this process's.
    pub(super) fn user(&self) -> Option<u32> {
        self.for_all.then_some(SOMEBODY)
    }

    fn empty(policy: Vec<String>) -> Setup {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        stay_on(&two_pus());
        let folder = tempfile::Builder::new().prefix("scaf-setup-").tempdir().expect("temporary folder");
        let setup = Setup { daemon: RefCell::new(None), policy, for_all: false, folder, _turn: turn };
        setup.configure("");
        setup
    }

    fn configuration(&self) -> PathBuf {
        self.folder().join("scafd.toml")
    }

    /// What the daemon that is started next reads. All contexts are given away, whatever else runs on the
    /// machine, unless `text` says otherwise: few tests are about load.
    pub fn configure(&self, text: &str) {
        let load = if text.contains("count_load") { "" } else { "count_load = false\n" };
        let shown = if text.contains("verdicts") { "" } else { shown::verdicts() };
        let memory = self.folder().join("memory");
        let memory = if self.for_all { format!("memory_dir = {memory:?}\n") } else { String::new() };
        std::fs::write(self.configuration(), format!("{load}{shown}{memory}{text}"))
            .expect("the daemon's configuration");
    }

    fn scaf(&self, words: &[&str]) -> Output {
        let mut command = self.command(&released("scaf"));
        command.args(words).env("SCAF_SOCKET", self.socket()).output().expect("scaf starts")
    }

    pub fn refuses(&self, words: &[&str]) -> String {
        let output = self.scaf(words);
        assert!(!output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    pub fn says(&self, words: &[&str]) -> String {
        let output = self.scaf(words);
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// `scaf record` into a file, which is there. It goes on until it is asked to end.
    pub fn recording(&self, file: &Path) -> Recording {
        let mut command = self.command(&released("scaf"));
        command.arg("record").arg(file).env("SCAF_SOCKET", self.socket()).stderr(Stdio::piped());
        let record = command.spawn().expect("scaf record");
        wait_for("the trace", || file.exists().then_some(()));
        Recording(record)
    }

    /// `scaf bench`, without its arguments. It brings daemons of its own.
    pub fn bench(&self) -> Command {
        let mut command = self.command(&released("scaf"));
        command.arg("bench");
        command
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn socket(&self) -> PathBuf {
        self.folder().join("scafd.sock")
    }

    pub fn daemon(&self) -> u32 {
        self.daemon.borrow().as_ref().map(Child::id).expect("this setup has no daemon")
    }

    /// What starts this setup's daemon; for who looks after it by himself.
    pub fn daemon_command(&self) -> Command {
        let log = std::fs::File::options().create(true).append(true).open(self.folder().join("scafd.log"));
        let mut command = self.command(&released("scafd"));
        let scope = if self.for_all { "--system" } else { "--session" };
        command.args([scope, "--idle-exit", "0", "--socket"]).arg(self.socket()).arg("--policy");
        command
            .args(&self.policy)
            .arg("--config")
            .arg(self.configuration())
            .stderr(log.expect("the daemon's log"));
        command
    }

    pub fn start_daemon(&self) {
        self.start_changed_daemon(|_| {});
    }

    pub fn start_changed_daemon(&self, change: impl FnOnce(&mut Command)) {
        let mut command = self.daemon_command();
        change(&mut command);
        *self.daemon.borrow_mut() = Some(command.spawn().expect("starting scafd"));
        wait_for("the daemon answers", || self.ask());
    }

    pub fn end_daemon(&self, signal: i32) {
        let Some(mut daemon) = self.daemon.borrow_mut().take() else { return };
        send(daemon.id(), signal);
        send(daemon.id(), libc::SIGCONT);
        wait_for("the daemon ends", || daemon.try_wait().ok().flatten());
    }

    pub fn signal_daemon(&self, signal: i32) {
        send(self.daemon(), signal);
    }

    pub fn guardian(&self) -> Option<u32> {
        child_of(self.daemon(), |name, _| name == "scafd-guardian")
    }

    pub fn broker(&self) -> Option<u32> {
        child_of(self.daemon(), |name, _| name == "scafd-broker")
    }

    pub fn ask(&self) -> Option<Snapshot> {
        serde_json::from_slice(&self.scaf(&["ps", "--json"]).stdout).ok()
    }

    pub fn snapshot(&self) -> Snapshot {
        serde_json::from_str(&self.says(&["ps", "--json"])).expect("JSON")
    }

    pub fn until<T>(&self, what: &str, mut look: impl FnMut(&Snapshot) -> Option<T>) -> T {
        let mut last = None;
        let mut deadline = Instant::now() + super::PATIENCE;
        let last_deadline = deadline + 4 * super::PATIENCE;
        while Instant::now() < deadline {
            let now = self.ask();
            // While somebody else needs the machine, the daemon rightly gives away less: that doesn't count.
            if now.as_ref().is_some_and(|now| (now.capacity as usize) < now.pus.len()) {
                deadline = last_deadline.min(Instant::now() + super::PATIENCE);
            }
            if let Some(found) = now.as_ref().and_then(&mut look) {
                return found;
            }
            last = now.or(last);
            std::thread::sleep(Duration::from_millis(30));
        }
        panic!("waited in vain: {what}; the daemon's last word: {last:#?}\n{}", self.log())
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder().join("scafd.log")).unwrap_or_default()
    }

    /// A small program (tests/programs), to be started through `scaf run`.
    pub fn program(&self, name: &str) -> Start<'_> {
        self.at(&compiled(name))
    }

    pub fn at(&self, program: &Path) -> Start<'_> {
        Start::new(self, program)
    }

    /// A command in an environment that says nothing about OpenMP or scaf.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name_bytes = name.as_encoded_bytes();
            if ["OMP_", "GOMP_", "SCAF_", "LD_PRELOAD"]
                .iter()
                .any(|start| name_bytes.starts_with(start.as_bytes()))
            {
                command.env_remove(&name);
            }
        }
        command.env("XDG_RUNTIME_DIR", self.folder()).env(MARK, self.folder());
        command.env("XDG_DATA_HOME", self.folder().join("data"));
        command.env("XDG_CACHE_HOME", self.folder().join("cache"));
        // A process group of its own, by which forked children are found; and nothing outlives the tests.
        command.stdin(Stdio::null()).process_group(0);
        // SAFETY: system calls between fork and exec.
        unsafe {
            command.pre_exec(|| {
                // A script that has the tests run in the background has them ignored.
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::signal(libc::SIGQUIT, libc::SIG_DFL);
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC as libc::c_int);
                Ok(())
            });
        }
        command
    }

    pub fn processes(&self) -> Vec<u32> {
        let mark = format!("{MARK}={}", self.folder().display());
        let is_ours = |pid: &u32| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|all| all.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
        };
        let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        let daemon = self.daemon.borrow_mut().take();
        let mut killed = daemon.is_none();
        if let Some(mut daemon) = daemon {
            killed |= !matches!(daemon.try_wait(), Ok(None));
            send(daemon.id(), libc::SIGCONT);
            send(daemon.id(), libc::SIGTERM);
            let deadline = Instant::now() + super::PATIENCE;
            while matches!(daemon.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        // A guardian or a child that was just signalled may need a moment.
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.processes().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let left = self.processes();
        let names: Vec<_> =
            left.iter().map(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm"))).collect();
        for pid in &left {
            send(*pid, libc::SIGKILL);
        }
        if std::thread::panicking() {
            eprintln!("the daemon said:\n{}", self.log());
        } else {
            assert!(left.is_empty(), "left behind: {left:?} {names:?}");
            assert!(killed || !self.socket().exists(), "left behind: the daemon's socket");
        }
    }
}

pub struct Recording(Child);

impl Recording {
    pub fn end(self) {
        send(self.0.id(), libc::SIGINT);
        let said = self.0.wait_with_output().expect("its end");
        assert!(said.status.success(), "{said:?}");
    }
}

pub fn send(pid: u32, signal: i32) {
    let pid = i32::try_from(pid).expect("a process id");
    // SAFETY: a plain system call.
    unsafe { libc::kill(pid, signal) };
}

/// A daemon's child by its name and its command line, or one of its broker's, which has what needs rights.
pub fn child_of(daemon: u32, is_it: impl Fn(&str, &[u8]) -> bool) -> Option<u32> {
    let is_it = |pid: &u32| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        // One that has ended has no words.
        !words.is_empty() && is_it(name.trim(), &words)
    };
    let children = |pid| scafd::observe::Observer::new(Path::new("/")).process(pid).children(usize::MAX);
    let own = children(daemon);
    own.iter().copied().find(is_it).or_else(|| own.iter().flat_map(|pid| children(*pid)).find(is_it))
}

/// Ends a child as whoever started it would: asked to, and killed where it doesn't listen.
pub fn end(child: &mut Child) {
    send(child.id(), libc::SIGTERM);
    let deadline = Instant::now() + super::PATIENCE;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The first two PUs that this process may use. Asked of its first thread, which no test changes.
fn two_pus() -> Vec<u32> {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc/self/status");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let pus: Vec<u32> = cpu_list(list.trim()).into_iter().take(2).collect();
    assert_eq!(pus.len(), 2, "these tests need two PUs, and may use {list}");
    pus
}

pub fn stay_on(pus: &[u32]) {
    // SAFETY: the set is a local variable, and CPU_SET checks its bounds.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for pu in pus {
            libc::CPU_SET(*pu as usize, &mut set);
        }
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &set), 0, "affinity {pus:?}");
    }
}
