//! What is known of the functions that programs call, one row a function:
//! - of OpenMP runtimes ([`runtime_functions!`]): from these rows come libscaf's exports, its table of the
//!   runtime's own functions, what members of gathered teams may call, and what code analysis makes of calls;
//! - of the C, C++ and Fortran libraries and the like ([`library`]).
//!
//! **What is in no row is unknown, and unknown means "no"** to whoever has to permit something: a member must
//! not call it, and nothing may be concluded from it.

#![no_std]

#[macro_use]
mod runtime_table;
pub mod calls;
pub mod library;
pub mod runtime;
