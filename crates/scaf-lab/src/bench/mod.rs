//! `scaf-lab bench`: how long a decision takes ([`decide`]), what the daemon knows of speedups
//! ([`estimate`]), what company does to a program ([`effective`]) and what turns cost ([`gang`]). Those that
//! `scaf bench` has as well are its own.

pub mod decide;
pub mod effective;
pub mod estimate;
pub mod gang;
pub mod noise;
mod place;
