//! `scaf-lab bench`: the time of a decision ([`decide`]), the accuracy of the daemon's speedups
//! ([`estimate`]), speedups on a busy machine ([`effective`]), and the cost of turns ([`gang`]).

pub mod decide;
pub mod effective;
pub mod estimate;
pub mod gang;
pub mod noise;
mod place;
