//! What the library keeps of each thread: a block of thread-local storage, in which each owner has a part.

use super::arch::{THREAD_BYTES, thread_block};

/// Where the parts begin: `program`'s, `region`'s, those of the ports for oneTBB and MPI, and `link`'s.
pub const PROGRAM_AT: usize = 0;
pub const REGION_AT: usize = 16;
pub const TBB_AT: usize = 288;
pub const MPI_AT: usize = 384;
pub const LINK_AT: usize = 400;
pub const END: usize = THREAD_BYTES;

/// A part, all zero when its thread starts.
///
/// # Safety
/// Zeros are a value of it. It isn't `Sync`: its fields are `Cell`s. No other type has the bytes from `AT` to
/// `END`.
pub unsafe trait Part: 'static {
    const AT: usize;
    const END: usize;
}

/// The calling thread's part.
#[inline(always)]
pub fn own<T: Part>() -> &'static T {
    const { assert!(T::AT.is_multiple_of(align_of::<T>()) && align_of::<T>() <= 16) };
    const { assert!(T::AT + size_of::<T>() <= T::END && T::END <= END) };
    // SAFETY: the block is as large as the parts together, begins as zeros, which are a value, and is there
    // as long as its thread. The reference stays on this thread, because the type isn't `Sync`.
    unsafe { &*thread_block().wrapping_byte_add(T::AT).cast() }
}

/// The part of the thread with this TLS base: it lies as far from the base as in any other thread.
/// # Safety
/// That thread is there, and doesn't touch its part while the caller has the reference: it sleeps.
pub unsafe fn part_of<T: Part>(tls_base: usize) -> &'static T {
    let at =
        core::ptr::from_ref(own::<T>()).wrapping_byte_add(tls_base.wrapping_sub(super::arch::tls_base()));
    // SAFETY: each thread's block is as far from its base; the caller says that nobody else uses this one.
    unsafe { &*at }
}
