//! End to end: the real daemon, real programs, real faults. Every test has a [`support::House`] of its own: a
//! folder, a daemon on a socket in it, and programs that `scaf run` starts. One house is open at a time, for
//! the daemon would take other tests' programs for unmanaged load. No test asserts a time; what takes time is
//! waited for. The programs are the kernels (build/kernels), real ones (bench/real), and small ones
//! (tests/programs).

#[macro_use]
mod support;

mod affinity;
mod api;
mod attacked;
mod blas;
mod bystanders;
mod campaign;
mod chaos;
mod check;
mod containers;
mod curve;
mod entry_points;
mod experiments;
mod fakes;
mod faults;
mod gangs;
mod gather;
mod gather_cancel;
mod gather_dangers;
mod gather_mid;
mod hoards;
mod kernels;
mod kmpc;
mod lend;
mod libraries;
mod masters;
mod memory;
mod mpi;
mod park;
mod plain;
mod processes;
mod promises;
mod real;
mod replay;
mod resize;
mod run;
mod see;
mod slow;
mod slurm;
mod spins;
mod starting;
mod tbb;
mod waiting;
mod web;
mod why;
mod word;
