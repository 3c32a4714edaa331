//! The lowest layer: processor, kernel and environment. Knows nothing of OpenMP, grants, or programs.

pub mod arch;
pub mod clock;
pub mod code;
pub mod errno;
pub mod file;
pub mod futex;
pub mod glibc;
pub mod helpers;
pub mod kernel_threads;
pub mod lock;
pub mod membarrier;
pub mod memory;
pub mod proc_self;
pub mod process;
pub mod raw_syscalls;
pub mod sched_affinity;
pub mod seccomp_filters;
pub mod settings;
pub mod signals;
pub mod stacks;
pub mod symbols;
pub mod thread_state;
pub mod undisturbed;
pub mod users;
