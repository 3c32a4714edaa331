//! A daemon on a socket of its own, and programs that are processes of their own. A program is this same test
//! binary, which an environment variable makes run [`client::main`]; the test talks to it over its standard
//! streams.

#![allow(dead_code)] // each test binary uses a part of it

pub mod client;
#[macro_use]
#[path = "../../../../tests/skip.rs"]
pub mod skip;

use scaf_policy::PuSet;
use scafd::control::{Program, Reply, Request, Snapshot};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a machine that is busy with other things.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// Asks until the answer is there.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The first two PUs that this process may use.
pub fn two_pus() -> PuSet {
    scafd::observe::affinity(0).unwrap().iter().take(2).collect()
}

/// A control group of version 1 that says which PUs its processes may use.
pub struct Cpuset {
    folder: PathBuf,
}

impl Cpuset {
    /// `None` where there is no such controller, or where it isn't ours to use.
    pub fn new(pus: &PuSet) -> Option<Cpuset> {
        let top = Path::new("/sys/fs/cgroup/cpuset");
        let folder = top.join(format!("scafd-test-{}", std::process::id()));
        std::fs::create_dir(&folder).ok()?;
        let cpuset = Cpuset { folder };
        let nodes = std::fs::read_to_string(top.join("cpuset.mems")).ok()?;
        std::fs::write(cpuset.folder.join("cpuset.mems"), nodes).ok()?;
        std::fs::write(cpuset.folder.join("cpuset.cpus"), pus.to_string()).ok()?;
        Some(cpuset)
    }

    pub fn set(&self, pus: &PuSet) {
        std::fs::write(self.folder.join("cpuset.cpus"), pus.to_string()).unwrap();
    }

    pub fn take_in(&self, pid: u32) {
        std::fs::write(self.folder.join("cgroup.procs"), pid.to_string()).unwrap();
    }
}

impl Drop for Cpuset {
    fn drop(&mut self) {
        for pid in std::fs::read_to_string(self.folder.join("cgroup.procs")).unwrap_or_default().lines() {
            let _ = std::fs::write("/sys/fs/cgroup/cpuset/cgroup.procs", pid);
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// A running daemon.
pub struct Daemon {
    pub child: Child,
    pub socket: PathBuf,
    pub dir: tempfile::TempDir,
}

impl Daemon {
    /// Decides for a pretended machine of that many cores, so that numbers don't depend on this one's load.
    pub fn pretending(cores: u32) -> Daemon {
        Daemon::start(&["--dry-run", "--topology", &format!("core:{cores} pu:1"), "--policy", "equi"])
    }

    /// The same by a policy that lends contexts of programs in serial phases.
    pub fn lending(cores: u32) -> Daemon {
        Daemon::start(&["--dry-run", "--topology", &format!("core:{cores} pu:1"), "--policy", "curve"])
    }

    /// Really sets affinities, on two PUs of this machine at most.
    pub fn on_two_pus() -> Daemon {
        Daemon::start_in(&["--policy", "equi"], |command, dir| {
            configure(command, dir, "count_load = false\n");
        })
    }

    /// Serves all users, who can reach its socket; nothing is set. For root only.
    pub fn for_all(cores: u32) -> Daemon {
        let topology = format!("core:{cores} pu:1");
        let args = ["--system", "--dry-run", "--topology", &topology, "--policy", "equi"];
        Daemon::start_in(&args, |command, dir| {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o711)).unwrap();
            configure(command, dir, "memory = false\n");
        })
    }

    /// Serves all users and really sets affinities, on two PUs of this machine. For root only.
    pub fn for_all_on_two_pus(text: &str) -> Daemon {
        Daemon::start_in(&["--system", "--policy", "equi"], |command, dir| {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o711)).unwrap();
            let (config, memory) = (dir.join("scafd.toml"), dir.join("memory"));
            let text = format!("count_load = false\nmemory_dir = '{}'\n{text}", memory.display());
            std::fs::write(&config, text).unwrap();
            command.arg("--config").arg(config);
        })
    }

    pub fn start(args: &[&str]) -> Daemon {
        Daemon::start_as(args, |_| {})
    }

    /// Starts a daemon whose process is changed before.
    pub fn start_as(args: &[&str], change: impl FnOnce(&mut Command)) -> Daemon {
        Daemon::start_in(args, |command, _| change(command))
    }

    /// The same in a folder that is prepared.
    pub fn start_in(args: &[&str], change: impl FnOnce(&mut Command, &Path)) -> Daemon {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("scafd.sock");
        let mut command = Daemon::command(&socket, args);
        change(&mut command, dir.path());
        let mut child = command.spawn().unwrap();
        until("the daemon's socket", || {
            assert!(child.try_wait().unwrap().is_none(), "the daemon ended: {}", stderr(&mut child));
            connect(&socket)
        });
        Daemon { child, socket, dir }
    }

    pub fn command(socket: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scafd"));
        if !args.contains(&"--system") {
            command.arg("--session");
        }
        command.arg("--socket").arg(socket);
        if !args.contains(&"--idle-exit") {
            command.args(["--idle-exit", "0"]);
        }
        command.args(args).env("XDG_DATA_HOME", socket.with_file_name("data"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut words = two_pus().words().to_vec();
        words.resize(scaf_proto::MASK_WORDS, 0);
        // SAFETY: between fork and exec only one system call is made.
        unsafe {
            command.pre_exec(move || {
                let size = size_of_val(words.as_slice());
                match libc::sched_setaffinity(0, size, words.as_ptr().cast()) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        command
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks as the command line does.
    pub fn ask(&self, request: &Request) -> Reply {
        self.ask_raw(&serde_json::to_vec(request).unwrap())
    }

    pub fn ask_raw(&self, request: &[u8]) -> Reply {
        let socket = connect(&self.socket).expect("the daemon doesn't listen");
        rustix::net::send(&socket, request, rustix::net::SendFlags::NOSIGNAL).unwrap();
        Daemon::take(&socket)
    }

    /// Takes an answer.
    pub fn take(socket: &OwnedFd) -> Reply {
        let mut answer = Vec::new();
        let mut chunk = vec![0u8; 1 << 16];
        loop {
            let (_, n) = rustix::net::recv(socket, &mut chunk[..], rustix::net::RecvFlags::empty()).unwrap();
            if n == 0 {
                return serde_json::from_slice(&answer).unwrap();
            }
            answer.extend_from_slice(&chunk[..n]);
        }
    }

    pub fn snapshot(&self) -> Snapshot {
        match self.ask(&Request::Snapshot) {
            Reply::Snapshot(snapshot) => *snapshot,
            other => panic!("{other:?}"),
        }
    }

    pub fn program(&self, pid: u32) -> Option<Program> {
        self.snapshot().programs.into_iter().find(|p| p.pid == pid)
    }

    pub fn signal(&self, signal: i32) {
        kill(self.pid(), signal);
    }

    pub fn wait(&mut self) -> ExitStatus {
        until("the daemon's end", || self.child.try_wait().unwrap())
    }

    /// Process ids of the daemon's children.
    pub fn children(&self) -> Vec<u32> {
        scafd::observe::Observer::new(Path::new("/")).process(self.pid()).children(9)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            self.signal(libc::SIGTERM);
            self.wait();
        }
        if std::thread::panicking() && self.child.stderr.is_some() {
            eprintln!("the daemon said:\n{}", stderr(&mut self.child));
        }
    }
}

fn configure(command: &mut Command, dir: &Path, text: &str) {
    let config = dir.join("scafd.toml");
    std::fs::write(&config, text).unwrap();
    command.arg("--config").arg(config);
}

pub fn stderr(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

pub fn kill(pid: u32, signal: i32) {
    // SAFETY: signals a process that the test started.
    unsafe { libc::kill(pid as i32, signal) };
}

/// Whether a process is there and no zombie.
pub fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rfind(')').is_some_and(|at| !stat[at..].starts_with(") Z"))
}

pub fn connect(path: &Path) -> Option<OwnedFd> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
    let fd = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    connect(&fd, &SocketAddrUnix::new(path).unwrap()).ok()?;
    Some(fd)
}

/// Whether other users can be played.
pub fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Connects as another user: Linux has users for each thread.
pub fn connect_as(uid: u32, path: &Path) -> Option<OwnedFd> {
    let connected = || {
        // SAFETY: changes this thread's user only, which then ends.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, uid, uid, uid) }, 0);
        connect(path)
    };
    std::thread::scope(|scope| scope.spawn(connected).join().unwrap())
}

/// Connects as another user until the kernel refuses; `false` where there are no access lists for that.
pub fn connects_until_it_is_kept_out(uid: u32, path: &Path) -> bool {
    let list = rustix::fs::getxattr(path, "system.posix_acl_access", &mut [0u8; 99]);
    if list == Err(rustix::io::Errno::OPNOTSUPP) {
        skip::skipped(&format!("access lists at {}", path.display()));
        return false;
    }
    until("it is kept out", || (0..100).any(|_| connect_as(uid, path).is_none()).then_some(()));
    true
}

/// A program, as seen from the test.
pub struct Client {
    pub child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    /// Starts a program that attaches with a team size of `natural`.
    pub fn attach(daemon: &Daemon, natural: u32) -> Client {
        Client::with(daemon, &[("NATURAL", &natural.to_string())])
    }

    /// Starts a program as another user, who had rights to its files from the beginning.
    pub fn of(daemon: &Daemon, uid: u32, settings: &[(&str, &str)]) -> Client {
        // By its descriptor: the other user may not come to its path.
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let mut command = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        command.uid(uid);
        Client::by(command, daemon, settings)
    }

    /// Starts a program with settings for [`client::main`].
    pub fn with(daemon: &Daemon, settings: &[(&str, &str)]) -> Client {
        Client::by(Command::new(std::env::current_exe().unwrap()), daemon, settings)
    }

    fn by(mut command: Command, daemon: &Daemon, settings: &[(&str, &str)]) -> Client {
        command.args(["--exact", "a_client_process", "--nocapture"]);
        command.env("SCAFD_TEST_SOCKET", &daemon.socket);
        command.envs(settings.iter().map(|(key, value)| (format!("SCAFD_TEST_{key}"), value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Client { child, to, from };
        client.answer("ready");
        client
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line and gives the answer.
    pub fn tell(&mut self, command: &str) -> String {
        writeln!(self.to, "{command}").unwrap();
        let verb = command.split(' ').next().unwrap();
        self.answer(verb)
    }

    fn answer(&mut self, verb: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the client has ended");
            if let Some(at) = line.find(&format!("@{verb}:")) {
                return line[at + verb.len() + 2..].trim().to_owned();
            }
        }
    }

    /// DoP on the program's own grant page; `None` if unmanaged.
    pub fn dop(&mut self) -> Option<u32> {
        self.tell("dop").parse().ok()
    }

    pub fn wait_for_dop(&mut self, dop: Option<u32>) {
        until(&format!("a DoP of {dop:?}"), || (self.dop() == dop).then_some(()));
    }

    pub fn affinity(&self) -> PuSet {
        scafd::observe::affinity(self.pid()).unwrap()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
