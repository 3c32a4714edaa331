//! Exit of the process within a gathered region on LLVM's runtime. The runtime's destructor ends its workers
//! unless a region runs. It knows of none here, and would free the TLS of running members. It leaves the
//! workers alone if a worker calls `exit`, which it finds out by the thread's number in
//! `pthread_getspecific`. So a master that calls `exit` in a region is made to look like a worker.

use super::gathered_team::current;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::sys::glibc;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

unsafe extern "C" {
    fn __cxa_atexit(run: unsafe extern "C" fn(*mut c_void), with: *mut c_void, of: *mut c_void) -> c_int;
}

/// Keys that are searched: the runtime's is among a process's first.
const KEYS: usize = 128;
/// Keys under which each recorded thread has its number in the runtime, plus one.
static NUMBERS: [AtomicU64; KEYS / 64] = [const { AtomicU64::new(0) }; KEYS / 64];
/// The first worker's number in the runtime, plus one.
static WORKER: AtomicU32 = AtomicU32::new(0);
static PREPARED: AtomicU32 = AtomicU32::new(0);

/// Before threads are recorded.
pub fn begin() {
    for keys in &NUMBERS {
        keys.store(u64::MAX, Ordering::Relaxed);
    }
}

/// Records the thread of that member, with its number in the runtime.
pub fn record(member: usize, number: c_int) {
    if member == 1 {
        WORKER.store((number as u32).wrapping_add(1), Ordering::Relaxed);
    }
    for (first, keys) in (0..KEYS).step_by(64).zip(&NUMBERS) {
        let has = |bit: &usize| {
            // SAFETY: any key may be asked; the result is null for one that doesn't exist.
            let value = unsafe { glibc::pthread_getspecific((first + bit) as libc::pthread_key_t) };
            value.addr() == (number as usize).wrapping_add(1)
        };
        let mask = (0..64usize).filter(has).fold(0, |mask, bit| mask | 1 << bit);
        keys.fetch_and(mask, Ordering::Relaxed);
    }
}

/// After all are recorded; `false` if the runtime isn't as we know it.
pub fn end(runtime: &Runtime) -> bool {
    if !runtime.is_llvms() {
        return true;
    }
    let known = NUMBERS.iter().any(|keys| keys.load(Ordering::Relaxed) != 0);
    if known && PREPARED.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: this library is never unloaded, so the function stays. Destructors run later.
        return unsafe { __cxa_atexit(at_exit, null_mut(), null_mut()) == 0 };
    }
    known
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    // SAFETY: `thread()` is the calling thread's state; the keys held the runtime's numbers in every thread.
    unsafe {
        let is_master = current().is_some_and(|me| me.number.get() == 0);
        let llvms = thread().runtime.get().is_some_and(Runtime::is_llvms);
        if !is_master || !llvms {
            return;
        }
        let worker = without_provenance::<c_void>(WORKER.load(Ordering::Relaxed) as usize);
        for (first, keys) in (0..KEYS).step_by(64).zip(&NUMBERS) {
            let keys = keys.load(Ordering::Relaxed);
            for bit in (0..64usize).filter(|bit| keys >> bit & 1 != 0) {
                glibc::pthread_setspecific((first + bit) as libc::pthread_key_t, worker);
            }
        }
    }
}
