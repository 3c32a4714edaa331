//! The ways to stop a program, and one program stopped by one of them. A program's group is made within its
//! own group, so that its limits still hold, and is called `scaf-gang-DAEMON-PROGRAM` by process ids. Only
//! the program is moved there; children born there are moved back ([`Stoppable::evict`]).

use crate::apply::groups;
use crate::observe::{Observer, cgroup};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How the names of the daemon's groups begin.
pub const NAME: &str = "scaf-gang-";
/// Groups that are searched when the daemon starts, some 10 us each.
const MOST_GROUPS: u32 = 20_000;

/// How the configuration wants programs to be stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GangBy {
    /// A freezer, if there is one.
    #[default]
    Auto,
    /// A freezer.
    Freezer,
    /// `cpu.idle` or `cpu.shares`: programs out of turn run where nobody else wants to.
    Idle,
    /// Signals; for programs of the daemon's own user only.
    Signal,
}

/// How programs are stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Version 2 of control groups: `cgroup.freeze`. A frozen program can be killed and debugged.
    FreezeV2,
    /// Version 1: the freezer. Signals, SIGKILL included, wait for the next turn.
    FreezeV1,
    /// Version 1's `cpu.idle`: the program runs only where nobody else wants to. Not in version 2, whose cpu
    /// controller is for threaded groups only, of which processes can't be listed.
    IdleV1,
    /// Version 1 before Linux 5.15: the least `cpu.shares`.
    SharesV1,
    /// SIGSTOP and SIGCONT, which shells and other parents see.
    Signal,
}

impl Way {
    const ALL: [Way; 5] = [Way::FreezeV2, Way::FreezeV1, Way::IdleV1, Way::SharesV1, Way::Signal];

    /// A number for the guardian's table, from 1.
    pub fn code(self) -> u32 {
        Way::ALL.iter().zip(1..).find(|(way, _)| **way == self).map_or(0, |(_, code)| code)
    }

    /// The inverse of [`Way::code`].
    pub fn of_code(code: u32) -> Option<Way> {
        Way::ALL.get((code as usize).checked_sub(1)?).copied()
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Way::FreezeV2 => "cgroup.freeze (version 2)",
            Way::FreezeV1 => "the freezer (version 1)",
            Way::IdleV1 => "cpu.idle (version 1)",
            Way::SharesV1 => "cpu.shares (version 1)",
            Way::Signal => "SIGSTOP and SIGCONT",
        }
    }

    /// The controller of a version 1 hierarchy, or "" for version 2. `None` without groups.
    pub fn controller(self) -> Option<&'static str> {
        match self {
            Way::FreezeV2 => Some(""),
            Way::FreezeV1 => Some("freezer"),
            Way::IdleV1 | Way::SharesV1 => Some("cpu"),
            Way::Signal => None,
        }
    }

    /// The file of a group, and what is written into it to stop and to continue.
    fn switch(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Way::FreezeV2 => ("cgroup.freeze", "1", "0"),
            Way::FreezeV1 => ("freezer.state", "FROZEN", "THAWED"),
            Way::IdleV1 => ("cpu.idle", "1", "0"),
            Way::SharesV1 => ("cpu.shares", "2", "1024"),
            Way::Signal => ("", "", ""),
        }
    }

    /// The ways that the configuration permits, the best first.
    fn permitted(by: GangBy) -> &'static [Way] {
        match by {
            GangBy::Auto | GangBy::Freezer => &[Way::FreezeV2, Way::FreezeV1],
            GangBy::Idle => &[Way::IdleV1, Way::SharesV1],
            GangBy::Signal => &[Way::Signal],
        }
    }

    /// The first of them that works on this machine, tried on an empty group within the daemon's own. An
    /// error says for each why not.
    pub fn choose(root: &Path, by: GangBy) -> Result<Way, String> {
        let mut why = Vec::new();
        for way in Way::permitted(by) {
            match way.try_out(root) {
                Ok(()) => return Ok(*way),
                Err(error) => why.push(format!("{}: {error}", way.name())),
            }
        }
        Err(why.join("; "))
    }

    fn try_out(self, root: &Path) -> io::Result<()> {
        let Some(controller) = self.controller() else { return Ok(()) };
        let pid = std::process::id();
        let home = home(root, pid, controller)?;
        let group = home.join(format!("{NAME}{pid}-0"));
        let made = self.make(&group).and_then(|file| file.write_all_at(self.switch().2.as_bytes(), 0));
        let _ = fs::remove_dir(&group);
        made
    }

    fn make(self, group: &Path) -> io::Result<File> {
        let at = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        };
        match fs::create_dir(group) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(at(group, error)),
            _ => {}
        }
        let file = group.join(self.switch().0);
        File::options().write(true).open(&file).map_err(|error| at(&file, error))
    }
}

/// The group that a program is in without scaf.
fn home(root: &Path, pid: u32, controller: &str) -> io::Result<PathBuf> {
    let group = cgroup::group_of(root, pid, controller).ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "no such hierarchy of control groups, or the group is out of sight",
        )
    })?;
    // The group may be the daemon's: of a program taking turns, its child, or one left by a killed daemon.
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let ours = group.file_name().is_some_and(|name| {
        let rest = name.to_string_lossy().strip_prefix(NAME).map(str::to_owned);
        rest.as_deref().and_then(|rest| rest.split_once('-')).is_some_and(|(a, b)| number(a) && number(b))
    });
    Ok(if ours { group.parent().map(Path::to_owned).unwrap_or(group) } else { group })
}

/// A program that is stopped now and then.
pub struct Stoppable {
    way: Way,
    pid: u32,
    starttime: u64,
    /// The file that stops it, its group and the group around that; `None` for signals.
    group: Option<(File, PathBuf, PathBuf)>,
    /// Whether scaf has stopped it.
    pub stopped: bool,
}

impl Stoppable {
    /// Makes the program's group. On an error the program is as before: it has ended, or the system refuses.
    pub fn take(root: &Path, way: Way, pid: u32, starttime: u64) -> io::Result<Stoppable> {
        let group = match way.controller() {
            None => {
                let own = rustix::process::getuid().as_raw();
                let uid = Observer::new(root).process(pid).uid()?;
                if uid != own {
                    let why =
                        format!("it belongs to user {uid}, and signals are only for programs of user {own}");
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
                }
                None
            }
            Some(controller) => {
                let home = home(root, pid, controller)?;
                let group = home.join(format!("{NAME}{}-{pid}", std::process::id()));
                let moved = way.make(&group).and_then(|file| {
                    file.write_all_at(way.switch().2.as_bytes(), 0)?;
                    fs::write(group.join("cgroup.procs"), pid.to_string())?;
                    Ok(file)
                });
                match moved {
                    Ok(file) => Some((file, group, home)),
                    Err(error) => {
                        let _ = fs::remove_dir(&group);
                        return Err(error);
                    }
                }
            }
        };
        let held = Stoppable { way, pid, starttime, group, stopped: false };
        if !held.is_there(root) {
            // Its id is another process's by now.
            let _ = held.release();
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(held)
    }

    fn is_there(&self, root: &Path) -> bool {
        Observer::new(root).process(self.pid).is_since(self.starttime)
    }

    /// Its start time in clock ticks.
    pub fn starttime(&self) -> u64 {
        self.starttime
    }

    /// Its control group; `None` for signals.
    pub fn group(&self) -> Option<&Path> {
        self.group.as_ref().map(|(_, group, _)| group.as_path())
    }

    /// Stops or continues the program; fails mostly because it has ended.
    pub fn set(&mut self, stopped: bool) -> io::Result<()> {
        let (_, stop, go) = self.way.switch();
        match &self.group {
            Some((file, ..)) => file.write_all_at(if stopped { stop } else { go }.as_bytes(), 0)?,
            None => self.stopped = signal(self.pid, self.starttime, stopped, self.stopped)?,
        }
        if self.group.is_some() {
            self.stopped = stopped;
        }
        Ok(())
    }

    /// Moves children out that were born in its group.
    pub fn evict(&self) {
        let Some((_, group, home)) = &self.group else { return };
        let file = "cgroup.procs";
        for id in fs::read_to_string(group.join(file)).unwrap_or_default().lines() {
            if id != self.pid.to_string() {
                let _ = fs::write(home.join(file), id);
            }
        }
    }

    /// Continues it for good. Gives its group if that can't be removed yet: a killed process leaves it later.
    pub fn release(mut self) -> Option<PathBuf> {
        let _ = self.set(false);
        let (_, group, _) = self.group.take()?;
        (!remove(&group)).then_some(group)
    }
}

/// Sends SIGSTOP or SIGCONT, and says whether scaf has the process stopped now. A process stopped by others
/// is left so.
fn signal(pid: u32, starttime: u64, stop: bool, stopped: bool) -> io::Result<bool> {
    if stop == stopped {
        return Ok(stopped);
    }
    let process = Observer::new(Path::new("/")).process(pid);
    if process.stat()?.starttime != starttime {
        return Err(io::ErrorKind::NotFound.into());
    }
    if stop && process.is_stopped() {
        return Ok(false);
    }
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .ok_or(io::ErrorKind::InvalidInput)?;
    let signal = if stop { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
    rustix::process::kill_process(pid, signal)?;
    Ok(stop)
}

/// Lets all that is in a group run; for who finds or inherits the group.
pub fn resume_group(way: Way, group: &Path) {
    let (file, _, go) = way.switch();
    let _ = fs::write(group.join(file), go);
}

/// Lets a process run that was stopped by a signal.
pub fn resume_process(pid: u32, starttime: u64) {
    let _ = signal(pid, starttime, false, true);
}

/// Moves all processes out of a group and removes it. False if it isn't empty yet.
pub fn remove(group: &Path) -> bool {
    if let Some(home) = group.parent() {
        groups::empty(group, home, &["cgroup.procs"]);
    }
    match fs::remove_dir(group) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Removes groups left by daemons that have ended. To be called before this daemon makes any: groups with its
/// process id are an earlier daemon's. False if some of more than [`MOST_GROUPS`] were not looked at.
pub fn sweep(root: &Path, way: Way) -> bool {
    let own = std::process::id().to_string();
    let Some(mount) = way.controller().and_then(|controller| cgroup::mount(root, controller)) else {
        return true;
    };
    let mut folders = VecDeque::from([mount]);
    for _ in 0..MOST_GROUPS {
        let Some(folder) = folders.pop_front() else { return true };
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.strip_prefix(NAME).and_then(|rest| rest.split_once('-')) {
                Some((daemon, _)) if daemon == own || !root.join("proc").join(daemon).exists() => {
                    resume_group(way, &entry.path());
                    remove(&entry.path());
                }
                Some(_) => {}
                None => folders.push_back(entry.path()),
            }
        }
    }
    folders.is_empty()
}

#[cfg(test)]
#[path = "stop_tests.rs"]
mod tests;
