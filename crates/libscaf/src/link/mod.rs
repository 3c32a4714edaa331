//! The connection to the daemon: attaching, staying attached, the two shared pages, and forks.

pub mod affinity;
pub mod forked;
pub mod grant;
pub mod pages;
pub mod silence;
mod socket;
pub mod state;
