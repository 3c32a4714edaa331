//! Whether a process is woken by what lies outside of it: the network, a terminal, a timer. Told by the
//! system call in which a thread sleeps, and by the number of times that it has slept. Where the kernel
//! doesn't say in which (`kernel.yama.ptrace_scope` above 0), nothing is found.

use super::files::read_text;
use super::proc_pid::Process;
use crate::arch::LEGACY_WAITS;
use std::collections::BTreeMap;
use std::fs::read_link;

/// What wakes a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A socket, or one of several descriptors.
    Network,
    /// A terminal.
    Terminal,
    /// A clock.
    Timer,
}

impl Source {
    /// For people, after "woken by".
    pub fn text(self) -> &'static str {
        match self {
            Source::Network => "the network",
            Source::Terminal => "a terminal",
            Source::Timer => "a timer",
        }
    }
}

/// How a system call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For its first argument, a descriptor.
    Descriptor,
    /// For this.
    For(Source),
}

/// System calls that wait, and for what. Which descriptors a poll is for isn't looked at.
const WAITS: [(libc::c_long, Wait); 13] = [
    (libc::SYS_read, Wait::Descriptor),
    (libc::SYS_readv, Wait::Descriptor),
    (libc::SYS_accept, Wait::For(Source::Network)),
    (libc::SYS_accept4, Wait::For(Source::Network)),
    (libc::SYS_recvfrom, Wait::For(Source::Network)),
    (libc::SYS_recvmsg, Wait::For(Source::Network)),
    (libc::SYS_recvmmsg, Wait::For(Source::Network)),
    (libc::SYS_ppoll, Wait::For(Source::Network)),
    (libc::SYS_pselect6, Wait::For(Source::Network)),
    (libc::SYS_epoll_pwait, Wait::For(Source::Network)),
    (libc::SYS_epoll_pwait2, Wait::For(Source::Network)),
    (libc::SYS_nanosleep, Wait::For(Source::Timer)),
    (libc::SYS_clock_nanosleep, Wait::For(Source::Timer)),
];

#[derive(Clone, Copy)]
struct Thread {
    /// What it waited for.
    source: Option<Source>,
    /// How often it had slept.
    slept: u64,
}

/// What the threads of a process waited for at the last look.
#[derive(Default)]
pub struct Wakes(BTreeMap<u32, Thread>);

impl Wakes {
    /// What has woken one of the process's first and last threads, `most` of each, since the last look; and
    /// of how many of these that can be told.
    pub fn look(&mut self, process: &Process, most: usize) -> (Option<Source>, u32) {
        let (threads, _) = process.first_and_last(most);
        let mut now = BTreeMap::new();
        let mut woken = None;
        for tid in threads {
            let folder = process.folder().join("task").join(tid.to_string());
            // A thread that has ended, or all where that isn't permitted.
            let Ok(call) = read_text(folder.join("syscall")) else { continue };
            let slept = read_text(folder.join("status")).ok().and_then(|text| slept(&text)).unwrap_or(0);
            let link = |descriptor: u64| {
                let path = read_link(process.folder().join("fd").join(descriptor.to_string())).ok()?;
                Some(path.to_string_lossy().into_owned())
            };
            let thread = Thread { source: source(&call, link), slept };
            if let Some(before) = self.0.get(&tid).filter(|before| before.slept != slept) {
                woken = woken.or(before.source).or(thread.source);
            }
            now.insert(tid, thread);
        }
        self.0 = now;
        (woken, self.0.len() as u32)
    }
}

/// What a thread waits for that is in this system call: its number and arguments, or `running`.
fn source(call: &str, link: impl Fn(u64) -> Option<String>) -> Option<Source> {
    let mut words = call.split_whitespace();
    let number: libc::c_long = words.next()?.parse().ok()?;
    let wait = WAITS.iter().chain(LEGACY_WAITS).find(|(call, _)| *call == number)?.1;
    let Wait::For(source) = wait else {
        let descriptor = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        return of_descriptor(&link(descriptor)?);
    };
    Some(source)
}

/// What a descriptor with this link leads to.
fn of_descriptor(link: &str) -> Option<Source> {
    match link {
        "anon_inode:[timerfd]" => Some(Source::Timer),
        _ if link.starts_with("socket:") => Some(Source::Network),
        _ if link.starts_with("/dev/pts/") || link.starts_with("/dev/tty") => Some(Source::Terminal),
        _ => None,
    }
}

/// How often a thread has slept, by its `status`.
fn slept(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
    value.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    #[test]
    fn calls_tell_what_a_thread_waits_for() {
        let of = |number: libc::c_long, link: &str| {
            source(&format!("{number} 0x7 0x0 0x1"), |_| Some(link.into()))
        };
        assert_eq!(of(libc::SYS_read, "socket:[4711]"), Some(Source::Network));
        assert_eq!(of(libc::SYS_read, "/dev/pts/3"), Some(Source::Terminal));
        assert_eq!(of(libc::SYS_read, "anon_inode:[timerfd]"), Some(Source::Timer));
        assert_eq!(of(libc::SYS_read, "pipe:[12]"), None);
        assert_eq!(of(libc::SYS_futex, "socket:[4711]"), None);
        assert_eq!(of(libc::SYS_ppoll, ""), Some(Source::Network));
        assert_eq!(of(libc::SYS_clock_nanosleep, ""), Some(Source::Timer));
        for call in ["running", "-1 0x7ffc 0x7f12", "", "0", "0 7"] {
            assert_eq!(source(call, |_| Some("socket:[1]".into())), None, "{call}");
        }
        assert_eq!(slept("nonvoluntary_ctxt_switches:\t5\nvoluntary_ctxt_switches:\t17\n"), Some(17));
    }

    #[test]
    fn a_thread_that_a_clock_wakes_is_found_and_one_that_nothing_wakes_isnt() {
        let (stop, stopped) = channel::<()>();
        let sleeper = std::thread::spawn(move || {
            let ended = || stopped.recv_timeout(Duration::ZERO) != Err(RecvTimeoutError::Timeout);
            while !ended() {
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let process = Process::new(Path::new("/"), std::process::id());
        let mut wakes = Wakes::default();
        let found = (0..2000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            wakes.look(&process, 1024).0.is_some()
        });
        drop(stop);
        sleeper.join().expect("it ends");
        assert!(found);
        // `sleep` has been woken once it has started, and then no more.
        let mut quiet = std::process::Command::new("sleep").arg("1000").spawn().expect("sleep");
        let process = Process::new(Path::new("/"), quiet.id());
        let mut wakes = Wakes::default();
        let rests = (0..2000).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            wakes.look(&process, 9) == (None, 1)
        });
        quiet.kill().expect("it is there");
        quiet.wait().expect("it ends");
        assert!(rests);
        assert_eq!(Wakes::default().look(&Process::new(Path::new("/"), 0), 9), (None, 0));
    }
}
