//! Until when affinities are to stay as they are, in a page that daemon, broker and guardian share.

use crate::observe::clock::now_ns;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[repr(C)]
struct Page {
    /// In ns of CLOCK_MONOTONIC; 0 while nobody is attached.
    until_ns: AtomicU64,
    /// 1 once the guardian has restored affinities because it was over.
    widened: AtomicU32,
}

/// A handle to the lease.
#[derive(Clone, Copy)]
pub struct Lease(&'static Page);

/// What a renewal found:
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Renewed {
    /// it was over, and the guardian has restored all affinities;
    pub was_over: bool,
    /// there was none, and the guardian sleeps without a limit.
    pub begins: bool,
}

impl Lease {
    /// A new one, shared with all processes that are forked later.
    pub fn new() -> io::Result<Lease> {
        share::<Page>().map(Lease)
    }

    /// Sets the end of the lease; `None` while nobody is attached.
    pub fn renew(&self, until_ns: Option<u64>) -> Renewed {
        let until_ns = until_ns.unwrap_or(0);
        let before_ns = self.0.until_ns.swap(until_ns, Ordering::AcqRel);
        let begins = before_ns == 0 && until_ns != 0;
        Renewed { was_over: self.0.widened.swap(0, Ordering::AcqRel) != 0, begins }
    }

    /// Whether the daemon has to renew it.
    pub(super) fn is_held(&self) -> bool {
        self.0.until_ns.load(Ordering::Acquire) != 0
    }

    /// Whether the daemon should have renewed it, and affinities weren't restored yet.
    pub(super) fn is_over(&self) -> bool {
        let until_ns = self.0.until_ns.load(Ordering::Acquire);
        until_ns != 0 && now_ns() > until_ns && !self.was_widened()
    }

    /// Whether affinities were restored because it was over, which the daemon hasn't noticed yet.
    pub fn was_widened(&self) -> bool {
        self.0.widened.load(Ordering::Acquire) != 0
    }

    pub(super) fn widen(&self) {
        self.0.widened.store(1, Ordering::Release);
    }
}

/// Memory that stays shared over a fork; zero at first. `T` consists of atomics.
pub(super) fn share<T>() -> io::Result<&'static T> {
    // SAFETY: a fresh mapping at an address of the kernel's choice; it is never unmapped.
    let at = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            size_of::<T>(),
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
        )?
    };
    // SAFETY: the mapping has the size, is page-aligned and zero, which is a value of atomics.
    Ok(unsafe { &*at.cast::<T>() })
}
