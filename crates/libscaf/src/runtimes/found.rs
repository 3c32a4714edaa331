//! A copy of a runtime, of whatever kind, as the daemon is told of it.

use scaf_proto::runtimes::{Kind, Promise};

/// Such a copy.
pub struct Found<'a> {
    /// What sets it apart from other copies, not 0: where it was loaded.
    pub id: usize,
    /// Which it is.
    pub kind: Kind,
    /// Its file.
    pub file: &'a [u8],
    /// What is promised of it.
    pub promise: Promise,
    /// Threads that it may use now; 0 if unknown.
    pub threads: u32,
    /// Threads that it would use without us; 0 if unknown.
    pub most: u32,
    /// Threads of its kind that are at work now; 0 if none, or unknown.
    pub running: u32,
}

/// Tells of each copy of a kind of runtime. Only of what was found anyway: it looks for none.
pub type Discover = fn(&mut dyn FnMut(Found<'_>));
