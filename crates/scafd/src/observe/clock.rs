//! Clocks: the machine's monotonic time, a process's CPU time, and the time-stamp counter of the reports.

pub use crate::arch::ticks;

/// CLOCK_MONOTONIC in nanoseconds.
pub fn now_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// CPU time that all threads of a process have used, in nanoseconds; `None` if there is no such process. One
/// exact system call of 0.3 us; /proc/PID/stat costs 20 us and counts in hundredths of a second.
pub fn cpu_ns(pid: u32) -> Option<u64> {
    let pid = i32::try_from(pid).ok().filter(|pid| *pid > 0)?;
    // The kernel's encoding of "CPU clock of the process PID, in scheduler time" (CPUCLOCK_SCHED is 2).
    let clock = (!pid << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec, which `time` is.
    let rc = unsafe { libc::clock_gettime(clock, &mut time) };
    (rc == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of this process in nanoseconds.
pub fn own_ns() -> u64 {
    let own = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    own.tv_sec as u64 * 1_000_000_000 + own.tv_nsec as u64
}

/// CPU time of this process's children in nanoseconds: those waited for, and `children`.
pub fn children_ns(children: impl Iterator<Item = u32>) -> u64 {
    // SAFETY: rusage consists of integers, for which zero is a value; the kernel writes one rusage.
    let ended = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    let nanoseconds = |seconds: i64, rest: i64| seconds as u64 * 1_000_000_000 + rest as u64;
    nanoseconds(ended.ru_utime.tv_sec, ended.ru_utime.tv_usec * 1_000)
        + nanoseconds(ended.ru_stime.tv_sec, ended.ru_stime.tv_usec * 1_000)
        + children.filter_map(cpu_ns).sum::<u64>()
}

/// Clock ticks since the machine started, sleep included: what `/proc/PID/stat` has as a process's start.
pub fn boot_ticks() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let hz = rustix::param::clock_ticks_per_second();
    t.tv_sec as u64 * hz + t.tv_nsec as u64 / (1_000_000_000 / hz.max(1))
}

/// How fast the time-stamp counter runs, measured against CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
pub struct Tsc {
    start: (u64, u64),
    per_ns: f64,
}

impl Tsc {
    /// Measures for 5 ms, which is right to some 1 in 20,000; [`Tsc::refine`] makes it better.
    pub fn measure() -> Tsc {
        let mut tsc = Tsc { start: (ticks(), now_ns()), per_ns: 1.0 };
        std::thread::sleep(std::time::Duration::from_millis(5));
        tsc.refine();
        tsc
    }

    /// A clock of a given rate, for tests and replay.
    pub fn with_rate(ticks_per_ns: f64) -> Tsc {
        Tsc { start: (0, 0), per_ns: ticks_per_ns }
    }

    /// Measures again over the time since the first measurement.
    pub fn refine(&mut self) {
        let (ticks, ns) = (ticks(), now_ns());
        let (dt, dns) = (ticks.wrapping_sub(self.start.0), ns.saturating_sub(self.start.1));
        if dns > 0 && dt > 0 {
            self.per_ns = dt as f64 / dns as f64;
        }
    }

    /// Ticks as seconds.
    pub fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.per_ns * 1e-9
    }

    /// CLOCK_MONOTONIC in ns when the counter was at `then`, given that it is at `now` at `now_ns`; at most
    /// `now_ns`.
    pub fn when(&self, then: u64, now: u64, now_ns: u64) -> u64 {
        now_ns.saturating_sub((now.saturating_sub(then) as f64 / self.per_ns) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_clock_of_a_process_runs_and_that_of_none_does_not() {
        let pid = std::process::id();
        let before = cpu_ns(pid).unwrap();
        while cpu_ns(pid).unwrap() == before {}
        assert_eq!(cpu_ns(0), None);
        assert_eq!(cpu_ns(u32::MAX), None);
    }

    #[test]
    fn ticks_become_times_of_day() {
        let tsc = Tsc::with_rate(2.0);
        assert_eq!(tsc.seconds(4_000_000_000), 2.0);
        assert_eq!(tsc.when(1_000, 3_000, 10_000), 9_000);
        assert_eq!(tsc.when(u64::MAX, 3_000, 10_000), 10_000);
        assert_eq!(tsc.when(0, u64::MAX, 10_000), 0);
    }

    #[test]
    fn the_counter_has_a_plausible_rate() {
        let tsc = Tsc::measure();
        assert!((0.1..100.0).contains(&tsc.per_ns), "{} ticks per ns", tsc.per_ns);
    }
}
