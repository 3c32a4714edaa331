//! What can be tested of a serial experiment: its mappings ([`proc_maps`]) and its system calls
//! ([`syscall_filter`]).

pub mod proc_lines;
pub mod proc_maps;
pub mod syscall_filter;
