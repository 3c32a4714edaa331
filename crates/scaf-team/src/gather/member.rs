//! What a crew keeps of one member.

use crate::sync::AtomicU32;

/// Values of [`Member::state`].
pub const FREE: u32 = 0;
pub const HELD: u32 = 1;
pub const DONE: u32 = 2;

#[derive(Debug)]
#[repr(align(64))]
pub struct Member {
    /// [`FREE`], [`HELD`] or [`DONE`].
    pub state: AtomicU32,
    /// What it waits for while it is free, in two words ([`super::until`]); published by `state`.
    pub waits: AtomicU32,
    pub word: AtomicU32,
    pub part: Part,
}

/// The part that a member is in ([`super::parts`]).
#[derive(Debug)]
pub struct Part {
    /// Number of its first member.
    pub first: AtomicU32,
    /// Its members.
    pub size: AtomicU32,
    /// Members of it that have arrived at the barrier that is next to be passed; its first member's counts.
    pub arrived: AtomicU32,
}

impl Member {
    #[cfg(not(loom))]
    pub const fn new() -> Member {
        Member {
            state: AtomicU32::new(DONE),
            waits: AtomicU32::new(0),
            word: AtomicU32::new(0),
            part: Part { first: AtomicU32::new(0), size: AtomicU32::new(0), arrived: AtomicU32::new(0) },
        }
    }

    #[cfg(loom)]
    pub fn new() -> Member {
        Member {
            state: AtomicU32::new(DONE),
            waits: AtomicU32::new(0),
            word: AtomicU32::new(0),
            part: Part { first: AtomicU32::new(0), size: AtomicU32::new(0), arrived: AtomicU32::new(0) },
        }
    }
}
