//! The program as a whole: who starts regions, what it has promised, what its regions are known for, and what
//! of the grant each of its runtimes may use.

pub mod budget;
pub mod keeper;
pub mod masters;
pub mod promise;
pub mod sampling;
pub mod thread;
pub mod work;
