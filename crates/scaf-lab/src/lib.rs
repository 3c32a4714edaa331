//! `scaf-lab`: what is measured of scaf's own workings, simulated, and shown in slow motion. It isn't in the
//! package. `scaf bench` and `scaf sim` become this command for what only it can do.

pub mod bench;
pub mod cli;
pub mod sim;
pub mod slow;
