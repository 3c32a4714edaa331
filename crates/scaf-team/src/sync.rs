//! The atomics that the protocols are made of: `core`'s, or loom's when they are model-checked.

#[cfg(not(loom))]
pub use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Has the compiler leave accesses to two words in their order. The processor may not: whoever counts on it
/// sees to that. Loom's threads do so here.
#[inline(always)]
pub(crate) fn compiled_in_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
    #[cfg(not(loom))]
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
}

/// Between SeqCst accesses to two words, which loom takes for acquire and release only.
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

/// An array of `$length` times `$element`, in such a constructor.
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
