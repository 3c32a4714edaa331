//! The scheduler's state of one member, and of one part of the members ([`super::barrier_parts`]).

use crate::sync::{AtomicU32, array, constructor};

/// Values of [`Member::state`].
pub const SUSPENDED: u32 = 0;
pub const RUNNING: u32 = 1;
pub const FINISHED: u32 = 2;

#[derive(Debug)]
#[repr(align(64))]
pub struct Member {
    /// [`SUSPENDED`], [`RUNNING`] or [`FINISHED`].
    pub state: AtomicU32,
    /// What it waits for while it is suspended, in two words ([`super::wait_until`]); published by `state`.
    pub waits: AtomicU32,
    pub word: AtomicU32,
    /// The number of its part.
    pub part: AtomicU32,
}

#[derive(Debug)]
#[repr(align(64))]
pub struct Part {
    /// Number of its first member, and of the one after its last.
    pub first: AtomicU32,
    pub end: AtomicU32,
    /// Its members that have arrived at the next barrier, if there are several parts.
    pub arrived: AtomicU32,
}

impl Member {
    constructor! {
        pub fn new() -> Self {
            let [waits, word, part] = array![AtomicU32::new(0); 3];
            Member { state: AtomicU32::new(FINISHED), waits, word, part }
        }
    }
}

impl Part {
    constructor! {
        pub fn new() -> Self {
            let [first, end, arrived] = array![AtomicU32::new(0); 3];
            Part { first, end, arrived }
        }
    }
}
