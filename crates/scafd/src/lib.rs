//! The scaf daemon: observes programs, decides their shares of the machine and applies them.
//!
//! [`observe`] reads the system, [`apply`] changes it, [`talk`] talks to clients, [`service`] to a service
//! manager. The others are state and arithmetic, but for [`inspect`], which starts helper processes,
//! [`remember`], whose thread keeps files, and [`daemon`], the loop that calls them all. Where it serves all
//! users, what needs rights is done by another process ([`broker_process`]), asked through [`broker`].
//! [`control`] and [`paths`] are shared with the command line.

pub mod apply;
mod arch;
pub mod broker;
pub mod broker_process;
pub mod cli;
pub mod config;
pub mod control;
pub mod daemon;
pub mod estimate;
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
pub mod registry;
pub mod remember;
pub mod serial_trials;
pub mod service;
pub mod talk;
pub mod verdicts;

pub use cli::cli;
