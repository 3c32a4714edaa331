//! What a module does with the size of its teams, read from its machine code.
//!
//! Every call of omp_get_num_threads and omp_get_thread_num is found, and what it returns is followed along
//! all paths: through registers, the function's own stack frame, and calls within the module. gcc's own loops
//! divide the iterations by the size and multiply with the number; what results is a loop index and free to
//! go. All else that gets out - stored, passed on, returned, used to choose an element - depends on the size.
//!
//! Not seen: code reached only by exceptions, and variables that only code of the first thread sets.

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
mod region_verdict;
mod spin;
mod state;
mod step;
mod verdict;
mod walk;

pub(crate) use code::Code;
pub(crate) use judge::judge;
pub use region_verdict::RegionVerdict;
pub(crate) use region_verdict::regions;
pub(crate) use spin::spins;
pub use verdict::SizeUse;
