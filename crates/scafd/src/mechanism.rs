//! The ways in which a program's DoP is carried out, by the names that clients and the journal are told.

use serde::{Deserialize, Serialize};

/// How a program's DoP is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// It runs as without us.
    Unmanaged,
    /// Teams have as many threads as granted.
    Resize,
    /// The team keeps its size, its CPU affinity is narrower.
    Fold,
    /// As fold, and the threads of dynamic loops that are too many sleep between chunks.
    Park,
    /// It has all the contexts that it needs, for a part of the time if it must.
    Gang,
    /// The team keeps its size as far as the program can tell, and fewer threads do its members' parts.
    Virtualise,
}
