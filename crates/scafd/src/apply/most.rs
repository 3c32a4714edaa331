//! How much is kept in the guardian's table, which has a fixed size.

/// Programs that can be attached at a time, and so narrowed or stopped.
pub const MOST_PROGRAMS: usize = 1024;
/// Affinities of ours that are remembered for each program. Every change moves the threads that have any of
/// them.
pub const MASKS: usize = 8;
