//! How a region follows the grant, one file or folder a mechanism. Which one a region gets is chosen by
//! `scaf_team::choice`.

pub mod experiment;
pub mod fold;
pub mod gather;
pub mod park;
pub mod resize;
pub mod virtualise;
