//! What a module does with the size of its teams, read from its machine code.
//!
//! Every result of omp_get_num_threads and omp_get_thread_num is followed along all paths: through registers,
//! the function's own stack frame, and calls within the module. gcc's own loops divide the iterations by the
//! size and multiply by the number; the result is a loop index and may be used freely. Any other value that
//! is stored, passed on, returned or used to choose an element depends on the size. Where a query's calls
//! aren't all found (an unknown kind of linker stub), the verdict is unknown.
//!
//! Not seen: code reached only by exceptions, and variables that only the first thread's code sets.

mod analyse;
mod call;
mod class;
mod code;
mod compare;
mod compute;
mod conclude;
mod first;
mod flow;
mod frame;
mod llvm;
mod mark;
mod spin;
mod state;
mod step;
mod verdict;
mod walk;
mod way;

pub(crate) use analyse::analyse;
pub(crate) use class::Classes;
pub(crate) use code::{Callee, Code, LOWEST_FIXED};
pub use spin::Spins;
pub(crate) use spin::{MOST_LOOPS, spins};
pub use verdict::SizeUse;
pub(crate) use way::{MAX_LOOP, Way};
