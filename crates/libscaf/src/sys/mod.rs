//! The ground floor: the processor, the kernel and the environment. Knows nothing of OpenMP, of grants, or of
//! a program.

pub mod arch;
pub mod clock;
pub mod errno;
pub mod futex;
pub mod lock;
pub mod settings;
pub mod symbols;
pub mod thread;
