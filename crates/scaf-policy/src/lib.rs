//! Decides how many hardware contexts every program gets (*allocation*, by a [`Policy`]), and which ones
//! (*placement*, by [`place::place`]). A policy doesn't know how its decision is carried out; the placement
//! doesn't know who decided.
//!
//! This crate is pure: no I/O, clock, thread or random number. The same calls in the same order give the same
//! answers, in the daemon and in the simulator. Numbers come from other processes, so NaN, infinities,
//! negative values and zeros are made harmless; no function here panics because of one.
//!
//! Words: a *PU* is a hardware context (hwloc's processing unit); *DoP*, degree of parallelism, is the number
//! of PUs that a program may use; the *speedup* S(p) is its rate of progress on p contexts over that on one;
//! the *efficiency* is E = S/p; *STP*, system throughput, is the sum of speedups.

#![forbid(unsafe_code)]
#![allow(missing_docs)] // names and types say it of sets, shares and figures; units and ranges are there

mod allocation;
mod apportion;
pub mod counters;
mod cycle_detection;
pub mod earlier_runs;
pub mod efficiency;
pub mod estimate;
pub mod experiment_candidate;
pub mod explore;
pub mod fusion;
pub mod knowledge;
pub mod lending;
pub mod metrics;
pub mod model;
pub mod observed;
mod optimum;
pub mod place;
mod policies;
mod policy_wrapper;
mod puset;
mod splitmix;
pub mod steps;
mod topology;
mod users;

pub use allocation::{
    Allocation, Decision, Dop, Gang, Machine, Objective, Policy, Pool, Program, ProgramId, Settings, Share,
    Turn, Users,
};
pub use policies::{POLICIES, PolicyEntry, by_name, chaos, partition_counts};
pub use policy_wrapper::allocate;
pub use puset::{ParsePuSetError, PuSet};
pub use topology::{Pu, Topology};
