//! What the client library decides and does about a team, apart from any system, so that it can be tested.
//!
//! - [`sandbox`]: what a region may do that is tried on one context, in a copy of the process;
//! - [`choice`]: which mechanism a region gets and how large its team is, a pure function of what is known of
//!   it;
//! - [`barrier`]: a barrier whose waits follow the fold: threads spin while each has a context, and sleep
//!   while not;
//! - [`deal`]: which iterations of a statically scheduled loop are a thread's;
//! - [`post`]: where a master leaves word of its region, for somebody who looks after those that get nowhere;
//! - [`split`]: one grant for all runtimes of a process;
//! - [`pulse`]: whether a process computes in parallel by other means than regions;
//! - [`permits`]: who gets how many contexts where several pools of threads in one process ask for some;
//! - [`telling`]: when those who follow the DoP by themselves are told that it has changed;
//! - [`gather`]: a team's members, and the fewer carriers that run them;
//! - [`gate`]: where the threads of a dynamic loop that have no context sleep until the next chunk is theirs
//!   again.
//!
//! `no_std`, and no dependency: the client library lives in other people's processes. Sleeping and waking is
//! left to whoever implements [`Sleep`].
#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

pub mod barrier;
pub mod choice;
pub mod deal;
pub mod gate;
pub mod gather;
pub mod permits;
pub mod post;
pub mod pulse;
pub mod sandbox;
pub mod split;
pub mod sync;
pub mod telling;

use sync::AtomicU32;

/// A word in a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Line(AtomicU32);

/// How threads sleep until another one wakes them; on Linux, a futex.
pub trait Sleep {
    /// Sleeps until woken, unless `word` doesn't have this value any more: looking and falling asleep are one
    /// step. Gives up after `limit_ms` milliseconds if that isn't 0. May return for no reason. `true` if it
    /// gave up.
    fn sleep(&self, word: &AtomicU32, value: u32, limit_ms: u32) -> bool;

    /// Wakes all threads that sleep on `word`.
    fn wake_all(&self, word: &AtomicU32);
}

#[cfg(all(test, not(loom)))]
mod testing {
    //! A futex for tests.
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
