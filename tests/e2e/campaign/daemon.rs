//! Who takes part besides the programs: the daemon, its broker if it serves all users, its guardian, the
//! helper that inspects. And what is to hold when a daemon has ended.

use crate::support::{Setup, cpu_list};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use scafd::control::{Reply, Request, Snapshot};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// By when programs have their own affinity again: the usual lease. The campaign's daemons lease for 1 s.
pub const LEASE: Duration = Duration::from_secs(5);
/// By when, without a guardian: programs give themselves their affinity back at the next region, which takes
/// that long at most where several of them are folded.
pub const REGION: Duration = Duration::from_secs(30);
pub const BRIEF: &str = "lease_s = 1\n";

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Who {
    Daemon,
    /// The daemon, and right before it its guardian, and its broker.
    All,
    Broker,
    Guardian,
    Helper,
    Program,
}

pub fn child_of(daemon: u32, who: Who) -> Option<u32> {
    crate::support::child_of(daemon, |name, words| match who {
        Who::Broker => name == "scafd-broker",
        Who::Guardian => name == "scafd-guardian",
        _ => words.split(|byte| *byte == 0).any(|word| word == b"--inspect"),
    })
}

pub fn send(pid: u32, signal: i32) {
    // SAFETY: a plain system call.
    unsafe { libc::kill(pid.cast_signed(), signal) };
}

/// Whether all of a process's threads may use both PUs, or it has ended.
pub fn is_wide(pid: u32) -> bool {
    masks(pid).iter().all(|mask| mask.len() == 2)
}

/// The PUs that each of a process's threads may use, but for those that have ended.
pub fn masks(pid: u32) -> Vec<Vec<u32>> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let of = |thread: std::fs::DirEntry| {
        let status = std::fs::read_to_string(thread.path().join("status")).ok()?;
        if status.contains("State:\tZ") {
            return None;
        }
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(cpu_list(list.trim()))
    };
    threads.filter_map(of).collect()
}

pub fn soon<T: std::fmt::Display>(what: T, most: Duration, mut holds: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < most, "not within {most:?}: {what}");
        std::thread::sleep(Duration::from_micros(500));
    }
    start.elapsed()
}

pub fn nothing_is_left(setup: &Setup, but: &[u32]) {
    let left = || -> Vec<u32> { setup.processes().into_iter().filter(|pid| !but.contains(pid)).collect() };
    let names = |left: &[u32]| -> Vec<String> {
        left.iter()
            .map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
            .collect()
    };
    let start = Instant::now();
    loop {
        let left = left();
        if left.is_empty() {
            return;
        }
        assert!(start.elapsed() < LEASE, "left behind: {:#?}", names(&left));
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn connect(path: &Path) -> Option<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    let fd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).ok()?;
    rustix::net::connect(&fd, &SocketAddrUnix::new(path).ok()?).ok()?;
    Some(fd)
}

pub fn ask(path: &Path) -> Option<Snapshot> {
    let fd = connect(path)?;
    rustix::net::send(&fd, &serde_json::to_vec(&Request::Snapshot).ok()?, SendFlags::NOSIGNAL).ok()?;
    let (mut text, mut chunk) = (Vec::new(), vec![0u8; 1 << 16]);
    loop {
        let mut poll = [rustix::event::PollFd::new(&fd, rustix::event::PollFlags::IN)];
        let second = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
        if rustix::event::poll(&mut poll, Some(&second)).unwrap_or(0) == 0 {
            return None;
        }
        match rustix::net::recv(&fd, &mut chunk[..], RecvFlags::empty()) {
            Ok((_, 0)) => break,
            Ok((_, n)) => text.extend_from_slice(&chunk[..n]),
            Err(_) => return None,
        }
    }
    match serde_json::from_slice(&text) {
        Ok(Reply::Snapshot(snapshot)) => Some(*snapshot),
        _ => None,
    }
}

pub struct DaemonProcess<'h> {
    setup: &'h Setup,
    child: Child,
}

impl<'h> DaemonProcess<'h> {
    pub fn start(setup: &'h Setup) -> DaemonProcess<'h> {
        let child = setup.daemon_command().spawn().expect("starting scafd");
        let mut served = DaemonProcess { setup, child };
        soon("a daemon that answers", 4 * LEASE, || {
            let ended = served.ended();
            assert!(ended.is_none(), "it ended: {ended:?}\n{}", setup.log());
            ask(&setup.socket()).is_some()
        });
        served
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("waiting for the daemon")
    }

    pub fn end(self, signal: i32) -> ExitStatus {
        send(self.pid(), signal);
        self.end_by_itself()
    }

    pub fn end_by_itself(mut self) -> ExitStatus {
        let mut status = None;
        soon("the daemon's end", 4 * LEASE, || {
            status = self.ended();
            status.is_some()
        });
        status.expect("it has ended")
    }

    pub fn answers(&self) {
        soon("an answer", 4 * LEASE, || ask(&self.setup.socket()).is_some());
    }
}

impl Drop for DaemonProcess<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            send(self.child.id(), libc::SIGKILL);
            let _ = self.child.wait();
        }
    }
}
