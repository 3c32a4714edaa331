//! Calls by which the program starts others, or becomes another. Two things of ours would go along with it:
//! - **The affinity.** A child has that of the thread that starts it. So this thread has the program's own
//!   meanwhile (`link/affinity.rs`), and a child sees the PUs that it would have without scaf, from its first
//!   instruction. The C library's own calls don't come through here, so `system`, `popen` and the like are
//!   interposed each for itself. Children by `fork` are widened by its handlers (`link/forked.rs`).
//! - **LD_PRELOAD.** A program that can't take the client library ([`can_take`]) gets the variable without it
//!   ([`preload`]), for its loader would print that or end.
//!
//! A managed process looks for all these functions when it is attached ([`look`]): calls are made in
//! handlers of signals, and in children that have their parent's memory. Any other looks at the first call:
//! to look for all of them takes 20 us, which every process would pay that a shell starts.

mod can_take;
mod children;
mod exec;
mod preload;

pub use children::fork_widely;
pub use exec::{by_number as exec_by_number, is_exec};

/// So that no search is made within a call.
pub fn look() {
    children::look();
    exec::look();
}
