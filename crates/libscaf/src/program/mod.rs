//! The program as a whole: its masters, promises and regions, and each runtime's share of the grant.

pub mod budget;
pub mod keeper;
pub mod masters;
pub mod permission;
pub mod promise;
pub mod rank;
pub mod sampling;
pub mod work;
