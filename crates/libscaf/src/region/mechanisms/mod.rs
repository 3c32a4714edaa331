//! How a region follows the grant, one mechanism a file or folder; `scaf_team::choice` chooses among them.

pub mod experiment;
pub mod fold;
pub mod gather;
pub mod park;
pub mod resize;
