//! Runs scaf's own policies and placement ([`scaf_policy`]) on modelled machines and programs, on a virtual
//! clock. The same seed gives the same result. [`simulate`] makes an [`Outcome`] of a [`scenario`].

#![forbid(unsafe_code)]

pub mod cluster;
mod contention;
mod engine;
pub mod mixes;
mod outcome;
pub mod paper;
mod running;
pub mod scenario;
mod shape;
pub mod trace;
mod turns;
mod watch;

pub use engine::{Options, simulate};
pub use outcome::{Outcome, ProgramOutcome, Step};
pub use scenario::Scenario;
pub use shape::Shape;
