//! The port for BLAS libraries that have threads of their own: OpenBLAS and BLIS. They get as many threads as
//! the program's grant leaves them, from their next call on.
//!
//! numpy and scipy each bring an OpenBLAS with a thread for each core. Folded, such threads wait for each
//! other in loops that never sleep: on a 2-core machine a Cholesky factorisation of 70 ms takes 2,200 with
//! both threads on one core. With one thread on it, it takes 76. So the number of threads has to follow the
//! grant.
//!
//! What is promised: never more threads than the program or its user set, or had without us. Where the
//! program asks through dlsym, as Python's ctypes and threadpoolctl do, it is told what it set itself, and
//! what it sets is kept ([`calls`]). A program that calls the setter by its name is found out by the value:
//! it isn't what we set. What it sets to just that value is missed, and a number that it reads is ours.
//!
//! OpenBLAS reads its number of threads once at the beginning of each call, and deals the work out among
//! servers that are there from the start. So a new number of no more than those is safe while other threads
//! are in calls. But its setter starts servers again that a fork has ended, and a fork on another thread
//! would leave the child with servers on paper only. So we write the number itself, which every build
//! exports, by one exchange that fails if the program was faster.
//!
//! Sums may be added up in another order with another number of threads: under `scaf run --exact` nothing is
//! set. Where OpenBLAS runs on OpenMP it is left to that port. [`find`] finds the libraries; [`heed`] finds
//! out when they run.

mod calls;
mod find;
mod heed;
mod number;
mod table;

pub use heed::at_load;
pub use table::NEWS;

use crate::program::budget::{self, Who};
use crate::runtimes::found::Found;
use crate::sys::settings;
use core::sync::atomic::{AtomicI32, Ordering};
use scaf_proto::runtimes::Promise;

/// Tells of BLAS libraries among the runtimes of the process.
pub fn discover(found: &mut dyn FnMut(Found<'_>)) {
    for library in table::table() {
        let (promise, number) = (library.promise(), &library.number);
        let exact = promise == Promise::Follows && settings::get().exact;
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

/// After a fork, in the child.
pub fn after_fork() {
    heed::after_fork();
    find::after_fork();
    table::after_fork();
}
