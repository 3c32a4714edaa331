//! A gathered team: its *members* are threads as the program sees them, and fewer kernel threads, its
//! *carriers*, run them and change from one to the next where OpenMP waits. What a member is made of
//! (registers, stack, thread-local storage) is the client's.
//!
//! - [`crew`]: who is run by whom, the barrier, the region's end, and how a carrier sleeps;
//! - [`shares`]: loops, sections and singles, each dealt out once; [`chunks`]: what LLVM's runtime tells of
//!   them.

pub mod chunks;
pub mod crew;
pub mod shares;
