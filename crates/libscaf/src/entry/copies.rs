//! The runtimes that a process has, in one table, by which the daemon is told of all of them.

use super::{api, blas, tbb};
use crate::link::pages;
use crate::program::masters;
use crate::runtimes::copies::{RUNTIMES, by_number, file_of};
use crate::runtimes::entries::Runtime;
use crate::runtimes::found::{Discover, Found};
use core::sync::atomic::{AtomicUsize, Ordering};
use scaf_proto::runtimes::{Kind, MOST_RUNTIMES, Promise};

/// Kinds of runtimes: a port for another one is a line here.
static KINDS: [Discover; 4] = [openmp, tbb::discover, blas::discover, api::discover];

/// Copies that were told of, in the order of their places on the report page.
static TOLD: [AtomicUsize; MOST_RUNTIMES] = [const { AtomicUsize::new(0) }; MOST_RUNTIMES];

/// Tells the daemon what there is, each at its place. Threads that do so at the same time write the same.
pub fn tell() {
    let page = pages::report().runtimes();
    for discover in &KINDS {
        discover(&mut |found| {
            if let Some(place) = place_of(found.id) {
                let counts = [found.threads, found.most, found.running];
                page.tell(place, found.kind, found.file, found.promise, counts);
            }
        });
    }
}

fn place_of(id: usize) -> Option<usize> {
    TOLD.iter().position(|told| {
        let there = told.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
        there.is_ok() || there == Err(id)
    })
}

/// libgomp, and LLVM's and Intel's runtimes. Each region asks for itself, and tells of itself.
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
