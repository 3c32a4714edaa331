//! The copies of OpenMP runtimes in the process, each held by dlopen, so that what is known stays true.

use super::entries::Runtime;
use super::hooks;
use super::linker::{LinkMap, base_name, size_of_module};
use crate::sys::lock::Lock;
use crate::sys::symbols::search;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use scaf_functions::files;

/// Copies that are told apart. libgomp's regions of any further copy run on one thread.
pub const RUNTIMES: usize = 32;

struct Table(UnsafeCell<[Runtime; RUNTIMES]>);
// SAFETY: an entry is written once, under `LOCK`, before its number is published in `MAPS`.
unsafe impl Sync for Table {}

static TABLE: Table = Table(UnsafeCell::new([Runtime::EMPTY; RUNTIMES]));
/// The link map of each runtime found; null where the table's entry is free.
static MAPS: [AtomicPtr<LinkMap>; RUNTIMES] = [const { AtomicPtr::new(null_mut()) }; RUNTIMES];
/// Guards additions.
static LOCK: Lock = Lock::new();

impl Runtime {
    pub fn number(&self) -> usize {
        (&raw const *self).addr().wrapping_sub(TABLE.0.get().addr()) / size_of::<Runtime>()
    }
}

/// Whose entry points code calls; that decides in which library they are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// GCC's, which LLVM's runtime has, too.
    Gcc,
    Llvm,
}

impl Abi {
    pub const fn entry(self) -> &'static CStr {
        match self {
            Abi::Gcc => c"GOMP_parallel",
            Abi::Llvm => c"__kmpc_fork_call",
        }
    }

    pub const fn other(self) -> &'static CStr {
        match self {
            Abi::Gcc => c"GOMP_critical_end",
            Abi::Llvm => c"__kmpc_end_critical",
        }
    }
}

/// Whether an address is in a runtime that was found.
pub fn hold(address: usize) -> bool {
    MAPS.iter().map(|map| map.load(Ordering::Acquire)).take_while(|map| !map.is_null()).any(|map| {
        // SAFETY: the link map of a library that is held by dlopen.
        let base = unsafe { (*map).base };
        address.wrapping_sub(base) < size_of_module(base)
    })
}

/// The only runtime found so far, if it is this ABI's own. Code with GCC's entry points needn't be LLVM's.
pub fn only_of(abi: Abi) -> Option<&'static Runtime> {
    sole().filter(|runtime| runtime.is_llvms() == (abi == Abi::Llvm))
}

/// The runtime found so far, if there is exactly one.
#[inline(always)]
pub fn sole() -> Option<&'static Runtime> {
    let [first, second, ..] = &MAPS;
    let one = !first.load(Ordering::Acquire).is_null() && second.load(Ordering::Relaxed).is_null();
    // SAFETY: its map was published after its entry was filled, and entries never change again.
    one.then(|| unsafe { &*TABLE.0.get().cast::<Runtime>() })
}

pub fn by_number(number: usize) -> Option<&'static Runtime> {
    let found = !MAPS.get(number)?.load(Ordering::Acquire).is_null();
    // SAFETY: there is an entry for each map, filled before its map was published, and never changed again.
    found.then(|| unsafe { &*TABLE.0.get().cast::<Runtime>().add(number) })
}

/// Load address and file of the copy of this number; the file's name is empty for the program itself.
pub fn file_of(number: usize) -> Option<(usize, &'static [u8])> {
    let map = MAPS.get(number)?.load(Ordering::Acquire);
    // SAFETY: the map of a library that is never unloaded, and its name.
    unsafe {
        let name = map.as_ref()?.name;
        Some((map.addr(), if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() }))
    }
}

/// The copy of a number that [`number_of`] has given out.
#[inline(always)]
pub fn at(number: usize) -> Option<&'static Runtime> {
    // SAFETY: a number is answered after its entry was filled, and entries never change again.
    (number < RUNTIMES).then(|| unsafe { &*TABLE.0.get().cast::<Runtime>().add(number) })
}

pub fn number_of(map: *mut LinkMap) -> Option<usize> {
    let known = || MAPS.iter().position(|known| known.load(Ordering::Acquire) == map);
    if let Some(number) = known() {
        return Some(number);
    }
    // Before our lock: the dynamic linker has a lock, under which a constructor may come here.
    let mut runtime = Runtime::EMPTY;
    // SAFETY: a loaded library's map. dlopen's reference is kept, so the runtime is never unloaded.
    unsafe {
        let library = libc::dlopen((*map).name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        runtime.load(library);
        let file = base_name(CStr::from_ptr((*map).name));
        let is_unknown = runtime.is_llvms() && !(is_llvms_file(file) && runtime.is_llvms_in_full());
        // Looked for in any case: that also has `dlerror` forget what the runtime lacks.
        runtime.is_foreign = has_user_level_threads(library) || is_unknown;
    }
    let _locked = LOCK.take();
    if let Some(number) = known() {
        return Some(number);
    }
    let number = MAPS.iter().position(|known| known.load(Ordering::Acquire).is_null())?;
    // SAFETY: the entry is free and, under the lock, ours.
    unsafe { TABLE.0.get().cast::<Runtime>().add(number).write(runtime) };
    if let Some(free) = MAPS.get(number) {
        free.store(map, Ordering::Release);
    }
    if let Some(runtime) = by_number(number).filter(|runtime| runtime.is_llvms() && !runtime.is_foreign) {
        let is_llvms = |other| by_number(other).is_some_and(Runtime::is_llvms);
        let only = !(0..number).any(is_llvms);
        hooks::get().llvm_found.iter().for_each(|told| told(runtime, only));
    }
    Some(number)
}

/// LLVM's runtime may go by libgomp's name, and be linked into the program, whose name is empty.
fn is_llvms_file(file: &[u8]) -> bool {
    file.is_empty() || files::is_openmp_runtime(file)
}

/// Functions of libraries that run many threads of a program on one of the kernel's: Argobots, which BOLT is
/// made on, Qthreads, MassiveThreads, MPC.
const USER_LEVEL: [&CStr; 5] =
    [c"ABT_init", c"qthread_initialize", c"myth_init", c"mpc_thread_self", c"sctk_thread_self"];

/// Whether a runtime, or a library that it depends on, has such threads.
unsafe fn has_user_level_threads(library: *mut c_void) -> bool {
    // SAFETY: a handle of dlopen's.
    USER_LEVEL.iter().any(|name| unsafe { !search(library, name).is_null() })
}

pub fn after_fork() {
    LOCK.after_fork();
}
