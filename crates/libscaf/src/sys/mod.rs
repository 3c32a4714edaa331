//! The ground floor: processor, kernel and environment. Knows nothing of OpenMP, grants, or programs.

pub mod arch;
pub mod bare;
pub mod clock;
pub mod code;
pub mod errno;
pub mod filters;
pub mod futex;
pub mod glibc;
pub mod kernel_threads;
pub mod lock;
pub mod memory;
pub mod order;
pub mod settings;
pub mod signals;
pub mod symbols;
pub mod thread_state;
pub mod undisturbed;
pub mod users;
