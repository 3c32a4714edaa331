//! Containers without images: a read-only root made of the host's `/usr`, with process, mount, network and
//! other name spaces of its own, by bubblewrap or by runc. What they have of scaf is what `scaf cdi` says.

use super::{Running, Setup, Start, released, root_user, skip, wait_for};
use scafd::control::Program;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BUBBLEWRAP: &str = "/usr/bin/bwrap";
const RUNC: &str = "/usr/sbin/runc";
/// Where the program is in a container, and nowhere else.
const PLACE: &str = "/opt/app";
const LINKS: [(&str, &str); 3] = [("lib", "usr/lib"), ("lib64", "usr/lib64"), ("bin", "usr/bin")];

/// What `scaf cdi` gives to a container: variables, and paths of the host with their places.
pub struct Gift {
    pub env: Vec<(String, String)>,
    pub mounts: Vec<(String, String)>,
}

impl Gift {
    pub fn of(setup: &Setup) -> Gift {
        let socket = setup.socket();
        let text = setup.says(&["cdi", "--socket", socket.to_str().expect("a plain path")]);
        let spec: Value = serde_json::from_str(&text).expect("JSON");
        let edits = &spec["devices"][0]["containerEdits"];
        let words = |value: &Value| value.as_str().expect("a word").to_owned();
        let list = |name: &str| edits[name].as_array().expect("a list").clone();
        let pair = |word: &Value| {
            let (name, value) = word.as_str().and_then(|word| word.split_once('=')).expect("a variable");
            (name.to_owned(), value.to_owned())
        };
        Gift {
            env: list("env").iter().map(pair).collect(),
            mounts: list("mounts")
                .iter()
                .map(|mount| (words(&mount["hostPath"]), words(&mount["containerPath"])))
                .collect(),
        }
    }
}

fn inside(program: &Path) -> String {
    format!("{PLACE}/{}", program.file_name().and_then(|name| name.to_str()).expect("a plain name"))
}

/// Whether bubblewrap makes containers here; says why not.
pub fn can_wrap() -> bool {
    let tried = Command::new(BUBBLEWRAP).args(["--unshare-all", "--ro-bind", "/", "/", "true"]).output();
    match tried {
        Ok(done) if done.status.success() => true,
        Ok(done) => {
            let why = String::from_utf8_lossy(&done.stderr);
            skip::skipped(&format!("bubblewrap to make containers here: {why}"));
            false
        }
        Err(e) => {
            skip::skipped(&format!("{BUBBLEWRAP} (scripts/setup.sh tests): {e}"));
            false
        }
    }
}

/// The program in a container of bubblewrap's, to be given its arguments. The process that is started is
/// bubblewrap's; [`contained`] finds the program.
pub fn wrapped<'h>(setup: &'h Setup, program: &Path, options: &[&str]) -> Start<'h> {
    let gift = Gift::of(setup);
    let mut words: Vec<String> = ["--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
        .into_iter()
        .chain(["--ro-bind", "/usr", "/usr"])
        .map(str::to_owned)
        .collect();
    for (link, to) in LINKS {
        words.extend(["--symlink".into(), to.into(), format!("/{link}")]);
    }
    let own = (program.display().to_string(), inside(program));
    for (from, to) in gift.mounts.into_iter().chain([own]) {
        words.extend(["--ro-bind".into(), from, to]);
    }
    for (name, value) in gift.env {
        words.extend(["--setenv".into(), name, value]);
    }
    words.extend(options.iter().map(|option| (*option).to_owned()));
    words.push(inside(program));
    setup.at(Path::new(BUBBLEWRAP)).unmanaged().args(words)
}

/// The managed program in a process name space of its own that has what is waited for.
pub fn contained(setup: &Setup, what: &str, look: impl Fn(&Program) -> bool) -> Program {
    setup.until(what, |snapshot| {
        snapshot.programs.iter().find(|program| is_contained(program.pid) && look(program)).cloned()
    })
}

fn is_contained(pid: u32) -> bool {
    let space = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/pid")).ok();
    space(&pid.to_string()).is_some_and(|its| Some(its) != space("self"))
}

/// A container of runc's. Nothing of it is left when it is dropped.
pub struct Bundle<'h> {
    setup: &'h Setup,
    config: Value,
    name: String,
}

impl<'h> Bundle<'h> {
    /// With this program and its arguments; `None`, and a message, without root or runc.
    pub fn new(setup: &'h Setup, program: &Path, words: &[&str]) -> Option<Bundle<'h>> {
        if !skip::has(root_user() && Path::new(RUNC).exists(), "root, and runc (scripts/setup.sh tests)") {
            return None;
        }
        let gift = Gift::of(setup);
        let own = (program.display().to_string(), inside(program));
        let usr = ("/usr".to_owned(), "/usr".to_owned());
        let binds = gift.mounts.into_iter().chain([own, usr]);
        let mut mounts = vec![json!({"destination": "/proc", "type": "proc", "source": "proc"})];
        mounts.extend(binds.map(|(from, to)| {
            json!({"destination": to, "type": "none", "source": from, "options": ["rbind", "ro"]})
        }));
        let env = gift.env.iter().map(|(name, value)| format!("{name}={value}"));
        let env: Vec<String> = env.chain(["OMP_NUM_THREADS=2".to_owned()]).collect();
        let args: Vec<String> =
            [inside(program)].into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect();
        let name = format!("scaf-test-{}", std::process::id());
        let spaces = ["pid", "mount", "network", "ipc", "uts"].map(|kind| json!({"type": kind}));
        let config = json!({
            "ociVersion": "1.0.2",
            "process": {
                "user": {"uid": 0, "gid": 0}, "args": args, "env": env, "cwd": "/", "noNewPrivileges": true,
                "capabilities": {"bounding": CAPABILITIES, "effective": CAPABILITIES,
                    "permitted": CAPABILITIES},
            },
            "root": {"path": "rootfs", "readonly": true},
            "mounts": mounts,
            "linux": {"namespaces": spaces, "cgroupsPath": format!("/{name}"), "resources": {}},
        });
        Some(Bundle { setup, config, name })
    }

    /// With this in the Linux part of its configuration, as the OCI runtime specification has it.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.config["linux"][key] = value;
        self
    }

    fn folder(&self) -> PathBuf {
        self.setup.folder().join("bundle")
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        let state = self.setup.folder().join("runc").display().to_string();
        ["--root".to_owned(), state].into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect()
    }

    /// Starts it; the process is runc's, which ends as the program does.
    pub fn start(&self) -> Running<'h> {
        let root = self.folder().join("rootfs");
        std::fs::create_dir_all(&root).expect("the bundle");
        for (link, to) in LINKS {
            symlink(to, root.join(link)).expect("a link");
        }
        std::fs::write(self.folder().join("config.json"), self.config.to_string()).expect("config.json");
        let bundle = self.folder().display().to_string();
        self.setup
            .at(Path::new(RUNC))
            .unmanaged()
            .of(0)
            .args(self.words(&["run", "--bundle", &bundle, &self.name]))
            .start()
    }

    fn runc(&self, words: &[&str]) -> Output {
        self.setup.command(Path::new(RUNC)).args(self.words(words)).output().expect("runc")
    }

    /// Has other limits from now on, in runc's words.
    pub fn update(&self, words: &[&str]) {
        let words: Vec<&str> = ["update"].iter().chain(words).copied().chain([self.name.as_str()]).collect();
        let done = self.runc(&words);
        assert!(done.status.success(), "{words:?}: {done:?}");
    }

    fn groups(&self) -> Vec<PathBuf> {
        let controllers = ["cpu", "cpuset", "freezer", ""];
        let mounts = controllers
            .iter()
            .filter_map(|controller| scafd::observe::cgroup::mount(Path::new("/"), controller));
        mounts.map(|mount| mount.join(&self.name)).filter(|group| group.exists()).collect()
    }
}

impl Drop for Bundle<'_> {
    fn drop(&mut self) {
        self.runc(&["delete", "--force", &self.name]);
        if !std::thread::panicking() {
            wait_for("its control groups have gone", || self.groups().is_empty().then_some(()));
        }
    }
}

/// A container of podman's with the device which `scaf cdi` describes. Dropping it removes all of it.
pub struct Podman<'h> {
    setup: &'h Setup,
    name: String,
}

/// One of the two folders that podman reads; the other one is the admin's.
const DEVICES: &str = "/var/run/cdi";

impl<'h> Podman<'h> {
    /// `None`, and a message, without root or podman.
    pub fn new(setup: &'h Setup) -> Option<Podman<'h>> {
        let podman = root_user() && Path::new("/usr/bin/podman").exists();
        if !skip::has(podman, "root, and podman (scripts/setup.sh tests)") {
            return None;
        }
        let podman = Podman { setup, name: format!("scaf-test-{}", std::process::id()) };
        let socket = setup.socket();
        let socket = socket.to_str().expect("a plain path");
        setup.says(&["cdi", "--socket", socket, &format!("--write={}", podman.device().display())]);
        Some(podman)
    }

    fn device(&self) -> PathBuf {
        Path::new(DEVICES).join(&self.name).with_extension("json")
    }

    /// In folders of the setup's, so that the machine's containers aren't touched.
    fn words(&self, words: &[&str]) -> Vec<String> {
        let place = |name: &str| self.setup.folder().join(name).display().to_string();
        let own = ["--root", &place("storage"), "--runroot", &place("runroot"), "--tmpdir", &place("tmp")];
        let ways = ["--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs"];
        own.into_iter().chain(ways).chain(words.iter().copied()).map(str::to_owned).collect()
    }

    /// The program, without an image, and with so many CPUs. The process that is started is podman's.
    pub fn start(&self, program: &Path, cpus: &str) -> Running<'h> {
        let root = self.setup.folder().join("podman");
        for folder in ["usr", "opt", "run", "tmp", "etc", "proc", "sys", "dev"] {
            std::fs::create_dir_all(root.join(folder)).expect("a root");
        }
        for (link, to) in LINKS {
            symlink(to, root.join(link)).expect("a link");
        }
        let own = format!("{}:{}:ro", program.display(), inside(program));
        let group = format!("/{}", self.name);
        let words = self.words(&[
            "run",
            "--rm",
            "--interactive",
            "--name",
            &self.name,
            "--cgroup-parent",
            &group,
            "--cpus",
            cpus,
            "--network",
            "none",
            "--ulimit",
            "nofile=4096:4096",
            "--ulimit",
            "nproc=4096:4096",
            "--device",
            "scaf.dev/host=all",
            "--env",
            "OMP_NUM_THREADS=2",
            "--volume",
            "/usr:/usr:ro",
            "--volume",
            &own,
            "--rootfs",
            root.to_str().expect("a plain path"),
            &inside(program),
        ]);
        self.setup.at(Path::new("/usr/bin/podman")).unmanaged().args(words).start()
    }
}

impl Drop for Podman<'_> {
    fn drop(&mut self) {
        let words = self.words(&["rm", "--force", "--time", "0", "--ignore", &self.name]);
        let _ = self.setup.command(Path::new("/usr/bin/podman")).args(words).output();
        let _ = std::fs::remove_file(self.device());
        // Podman leaves the group that it was told to make others in.
        let none_left = || {
            let left = std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten();
            let left = left.map(|entry| entry.path().join(&self.name)).filter(|group| !take_away(group));
            left.count() == 0
        };
        if !std::thread::panicking() {
            wait_for("its control groups have gone", || none_left().then_some(()));
        } else {
            none_left();
        }
    }
}

/// Removes a control group and those in it; `false` if somebody is in one.
fn take_away(group: &Path) -> bool {
    for entry in std::fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            take_away(&entry.path());
        }
    }
    match std::fs::remove_dir(group) {
        Ok(()) => true,
        Err(e) => e.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Those that Docker and podman leave to root in a container.
const CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

/// The versions of glibc's symbols that the client library is linked with.
pub fn glibcs_of_the_library() -> Vec<(u32, u32)> {
    use object::{Object, ObjectSection};
    let bytes = std::fs::read(released("libscaf.so")).expect("the library");
    let file = object::File::parse(bytes.as_slice()).expect("ELF");
    let names = file.section_by_name(".dynstr").expect("names").data().expect("names").to_vec();
    let version = |name: &[u8]| {
        let name = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
        let mut numbers = name.split('.').map(|number| number.parse::<u32>());
        // What has no number, such as PRIVATE or ABI_DT_RELR, no older glibc has.
        let number = |part: Option<Result<u32, _>>| part.and_then(Result::ok).unwrap_or(u32::MAX);
        Some((number(numbers.next()), number(numbers.next())))
    };
    names.split(|byte| *byte == 0).filter_map(version).collect()
}
