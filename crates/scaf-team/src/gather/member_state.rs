//! What a scheduler keeps of one member, and of one part of its members ([`super::barrier_parts`]).

use crate::sync::AtomicU32;

/// Values of [`Member::state`].
pub const SUSPENDED: u32 = 0;
pub const RUNNING: u32 = 1;
pub const FINISHED: u32 = 2;

#[derive(Debug)]
#[repr(align(64))]
pub struct Member {
    /// [`SUSPENDED`], [`RUNNING`] or [`FINISHED`].
    pub state: AtomicU32,
    /// What it waits for while it is free, in two words ([`super::wait_until`]); published by `state`.
    pub waits: AtomicU32,
    pub word: AtomicU32,
    /// The number of its part.
    pub part: AtomicU32,
}

#[derive(Debug)]
#[repr(align(64))]
pub struct Part {
    /// Number of its first member, and of the one behind its last.
    pub first: AtomicU32,
    pub end: AtomicU32,
    /// Members of it that have arrived at the barrier that is next to be passed, if there are several parts.
    pub arrived: AtomicU32,
}

impl Member {
    #[cfg(not(loom))]
    pub const fn new() -> Member {
        let word = AtomicU32::new(0);
        Member { state: AtomicU32::new(FINISHED), waits: AtomicU32::new(0), word, part: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub fn new() -> Member {
        let word = AtomicU32::new(0);
        Member { state: AtomicU32::new(FINISHED), waits: AtomicU32::new(0), word, part: AtomicU32::new(0) }
    }
}

impl Part {
    #[cfg(not(loom))]
    pub const fn new() -> Part {
        Part { first: AtomicU32::new(0), end: AtomicU32::new(0), arrived: AtomicU32::new(0) }
    }

    #[cfg(loom)]
    pub fn new() -> Part {
        Part { first: AtomicU32::new(0), end: AtomicU32::new(0), arrived: AtomicU32::new(0) }
    }
}
