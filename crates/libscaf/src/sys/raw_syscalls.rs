//! What a kernel thread may do while somebody else has its thread-local storage: nothing here touches it, not
//! even `errno`.

use super::arch::bare_call;
use core::sync::atomic::AtomicU32;
use scaf_team::Sleep;

/// Sleeps and wakes as [`super::futex::Futex`] does.
pub struct RawFutex;

impl Sleep for RawFutex {
    fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool {
        let nanoseconds = i64::from(limit_ms % 1_000) * 1_000_000;
        let limit = libc::timespec { tv_sec: i64::from(limit_ms / 1_000), tv_nsec: nanoseconds };
        let until = if limit_ms == 0 { 0 } else { (&raw const limit).expose_provenance() };
        let how = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
        let word = word.as_ptr().expose_provenance();
        // SAFETY: the kernel reads a word and a time of ours.
        let result = unsafe { bare_call(libc::SYS_futex, [word, how, value as usize, until]) };
        result == -(libc::ETIMEDOUT as isize)
    }

    fn wake_all(&self, word: &AtomicU32) {
        let how = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
        let word = word.as_ptr().expose_provenance();
        // SAFETY: the kernel takes the address for a name.
        unsafe { bare_call(libc::SYS_futex, [word, how, i32::MAX as usize, 0]) };
    }
}

/// Sleeps as short as the kernel can: some 50 us, its slack for timers.
pub fn nap() {
    nap_for(1);
}

/// Sleeps for so many nanoseconds, below a second, and that slack.
pub fn nap_for(nanoseconds: u32) {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: nanoseconds.into() };
    // SAFETY: the kernel reads a time of ours.
    unsafe { bare_call(libc::SYS_nanosleep, [(&raw const pause).expose_provenance(), 0, 0, 0]) };
}

pub fn give_way() {
    // SAFETY: takes nothing.
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
    // SAFETY: the kernel reads and writes masks of ours.
    unsafe { bare_call(libc::SYS_rt_sigprocmask, arguments) };
    before
}
