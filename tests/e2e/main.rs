//! End to end: the real daemon, real programs, real faults. What each test is about is its name.
//!
//! Every test lives in a [`support::House`] of its own: a folder, a daemon on a socket in it, and programs that are
//! started through `scaf run`. One house is open at a time: the daemon takes other tests' programs for unmanaged
//! load. No test asserts a time; what takes time is waited for.
//!
//! The programs are the kernels (build/kernels), the real ones in bench/real, and small ones in tests/programs,
//! each of which is made for a few tests and compiled when they need it.

mod affinity;
mod api;
mod blas;
mod bystanders;
mod chaos;
mod crowd;
mod curve;
mod entry_points;
mod experiments;
mod fakes;
mod faults;
mod gangs;
mod kernels;
mod kmpc;
mod lend;
mod libraries;
mod masters;
mod memory;
mod park;
mod processes;
mod promises;
mod real;
mod replay;
mod resize;
mod run;
mod slow;
mod support;
mod tbb;
mod virtualise;
mod waiting;
mod why;
