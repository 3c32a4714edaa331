//! Reaps killed helpers without waiting: one that reads from a file system whose server doesn't answer (FUSE)
//! may never end.

use super::helper_process::HelperProcess;
use std::time::{Duration, Instant};

/// First pause between two checks; it doubles up to [`LONGEST`]. An ordinary helper ends within 1 ms.
const FIRST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(10);
/// How long to wait at the daemon's end.
const AT_THE_END: Duration = Duration::from_millis(200);

struct One {
    uid: u32,
    process: HelperProcess,
    next: Instant,
    pause: Duration,
}

#[derive(Default)]
pub(super) struct Reaper {
    all: Vec<One>,
}

impl Reaper {
    /// Kills a helper of user `uid`, and reaps it when it has ended.
    pub(super) fn kill(&mut self, uid: u32, mut process: HelperProcess, now: Instant) {
        process.kill();
        if !process.ended() {
            self.all.push(One { uid, process, next: now + FIRST, pause: FIRST });
        }
    }

    /// Reaps those that have ended; never waits.
    pub(super) fn reap(&mut self, now: Instant) {
        self.all.retain_mut(|one| {
            if one.next > now {
                return true;
            }
            one.pause = (one.pause * 2).min(LONGEST);
            one.next = now + one.pause;
            !one.process.ended()
        });
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.all.iter().map(|one| one.next).min()
    }

    pub(super) fn children(&self) -> impl Iterator<Item = u32> {
        self.all.iter().map(|one| one.process.id())
    }

    pub(super) fn has(&self, uid: u32) -> bool {
        self.all.iter().any(|one| one.uid == uid)
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        let until = Instant::now() + AT_THE_END;
        loop {
            self.all.retain_mut(|one| !one.process.ended());
            if self.all.is_empty() || Instant::now() >= until {
                return;
            }
            std::thread::sleep(FIRST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn killed_helpers_are_reaped_at_a_later_check_and_block_only_their_user() {
        let mut dying = Reaper::default();
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        dying.kill(1000, HelperProcess::of(child), Instant::now());
        assert!(!dying.has(1001));
        let late = Instant::now() + Duration::from_secs(10);
        while let Some(next) = dying.deadline() {
            assert!(dying.has(1000) && Instant::now() < late);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            dying.reap(Instant::now());
        }
        assert!(!dying.has(1000) && !std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn one_that_does_not_end_is_checked_less_and_less_often_and_left_at_the_end() {
        let mut dying = Reaper::default();
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let mut now = Instant::now();
        dying.all.push(One { uid: 1, process: HelperProcess::of(child), next: now, pause: FIRST });
        for _ in 0..20 {
            dying.reap(now);
            now = dying.deadline().unwrap();
        }
        assert_eq!(dying.all[0].pause, LONGEST);
        let before = Instant::now();
        drop(dying);
        assert!(before.elapsed() < Duration::from_secs(5));
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
    }
}
