//! A copy of a runtime, of whatever kind, as it is reported to the daemon.

use scaf_proto::runtimes::{Kind, Promise};

pub struct Found<'a> {
    /// Where it was loaded, not 0: tells copies apart.
    pub id: usize,
    pub kind: Kind,
    pub file: &'a [u8],
    pub promise: Promise,
    /// Threads that it may use now; 0 if unknown.
    pub threads: u32,
    /// Threads that it would use without us; 0 if unknown.
    pub most: u32,
    /// Threads of its kind that are at work now; 0 if none, or unknown.
    pub running: u32,
}

/// Reports the copies found so far of one kind of runtime; looks for none.
pub type Discover = fn(&mut dyn FnMut(Found<'_>));
