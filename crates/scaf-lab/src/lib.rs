//! `scaf-lab`: benchmarks of scaf's internals, the simulator, and slow motion. It isn't in the package; `scaf
//! bench` and `scaf sim` execute it for what only it can do.

pub mod bench;
pub mod cli;
pub mod sim;
pub mod slow;
