//! Where a master shows its region to somebody who looks after regions that get nowhere. The region lies on
//! the master's stack, so the master waits at its end while it is *lent* to somebody who looks at it.

use crate::sync::{AtomicUsize, Ordering};

/// One master's post. Zero is empty.
#[derive(Debug)]
pub struct Post {
    /// The region's address, which is even, and [`LENT`].
    at: AtomicUsize,
}

const LENT: usize = 1;

impl Post {
    /// An empty post.
    #[cfg(not(loom))]
    pub const fn new() -> Post {
        Post { at: AtomicUsize::new(0) }
    }

    /// An empty post.
    #[cfg(loom)]
    pub fn new() -> Post {
        Post { at: AtomicUsize::new(0) }
    }

    /// The master enters a region.
    #[inline(always)]
    pub fn put(&self, region: usize) {
        self.at.store(region, Ordering::SeqCst);
    }

    /// The master leaves its region; `pause` is called in each round while somebody looks at it.
    #[inline(always)]
    pub fn take_back(&self, region: usize, mut pause: impl FnMut()) {
        // A fork in the region may have cleared the post.
        while self
            .at
            .compare_exchange(region, 0, Ordering::Acquire, Ordering::Relaxed)
            .is_err_and(|at| at != 0)
        {
            pause();
        }
    }

    /// Looks at the region, if the master is in one and nobody else looks; `true` if so.
    pub fn look(&self, work: impl FnOnce(usize)) -> bool {
        let region = self.at.load(Ordering::SeqCst);
        let lent = region != 0
            && region & LENT == 0
            && self.at.compare_exchange(region, region | LENT, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if lent {
            work(region);
            self.at.store(region, Ordering::Release);
        }
        lent
    }

    /// Forgets the region, after a fork.
    pub fn clear(&self) {
        self.at.store(0, Ordering::Relaxed);
    }
}

impl Default for Post {
    fn default() -> Self {
        Post::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_a_region_that_is_there_is_looked_at() {
        let post = Post::new();
        assert!(!post.look(|_| unreachable!()));
        post.put(64);
        let mut seen = 0;
        assert!(post.look(|region| seen = region));
        assert_eq!(seen, 64);
        post.take_back(64, || unreachable!());
        assert!(!post.look(|_| unreachable!()));
    }
}
