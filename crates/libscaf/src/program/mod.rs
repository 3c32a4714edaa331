//! The program as a whole: its masters, promises and regions, and each runtime's share of the grant.

pub mod budget;
pub mod grant_watcher;
pub mod masters;
pub mod mpi_rank;
pub mod non_openmp;
pub mod permission;
pub mod promise;
pub mod region_record;
