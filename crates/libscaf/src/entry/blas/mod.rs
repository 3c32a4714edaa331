//! The port for BLAS libraries with threads of their own, OpenBLAS and BLIS. Folded, such threads wait for
//! each other in loops that never sleep: a Cholesky factorisation on two threads of one core takes 2,200 ms,
//! on one thread 76. So the number of threads follows the grant, from the next call on, and is never more
//! than the program or its user set, or than without scaf.
//!
//! A program that asks through dlsym (ctypes, threadpoolctl) gets its own number, and what it sets is kept
//! ([`calls`]). A setter called by name shows by a value that isn't ours; if it sets just our value, that is
//! missed. A getter called by name returns our number.
//!
//! OpenBLAS reads its number at the beginning of each call, so any number up to that of its servers is safe.
//! Its setter restarts servers that a fork has ended, and a fork on another thread would leave the child with
//! none. So we write the variable, which every build exports, by an exchange that fails if the program was
//! faster.
//!
//! Another number of threads may add sums up in another order: under `scaf run --exact` nothing is set. An
//! OpenBLAS on OpenMP is left to that port. [`find`] finds the libraries, [`monitor`] when they run.

mod calls;
mod find;
mod monitor;
mod number;
mod table;

pub use calls::instead_of;
pub use monitor::{at_load, start_if_needed as start_again};
pub use table::NEWS;

use crate::program::budget::{self, Who};
use crate::runtimes::found::Found;
use crate::sys::settings;
use core::sync::atomic::{AtomicI32, Ordering};
use scaf_proto::runtimes::Promise;

pub fn discover(found: &mut dyn FnMut(Found<'_>)) {
    for library in table::table() {
        let (promise, number) = (library.promise(), &library.number);
        let exact = promise == Promise::Follows && settings::exact();
        let count = |number: &AtomicI32| number.load(Ordering::Relaxed).max(0) as u32;
        found(Found {
            id: library.base(),
            kind: library.kind(),
            file: library.file(),
            promise: if exact { Promise::Exact } else { promise },
            threads: count(&number.ours),
            most: count(&number.user),
            running: budget::running(Who::Blas),
        });
    }
}

pub fn exactness_changed() {
    table::follow(true);
}

pub fn after_fork() {
    monitor::after_fork();
    find::after_fork();
    table::after_fork();
}
