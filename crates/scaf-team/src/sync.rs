//! The atomics that the protocols are made of: `core`'s, or loom's when they are model-checked.

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Between a sequentially consistent write and such a read of another word. Says nothing that they don't say
/// themselves, but loom takes them for acquire and release.
#[inline(always)]
pub(crate) fn in_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}
