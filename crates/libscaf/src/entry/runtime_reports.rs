//! The table of the process's runtimes, which are reported to the daemon.
//!
//! To add a runtime that isn't OpenMP, such as a thread pool:
//! 1. a folder in `entry/`, as [`tbb`] is one for a library that is asked how many threads it may have, and
//!    [`blas`] for one that is told. Work goes through [`crate::program::non_openmp`];
//! 2. its `discover` in [`KINDS`], its kind in `scaf-proto/src/runtimes.rs` (both lists); the compiler asks
//!    for its name for people in `scafd/src/talk/pages.rs`;
//! 3. if it shares the grant with OpenMP's regions, its name in [`crate::program::budget::Who`];
//! 4. its files' names in `scaf-functions/src/files.rs` (`makes_teams`), so that the code analysis knows it;
//! 5. if it keeps state over a fork or the end of a library, a function in `lib.rs`'s table of hooks.

use super::{api, blas, tbb};
use crate::link::pages;
use crate::program::masters;
use crate::runtimes::copies::{RUNTIMES, by_number, file_of};
use crate::runtimes::entries::Runtime;
use crate::runtimes::found::{Discover, Found};
use core::sync::atomic::{AtomicUsize, Ordering};
use scaf_proto::runtimes::{Kind, MOST_RUNTIMES, Promise};

static KINDS: &[Discover] = &[openmp, tbb::discover, blas::discover, api::discover];
/// Runtimes that were reported to the daemon, by their places on the report page.
static REPORTED: [AtomicUsize; MOST_RUNTIMES] = [const { AtomicUsize::new(0) }; MOST_RUNTIMES];

/// Tells the daemon of all runtimes. Threads that do so at the same time write the same.
pub fn tell() {
    let page = pages::report().runtimes();
    for discover in KINDS {
        discover(&mut |found| {
            if let Some(place) = place_of(found.id) {
                let counts = [found.threads, found.most, found.running];
                page.record(place, found.kind, found.file, found.promise, counts);
            }
        });
    }
}

fn place_of(id: usize) -> Option<usize> {
    REPORTED.iter().position(|slot| {
        let there = slot.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
        there.is_ok() || there == Err(id)
    })
}

fn openmp(found: &mut dyn FnMut(Found<'_>)) {
    for number in 0..RUNTIMES {
        let (Some(runtime), Some((id, file))) = (by_number(number), file_of(number)) else { return };
        let most = masters::natural();
        let threads = pages::grant().word().dop().map_or(most, |dop| dop.min(most));
        let kind = kind_of(runtime, file);
        found(Found { id, kind, file, promise: Promise::Regions, threads, most, running: 0 });
    }
}

fn kind_of(runtime: &Runtime, file: &[u8]) -> Kind {
    match runtime.is_llvms() {
        false => Kind::Libgomp,
        true if file.windows(4).any(|part| part == b"iomp") => Kind::Libiomp,
        true => Kind::Libomp,
    }
}
