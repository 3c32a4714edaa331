//! Where a copy of libgomp keeps how many rounds its threads spin before they sleep. The number has no
//! symbol, so it is found by its documented value (`GOMP_SPINCOUNT`), next to the number for oversubscribed
//! processes, in the data of a file of libgomp's name. Unless there is exactly one such place it is unknown;
//! so it is where the user or the program has chosen another value.

use super::copies::RUNTIMES;
use super::entries::Runtime;
use super::linker::{any_module, file_of, segments_of};
use core::ptr::with_exposed_provenance;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use scaf_functions::files;

/// The default of today, and that of the oldest copies in use.
const DEFAULTS: [u64; 2] = [300_000, 20_000_000];
/// The number while there are more threads than PUs, and how many numbers away from the other it may be: 1 or
/// 2 in all builds seen (docs/decisions/waits.md).
pub const OVERSUBSCRIBED: u64 = 100;
const NEAR: usize = 2;
/// Most data of a libgomp that are looked through, in bytes: it has some 1,000.
const MOST_DATA: usize = 1 << 16;

/// libgomp's number, and what it was at first.
#[derive(Clone, Copy)]
pub struct Spins {
    pub now: &'static AtomicU64,
    pub at_first: u64,
}

/// Of each copy: [`UNKNOWN`] until it was looked for, [`NOWHERE`], or its address.
static PLACES: [AtomicUsize; RUNTIMES] = [const { AtomicUsize::new(UNKNOWN) }; RUNTIMES];
static AT_FIRST: [AtomicU64; RUNTIMES] = [const { AtomicU64::new(0) }; RUNTIMES];
const UNKNOWN: usize = 0;
const NOWHERE: usize = 1;

/// Where the copy keeps it. Its constructor has run: a region is being entered.
#[inline(always)]
pub fn of(runtime: &Runtime) -> Option<Spins> {
    let number = runtime.number();
    let (place, at_first) = (PLACES.get(number)?, AT_FIRST.get(number)?);
    let found = match place.load(Ordering::Acquire) {
        UNKNOWN => look(runtime, place, at_first),
        known => known,
    };
    // SAFETY: an aligned number in the data of a library that is never unloaded.
    let now = || unsafe { &*with_exposed_provenance::<AtomicU64>(found) };
    (found != NOWHERE).then(|| Spins { now: now(), at_first: at_first.load(Ordering::Relaxed) })
}

/// What is looked for, and what was found.
struct Search {
    /// An address in the library.
    within: usize,
    found: usize,
    at_first: u64,
}

#[cold]
#[inline(never)]
fn look(runtime: &Runtime, place: &AtomicUsize, at_first: &AtomicU64) -> usize {
    let mut search = Search { within: 0, found: NOWHERE, at_first: 0 };
    // LLVM's runtime, which goes by libgomp's name in places, has other ways to wait.
    if let Some(parallel) = runtime.GOMP_parallel.filter(|_| !runtime.is_llvms()) {
        search.within = parallel as usize;
        any_module(|about| search_module(about, &mut search));
    }
    // Where another thread has found it and changed its value since, nothing is found any more.
    if search.found != NOWHERE {
        at_first.store(search.at_first, Ordering::Relaxed);
    }
    match place.compare_exchange(UNKNOWN, search.found, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => search.found,
        Err(known) => known,
    }
}

/// Searches the library that the address lies in; whether this is the one.
fn search_module(about: &libc::dl_phdr_info, search: &mut Search) -> bool {
    // SAFETY: the dynamic linker's description of a module, whose table is as long as it says.
    let (base, segments, is_libgomp) = unsafe {
        let segments = segments_of(about);
        (about.dlpi_addr as usize, segments, files::is_libgomp(file_of(about)))
    };
    let at = |segment: &libc::Elf64_Phdr| base.wrapping_add(segment.p_vaddr as usize);
    let holds = |segment: &libc::Elf64_Phdr, address: usize| {
        address.wrapping_sub(at(segment)) < segment.p_memsz as usize
    };
    let loaded = || segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD);
    if !loaded().any(|segment| holds(segment, search.within)) {
        return false;
    }
    // A library that libgomp was linked into, or one that stands before it, has numbers of its own.
    if !is_libgomp {
        return true;
    }
    let is_constant = |address| {
        segments.iter().any(|segment| segment.p_type == libc::PT_GNU_RELRO && holds(segment, address))
    };
    let mut places = 0;
    let has_data = |segment: &&libc::Elf64_Phdr| segment.p_flags & libc::PF_W != 0;
    for segment in loaded().filter(has_data).filter(|segment| segment.p_memsz as usize <= MOST_DATA) {
        let first = at(segment).next_multiple_of(size_of::<u64>());
        let count =
            at(segment).wrapping_add(segment.p_memsz as usize).saturating_sub(first) / size_of::<u64>();
        // SAFETY: libgomp's data are mapped as a whole.
        let value = |number: usize| unsafe {
            (*with_exposed_provenance::<AtomicU64>(first).add(number)).load(Ordering::Relaxed)
        };
        for number in 0..count {
            // Read once: another thread that has found it may change it.
            let now = value(number);
            let address = first.wrapping_add(number * size_of::<u64>());
            let near = number.saturating_sub(NEAR)..count.min(number.saturating_add(NEAR + 1));
            if DEFAULTS.contains(&now)
                && !is_constant(address)
                && near.into_iter().any(|other| value(other) == OVERSUBSCRIBED)
            {
                places += 1;
                (search.found, search.at_first) = (address, now);
            }
        }
    }
    if places != 1 {
        search.found = NOWHERE;
    }
    true
}
