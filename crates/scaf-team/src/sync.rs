//! The atomics that the protocols are made of: `core`'s, or loom's when they are model-checked.

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Keeps the compiler from reordering accesses to two words. The processor may reorder them: the other side
/// has to make a memory barrier for both. Under loom, this is a fence.
#[inline(always)]
pub(crate) fn compiled_in_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Between SeqCst accesses to two words, which loom treats as acquire and release only.
#[inline(always)]
pub(crate) fn in_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// Defines a constructor that is `const` with `core`'s atomics; loom's can't be made in a constant.
macro_rules! constructor {
    ($(#[$attribute:meta])* $visibility:vis fn new() -> $of:ty $body:block) => {
        $(#[$attribute])*
        #[cfg(not(loom))]
        $visibility const fn new() -> $of $body

        $(#[$attribute])*
        #[cfg(loom)]
        $visibility fn new() -> $of $body
    };
}
pub(crate) use constructor;

/// In such a constructor, an array of `$length` times `$element`.
macro_rules! array {
    ($element:expr; $length:expr) => {{
        #[cfg(not(loom))]
        let array = [const { $element }; $length];
        #[cfg(loom)]
        let array = core::array::from_fn::<_, { $length }, _>(|_| $element);
        array
    }};
}
pub(crate) use array;
