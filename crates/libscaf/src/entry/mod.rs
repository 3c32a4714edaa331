//! What programs and their runtimes call. Each entry point is passed on to where it would have gone without
//! us.
//! - [`exports`]: made from the table of functions;
//! - [`gomp`]: GCC's libgomp; [`kmpc`]: LLVM's and Intel's runtimes; [`parallel_start`]: regions
//!   that one call opens and another ends, by both;
//! - [`tbb`]: oneTBB; [`blas`]: OpenBLAS and BLIS; [`api`]: pools of the program's own, by `scaf.h`;
//! - [`mpi`]: the calls by which ranks of MPI jobs wait for each other;
//! - [`signal_masks`] and [`affinity_calls`]: what the kernel keeps of a thread; [`signal_handlers`];
//!   [`seccomp_calls`]: what it forbids one; [`system_calls`]: calls of it by number;
//! - [`process_starts`]: children, and exec;
//! - [`departures`]: `main` ends before its process, or wants to be its only thread;
//! - [`loader`]: libraries that come and go; [`runtime_reports`]: what the daemon learns of all of these;
//!   [`sanitizers`]: what they are told; [`own_calls`]: what this library calls itself.

pub mod affinity_calls;
pub mod api;
pub mod blas;
pub mod departures;
pub mod exports;
mod fortran;
pub mod gomp;
pub mod kmpc;
mod loader;
pub mod mpi;
pub mod own_calls;
mod parallel_start;
pub mod process_starts;
pub mod runtime_reports;
mod sanitizers;
pub mod sched_yield;
pub mod seccomp_calls;
pub mod signal_handlers;
pub mod signal_masks;
pub mod symbol_searches;
pub mod system_calls;
pub mod tbb;
