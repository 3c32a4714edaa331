//! What a module does with the size of its teams, read from its machine code.
//!
//! Every result of omp_get_num_threads and omp_get_thread_num is followed along all paths: through registers,
//! the function's own stack frame, and calls within the module. gcc's own loops divide the iterations by the
//! size and multiply by the number; the result is a loop index and may be used freely. Any other value that
//! gets out - stored, passed on, returned, used to choose an element - depends on the size. Where one of the
//! questions isn't found in the code, by a linker's stub that we don't know, nothing is.
//!
//! Not seen: code reached only by exceptions, and variables that only the first thread's code sets.

mod call;
mod class;
mod code;
mod compare;
mod compute;
mod conclude;
mod first;
mod flow;
mod frame;
mod judge;
mod llvm;
mod mark;
mod spin;
mod state;
mod step;
mod verdict;
mod walk;

pub(crate) use code::Code;
pub(crate) use judge::judge;
pub use spin::Spins;
pub(crate) use spin::{MOST_LOOPS, spins};
pub use verdict::SizeUse;
