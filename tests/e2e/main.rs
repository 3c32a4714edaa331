//! End to end: the real daemon, real programs, real faults. Every test has a [`support::Setup`] of its own: a
//! folder, a daemon on a socket in it, and programs that `scaf run` starts. One setup is open at a time, for
//! the daemon would take other tests' programs for unmanaged load. No test asserts a time; what takes time is
//! waited for. The programs are the kernels (build/kernels), real ones (bench/real), and small ones
//! (tests/programs).

#[macro_use]
mod support;

mod adopted;
mod affinity;
mod api;
mod attacks;
mod background;
mod blas;
mod campaign;
mod chaos;
mod check;
mod children;
mod containers;
mod dangerous_kinds;
mod entry_points;
mod experiments;
mod fake_daemons;
mod faults;
mod fixed_teams;
mod gangs;
mod gather;
mod gather_cancel;
mod gather_dangers;
mod gather_mid;
mod kept_resources;
mod kernels;
mod kmpc;
mod libgomp_spins;
mod libraries;
mod masters;
mod mpi;
mod never_worse;
mod park;
mod permission;
mod presence;
mod process_trees;
mod processes;
mod profiles;
mod real_programs;
mod replay;
mod resize;
mod run;
mod serial_phases;
mod slow_motion;
mod slurm;
mod speedups;
mod starting;
mod tbb;
mod unmanaged;
mod useful_time;
mod views;
mod web;
mod why;
