//! What `/proc/PID` says about a process.

use crate::broker::Broker;
use crate::broker::protocol::Ask;
use crate::observe::files::read_text;
use crate::observe::program_name;
use crate::observe::slurm_step::Step;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, StatxFlags, makedev, statx};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::read_link;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// One process, which may end at any time; nothing is read before it is asked for.
#[derive(Clone, Debug)]
pub struct Process {
    folder: PathBuf,
    pid: u32,
    /// Asked about the executables of other users' processes.
    broker: Option<Broker>,
}

/// Identifies a file and its last change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileId {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl FileId {
    /// From metadata.
    pub fn of(file: &std::fs::Metadata) -> FileId {
        FileId { device: file.dev(), inode: file.ino(), changed: (file.ctime(), file.ctime_nsec()) }
    }

    /// Of an open file, from what the kernel has cached: the file system, which may be a user's own, isn't
    /// asked.
    fn of_open(file: impl AsFd) -> io::Result<FileId> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let about = statx(file, c"", flags, StatxFlags::BASIC_STATS)?;
        Ok(FileId {
            device: makedev(about.stx_dev_major, about.stx_dev_minor),
            inode: about.stx_ino,
            changed: (about.stx_ctime.tv_sec, about.stx_ctime.tv_nsec.into()),
        })
    }
}

/// The fields of `/proc/PID/stat` that matter here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stat {
    /// Process id of the parent.
    pub parent: u32,
    /// Number of threads.
    pub threads: u32,
    /// When it started, in clock ticks since boot: tells a process from a later one with its id.
    pub starttime: u64,
}

/// Who started a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StartedBy {
    /// Its real user.
    pub uid: u32,
    /// Its real group.
    pub gid: u32,
    /// Whether it has capabilities, also of a user namespace: then another process of its user can't change
    /// it.
    pub has_rights: bool,
}

impl Process {
    /// The process `pid` as seen below `root`.
    pub fn new(root: &Path, pid: u32) -> Process {
        Process { folder: root.join("proc").join(pid.to_string()), pid, broker: None }
    }

    /// The same, asking the broker for what the daemon may not read.
    #[must_use]
    pub fn through(self, broker: Option<Broker>) -> Process {
        Process { broker, ..self }
    }

    /// Its id.
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Reads `/proc/PID/stat`.
    pub fn stat(&self) -> io::Result<Stat> {
        let text = read_text(self.folder.join("stat"))?;
        parse(&text).ok_or_else(|| self.not_understood("stat"))
    }

    /// Whether it is there, and is the one that started then: its number may be another one's by now.
    pub fn is_since(&self, starttime: u64) -> bool {
        self.stat().is_ok_and(|stat| stat.starttime == starttime)
    }

    /// Whether it is stopped by a signal or by a debugger.
    pub fn is_stopped(&self) -> bool {
        matches!(state(&self.folder), Some('T' | 't'))
    }

    /// Whether it is, or is frozen by a control group, which shows as an uninterruptible wait.
    pub fn is_held(&self) -> bool {
        matches!(state(&self.folder), Some('T' | 't' | 'D'))
    }

    /// Bytes of memory that it has, and those of them that are its own alone: neither files' nor shared.
    pub fn memory(&self) -> io::Result<(u64, u64)> {
        let text = read_text(self.folder.join("statm"))?;
        memory(&text).ok_or_else(|| self.not_understood("statm"))
    }

    fn not_understood(&self, file: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, format!("/proc/{}/{file}: not understood", self.pid))
    }

    /// Its executable's identity.
    pub fn executable(&self) -> io::Result<FileId> {
        let file = match &self.broker {
            Some(broker) => broker.fetch(&Ask::Executable(self.pid), None)?.0,
            None => rustix::fs::open(self.folder.join("exe"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?,
        };
        FileId::of_open(&file)
    }

    /// The path of its executable.
    pub fn path(&self) -> io::Result<PathBuf> {
        let Some(broker) = &self.broker else { return read_link(self.folder.join("exe")) };
        let (file, _) = broker.fetch(&Ask::Executable(self.pid), None)?;
        read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }

    /// Its folder in `/proc`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The step of Slurm's that its control group names.
    pub fn slurm_step(&self) -> Option<Step> {
        Step::of_cgroup(&read_text(self.folder.join("cgroup")).ok()?)
    }

    /// Its effective user.
    pub fn uid(&self) -> io::Result<u32> {
        Ok(std::fs::metadata(&self.folder)?.uid())
    }

    /// Who started it; readable also for undumpable processes.
    pub fn started_by(&self) -> io::Result<StartedBy> {
        let text = read_text(self.folder.join("status"))?;
        let first =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.split_whitespace().next());
        let number = |key: &str| first(key)?.parse().ok();
        let found = || {
            let rights = u64::from_str_radix(first("CapPrm:")?, 16).ok()?;
            Some(StartedBy { uid: number("Uid:")?, gid: number("Gid:")?, has_rights: rights != 0 })
        };
        found().ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Whether it has that thread now.
    pub fn has_thread(&self, tid: u32) -> bool {
        self.folder.join("task").join(tid.to_string()).exists()
    }

    /// Ids of its threads.
    pub fn threads(&self) -> io::Result<Vec<u32>> {
        Ok(self.each_thread()?.collect())
    }

    /// The same, read as far as they are asked for.
    fn each_thread(&self) -> io::Result<impl Iterator<Item = u32>> {
        // The standard library's way panics where closing the folder fails.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let entries = Dir::new(rustix::fs::open(self.folder.join("task"), flags, Mode::empty())?)?;
        Ok(entries.filter_map(|e| e.ok()?.file_name().to_str().ok()?.parse().ok()))
    }

    /// Processes that its threads forked, looking at its first `most` threads.
    pub fn children(&self, most: usize) -> Vec<u32> {
        let mut children = Vec::new();
        for thread in self.each_thread().into_iter().flatten().take(most) {
            let file = self.folder.join("task").join(thread.to_string()).join("children");
            let text = read_text(file).unwrap_or_default();
            children.extend(text.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        children
    }

    /// Those of its first and last threads, `most` of each, that are runnable; and the cost of looking, in
    /// threads that could have been moved instead. Of very many threads only the first are considered.
    pub fn runnable_threads(&self, most: usize) -> (Vec<u32>, u32) {
        let (threads, all) = self.first_and_last(most);
        let state = |thread: &u32| state(&self.folder.join("task").join(thread.to_string()));
        // Listing a thread costs a quarter of moving one, reading its state twice as much as moving.
        let cost = all / 4 + 2 * threads.len();
        (threads.into_iter().filter(|thread| state(thread) == Some('R')).collect(), cost as u32)
    }

    /// Its first and last threads, `most` of each, and how many there are. Of very many only the first are
    /// considered.
    pub fn first_and_last(&self, most: usize) -> (Vec<u32>, usize) {
        let all: Vec<u32> = self.each_thread().into_iter().flatten().take(MOST_LISTED).collect();
        let last = all.len().saturating_sub(most);
        let chosen = all.iter().enumerate().filter(|(at, _)| *at < most || *at >= last);
        (chosen.map(|(_, thread)| *thread).collect(), all.len())
    }

    /// How much each of [`Process::first_and_last`] has run or waited for a context, in nanoseconds; and
    /// whether these are all of its threads.
    pub fn wanted_ns(&self, most: usize) -> (BTreeMap<u32, u64>, bool) {
        let of = |thread: u32| {
            let text = read_text(self.folder.join("task").join(thread.to_string()).join("schedstat")).ok()?;
            let mut fields = text.split_whitespace().map(str::parse::<u64>);
            Some((thread, fields.next()?.ok()?.saturating_add(fields.next()?.ok()?)))
        };
        let (threads, all) = self.first_and_last(most);
        let are_all = threads.len() == all;
        (threads.into_iter().filter_map(of).collect(), are_all)
    }

    /// How many [`Process::runnable_threads`] there are, and what it costs to look.
    pub fn runnable(&self, most: usize) -> (usize, u32) {
        let (threads, cost) = self.runnable_threads(most);
        (threads.len(), cost)
    }

    /// What people call it: by its script or main class in its command line ([`program_name::of`]), which is
    /// `read` for interpreters only, else by its executable, or by its main thread where that can't be read.
    pub fn name(&self, read: impl FnOnce() -> Vec<u8>) -> String {
        let exe = self.path().ok();
        let exe = exe.and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()));
        exe.map(|name| name.trim_end_matches(" (deleted)").to_owned())
            .map(|name| {
                let line = program_name::is_interpreter(&name).then(read);
                line.and_then(|line| interpreted(&name, &line)).unwrap_or(name)
            })
            .or_else(|| Some(read_text(self.folder.join("comm")).ok()?.trim().to_owned()))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| format!("process {}", self.pid))
    }
}

fn interpreted(executable: &str, line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line.get(..MOST_LINE).unwrap_or(line));
    let words: Vec<&str> = line.trim_end_matches('\0').split('\0').skip(1).collect();
    program_name::of(executable, &words)
}

/// Threads of a process that are listed to see whether they run.
const MOST_LISTED: usize = 1024;
/// Bytes of a command line that are looked at for a name.
const MOST_LINE: usize = 16 << 10;

/// `statm` counts pages: all, resident, and those of the latter that are files' or shared.
fn memory(text: &str) -> Option<(u64, u64)> {
    let mut fields = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    let bytes = |pages: u64| pages.saturating_mul(rustix::param::page_size() as u64);
    Some((bytes(resident), bytes(resident.saturating_sub(shared))))
}

/// Fields count from the last parenthesis: the name in parentheses may contain any characters.
fn parse(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.get(text.rfind(')')? + 1..)?.split_whitespace().collect();
    let field = |n: usize| fields.get(n - 3);
    Some(Stat {
        parent: field(4)?.parse().ok()?,
        threads: field(20)?.parse().ok()?,
        starttime: field(22)?.parse().ok()?,
    })
}

/// The state of the process or thread of that folder in `/proc`.
fn state(folder: &Path) -> Option<char> {
    let text = read_text(folder.join("stat")).ok()?;
    text.get(text.rfind(')')? + 1..)?.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let text = "7 (a) R 1 2 (b) S 42 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 9 0 12345 6 7 8";
        assert_eq!(parse(text), Some(Stat { parent: 42, threads: 9, starttime: 12345 }));
        assert_eq!(parse("7 (a) R 1"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn memory_is_what_is_resident_and_what_of_that_is_private() {
        let page = rustix::param::page_size() as u64;
        assert_eq!(memory("900 100 40 5 0 60 0"), Some((100 * page, 60 * page)));
        assert_eq!((memory(""), memory("1 2"), memory("1 x 3")), (None, None, None));
    }

    #[test]
    fn this_process_is_there_and_process_0_is_not() {
        let me = Process::new(Path::new("/"), std::process::id());
        assert!(me.stat().unwrap().threads >= 1);
        assert!(me.memory().is_ok_and(|(resident, private)| resident > private && private > 0));
        assert!(me.runnable(MOST_LISTED).0 >= 1 && me.runnable(0).0 == 0);
        assert!(me.threads().unwrap().contains(&std::process::id()));
        assert!(!me.name(Vec::new).is_empty());
        assert_eq!(me.uid().unwrap(), rustix::process::geteuid().as_raw());
        let rights = rustix::thread::capabilities(None).unwrap().permitted;
        let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        assert_eq!(me.started_by().unwrap(), StartedBy { uid, gid, has_rights: !rights.is_empty() });
        let none = Process::new(Path::new("/"), 0);
        assert!(none.stat().is_err() && none.uid().is_err());
        assert!(none.threads().is_err() && none.children(9).is_empty());
        assert_eq!(none.name(Vec::new), "process 0");
    }
}
