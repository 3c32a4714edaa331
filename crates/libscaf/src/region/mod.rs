//! A parallel region: its entry and exit, what its threads share, and how it follows the grant.

mod apart;
mod choose;
pub mod enter;
pub mod entered;
pub mod frame;
pub mod kind;
pub mod mechanisms;
pub mod place;
pub mod tasks;
pub mod thread;
mod time;
