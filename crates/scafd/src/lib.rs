//! The scaf daemon: observes programs, decides their shares of the machine and applies them.
//!
//! [`observe`] reads the system, [`apply`] changes it, [`talk`] talks to clients, [`service`] to a service
//! manager. [`inspect`] starts helper processes, [`remember`] has a thread for files, [`daemon`] is the loop.
//! The others are state and arithmetic. A daemon for all users has a process with its rights
//! ([`broker_process`]). [`control`] and [`paths`] are shared with the command line.

pub mod apply;
mod arch;
mod broker;
pub mod broker_process;
pub mod cli;
pub mod config;
pub mod control;
pub mod daemon;
mod estimate;
mod fork;
pub mod history;
pub mod inspect;
pub mod journal;
pub mod log;
mod mechanism_names;
pub mod observe;
pub mod paths;
pub mod privileges;
pub mod region_meter;
mod registry;
pub mod remember;
pub mod serial_trials;
pub mod service;
pub mod talk;
pub mod verdicts;

pub use cli::cli;
