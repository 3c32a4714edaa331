//! The parts of a region that is virtualised, as its frame has them.

use crate::sys::futex::Futex;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

pub struct Parts {
    /// How many parts there are; 0 in a region that isn't virtualised.
    count: u32,
    /// How many were taken beyond the first one of each real thread.
    taken: AtomicU32,
    /// 1 once the parts that were left got threads of their own.
    own_threads: AtomicU32,
    /// Such threads that exist now.
    helpers: AtomicU32,
}

impl Parts {
    pub fn of(count: u32) -> Parts {
        Parts { count, taken: AtomicU32::new(0), own_threads: AtomicU32::new(0), helpers: AtomicU32::new(0) }
    }

    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    #[inline(always)]
    pub fn are_there(&self) -> bool {
        self.count != 0
    }

    /// Takes the next part; `real` threads have taken the first ones.
    pub fn take(&self, real: u32) -> Option<u32> {
        let part = self.taken.fetch_add(1, Ordering::Relaxed).wrapping_add(real);
        (part < self.count).then_some(part)
    }

    pub fn left(&self, real: u32) -> u32 {
        self.count.saturating_sub(self.taken.load(Ordering::Relaxed).saturating_add(real))
    }

    /// For the watch: parts left; 0 if there is nobody to help, or help has come.
    pub fn waiting(&self, real: u32) -> u32 {
        if real == 0 || self.own_threads.load(Ordering::Relaxed) != 0 { 0 } else { self.left(real) }
    }

    /// At the region's end: waits for the parts' own threads. Returns whether there were any.
    #[inline(always)]
    pub fn come_home(&self) -> bool {
        loop {
            let helpers = self.helpers.load(Ordering::Acquire);
            if helpers == 0 {
                return self.own_threads.load(Ordering::Relaxed) != 0;
            }
            Futex.sleep(&self.helpers, helpers, 0);
        }
    }

    /// The parts that are left are to get threads of their own; `false` if that was said before.
    pub fn give_own_threads(&self) -> bool {
        self.own_threads.swap(1, Ordering::AcqRel) == 0
    }

    /// A thread is missing: the real threads do what is left, unless help is called again.
    pub fn take_own_threads_back(&self) {
        self.own_threads.store(0, Ordering::Release);
    }

    pub fn helper_comes(&self) {
        self.helpers.fetch_add(1, Ordering::AcqRel);
    }

    /// A helper goes. Once the count is 0 the region may end, so only the address is used after that.
    pub fn helper_goes(parts: *const Parts) {
        // SAFETY: the region's end waits for this; waking uses the word's address only.
        unsafe {
            let helpers = &raw const (*parts).helpers;
            if (*helpers).fetch_sub(1, Ordering::AcqRel) == 1 {
                Futex.wake_all(&*helpers);
            }
        }
    }
}
