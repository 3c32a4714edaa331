//! A helper's process: our child, or the broker's if there is one.

use super::confine::User;
use crate::broker::Broker;
use crate::broker::protocol::Ask;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const GENTLE: i32 = 10;
/// CPU time of a helper, in seconds.
const CPU_S: u64 = 10;
/// Address space of a helper, in bytes: Python with scikit-learn, LightGBM and XGBoost takes 180 million.
/// It shares the daemon's control group and must not fill it.
const MEMORY: u64 = 192 << 20;

/// A helper, running or killed.
pub struct HelperProcess {
    pid: u32,
    out: Option<File>,
    by: By,
}

enum By {
    Us(Child),
    Broker(Broker),
}

impl HelperProcess {
    /// Starts one for the process `pid`, as this user if we may change users.
    pub fn start(pid: u32, user: User, question: &[u8], by: Option<&Broker>) -> io::Result<HelperProcess> {
        let question = memfd(question)?;
        if let Some(broker) = by {
            let (out, pid) = broker.fetch(&Ask::Inspect(pid), Some(question.as_fd()))?;
            let pid = u32::try_from(pid).map_err(io::Error::other)?;
            return Ok(HelperProcess { pid, out: Some(out.into()), by: By::Broker(broker.clone()) });
        }
        let (child, out) = spawn(pid, user, Some(question))?;
        Ok(HelperProcess { pid: child.id(), out: Some(out.into()), by: By::Us(child) })
    }

    pub fn id(&self) -> u32 {
        self.pid
    }

    /// The pipe of its answer.
    pub fn out(&self) -> Option<BorrowedFd<'_>> {
        self.out.as_ref().map(AsFd::as_fd)
    }

    /// Reads some of its answer; 0 at its end.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.read(buffer))
    }

    pub fn calm_down(&self) {
        match &self.by {
            By::Us(_) => calm_down(self.pid),
            By::Broker(broker) => drop(broker.ask(&Ask::Calm(self.pid))),
        }
    }

    /// Kills it and closes its pipe, whose end would wake the daemon again and again.
    pub fn kill(&mut self) {
        drop(self.out.take());
        match &mut self.by {
            By::Us(child) => drop(child.kill()),
            By::Broker(broker) => drop(broker.ask(&Ask::Kill(self.pid))),
        }
    }

    /// Whether it has ended; then it is reaped.
    pub fn ended(&mut self) -> bool {
        match &mut self.by {
            By::Us(child) => !matches!(child.try_wait(), Ok(None)),
            By::Broker(broker) => {
                !broker.ask(&Ask::Ended(self.pid)).is_ok_and(|answer| matches!(answer.done(), Ok(0)))
            }
        }
    }

    #[cfg(test)]
    pub(super) fn of(child: Child) -> HelperProcess {
        HelperProcess { pid: child.id(), out: None, by: By::Us(child) }
    }
}

/// Lowers a helper's priority.
pub fn calm_down(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // It isn't reaped yet, so the id is still its own.
        let _ = rustix::process::setpriority_process(Some(pid), GENTLE);
    }
}

/// Starts a helper with its question as standard input; gives the pipe of its answer, which doesn't block.
pub fn spawn(pid: u32, user: User, question: Option<OwnedFd>) -> io::Result<(Child, OwnedFd)> {
    // By this link, because after an upgrade the path may name another version.
    let mut command = Command::new("/proc/self/exe");
    command.arg("--inspect").arg(pid.to_string());
    command.env_clear().current_dir("/");
    command
        .stdin(question.map_or_else(Stdio::null, Stdio::from))
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.arg("--inspect-as").arg(format!("{}:{}", user.uid, user.gid));
    }
    // SAFETY: the closure makes only system calls, which are safe between fork and exec: no allocation, no
    // locks.
    unsafe {
        command.pre_exec(|| {
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
            rustix::thread::set_no_new_privs(true)?;
            // The daemon itself may be allowed less.
            let memory = Some(getrlimit(Resource::As).maximum.map_or(MEMORY, |most| most.min(MEMORY)));
            setrlimit(Resource::As, Rlimit { current: memory, maximum: memory })?;
            setrlimit(Resource::Cpu, Rlimit { current: Some(CPU_S), maximum: Some(CPU_S) })?;
            setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    let out = child.stdout.take().ok_or_else(|| io::Error::other("no pipe"))?;
    if let Err(e) = rustix::io::ioctl_fionbio(&out, true) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(e.into());
    }
    Ok((child, out.into()))
}

fn memfd(question: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(c"scaf-question", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(question)?;
    file.rewind()?;
    Ok(file.into())
}
