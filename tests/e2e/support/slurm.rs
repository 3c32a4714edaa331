//! Slurm itself, in a setup: munged with its own key and socket, slurmctld, and two nodes that are both this
//! machine. All are children of the test and end with it.

use super::accounts::Accounts;
use super::{Setup, library_folder, released, root, root_user, skip, wait_for};
use std::cell::RefCell;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub struct Slurm<'h> {
    setup: &'h Setup,
    folder: PathBuf,
    /// In the order in which they were started.
    daemons: RefCell<Vec<(&'static str, Child)>>,
    accounts: Option<Accounts>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// A task's affinity is its job's CPUs.
    Plain,
    /// Control groups have the processes, and keep them on the job's CPUs.
    Groups,
    /// Jobs on the same CPUs are stopped in turns of 5 s.
    Gang,
    /// slurmdbd keeps accounts.
    Accounts,
    /// Requests are lowered to the knee of `loops`, which is 1.
    Knees,
}

#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    #[track_caller]
    pub fn well(self) -> Said {
        assert!(self.code == Some(0) && self.err.is_empty(), "{self:#?}");
        self
    }
}

const NEEDED: [&str; 6] = [
    "/usr/sbin/munged",
    "/usr/sbin/slurmctld",
    "/usr/sbin/slurmd",
    "/usr/bin/srun",
    "/usr/bin/make",
    "/usr/include/slurm/spank.h",
];

impl<'h> Slurm<'h> {
    /// `None`, with the reason printed, where Slurm can't be had.
    pub fn start(setup: &'h Setup) -> Option<Slurm<'h>> {
        Slurm::of(Kind::Plain, setup)
    }

    pub fn of(kind: Kind, setup: &'h Setup) -> Option<Slurm<'h>> {
        if !skip::has(root_user(), "root, for slurmd") {
            return None;
        }
        if let Some(missing) = NEEDED.iter().find(|file| !Path::new(file).exists()) {
            skip::skipped(&format!("{missing} (scripts/setup.sh tests)"));
            return None;
        }
        let all_may_enter = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(setup.folder(), all_may_enter).expect("the setup's permissions");
        let folder = setup.folder().join("slurm");
        std::fs::create_dir_all(folder.join("state")).expect("a folder");
        let mut slurm = Slurm { setup, folder, daemons: RefCell::default(), accounts: None, kind };
        slurm.begin("munged", "/usr/sbin/munged", &slurm.munge_words());
        wait_for("munged listens", || slurm.at("munge.sock").exists().then_some(()));
        if kind == Kind::Accounts {
            slurm.accounts = Some(Accounts::start(setup, &slurm.folder)?);
        }
        slurm.configure();
        slurm.begin("slurmctld", "/usr/sbin/slurmctld", &["-D".into(), "-c".into()]);
        slurm.start_node("n1");
        slurm.start_node("n2");
        wait_for("both nodes are idle", || {
            let seen = slurm.say("sinfo", &["-h", "-o", "%T %D"]);
            (seen.out.trim() == "idle 2").then_some(())
        });
        Some(slurm)
    }

    pub fn configuration(&self) -> PathBuf {
        self.at("slurm.conf")
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn munge_words(&self) -> Vec<String> {
        let key = self.at("munge.key");
        let random: Vec<u8> = std::fs::read("/proc/sys/kernel/random/uuid").expect("random bytes").repeat(4);
        std::fs::write(&key, random).expect("a key");
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).expect("chmod");
        let named = |option: &str, file: &str| format!("--{option}={}", self.at(file).display());
        vec![
            "--foreground".into(),
            "--force".into(),
            named("key-file", "munge.key"),
            named("socket", "munge.sock"),
            named("pid-file", "munged.pid"),
            named("log-file", "munged.log"),
            named("seed-file", "munge.seed"),
        ]
    }

    fn configure(&self) {
        let kind = self.kind;
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("this host's name");
        let host = host.trim().split('.').next().unwrap_or_default();
        let ports = free_ports::<3>();
        let folder = self.folder.display();
        let (tracking, task) = match kind {
            Kind::Groups => ("proctrack/cgroup", "task/affinity,task/cgroup"),
            _ => ("proctrack/linuxproc", "task/affinity"),
        };
        let more = match kind {
            Kind::Plain | Kind::Groups => String::new(),
            Kind::Gang => "PreemptMode=GANG\nSchedulerTimeSlice=5\n".into(),
            Kind::Accounts => self.accounts.as_ref().map_or_else(String::new, Accounts::settings),
            Kind::Knees => self.lower_to_knees(),
        };
        let groups = "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nConstrainCores=yes\n";
        std::fs::write(self.at("cgroup.conf"), groups).expect("cgroup.conf");
        let text = format!(
            "ClusterName=setup\n\
             SlurmctldHost={host}(127.0.0.1)\n\
             SlurmctldPort={}\n\
             SlurmUser=root\n\
             AuthType=auth/munge\n\
             CredType=cred/munge\n\
             AuthInfo=socket={folder}/munge.sock\n\
             StateSaveLocation={folder}/state\n\
             SlurmdSpoolDir={folder}/spool-%n\n\
             SlurmdPidFile={folder}/slurmd-%n.pid\n\
             SlurmctldPidFile={folder}/slurmctld.pid\n\
             SlurmdLogFile={folder}/slurmd-%n.log\n\
             SlurmctldLogFile={folder}/slurmctld.log\n\
             PlugStackConfig={folder}/plugstack.conf\n\
             JobCompType=jobcomp/filetxt\n\
             JobCompLoc={folder}/completed\n\
             ProctrackType={tracking}\n\
             TaskPlugin={task}\n\
             SelectType=select/cons_tres\n\
             SelectTypeParameters=CR_CPU\n\
             SlurmdParameters=config_overrides\n\
             ReturnToService=2\n\
             KillWait=1\n\
             SchedulerParameters=sched_interval=1,bf_interval=1\n\
             OverTimeLimit=0\n\
             MinJobAge=3600\n\
             {more}\
             NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2\n\
             NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=2\n\
             PartitionName=shared Nodes=n[1-2] Default=YES OverSubscribe=FORCE:4\n",
            ports[0], ports[1], ports[2],
        );
        std::fs::write(self.at("slurm.conf"), text).expect("slurm.conf");
        self.plug("");
    }

    /// As an admin sets up packaging/slurm/job_submit.lua; the line of slurm.conf for it.
    fn lower_to_knees(&self) -> String {
        let knees = self.at("knees.tsv");
        std::fs::write(&knees, "1\tloops\t\n").expect("knees");
        let script = root().join("packaging/slurm/job_submit.lua");
        let script = std::fs::read_to_string(script).expect("job_submit.lua");
        let script = script
            .replace("-- [\"shared\"] = true", "[\"shared\"] = true")
            .replace("/etc/slurm/scaf-knees.tsv\"", &format!("{}\"", knees.display()));
        std::fs::write(self.at("job_submit.lua"), script).expect("job_submit.lua");
        "JobSubmitPlugins=lua\n".into()
    }

    /// Has the nodes and commands use the plug-in with further settings.
    pub fn plug(&self, settings: &str) {
        let mut make = Command::new("make");
        make.arg("-s").arg("-C").arg(root().join("packaging/slurm"));
        let out = library_folder().join("slurm");
        let made = make.arg(format!("OUT={}", out.display())).status().expect("make");
        assert!(made.success(), "packaging/slurm can't be built");
        let line = format!(
            "optional {}/scaf.so scaf={} socket={} {settings}\n",
            out.display(),
            released("scaf").display(),
            self.setup.socket().display(),
        );
        std::fs::write(self.at("plugstack.conf"), line).expect("plugstack.conf");
    }

    fn begin(&self, name: &'static str, program: &str, words: &[String]) {
        let log = std::fs::File::options().create(true).append(true).open(self.at("said"));
        let mut command = self.command(program);
        command.args(words).stdout(Stdio::null()).stderr(log.expect("a log"));
        let child = command.spawn().unwrap_or_else(|e| panic!("{program}: {e}"));
        self.daemons.borrow_mut().push((name, child));
    }

    pub fn start_node(&self, node: &'static str) {
        self.begin(node, "/usr/sbin/slurmd", &["-D".into(), "-N".into(), node.into()]);
    }

    /// Kills a node's slurmd, as the machine's kernel may.
    pub fn kill_node(&self, node: &str) {
        let mut daemons = self.daemons.borrow_mut();
        let at = daemons.iter().position(|(name, _)| *name == node).expect("a node");
        let (_, mut child) = daemons.remove(at);
        child.kill().expect("kill");
        child.wait().expect("its end");
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = self.setup.command(Path::new(program));
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"SLURM") {
                command.env_remove(name);
            }
        }
        command.env("SLURM_CONF", self.at("slurm.conf")).current_dir(self.setup.folder());
        command
    }

    pub fn say(&self, program: &str, words: &[&str]) -> Said {
        let output = self.command(program).args(words).output().expect("a command of Slurm's");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// A job's record as scontrol shows it, one field of it; empty if it has none.
    pub fn field(&self, job: u32, name: &str) -> String {
        let shown = self.say("scontrol", &["show", "job", &job.to_string(), "-o"]).out;
        let start = format!("{name}=");
        let found = shown.split_whitespace().find_map(|word| word.strip_prefix(&start));
        found.unwrap_or_default().to_owned()
    }

    pub fn until_it_is(&self, job: u32, state: &str) {
        let mut last = String::new();
        super::wait_for(&format!("job {job} is {state}"), || {
            last = self.field(job, "JobState");
            (last == state).then_some(())
        });
    }

    /// What scaf wrote into the job's record, as soon as there is anything.
    pub fn record(&self, job: u32) -> String {
        wait_for("the record of a job", || {
            Some(self.field(job, "AdminComment")).filter(|text| !text.is_empty())
        })
    }

    /// Jobs that have completed, by what jobcomp/filetxt wrote down: a number and a state each.
    pub fn completed(&self) -> Vec<(u32, String)> {
        let text = std::fs::read_to_string(self.at("completed")).unwrap_or_default();
        let value = |line: &str, name: &str| {
            line.split_whitespace().find_map(|word| word.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        let job = |line: &str| value(line, "JobId=").parse().unwrap_or(0);
        text.lines().map(|line| (job(line), value(line, "JobState="))).collect()
    }

    pub fn submit(&self, options: &[&str], script: &str) -> u32 {
        let said = self.submitted(options, script).well();
        said.out.trim().parse().unwrap_or_else(|e| panic!("{e}: {said:?}"))
    }

    pub fn submitted(&self, options: &[&str], script: &str) -> Said {
        let file = self.setup.folder().join("job.sh");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let mut words = vec!["--parsable"];
        words.extend(options);
        words.push(file.to_str().expect("a plain path"));
        self.say("sbatch", &words)
    }
}

/// Free a moment ago, and the same for as long as this test lives.
pub(super) fn free_ports<const N: usize>() -> [u16; N] {
    let taken = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    taken.each_ref().map(|it| it.local_addr().expect("its address").port())
}

/// slurmd leaves its own control groups, which nobody is in; a job's that is still there keeps them.
fn remove_nodes_groups() {
    for hierarchy in std::fs::read_dir("/sys/fs/cgroup").into_iter().flatten().flatten() {
        for node in ["slurm_n1", "slurm_n2"] {
            let _ = std::fs::remove_dir(hierarchy.path().join(node));
        }
    }
}

impl Drop for Slurm<'_> {
    fn drop(&mut self) {
        self.say("scancel", &["--full", "-p", "shared"]);
        self.say("scancel", &["-s", "KILL", "--full", "-p", "shared"]);
        let deadline = std::time::Instant::now() + super::PATIENCE;
        let busy = || !self.say("squeue", &["-h"]).out.trim().is_empty();
        while busy() && std::time::Instant::now() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        for (_, mut child) in self.daemons.borrow_mut().drain(..).rev() {
            super::setup::end(&mut child);
        }
        if self.kind == Kind::Groups {
            remove_nodes_groups();
        }
        if std::thread::panicking() {
            for log in ["said", "slurmctld.log", "slurmd-n1.log", "slurmd-n2.log"] {
                let text = std::fs::read_to_string(self.at(log)).unwrap_or_default();
                let last: Vec<&str> = text.lines().rev().take(30).collect();
                eprintln!("{log}:\n{}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
            }
        }
    }
}
