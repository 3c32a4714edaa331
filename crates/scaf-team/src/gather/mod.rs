//! A gathered team: its *members* are threads as the program sees them, and fewer kernel threads, its
//! *carriers*, run them and change from one to the next where OpenMP waits. What a member is made of
//! (registers, stack, thread-local storage) is the client's.
//!
//! - [`backoff`]: for how long a region is folded whose members got stuck;
//! - [`cancel`]: loops and regions that are cancelled;
//! - [`crew`]: who is run by whom, the region's end, and how a carrier sleeps; `parts`: the barrier; `alone`:
//!   what is cheaper with one carrier;
//! - [`home`]: teams that are gathered in the middle of a region, and go back to threads;
//! - [`pace`]: how often it is looked whether anybody is stuck, and what is done then;
//! - [`obstacle`]: why a team isn't gathered;
//! - [`shares`]: loops, sections and singles, each dealt out once; [`chunks`]: what LLVM's runtime tells of
//!   them;
//! - [`doacross`]: loops whose iterations wait for certain others;
//! - [`tasks`]: explicit tasks, and what they depend on.

mod alone;
pub mod backoff;
pub mod cancel;
pub mod chunks;
pub mod crew;
mod depends;
pub mod doacross;
pub mod home;
pub mod marks;
mod member;
pub mod obstacle;
pub mod pace;
mod parts;
pub mod shares;
pub mod tasks;
mod until;
