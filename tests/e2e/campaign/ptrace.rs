//! A process whose system calls are held one after the other (ptrace), and may be made to fail: the one that
//! was started, or the first that it forks instead. Of it only its own threads are traced; its children
//! aren't. All is done by the thread that started it.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

pub struct Traced {
    pid: i32,
    /// Whose calls are held; `None` until the first child is there whose they are to be.
    subject: Option<i32>,
    held: Option<i32>,
    failing: Option<(i32, Failure)>,
    /// Whether it is let run from now on.
    freed: bool,
    ended: Option<ExitStatus>,
}

/// What the thread is given when it leaves the call that fails.
enum Failure {
    Errno(i32),
    /// `brk` has no errors: it answers with the break as it was. The break that was asked for.
    Break(u64),
}

pub enum Next {
    /// A thread is about to make the system call of this number.
    Call(i64),
    Late,
    Ended(ExitStatus),
}

const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE;

impl Traced {
    pub fn start(command: Command) -> Traced {
        let mut traced = Traced::begin(command, OPTIONS | libc::PTRACE_O_EXITKILL);
        traced.subject = Some(traced.pid);
        traced
    }

    /// The calls of the first process that it forks. The thread that does this may have no other children.
    pub fn start_for_child(command: Command) -> Traced {
        Traced::begin(command, libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_EXITKILL)
    }

    #[allow(clippy::zombie_processes)] // `next` waits for it
    fn begin(mut command: Command, options: i32) -> Traced {
        // SAFETY: one system call between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
        let child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let pid = i32::try_from(child.id()).expect("a process id");
        // Its exec stops it.
        let (_, status) = wait(pid, libc::__WALL).expect("its first stop");
        assert!(libc::WIFSTOPPED(status), "{status:#x}");
        set_options(pid, options);
        Traced { pid, subject: None, held: Some(pid), failing: None, freed: false, ended: None }
    }

    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Lets the held thread go on until one makes a system call; none is reported any more once it is freed.
    pub fn next(&mut self, until: Option<Instant>) -> Next {
        if let Some(status) = self.ended {
            return Next::Ended(status);
        }
        if let Some(tid) = self.held.take() {
            self.resume(tid, 0);
        }
        loop {
            let flags = libc::__WALL | if until.is_some() { libc::WNOHANG } else { 0 };
            // A child may have a group of its own.
            let is_child = self.subject != Some(self.pid);
            let (whom, flags) = if is_child { (-1, flags | libc::__WNOTHREAD) } else { (-self.pid, flags) };
            let Some((tid, status)) = wait(whom, flags) else {
                if until.is_some_and(|until| Instant::now() >= until) {
                    return Next::Late;
                }
                std::thread::sleep(Duration::from_micros(300));
                continue;
            };
            if !libc::WIFSTOPPED(status) {
                if tid == self.pid {
                    self.ended = Some(ExitStatus::from_raw(status));
                    return Next::Ended(ExitStatus::from_raw(status));
                }
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            if status >> 8 == libc::SIGTRAP | libc::PTRACE_EVENT_FORK << 8 {
                self.turn_to_child();
            } else if signal == libc::SIGTRAP | 0x80 {
                if let Some(number) = self.at_call(tid) {
                    self.held = Some(tid);
                    return Next::Call(number);
                }
                self.resume(tid, 0);
            } else {
                // A new thread begins with a stop, and the one that started it stops for an event.
                let internal = matches!(signal, libc::SIGTRAP | libc::SIGSTOP);
                if is_child && signal == libc::SIGSTOP {
                    // It has its parent's, and may outlive this process: it restores what its parent changed.
                    set_options(tid, OPTIONS);
                }
                self.resume(tid, if internal { 0 } else { signal });
            }
        }
    }

    /// Lets the process go that was started and has just forked, and goes on with its child.
    fn turn_to_child(&mut self) {
        let mut child: libc::c_ulong = 0;
        // SAFETY: the process is stopped for this event; its child's number is written.
        unsafe {
            libc::ptrace(libc::PTRACE_GETEVENTMSG, self.pid, 0, &raw mut child);
            libc::ptrace(libc::PTRACE_DETACH, self.pid, 0, 0);
        }
        self.subject = i32::try_from(child).ok();
    }

    /// The held system call fails. What closes does so nevertheless, as the kernel does it. False for what
    /// can't fail: a return from a handler, a look at a clock that everybody has.
    pub fn fail(&mut self, number: i64, errno: i32) -> bool {
        let tid = self.held.expect("a call that is held");
        // Other clocks, those of a process or a thread, have negative numbers.
        let last_clock = u64::from(libc::CLOCK_TAI.unsigned_abs());
        let mut failure = Some(Failure::Errno(errno));
        self.change(tid, |registers| match number {
            libc::SYS_close => {}
            libc::SYS_brk => failure = Some(Failure::Break(std::mem::take(&mut registers.rdi))),
            libc::SYS_rt_sigreturn => failure = None,
            libc::SYS_clock_gettime if registers.rdi <= last_clock => failure = None,
            _ => registers.orig_rax = u64::MAX,
        });
        self.failing = failure.map(|failure| (tid, failure));
        self.failing.is_some()
    }

    pub fn set_free(&mut self) {
        self.freed = true;
    }

    /// The number of the system call that a thread enters. Where it leaves one that is to fail, it does.
    fn at_call(&mut self, tid: i32) -> Option<i64> {
        // SAFETY: zero is a value of it, and the thread is stopped.
        let (mut about, size) = unsafe {
            let about: libc::ptrace_syscall_info = std::mem::zeroed();
            (about, size_of::<libc::ptrace_syscall_info>())
        };
        // SAFETY: as much is written at most.
        unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, tid, size, &raw mut about) };
        if about.op == libc::PTRACE_SYSCALL_INFO_ENTRY && !self.freed {
            // SAFETY: on entry this is the member that is filled in.
            return Some(unsafe { about.u.entry.nr }.cast_signed());
        }
        if about.op == libc::PTRACE_SYSCALL_INFO_EXIT
            && let Some((_, failure)) = self.failing.take_if(|(failing, _)| *failing == tid)
        {
            self.change(tid, |registers| match failure {
                Failure::Errno(errno) => registers.rax = i64::from(-errno).cast_unsigned(),
                Failure::Break(wanted) => registers.rdi = wanted,
            });
        }
        None
    }

    fn change(&self, tid: i32, change: impl FnOnce(&mut libc::user_regs_struct)) {
        // SAFETY: zero is a value of it; the thread is stopped, and is given back what it had but for that.
        unsafe {
            let mut registers: libc::user_regs_struct = std::mem::zeroed();
            libc::ptrace(libc::PTRACE_GETREGS, tid, 0, &raw mut registers);
            change(&mut registers);
            libc::ptrace(libc::PTRACE_SETREGS, tid, 0, &raw const registers);
        }
    }

    fn resume(&self, tid: i32, signal: i32) {
        let freed = self.freed && self.failing.is_none();
        // Until it has forked.
        let freed = freed || self.subject.is_none();
        let how = if freed { libc::PTRACE_CONT } else { libc::PTRACE_SYSCALL };
        // SAFETY: lets a stopped thread go on; one that was killed meanwhile isn't there, which is well.
        unsafe { libc::ptrace(how, tid, null_mut::<u8>(), i64::from(signal)) };
    }
}

fn set_options(pid: i32, options: i32) {
    // SAFETY: the process is stopped, and traced by this thread.
    unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options) };
}

fn wait(pid: i32, flags: i32) -> Option<(i32, i32)> {
    loop {
        let mut status = 0;
        // SAFETY: a plain system call.
        match unsafe { libc::waitpid(pid, &raw mut status, flags) } {
            0 => return None,
            -1 => {
                let error = std::io::Error::last_os_error();
                assert!(error.kind() == std::io::ErrorKind::Interrupted, "waiting for {pid}: {error}");
            }
            tid => return Some((tid, status)),
        }
    }
}
