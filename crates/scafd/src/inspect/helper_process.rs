//! A helper's process: a child of ours, or of the broker where there is one.

use super::confine::User;
use crate::broker::Broker;
use crate::broker::protocol::Ask;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

const GENTLE: i32 = 19;
/// CPU time a helper has, in seconds.
const CPU_S: u64 = 10;
/// Memory a helper has, in bytes, all that is mapped counted: it takes 60 million for Python with
/// scikit-learn, LightGBM and XGBoost. It must not fill what the daemon has, whose control group it is in.
const MEMORY: u64 = 128 << 20;

/// A helper at work, or one that was told to end.
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
    /// Starts one that looks at the process `pid`, as this user where we can be others.
    /// # Errors
    /// The system refuses, or the broker does.
    pub fn start(
        pid: u32,
        user: User,
        known: Option<&[u8]>,
        by: Option<&Broker>,
    ) -> io::Result<HelperProcess> {
        let known = known.map(told).transpose()?;
        if let Some(broker) = by {
            let (out, pid) = broker.fetch(&Ask::Inspect(pid), known.as_ref().map(AsFd::as_fd))?;
            let pid = u32::try_from(pid).map_err(io::Error::other)?;
            return Ok(HelperProcess { pid, out: Some(out.into()), by: By::Broker(broker.clone()) });
        }
        let (child, out) = spawn(pid, user, known)?;
        Ok(HelperProcess { pid: child.id(), out: Some(out.into()), by: By::Us(child) })
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Where its answer comes from.
    pub fn out(&self) -> Option<BorrowedFd<'_>> {
        self.out.as_ref().map(AsFd::as_fd)
    }

    /// Reads some of its answer; 0 at its end.
    /// # Errors
    /// There is nothing yet.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.read(buffer))
    }

    /// Has it take little of the machine from now on.
    pub fn calm_down(&self) {
        match &self.by {
            By::Us(_) => calm_down(self.pid),
            By::Broker(broker) => drop(broker.ask(&Ask::Calm(self.pid))),
        }
    }

    /// Ends it. What it says still isn't heard: the end of its pipe would wake the daemon again and again.
    pub fn kill(&mut self) {
        drop(self.out.take());
        match &mut self.by {
            By::Us(child) => drop(child.kill()),
            By::Broker(broker) => drop(broker.ask(&Ask::Kill(self.pid))),
        }
    }

    /// Whether it has ended, and was waited for.
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

/// Has a helper take little of the machine.
pub fn calm_down(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // It isn't waited for, so the number is still its own. If it ended just now, that is well.
        let _ = rustix::process::setpriority_process(Some(pid), GENTLE);
    }
}

/// Starts a helper, with the file of what is known, and gives its answer's pipe, which never blocks.
/// # Errors
/// The system refuses.
pub fn spawn(pid: u32, user: User, known: Option<OwnedFd>) -> io::Result<(Child, OwnedFd)> {
    // By this link: after an upgrade the path leads to another version, or nowhere.
    let mut command = Command::new("/proc/self/exe");
    command.arg("--inspect").arg(pid.to_string());
    command.env_clear().current_dir("/");
    command.stdin(known.map_or_else(Stdio::null, Stdio::from)).stdout(Stdio::piped()).stderr(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.arg("--inspect-as").arg(format!("{}:{}", user.uid, user.gid));
    }
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(|| {
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
            rustix::thread::set_no_new_privs(true)?;
            // The daemon itself may have less.
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

fn told(known: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(rustix::fs::memfd_create(c"scaf-known", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(known)?;
    file.rewind()?;
    Ok(file.into())
}
