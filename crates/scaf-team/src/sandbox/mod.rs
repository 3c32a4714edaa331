//! The testable parts of a serial experiment: memory mappings ([`proc_maps`]) and system calls
//! ([`syscall_filter`]).

pub mod proc_lines;
pub mod proc_maps;
pub mod syscall_filter;
