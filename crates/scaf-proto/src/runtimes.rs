//! The runtimes that a program was found to have, for people to see; they decide only when a program that
//! loses contexts is narrowed. Threads of the client that write at the same time write the same. A place's
//! file never changes once its kind is set; each number may be read at any time.

use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Runtimes of one process; further ones aren't reported.
pub const MOST_RUNTIMES: usize = 12;
/// Bytes of a file's name. Of a longer one the end is kept.
pub const FILE_BYTES: usize = 176;

/// What sort of runtime it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    /// GCC's OpenMP.
    Libgomp = 1,
    /// LLVM's OpenMP.
    Libomp = 2,
    /// Intel's OpenMP.
    Libiomp = 3,
    /// oneTBB.
    Tbb = 4,
    /// OpenBLAS on its own threads.
    OpenBlas = 5,
    /// Intel's MKL.
    Mkl = 6,
    /// BLIS on its own threads.
    Blis = 7,
    /// The program itself, by `scaf.h`.
    Api = 8,
}

/// How it follows a grant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Promise {
    /// Each region has the size that is granted, or is folded; which one is decided region by region.
    Regions = 1,
    /// It has as many threads as granted from its next call on, at most those that program or user set.
    Follows = 2,
    /// Its number of threads is left as it is, because its results depend on it (`scaf run --exact`).
    Exact = 3,
    /// Its threads can't be changed: it has one, runs on another runtime's, or has no way to.
    Left = 4,
    /// It is notified of changes, and follows them by itself.
    Notified = 5,
}

macro_rules! from_number {
    ($type:ident: $($value:ident)*) => {
        impl $type {
            /// The one of that number.
            pub fn from_number(number: u32) -> Option<$type> {
                [$($type::$value),*].into_iter().find(|it| *it as u32 == number)
            }
        }
    };
}

from_number!(Kind: Libgomp Libomp Libiomp Tbb OpenBlas Mkl Blis Api);
from_number!(Promise: Regions Follows Exact Left Notified);

/// A place for one runtime.
#[repr(C)]
pub struct Runtime {
    kind: AtomicU32,
    promise: AtomicU32,
    threads: AtomicU32,
    most: AtomicU32,
    at_work: AtomicU32,
    _pad: u32,
    file: [AtomicU64; FILE_BYTES / 8],
}

/// One runtime, as read. The daemon takes the file's name for hostile, like everything else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuntimeCopy {
    /// Its sort.
    pub kind: Kind,
    /// How it follows.
    pub promise: Promise,
    /// Threads that it may use now; 0 if unknown.
    pub threads: u32,
    /// Threads that it would use without scaf; 0 if unknown.
    pub most: u32,
    /// Threads of it that computed at the latest look, 20 times a second; 0 if none did, or nobody looks.
    pub at_work: u32,
    /// The file's name, zeros behind it.
    pub file: [u8; FILE_BYTES],
}

/// The places of all runtimes.
#[repr(C)]
pub struct Runtimes([Runtime; MOST_RUNTIMES]);

impl Runtimes {
    /// Client: writes the runtime of that number, from 0. The counts are threads, most and threads at work.
    pub fn record(&self, number: usize, kind: Kind, file: &[u8], promise: Promise, counts: [u32; 3]) {
        let [threads, most, at_work] = counts;
        let Some(runtime) = self.0.get(number) else { return };
        runtime.promise.store(promise as u32, Ordering::Relaxed);
        runtime.threads.store(threads, Ordering::Relaxed);
        runtime.most.store(most, Ordering::Relaxed);
        runtime.at_work.store(at_work, Ordering::Relaxed);
        if runtime.kind.load(Ordering::Relaxed) == 0 {
            let start = file.len().saturating_sub(FILE_BYTES);
            let end = file.get(start..).unwrap_or(&[]);
            for (word, bytes) in runtime.file.iter().zip(end.chunks(8)) {
                let mut eight = [0; 8];
                for (to, from) in eight.iter_mut().zip(bytes) {
                    *to = *from;
                }
                word.store(u64::from_ne_bytes(eight), Ordering::Relaxed);
            }
            runtime.kind.store(kind as u32, Ordering::Release);
        }
    }

    /// Daemon: the runtimes that are there and make sense.
    pub fn read(&self) -> impl Iterator<Item = RuntimeCopy> + '_ {
        self.0.iter().filter_map(|runtime| {
            let kind = Kind::from_number(runtime.kind.load(Ordering::Acquire))?;
            let promise = Promise::from_number(runtime.promise.load(Ordering::Relaxed))?;
            let mut file = [0; FILE_BYTES];
            for (eight, word) in file.chunks_mut(8).zip(&runtime.file) {
                eight.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
            }
            let (threads, most) =
                (runtime.threads.load(Ordering::Relaxed), runtime.most.load(Ordering::Relaxed));
            let at_work = runtime.at_work.load(Ordering::Relaxed);
            let in_range = threads.max(most).max(at_work) <= 65_535;
            in_range.then_some(RuntimeCopy { kind, promise, threads, most, at_work, file })
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn empty() -> Runtimes {
        // SAFETY: atomics only, for which zero is a value.
        unsafe { core::mem::zeroed() }
    }

    #[test]
    fn runtimes_are_read_as_written_and_numbers_may_change() {
        let runtimes = empty();
        assert_eq!(runtimes.read().count(), 0);
        runtimes.record(0, Kind::OpenBlas, b"/lib/libopenblas.so.0", Promise::Follows, [2, 8, 0]);
        runtimes.record(0, Kind::OpenBlas, b"", Promise::Follows, [5, 8, 0]);
        let runtime = runtimes.read().next().unwrap();
        assert_eq!(
            (runtime.kind, runtime.promise, runtime.threads, runtime.most),
            (Kind::OpenBlas, Promise::Follows, 5, 8)
        );
        assert!(runtime.file.starts_with(b"/lib/libopenblas.so.0\0"));
    }

    #[test]
    fn of_a_long_name_the_end_is_kept() {
        let runtimes = empty();
        let name = [b'x'; 3 * FILE_BYTES];
        let name = [&name[..], b"/end.so"].concat();
        runtimes.record(MOST_RUNTIMES - 1, Kind::Mkl, &name, Promise::Left, [1, 1, 0]);
        runtimes.record(MOST_RUNTIMES, Kind::Mkl, &name, Promise::Left, [1, 1, 0]);
        assert!(runtimes.read().next().unwrap().file.ends_with(b"/end.so"));
        assert_eq!(runtimes.read().count(), 1);
    }

    #[test]
    fn values_out_of_range_are_passed_over() {
        let runtimes = empty();
        for number in 0..3 {
            runtimes.record(number, Kind::Blis, b"/b", Promise::Follows, [1, 1, 0]);
        }
        runtimes.0[0].kind.store(77, Ordering::Relaxed);
        runtimes.0[1].promise.store(0, Ordering::Relaxed);
        runtimes.0[2].threads.store(70_000, Ordering::Relaxed);
        assert_eq!(runtimes.read().count(), 0);
    }
}
