//! Runs scaf's own policies and placement on machines and programs that don't exist, on a virtual clock.
//!
//! What a division of a machine of 24 or 1,024 contexts is worth can't be tried on a laptop; here it can be
//! computed. The policies and the placement are those of the daemon ([`scaf_policy`]); what they are given
//! comes from models instead of programs. Everything random comes from a seed: the same seed gives the same
//! result.
//!
//! [`scenario`] is what is simulated, [`simulate`] does it, [`Outcome`] is what comes of it.

#![forbid(unsafe_code)]

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
