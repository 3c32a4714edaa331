//! The kernel's clocks.

/// A clock in nanoseconds; 0 if there is no such clock.
pub fn ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: fills a time of ours.
    unsafe { libc::clock_gettime(clock, &mut now) };
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

pub fn now_ms() -> u64 {
    ns(libc::CLOCK_MONOTONIC) / 1_000_000
}

/// The clock of the time that a thread of this process has run.
pub fn of_thread(task: u32) -> libc::clockid_t {
    // As `pthread_getcpuclockid` makes it: the complement, and that it is a thread's, and what it counts.
    (!task.cast_signed() << 3) | 6
}
