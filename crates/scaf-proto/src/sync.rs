//! The atomics that the pages are made of: `core`'s, or loom's when the protocol is model-checked. Loom's are
//! no plain words, so the pages are then ordinary objects; the code that reads and writes them is the same.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
