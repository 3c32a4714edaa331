//! The copies of oneTBB in the process, and which of them serves which code.

use super::caller::Caller;
use super::files::{about, loaded};
use super::manager::permits;
use crate::link::affinity::own_pus;
use crate::program::budget::{self, Who};
use crate::runtimes::found::Found;
use crate::runtimes::linker::{in_library_of, is_ours};
use crate::sys::errno::keeping_errno;
use crate::sys::lock::Lock;
use crate::sys::symbols;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use scaf_proto::runtimes::{Kind, Promise};

/// The functions' names; the wrappers in `mod.rs` know them by their places here.
pub const NAMES: [&CStr; 6] = [
    c"_ZN3tbb6detail2r116execute_and_waitERNS0_2d14taskERNS2_18task_group_contextERNS2_12wait_contextES6_",
    c"_ZN3tbb6detail2r14waitERNS0_2d112wait_contextERNS2_18task_group_contextE",
    c"_ZN3tbb6detail2r17executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE",
    c"_ZN3tbb6detail2r117parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE",
    c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskEPNS2_15task_arena_baseE",
    c"_ZN3tbb6detail2r17enqueueERNS0_2d14taskERNS2_18task_group_contextEPNS2_15task_arena_baseE",
];

pub struct Library {
    /// Where it is loaded; 0 for a free place.
    base: AtomicUsize,
    file: AtomicPtr<c_char>,
    /// Addresses of the functions [`NAMES`].
    pub functions: [AtomicPtr<c_void>; NAMES.len()],
    max_concurrency: AtomicPtr<c_void>,
    global_control: AtomicPtr<c_void>,
    /// Calls that came from outside, and the latest answer of [`Library::natural`].
    calls: AtomicU32,
    natural: AtomicU32,
}

const LIBRARIES: usize = 16;
/// Calls between two looks at how many threads a program would have; a power of 2.
const CALLS: u32 = 64;
static LOCK: Lock = Lock::new();

static TABLE: [Library; LIBRARIES] = [const {
    Library {
        base: AtomicUsize::new(0),
        file: AtomicPtr::new(null_mut()),
        functions: [const { AtomicPtr::new(null_mut()) }; NAMES.len()],
        max_concurrency: AtomicPtr::new(null_mut()),
        global_control: AtomicPtr::new(null_mut()),
        calls: AtomicU32::new(0),
        natural: AtomicU32::new(0),
    }
}; LIBRARIES];

impl Library {
    /// Threads that the calling thread's work would have without scaf, at least 1. Asked once in [`CALLS`]
    /// calls (25 ns), or at each if oneTBB `asks` for permits, as it then leaves the program's limit to us.
    pub fn natural(&self, this: &Caller, asks: bool) -> u32 {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        if !asks && calls & (CALLS - 1) != 0 {
            return self.natural.load(Ordering::Relaxed).max(1);
        }
        let (most, limit) =
            (self.max_concurrency.load(Ordering::Relaxed), self.global_control.load(Ordering::Relaxed));
        let mut natural = own_pus();
        // SAFETY: functions of these names have these types. Null is the caller's arena, 0 the thread limit.
        unsafe {
            if !most.is_null() {
                let most = transmute::<*mut c_void, extern "C" fn(*const c_void) -> c_int>(most)(null());
                natural = most.max(1) as u32;
            }
            if !limit.is_null() {
                let limit = transmute::<*mut c_void, extern "C" fn(c_int) -> usize>(limit)(0);
                let limit = u32::try_from(limit).unwrap_or(u32::MAX).max(1);
                permits::set_cap(this, limit);
                natural = natural.min(limit);
            }
        }
        self.natural.store(natural, Ordering::Relaxed);
        natural
    }
}

pub fn discover(found: &mut dyn FnMut(Found<'_>)) {
    for library in &TABLE {
        let (id, most) = (library.base.load(Ordering::Acquire), library.natural.load(Ordering::Relaxed));
        if id == 0 {
            continue;
        }
        // SAFETY: a library's own name, and it is never unloaded.
        let file = unsafe { CStr::from_ptr(library.file.load(Ordering::Relaxed)) }.to_bytes();
        let asks = permits::is_connected();
        let promise = if asks { Promise::Follows } else { Promise::Left };
        let threads = if asks { most.min(budget::share(Who::Tbb)) } else { most };
        let running = budget::running(Who::Tbb);
        found(Found { id, kind: Kind::Tbb, file, promise, threads, most, running });
    }
}

/// Which copy serves the code at an address: the address, and the copy's place plus one in the lowest 8 bits.
static KNOWN: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];

#[inline(always)]
pub fn library_for(caller: usize) -> &'static Library {
    let place = (caller as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (64 - 9);
    let known = KNOWN.get(place).map_or(0, |known| known.load(Ordering::Acquire));
    if known >> 8 == caller as u64
        && let Some(library) = TABLE.get((known as u8).wrapping_sub(1) as usize)
    {
        return library;
    }
    let number = keeping_errno(|| find(caller));
    if let (Some(number), Some(place)) = (number, KNOWN.get(place)) {
        place.store((caller as u64) << 8 | (number as u64 + 1), Ordering::Release);
    }
    // Where none is found, the one that others call.
    let [first, ..] = &TABLE;
    number.and_then(|number| TABLE.get(number)).unwrap_or(first)
}

/// After a library was unloaded: its addresses may become another library's.
pub fn forget() {
    for known in &KNOWN {
        known.store(0, Ordering::Release);
    }
}

#[cold]
#[inline(never)]
fn find(caller: usize) -> Option<usize> {
    let [name, ..] = NAMES;
    // SAFETY: a handle of dlsym's. Libraries loaded with the program come first for all later ones.
    let mut function = unsafe { symbols::search(libc::RTLD_NEXT, name) };
    if function.is_null() {
        function = in_library_of(caller, name).unwrap_or_else(|| loaded(name));
    }
    let (base, file) = about(function.addr());
    let known = || TABLE.iter().position(|library| library.base.load(Ordering::Acquire) == base);
    if base == 0 {
        return None;
    }
    if let Some(number) = known() {
        return Some(number);
    }
    let _locked = LOCK.take();
    let number = known()
        .or_else(|| TABLE.iter().position(|library| library.base.load(Ordering::Relaxed) == 0))
        .unwrap_or(LIBRARIES - 1);
    if let Some(library) = TABLE.get(number)
        && library.base.load(Ordering::Relaxed) != base
    {
        library.fill(base, file);
    }
    Some(number)
}

pub fn after_fork() {
    LOCK.after_fork();
}

impl Library {
    /// Looks the functions up. The reference is kept, so the library is never unloaded.
    fn fill(&self, base: usize, file: &CStr) {
        // SAFETY: dlopen reads a C string; with RTLD_NOLOAD no constructor runs.
        unsafe {
            let library = libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            let search = |name: &CStr| {
                let found = symbols::search(library, name);
                if is_ours(found.addr()) { null_mut() } else { found }
            };
            for (place, name) in self.functions.iter().zip(NAMES) {
                place.store(search(name), Ordering::Release);
            }
            let most = c"_ZN3tbb6detail2r115max_concurrencyEPKNS0_2d115task_arena_baseE";
            self.max_concurrency.store(search(most), Ordering::Relaxed);
            let cap = c"_ZN3tbb6detail2r127global_control_active_valueEi";
            self.global_control.store(search(cap), Ordering::Relaxed);
        }
        self.file.store(file.as_ptr().cast_mut(), Ordering::Relaxed);
        self.base.store(base, Ordering::Release);
    }
}
