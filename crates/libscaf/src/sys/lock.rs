//! A lock for what is short and rare: waiting for another thread's turn is a spin that yields.

use super::bare::give_way;
use core::sync::atomic::{AtomicU32, Ordering};

pub struct Lock(AtomicU32);

pub struct Locked<'l>(&'l Lock);

impl Lock {
    pub const fn new() -> Lock {
        Lock(AtomicU32::new(0))
    }

    pub fn take(&self) -> Locked<'_> {
        while self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            give_way();
        }
        Locked(self)
    }

    /// After a fork, in the child: the thread that held it is gone.
    pub fn after_fork(&self) {
        self.0.store(0, Ordering::Release);
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.0.0.store(0, Ordering::Release);
    }
}
