//! What can be tested of a serial experiment: its mappings ([`maps`]) and its system calls ([`filter`]).

pub mod filter;
pub mod lines;
pub mod maps;
