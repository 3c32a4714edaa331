//! The connection to the daemon: attaching, staying attached, the two shared pages, and forks.

pub mod affinity;
pub mod attachment;
pub mod bindings;
pub mod forked;
pub mod grant;
pub mod no_syscalls;
pub mod pages;
pub mod question;
mod socket;
