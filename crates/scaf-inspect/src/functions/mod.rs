//! Library functions whose names mean something to the analysis: a table for each library.

mod gomp;
mod group;
mod harmless;
mod kmpc;
mod lookup;
mod omp;

pub(crate) use gomp::STARTS_REGIONS as GOMP_STARTS_REGIONS;
pub(crate) use group::Role;
pub(crate) use harmless::{KEEPS_FOR_THREADS, MAKE_THREADS_WAIT};
pub(crate) use kmpc::{FORKS, MASKED, STATIC_LOOPS, THREADPRIVATE};
pub(crate) use lookup::{
    PREFIXES, TELL_NOTHING, arguments, fills_memory, is_known_to_tell, is_outlined_by_name,
};
pub(crate) use lookup::{is_answered, leaves, never_returns, role};
pub(crate) use omp::ASK;
