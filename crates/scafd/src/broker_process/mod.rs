//! The broker process: keeps the few rights that a daemon for all users needs, and does what the daemon asks
//! after checking it. It reads nothing that users wrote. It is forked before the daemon drops its rights, and
//! is the parent of the [guardian](crate::apply::guardian), which restores everything if either is killed.

mod attached;
mod helpers;
mod socket_acl;

use crate::apply::gang::{Gangs, Member, Turn};
use crate::apply::guardian::Lease;
use crate::apply::{Apply, Target, Trouble};
use crate::broker::protocol::{Answer, Ask, BYTES, MOST_TEXT, Who};
use crate::broker::{Broker, fd_passing};
use crate::fork;
use crate::inspect::User;
use crate::log::Limiter;
use crate::observe::counters::{Code, Counter};
use crate::observe::proc_pid::Process;
use crate::privileges;
use attached::Attached;
use helpers::Helpers;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, socketpair};
use rustix::thread::CapabilitySet;
use scaf_policy::PuSet;
use socket_acl::set_bans;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How often lease and guardian are checked while programs are attached.
const CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

type Answered = io::Result<(Answer, Option<OwnedFd>)>;

/// Starts the broker of a daemon whose socket will be at `socket`, with these rights; it makes the `backend`.
/// Gives a handle to it, and how it stops programs (0: not at all). If it can't start it logs why.
pub fn start(
    socket: &Path,
    rights: CapabilitySet,
    lease: Lease,
    backend: impl FnOnce() -> anyhow::Result<Apply>,
) -> anyhow::Result<(Broker, u32)> {
    let (ours, its) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    // SAFETY: this process has no other threads yet, so the child may allocate and take locks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error().into()),
        0 => {
            drop(ours);
            fork::detach(c"scafd-broker", its.as_raw_fd());
            // The guardian, which the backend starts, inherits the rights.
            let given_up = privileges::keep(rights).and_then(|()| privileges::hide());
            let status = match given_up.map_err(anyhow::Error::from).and_then(|()| backend()) {
                Ok(backend) => Server::new(its, backend, lease, socket).run(),
                Err(e) => {
                    crate::log::line(crate::log::Level::Error, format_args!("{e:#}"));
                    1
                }
            };
            // SAFETY: _exit never returns and runs no exit handlers, which are the daemon's.
            unsafe { libc::_exit(status) }
        }
        pid => {
            drop(its);
            let pid =
                rustix::process::Pid::from_raw(pid).ok_or_else(|| io::Error::other("fork gave pid 0"))?;
            let broker = Broker::new(ours, pid)?;
            let way = broker.greeting().map_err(|_| anyhow::anyhow!("the broker process didn't start"))?;
            Ok((broker, way))
        }
    }
}

struct Server {
    line: OwnedFd,
    lease: Lease,
    backend: Apply,
    socket: PathBuf,
    attached: Attached,
    helpers: Helpers,
    turns: Vec<Turn>,
    /// Whether programs take turns now.
    take_turns: bool,
    unstopped: VecDeque<(Member, String)>,
    limiter: Limiter,
}

impl Server {
    fn new(line: OwnedFd, backend: Apply, lease: Lease, socket: &Path) -> Server {
        Server {
            line,
            lease,
            backend,
            socket: socket.to_owned(),
            attached: Attached::new(socket),
            helpers: Helpers::default(),
            turns: Vec::new(),
            take_turns: false,
            unstopped: VecDeque::new(),
            limiter: Limiter::default(),
        }
    }

    /// Checks that an attached process has that thread. Two zeros stand for this process itself.
    fn has_thread(&mut self, pid: u32, tid: u32) -> io::Result<()> {
        if (pid, tid) == (0, 0) {
            return Ok(());
        }
        self.attached.own(pid)?;
        let there = Process::new(Path::new("/"), pid).has_thread(tid);
        if there { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
    }

    /// Answers until the daemon closes the socket; dropping the backend then restores everything.
    fn run(mut self) -> i32 {
        let way = self.backend.gangs().map_or(0, |gangs| gangs.way().code());
        let mut sent = self.send(&Answer::Ready(way), None);
        let mut packet = [0u8; BYTES];
        while sent.is_ok() {
            self.wait();
            let (length, fd) = match fd_passing::receive(&self.line, &mut packet) {
                Ok((length, fd)) if length > 0 => (length, fd),
                _ => break,
            };
            let answered = match Ask::parse(&packet[..length]) {
                Some(ask) => self.act(&ask, fd),
                None => Err(io::ErrorKind::InvalidInput.into()),
            };
            let (answer, fd) = answered.unwrap_or_else(|e| (self.refusal(&e), None));
            sent = self.send(&answer, fd.as_ref());
        }
        // A service manager's socket stays, without bans.
        let _ = set_bans(&self.socket, &[]);
        0
    }

    fn send(&self, answer: &Answer, fd: Option<&OwnedFd>) -> io::Result<()> {
        let fd = fd.map(AsFd::as_fd);
        fd_passing::send(&self.line, &answer.bytes(), fd.as_slice(), SendFlags::empty())
    }

    /// Waits for the next request while programs are attached, and keeps a guardian running. Ends the turns
    /// if the daemon's lease has expired, so that no program stays stopped.
    fn wait(&mut self) {
        while self.take_turns || !self.attached.is_empty() {
            let mut poll = [PollFd::new(&self.line, PollFlags::IN)];
            if !matches!(rustix::event::poll(&mut poll, Some(&CHECK)), Ok(0)) {
                return;
            }
            self.backend.look_after_guardian();
            // The daemon will notice that when it goes on, and send the turns again.
            if self.take_turns
                && self.lease.was_widened()
                && let Some(gangs) = self.backend.gangs()
            {
                gangs.take(Vec::new());
                self.take_turns = false;
            }
        }
    }

    fn refusal(&mut self, error: &io::Error) -> Answer {
        match error.raw_os_error() {
            // ENOENT is what /proc gives for a process that has ended.
            Some(libc::ESRCH | libc::ENOENT) => return Answer::Gone,
            Some(number) => return Answer::Refused(number),
            None => {}
        }
        match error.kind() {
            io::ErrorKind::NotFound => Answer::Gone,
            io::ErrorKind::PermissionDenied => {
                self.limiter.warn("the daemon asked its broker for something that it may not have");
                Answer::Refused(libc::EPERM)
            }
            io::ErrorKind::QuotaExceeded => Answer::Refused(libc::EDQUOT),
            io::ErrorKind::InvalidInput => Answer::Refused(libc::EINVAL),
            _ => Answer::Refused(libc::EIO),
        }
    }

    fn act(&mut self, ask: &Ask, fd: Option<OwnedFd>) -> Answered {
        let done = |number: u64| Ok((Answer::Done(number), None));
        match ask {
            Ask::Attach => self.attached.add(&fd.ok_or(io::ErrorKind::InvalidInput)?)?,
            Ask::Leave(pid) => self.attached.remove(*pid),
            Ask::Narrow { who, own, masks, mask, any } => {
                return self.narrow(*who, (own, masks), mask, *any);
            }
            Ask::Restore { who, own, masks } => return self.restore(*who, own, masks),
            Ask::RestoreChild { pid, parent } => self.restore_child(*pid, *parent)?,
            Ask::Executable(pid) => {
                let one = self.attached.own(*pid)?;
                let open = || {
                    // O_PATH, so that the file system, which may be a user's own, isn't asked for anything.
                    let flags = OFlags::PATH | OFlags::CLOEXEC;
                    Ok(rustix::fs::open(format!("/proc/{pid}/exe"), flags, Mode::empty())?)
                };
                return Ok((Answer::Done(0), Some(privileges::as_user(one.uid, one.gid, open)?)));
            }
            Ask::Inspect(pid) => {
                let one = self.attached.own(*pid)?;
                let (helper, out) = self.helpers.start(*pid, User { uid: one.uid, gid: one.gid }, fd)?;
                return Ok((Answer::Done(u64::from(helper)), Some(out)));
            }
            Ask::Calm(helper) => self.helpers.calm_down(*helper),
            Ask::Kill(helper) => self.helpers.kill(*helper),
            Ask::Ended(helper) => return done(u64::from(self.helpers.ended(*helper))),
            Ask::Count { pid, tid, kind, config } => {
                self.has_thread(*pid, *tid)?;
                let counter = Counter::open(Code { kind: *kind, config: *config }, *tid)?;
                // Meanwhile the thread may have ended, and its id be another user's.
                self.has_thread(*pid, *tid)?;
                return Ok((Answer::Done(0), Some(counter.into())));
            }
            Ask::Member { begins, slices, who } => {
                self.attached.same(*who)?;
                let member = Member { pid: who.pid, starttime: who.starttime };
                match self.turns.last_mut().filter(|_| !begins) {
                    Some(turn) => turn.members.push(member),
                    None => self.turns.push(Turn { slices: (*slices).max(1), members: vec![member] }),
                }
            }
            Ask::TakeTurns => {
                let turns = std::mem::take(&mut self.turns);
                let gangs = self.backend.gangs().ok_or(io::ErrorKind::InvalidInput)?;
                self.take_turns = !turns.is_empty();
                gangs.take(turns);
                return done(gangs.slice().as_nanos() as u64);
            }
            Ask::Unstopped => {
                self.unstopped.extend(self.backend.gangs().map(Gangs::failed).unwrap_or_default());
                let Some((member, mut why)) = self.unstopped.pop_front() else { return done(0) };
                why.truncate(why.floor_char_boundary(MOST_TEXT));
                let who = Who { pid: member.pid, starttime: member.starttime };
                return Ok((Answer::Unstopped(who, why), None));
            }
            Ask::Wake => self.backend.wake_guardian(),
            Ask::Unlink => {
                let _ = rustix::fs::unlink(&self.socket);
                let _ = rustix::fs::unlink(self.socket.with_extension("lock"));
            }
            Ask::SetBans(users) => set_bans(&self.socket, users)?,
        }
        done(0)
    }

    fn narrow(
        &mut self,
        who: Who,
        (own, masks): (&PuSet, &[PuSet]),
        mask: &PuSet,
        any_mask: bool,
    ) -> Answered {
        let known = masks.iter().chain(std::iter::once(mask));
        self.attached.same(who)?.affinities = Some((own.clone(), known.cloned().collect()));
        let target = Target { pid: who.pid, starttime: who.starttime, own, masks, any_mask };
        answered(self.backend.narrow(&target, mask).map(Answer::Set))
    }

    /// Also restores a process that has become another user's, but then only affinities that we have set.
    fn restore(&mut self, who: Who, own: &PuSet, masks: &[PuSet]) -> Answered {
        let affinities = match self.attached.same(who) {
            Ok(one) => {
                one.affinities = Some((own.clone(), masks.to_vec()));
                (own.clone(), masks.to_vec())
            }
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                let one = self.attached.former(who.pid)?;
                one.affinities.clone().filter(|_| one.who == who).ok_or(e)?
            }
            Err(e) => return Err(e),
        };
        let (own, masks) = (&affinities.0, &affinities.1);
        let target = Target { pid: who.pid, starttime: who.starttime, own, masks, any_mask: false };
        answered(self.backend.restore(&target).map(|()| Answer::Done(0)))
    }

    /// Restores a child whose affinity is one that we set for its parent, whichever user it is.
    fn restore_child(&mut self, pid: u32, parent: u32) -> io::Result<()> {
        let one = self.attached.former(parent)?.clone();
        let Some((own, masks)) = &one.affinities else { return Err(io::ErrorKind::PermissionDenied.into()) };
        if !self.attached.is_child(pid, parent) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let target = Target { pid: parent, starttime: one.who.starttime, own, masks, any_mask: false };
        self.backend.restore_child(pid, &target);
        Ok(())
    }
}

fn answered(done: Result<Answer, Trouble>) -> Answered {
    match done {
        Ok(answer) => Ok((answer, None)),
        Err(Trouble::Gone(_)) => Ok((Answer::Gone, None)),
        Err(Trouble::Denied { source, .. }) => Err(source),
    }
}
