//! The parts of a region that is virtualised, as its frame has them.

use crate::sys::futex::Futex;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;

/// The parts that the threads of a virtualised region do, one after the other.
pub struct Parts {
    /// How many there are; 0 in any other region.
    count: u32,
    /// How many were taken beyond the first one of each real thread.
    taken: AtomicU32,
    /// 1 once those that were left got threads of their own.
    own_threads: AtomicU32,
    /// Threads of their own that are there.
    helpers: AtomicU32,
}

impl Parts {
    /// So many; with none, the region isn't virtualised.
    pub fn of(count: u32) -> Parts {
        Parts { count, taken: AtomicU32::new(0), own_threads: AtomicU32::new(0), helpers: AtomicU32::new(0) }
    }

    /// How many there are; 0 in any other region.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the region is virtualised.
    #[inline(always)]
    pub fn are_there(&self) -> bool {
        self.count != 0
    }

    /// Takes the next part; `real` threads have taken the first ones.
    pub fn take(&self, real: u32) -> Option<u32> {
        let part = self.taken.fetch_add(1, Ordering::Relaxed).wrapping_add(real);
        (part < self.count).then_some(part)
    }

    /// How many parts are left.
    pub fn left(&self, real: u32) -> u32 {
        self.count.saturating_sub(self.taken.load(Ordering::Relaxed).saturating_add(real))
    }

    /// For the watch: parts left, in a form that changes whenever one is taken; 0 if there is nobody to help
    /// or help has come.
    pub fn waiting(&self, real: u32) -> u32 {
        if real == 0 || self.own_threads.load(Ordering::Relaxed) != 0 { 0 } else { self.left(real) }
    }

    /// Waits for the threads of their own, at the region's end. Returns whether there were any.
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

    /// Those that are left are to get threads of their own; `false` if that was said before.
    pub fn give_own_threads(&self) -> bool {
        self.own_threads.swap(1, Ordering::AcqRel) == 0
    }

    /// There was no thread for one of them: what is left stays with the real threads, until somebody says so
    /// again.
    pub fn take_own_threads_back(&self) {
        self.own_threads.store(0, Ordering::Release);
    }

    /// A thread of its own comes.
    pub fn helper_comes(&self) {
        self.helpers.fetch_add(1, Ordering::AcqRel);
    }

    /// It goes. The region may end as soon as the number is there; its address is all that is needed of it
    /// then.
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
