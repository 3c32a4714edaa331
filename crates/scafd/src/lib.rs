//! The scaf daemon: observes programs, decides their shares of the machine and applies them.

pub mod control;
