//! What a kernel thread may do while somebody else has its thread-local storage: nothing here touches it, not
//! even `errno`.

use super::arch::bare_call;

/// Sleeps as short as the kernel can: some 50 us, its slack for timers.
pub fn nap() {
    nap_for(1);
}

/// Sleeps for so many nanoseconds, below a second, and that slack.
pub fn nap_for(nanoseconds: u32) {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds.into() };
    // SAFETY: the kernel reads the time, and writes none back, as it is given no place for that.
    unsafe { bare_call(libc::SYS_nanosleep, [(&raw const pause).expose_provenance(), 0, 0, 0]) };
}

pub fn give_way() {
    // SAFETY: sched_yield takes nothing.
    unsafe { bare_call(libc::SYS_sched_yield, [0; 4]) };
}

/// By this one glibc has all threads change their user or group, and waits for it. Its handler touches only
/// what nobody but the thread itself does.
const OF_GLIBCS: u32 = 33;

/// Blocks all other signals of the calling thread; which ones were before, one bit each.
pub fn block_all() -> u64 {
    set_blocked(!(1 << (OF_GLIBCS - 1)))
}

/// Blocks these signals of the calling thread and no others; which ones were before.
pub fn set_blocked(signals: u64) -> u64 {
    let mut before = 0u64;
    let (new, old) = ((&raw const signals).expose_provenance(), (&raw mut before).expose_provenance());
    let arguments = [libc::SIG_SETMASK as usize, new, old, size_of::<u64>()];
    // SAFETY: the kernel reads one mask and writes the other, each of the size that it is told.
    unsafe { bare_call(libc::SYS_rt_sigprocmask, arguments) };
    before
}
