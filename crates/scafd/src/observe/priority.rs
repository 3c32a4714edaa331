//! How the kernel weighs a process: its nice level, its scheduling policy, and its control groups' weights.

/// What the kernel gives a thread beside others, by its nice level from -20 to 19; 1,024 at 0
/// (`sched_prio_to_weight` in kernel/sched/core.c: a level is a quarter more or less).
const WEIGHTS: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904, 3906, 3121,
    2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29,
    23, 18, 15,
];
const NORMAL: f64 = 1024.0;
/// The lowest nice level: that of programs in the background.
pub const LOWEST: i32 = 19;

/// How the kernel weighs a process's threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Priority {
    /// Of its first thread, -20 to 19.
    pub nice: i32,
    /// Whether its policy is `SCHED_IDLE`.
    pub is_idle: bool,
}

impl Priority {
    /// A process's, by its first thread; normal if it can't be read.
    pub fn of(pid: u32) -> Priority {
        let Some(process) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
            return Priority::default();
        };
        let nice = rustix::process::getpriority_process(Some(process)).unwrap_or(0);
        // SAFETY: the call only reads; an unknown process is an error.
        let policy = unsafe { libc::sched_getscheduler(process.as_raw_nonzero().get()) };
        Priority { nice, is_idle: policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_IDLE && policy >= 0 }
    }

    /// Whether the kernel puts it behind all others.
    pub fn is_background(self) -> bool {
        self.is_idle || self.nice >= LOWEST
    }

    /// Its weight beside a normal process's, which is 1.
    pub fn weight(self) -> f64 {
        let level = usize::try_from(self.nice + 20).unwrap_or(0).min(WEIGHTS.len() - 1);
        f64::from(WEIGHTS[level]) / NORMAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_kernels() {
        let weight = |nice| Priority { nice, is_idle: false }.weight();
        assert_eq!((weight(0), weight(19), weight(-20)), (1.0, 15.0 / 1024.0, 88761.0 / 1024.0));
        assert_eq!((weight(5), weight(99), weight(-99)), (335.0 / 1024.0, weight(19), weight(-20)));
        for nice in -20..19 {
            // The smallest are whole numbers: 18 / 15.
            assert!((1.2..1.3).contains(&(weight(nice) / weight(nice + 1))));
        }
    }

    #[test]
    fn the_background_is_what_the_kernel_puts_behind() {
        let is = |nice, is_idle| Priority { nice, is_idle }.is_background();
        assert!(is(19, false) && is(0, true) && !is(18, false) && !is(0, false));
    }

    #[test]
    fn a_process_says_its_own() {
        let mut command = std::process::Command::new("nice");
        let mut child = command.args(["-n", "7", "cat"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let nice = |pid| Priority::of(pid).nice - Priority::of(std::process::id()).nice;
        while nice(child.id()) != 7 {
            assert!(child.try_wait().unwrap().is_none());
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
