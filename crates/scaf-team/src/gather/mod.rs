//! A gathered team: its *members* are threads as the program sees them, and fewer kernel threads, its
//! *carriers*, run them and change from one to the next where OpenMP waits. What a member is made of
//! (registers, stack, thread-local storage) is the client's.
//!
//! - [`backoff`]: for how long a region is folded whose members got stuck;
//! - [`cancellation`]: loops and regions that are cancelled;
//! - [`scheduler`]: who is run by whom, the region's end, and how a carrier sleeps; `barrier_parts`: the
//!   barrier; `exclusive_carrier`: what is cheaper with one carrier;
//! - [`return_to_threads`]: teams that are gathered in the middle of a region, and go back to threads;
//! - [`monitor_pace`]: how often it is looked whether anybody is stuck, and what is done then;
//! - [`obstacle`]: why a team isn't gathered;
//! - [`worksharing`]: loops, sections and singles, each dealt out once; [`llvm_chunks`]: what LLVM's runtime
//!   tells of them;
//! - [`doacross_sync`]: loops whose iterations wait for certain others;
//! - [`task_table`]: explicit tasks, and what they depend on.

pub mod backoff;
mod barrier_parts;
pub mod cancellation;
pub mod doacross_sync;
mod exclusive_carrier;
pub mod llvm_chunks;
mod member_state;
pub mod monitor_pace;
pub mod obstacle;
pub mod return_to_threads;
pub mod scheduler;
mod task_dependences;
pub mod task_table;
mod wait_until;
pub mod worksharing;
