//! Gathered teams: the program's threads become *members*, and fewer kernel threads, the *carriers*, run them
//! and switch between them where OpenMP waits. What a member consists of (registers, stack, thread-local
//! storage) is the client's part.
//!
//! - [`scheduler`]: which member a carrier runs, the region's end, and how carriers sleep; `barrier_parts`:
//!   the barrier; `exclusive_carrier`: no locked instructions while there is one carrier. README.md here
//!   describes the protocol;
//! - [`cancellation`]: cancelled loops and regions;
//! - [`backoff`]: how long a region is folded whose members blocked too often;
//! - [`return_to_threads`]: teams that are gathered in the middle of a region, and return to threads;
//! - [`monitor_pace`]: how often carriers are checked for blocked members, and what is done then;
//! - [`obstacle`]: why a team isn't gathered;
//! - [`worksharing`]: loops, sections and singles; [`llvm_chunks`]: chunks of loops as LLVM's runtime has
//!   them;
//! - [`doacross_sync`]: loops whose iterations wait for certain others;
//! - [`task_table`]: explicit tasks and their dependences.

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
