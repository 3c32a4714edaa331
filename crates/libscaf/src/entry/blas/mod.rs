//! The port for BLAS libraries with threads of their own, OpenBLAS and BLIS. From its next call on, such a
//! library gets as many threads as the program's grant leaves it. numpy and scipy each bring an OpenBLAS with
//! a thread for each core. Folded, such threads wait for each other in loops that never sleep: both threads
//! on one core take 2,200 ms for a Cholesky factorisation that takes one thread 76. So the number of threads
//! has to follow the grant.
//!
//! A library never gets more threads than the program or its user set, or than it had without scaf. A program
//! that asks through dlsym (ctypes, threadpoolctl) is told its own number, and what it sets is kept
//! ([`calls`]). A program that calls the setter by name is found out by a value that isn't ours. If it sets
//! just our value, that is missed; a getter called by name returns our number.
//!
//! OpenBLAS reads its number at the beginning of each call and deals the work out among servers that exist
//! from the start, so any number up to theirs is safe while other threads are in calls. But its setter
//! restarts servers that a fork has ended, and a fork on another thread would leave the child with servers on
//! paper only. So we write the variable, which every build exports, by one exchange that fails if the program
//! was faster.
//!
//! Another number of threads may add sums up in another order: under `scaf run --exact` nothing is set. An
//! OpenBLAS on OpenMP is left to that port. [`find`] finds the libraries, [`monitor`] when they run.

mod calls;
mod find;
mod monitor;
mod number;
mod table;

pub use monitor::at_load;
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

/// Results are to be exact from now on, or no longer.
pub fn exactness_changed() {
    table::follow(true);
}

pub fn after_fork() {
    monitor::after_fork();
    find::after_fork();
    table::after_fork();
}
