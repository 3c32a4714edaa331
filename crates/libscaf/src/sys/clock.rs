//! The kernel's clocks.

/// A clock in nanoseconds; 0 if there is no such clock.
pub fn ns(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel or the C library writes one time.
    unsafe { libc::clock_gettime(clock, &mut now) };
    in_ns(now)
}

pub fn now_ms() -> u64 {
    ns(libc::CLOCK_MONOTONIC) / 1_000_000
}

/// Nanoseconds for which a thread of this process has run; `None` where the kernel doesn't say. Not by the C
/// library, whose function may be somebody's who fakes the time.
pub fn ran_for(task: u32) -> Option<u64> {
    const OF_A_THREAD: libc::clockid_t = 4;
    const PRECISE: libc::clockid_t = 2;
    // As the kernel numbers them.
    let clock = !task.cast_signed() << 3 | OF_A_THREAD | PRECISE;
    let mut ran = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one time.
    let said = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, &raw mut ran) };
    (said == 0).then(|| in_ns(ran))
}

fn in_ns(time: libc::timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}
