//! The OpenMP runtimes of the process: their entry points, and which copy serves which code.

pub mod copies;
pub mod entries;
pub mod found;
pub mod hooks;
pub mod linker;
pub mod lookup;
pub mod module_tables;
pub mod modules;
pub mod questions;
pub mod spins;
