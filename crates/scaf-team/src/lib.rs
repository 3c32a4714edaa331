//! Decisions and protocols of the client library about teams, without system calls, so that they can be
//! tested and model-checked. `no_std` and without dependencies, because the library runs in other people's
//! processes. Implementations of [`Sleep`] block and wake threads.
//! - [`choice`]: a region's mechanism and team size; [`static_schedule`]: a thread's part of a statically
//!   scheduled loop;
//! - [`barrier`]: a barrier whose waits follow the fold; [`gate`]: where threads without a context sleep
//!   between chunks;
//! - [`permission`]: what overrules code analysis and permits smaller teams;
//! - [`split`]: one grant for all runtimes of a process; [`permit_division`]: a share for several thread
//!   pools;
//! - [`parallel_detector`]: whether a process computes in parallel outside of regions; [`dop_notifier`]: when
//!   a changed DoP is passed on;
//! - [`sandbox`]: what a serial experiment may do; [`arch`]: what depends on the processor;
//! - [`gather`]: a team's members, and the carriers that run them.
#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

pub mod arch;
pub mod barrier;
pub mod choice;
pub mod dop_notifier;
pub mod gate;
pub mod gather;
pub mod parallel_detector;
pub mod permission;
pub mod permit_division;
pub mod sandbox;
pub mod split;
pub mod static_schedule;
pub mod sync;

use sync::AtomicU32;

#[derive(Debug)]
#[repr(align(64))]
struct Line(AtomicU32);

impl Line {
    sync::constructor! {
        fn new() -> Self {
            Line(AtomicU32::new(0))
        }
    }
}

/// Blocks threads until another one wakes them; on Linux, a futex.
pub trait Sleep {
    /// Sleeps until woken, unless `word` has another value; check and sleep are atomic. Returns `true` after
    /// `limit_ms` milliseconds, if that isn't 0. May return `false` spuriously.
    fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool;

    /// Wakes all threads that sleep on `word`.
    fn wake_all(&self, word: &AtomicU32);
}

#[cfg(all(test, not(loom)))]
mod testing {
    use super::*;
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;
    use sync::Ordering;

    #[derive(Default)]
    pub struct Parking {
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Sleep for Parking {
        fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool {
            let lock = self.lock.lock().unwrap();
            if word.load(Ordering::SeqCst) != value {
                return false;
            }
            if limit_ms == 0 {
                drop(self.woken.wait(lock).unwrap());
                return false;
            }
            let limit = Duration::from_millis(limit_ms.into());
            self.woken.wait_timeout(lock, limit).unwrap().1.timed_out()
        }

        fn wake_all(&self, _: &AtomicU32) {
            let _lock = self.lock.lock().unwrap();
            self.woken.notify_all();
        }
    }
}
