//! x86-64: code that is written into a program's loops, and system call numbers.

pub mod spin_marks;
pub mod system_calls;
