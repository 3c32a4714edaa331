//! The end of a process within a gathered region of LLVM's runtime. As a library's destructor that runtime
//! ends its workers, unless a region runs, of which it doesn't know here: their storage, on which members may
//! still run, would go. It also leaves them alone if a worker calls `exit`, by the number that it keeps for
//! the calling thread with `pthread_setspecific`. So where the master calls `exit` from a region, it is made
//! to look like a worker.

use super::gathered_team::around;
use crate::region::thread::thread;
use crate::runtimes::entries::Runtime;
use crate::sys::glibc;
use core::ffi::{c_int, c_void};
use core::ptr::{null_mut, without_provenance};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

unsafe extern "C" {
    fn __cxa_atexit(run: unsafe extern "C" fn(*mut c_void), with: *mut c_void, of: *mut c_void) -> c_int;
}

/// Keys that are looked at: the runtime's is among a process's first.
const KEYS: usize = 128;
/// Those under which each noted thread has the runtime's number of it, plus one.
static NUMBERS: [AtomicU64; KEYS / 64] = [const { AtomicU64::new(0) }; KEYS / 64];
/// The first worker's number in the runtime, plus one.
static WORKER: AtomicU32 = AtomicU32::new(0);
static PREPARED: AtomicU32 = AtomicU32::new(0);

/// Before threads are noted.
pub fn begin() {
    for keys in &NUMBERS {
        keys.store(u64::MAX, Ordering::Relaxed);
    }
}

/// The thread of that member, whose number in the runtime is `number`, is noted.
pub fn record(member: usize, number: c_int) {
    if member == 1 {
        WORKER.store((number as u32).wrapping_add(1), Ordering::Relaxed);
    }
    for (first, keys) in (0..KEYS).step_by(64).zip(&NUMBERS) {
        let has = |bit: &usize| {
            // SAFETY: null for a key that isn't there.
            let value = unsafe { glibc::pthread_getspecific((first + bit) as libc::pthread_key_t) };
            value.addr() == (number as usize).wrapping_add(1)
        };
        let mask = (0..64usize).filter(has).fold(0, |mask, bit| mask | 1 << bit);
        keys.fetch_and(mask, Ordering::Relaxed);
    }
}

/// After all are noted; `false` if the runtime's way isn't as we know it.
pub fn end(runtime: &Runtime) -> bool {
    if !runtime.is_llvms() {
        return true;
    }
    let known = NUMBERS.iter().any(|keys| keys.load(Ordering::Relaxed) != 0);
    if known && PREPARED.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: a function that stays, for this library is never unloaded. Destructors come later.
        return unsafe { __cxa_atexit(at_exit, null_mut(), null_mut()) == 0 };
    }
    known
}

unsafe extern "C" fn at_exit(_: *mut c_void) {
    // SAFETY: this thread's own state and values.
    unsafe {
        let is_master = around(thread()).is_some_and(|me| me.number.get() == 0);
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
