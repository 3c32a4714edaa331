//! Decides how many hardware contexts every program gets, and which ones.
//!
//! The problem: several multi-threaded programs share one machine, and each would start one thread per
//! hardware context. Given the machine and what is known about each program, a [`Policy`] says how many
//! contexts each of them gets now (*allocation*, "how many"), and [`place::place`] picks the contexts
//! (*placement*, "which"). The two are separate: a policy never learns the topology or the mechanism that
//! carries its decision out, and the placement never asks which policy decided.
//!
//! This crate is pure. It does no I/O, reads no clock, starts no thread and draws no random number: what it
//! needs, it is given, and the same calls in the same order give the same answers. The daemon and the
//! simulator run the same code.
//!
//! Words: a *PU* is a hardware context (hwloc's processing unit); *DoP* is the degree of parallelism, the
//! number of PUs that a program may use; the *speedup* S(p) is a program's rate of progress on p contexts
//! over its rate on one; the *efficiency* is E = S/p; *STP*, system throughput, is the sum of speedups.
//!
//! No function here panics or returns nonsense because of a number it is given: efficiencies and weights come
//! from other processes, so NaN, infinities, negative values and zeros are all met and made harmless.

#![forbid(unsafe_code)]

mod allocation;
mod apportion;
pub mod candidate;
mod chaos;
pub mod counters;
mod cycle;
pub mod efficiency;
pub mod estimate;
pub mod explore;
pub mod fusion;
pub mod knowledge;
pub mod metrics;
pub mod model;
pub mod observed;
mod optimum;
pub mod past;
pub mod place;
mod policies;
mod puset;
mod topology;
mod turns;
mod users;

pub use allocation::{
    Allocation, Decision, Dop, Gang, Machine, Objective, Policy, Program, ProgramId, Settings, Share, Turn,
};
pub use policies::{POLICIES, PolicyEntry, by_name, chaos, partition_counts};
pub use puset::{ParsePuSetError, PuSet};
pub use topology::{Pu, Topology};
pub use turns::with_turns;
