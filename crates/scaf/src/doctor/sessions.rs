//! Whether the kernel schedules sessions fairly; a trial of half a second.
//!
//! With autogroup, Linux 6.18 doesn't: two threads that wake each other on one PU, with a third one
//! elsewhere, starve other sessions and kernel workers on that PU (docs/internals/mechanisms.md, Fold).

use crate::host;
use serde::Serialize;
use std::time::{Duration, Instant};

const SWITCH: &str = "/proc/sys/kernel/sched_autogroup_enabled";
const MEND: &str = "sudo sysctl kernel.sched_autogroup_enabled=0";
const NAP: Duration = Duration::from_millis(2);
const TRIAL: Duration = Duration::from_millis(300);
/// The other session ends itself after this time: it may starve whoever would end it.
const MOST_US: libc::suseconds_t = 700_000;
/// A later average is unfair: two threads, with slices of some milliseconds each, may run before.
const LATE_MS: f64 = 10.0;

#[derive(Debug, Serialize)]
pub struct Sessions {
    /// Whether programs are grouped by session.
    grouped: bool,
    /// How late a sleeper wakes beside such threads of another session, on average; `None` if not tried.
    late_ms: Option<f64>,
    /// The command that fixes it, if needed.
    mend: Option<&'static str>,
}

impl Sessions {
    pub fn examine() -> Sessions {
        let grouped = std::fs::read_to_string(SWITCH).is_ok_and(|text| text.trim() == "1");
        let late_ms = if grouped { late() } else { None };
        Sessions { grouped, late_ms, mend: late_ms.filter(|late| *late > LATE_MS).map(|_| MEND) }
    }

    pub fn text(&self) -> String {
        match (self.grouped, self.late_ms, self.mend) {
            (_, Some(late), Some(command)) => format!(
                "this kernel lets two threads that wake each other on one PU keep other sessions' programs \
                 from it, here {late:.0} ms at a time, also folded ones; mend it with: {command}"
            ),
            (true, Some(_), None) => "grouped by the kernel, which is fair between them".into(),
            (true, ..) => "grouped by the kernel; whether fairly needs two PUs to try".into(),
            (false, ..) => "not grouped by the kernel".into(),
        }
    }
}

/// The additional delay in ms beside threads of another session.
fn late() -> Option<f64> {
    let pus: Vec<u32> = host::allowed().iter().take(2).collect();
    let [one, other] = pus[..] else { return None };
    // In a thread of its own, because its affinity is changed.
    let trial = move || {
        stay_on(one);
        let before = naps();
        let session = Session::start(other)?;
        let beside = naps();
        drop(session);
        Some((beside - before).max(0.0))
    };
    std::thread::spawn(trial).join().ok().flatten()
}

/// How late a sleeper wakes, in ms on average.
fn naps() -> f64 {
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < TRIAL {
        std::thread::sleep(NAP);
        count += 1;
    }
    (start.elapsed().as_secs_f64() / f64::from(count) - NAP.as_secs_f64()) * 1e3
}

fn stay_on(pu: u32) {
    _ = rustix::thread::sched_setaffinity(None, &host::cpu_set(&[pu]));
}

/// Processes of another session: two hand a byte to and fro on this thread's PU, a third one is busy
/// elsewhere.
struct Session(libc::pid_t);

impl Session {
    fn start(elsewhere: u32) -> Option<Session> {
        let mut pipes = [[0; 2]; 2];
        // SAFETY: each has room for two descriptors.
        let made =
            pipes.iter_mut().all(|pipe| unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) } == 0);
        let close = || {
            for fd in pipes.into_iter().flatten() {
                // SAFETY: ours, and used by nobody else here.
                unsafe { libc::close(fd) };
            }
        };
        if !made {
            close();
            return None;
        }
        // SAFETY: until they are killed, the children make system calls only.
        let leader = unsafe { libc::fork() };
        if leader == 0 {
            play(pipes, elsewhere);
        }
        close();
        (leader > 0).then_some(Session(leader))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: our own child, which nobody else waits for; its children end with it.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

/// Ends this process by SIGALRM after [`MOST_US`].
unsafe fn end_soon() {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let once = libc::itimerval { it_interval: never, it_value: libc::timeval { tv_usec: MOST_US, ..never } };
    // SAFETY: nothing here handles SIGALRM, so it ends the process.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &once, std::ptr::null_mut()) };
}

/// The leader of that session, and its children.
fn play(pipes: [[i32; 2]; 2], elsewhere: u32) -> ! {
    // SAFETY: system calls on what is ours.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        end_soon();
        libc::setsid();
        if libc::fork() == 0 {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            end_soon();
            stay_on(elsewhere);
            loop {
                std::hint::spin_loop();
            }
        }
        let second = libc::fork() == 0;
        if second {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            end_soon();
        }
        let (from, to) = if second { (pipes[0][0], pipes[1][1]) } else { (pipes[1][0], pipes[0][1]) };
        let mut byte = [0u8];
        let mut goes_on = second || libc::write(to, byte.as_ptr().cast(), 1) == 1;
        while goes_on {
            goes_on = libc::read(from, byte.as_mut_ptr().cast(), 1) == 1
                && libc::write(to, byte.as_ptr().cast(), 1) == 1;
        }
        libc::_exit(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_says_how_late_a_sleeper_was() {
        let late = late();
        assert!(late.is_none_or(|late| (0.0..1e5).contains(&late)), "{late:?}");
    }

    #[test]
    fn only_an_unfair_kernel_is_to_be_mended() {
        let said = |late_ms, mend| Sessions { grouped: true, late_ms, mend }.text();
        assert!(
            said(Some(80.0), Some(MEND)).contains("80 ms") && said(Some(80.0), Some(MEND)).contains(MEND)
        );
        assert!(!said(Some(1.0), None).contains("mend"));
    }
}
