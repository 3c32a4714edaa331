//! The runtimes that a process has, in one table: each behind the same few questions, so that one place tells the daemon of
//! all of them and has them follow the grant.

use crate::runtime::{self, Runtime};
use crate::{masters, pages};
use core::sync::atomic::{AtomicUsize, Ordering};
use scaf_proto::ports::{Kind, PORTS, Promise};

/// A kind of runtime.
pub trait Port: Sync {
    /// Tells of each copy of it that the process has. Only what was found anyway: it looks for none.
    fn discover(&self, found: &mut dyn FnMut(Found<'_>));

    /// The process has so many contexts now: what can be set from outside is set.
    fn follow(&self, dop: u32);

    /// Threads that it has at work now; 0 if none, or unknown.
    fn running(&self) -> u32;
}

/// A copy of a runtime.
pub struct Found<'a> {
    /// What sets it apart from other copies, not 0: where it was loaded.
    pub id: usize,
    /// Which it is.
    pub kind: Kind,
    /// Its file.
    pub file: &'a [u8],
    /// What is promised of it.
    pub promise: Promise,
    /// Threads that it may use now; 0 if unknown.
    pub threads: u32,
    /// Threads that it would use without us; 0 if unknown.
    pub most: u32,
}

/// All of them.
static TABLE: [&dyn Port; 4] = [&OpenMp, &crate::tbb_libraries::Tbb, &crate::blas::Blas, &crate::api::Pools];

/// Copies that were told of, in the order of their places on the report page.
static TOLD: [AtomicUsize; PORTS] = [const { AtomicUsize::new(0) }; PORTS];

/// Tells the daemon what there is, each at its place. Threads that do so at the same time write the same.
pub fn tell() {
    let page = pages::report().ports();
    for port in &TABLE {
        port.discover(&mut |found| {
            if let Some(place) = place_of(found.id) {
                let counts = [found.threads, found.most, port.running()];
                page.tell(place, found.kind, found.file, found.promise, counts);
            }
        });
    }
}

/// The grant has changed.
pub fn follow(dop: u32) {
    TABLE.iter().for_each(|port| port.follow(dop));
}

fn place_of(id: usize) -> Option<usize> {
    TOLD.iter().position(|told| {
        let there = told.compare_exchange(0, id, Ordering::Relaxed, Ordering::Relaxed);
        there.is_ok() || there == Err(id)
    })
}

/// libgomp, and LLVM's and Intel's runtimes.
struct OpenMp;

impl Port for OpenMp {
    fn discover(&self, found: &mut dyn FnMut(Found<'_>)) {
        for number in 0..runtime::RUNTIMES {
            let (Some(runtime), Some((id, file))) = (runtime::by_number(number), runtime::file_of(number))
            else {
                return;
            };
            let most = masters::natural();
            let threads = pages::grant().word().dop().map_or(most, |dop| dop.min(most));
            found(Found { id, kind: kind_of(runtime, file), file, promise: Promise::Regions, threads, most });
        }
    }

    /// Each region asks for itself.
    fn follow(&self, _: u32) {}

    /// Its regions tell of themselves.
    fn running(&self) -> u32 {
        0
    }
}

fn kind_of(runtime: &Runtime, file: &[u8]) -> Kind {
    match runtime.is_llvms() {
        false => Kind::Libgomp,
        true if file.windows(4).any(|part| part == b"iomp") => Kind::Libiomp,
        true => Kind::Libomp,
    }
}
