//! Which copy of the OpenMP runtime serves which code.
//!
//! A process can hold several (Python wheels bring their own), and a region must go to the one that its own code
//! is linked with: their threads and barriers don't mix. The code is known by an address in it: the outlined
//! function's for a region (not the return address, for gcc tail-calls `jmp GOMP_parallel`), the caller's elsewhere.
//!
//! From address to runtime, as the dynamic linker would have bound the call without us, since it does so for those entry points
//! that aren't ours: the first runtime that was loaded with the program, if there is one; else the first among the libraries that
//! the address's module depends on; else one that all see; else any. That is remembered per address.
//! A runtime that was found is held (dlopen's reference is never given back), so what is remembered of it stays true.
//!
//! *Modules* with regions are numbered in the order in which they are met. The daemon has inspected everything that
//! was loaded when it was told of so many of them; while there are more, nothing is resized. A library that is loaded
//! without us knowing what it has ([`NEWS`]) takes a number too, because an inspected region may call into it.
//! Unloading a module makes its number void for ever.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// An outlined function: the body of a region.
pub type Body = unsafe extern "C" fn(*mut c_void);
type Long = i64;
type ParallelLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long, u32);
type ParallelRuntimeLoop = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, u32);
type LoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long, Long);
type RuntimeLoopStart = unsafe extern "C" fn(Body, *mut c_void, u32, Long, Long, Long);
type Task = unsafe extern "C" fn(
    Body,
    *mut c_void,
    *mut c_void,
    Long,
    Long,
    bool,
    u32,
    *mut *mut c_void,
    c_int,
    *mut c_void,
);
/// The next chunk of a loop; the pointers are to `long`s or to `unsigned long long`s.
type Next = unsafe extern "C" fn(*mut c_void, *mut c_void) -> bool;
/// Calls that wait: with one argument or none, and a result or none.
pub type Wait = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Passed on as it came, whatever its arguments.
type Whatever = unsafe extern "C" fn();
type TaskLoop =
    unsafe extern "C" fn(Body, *mut c_void, *mut c_void, Long, Long, u32, u64, c_int, Long, Long, Long);

/// Declares the table of a runtime's entry points and how it is filled.
macro_rules! runtime {
    ($($field:ident: $type:ty = $symbol:literal,)*) => {
        /// The entry points of one copy of the runtime; `None` where the copy is too old to have one, and then no
        /// code linked with it calls it.
        pub struct Runtime {
            $(pub $field: Option<$type>,)*
        }

        impl Runtime {
            const EMPTY: Runtime = Runtime { $($field: None,)* };

            /// # Safety
            /// `library` is a handle from dlopen.
            unsafe fn load(&mut self, library: *mut c_void) {
                $(
                    // SAFETY: a function pointer or null, as Option<fn> has it; the symbol's type is libgomp's ABI.
                    self.$field = unsafe {
                        core::mem::transmute::<*mut c_void, Option<$type>>(
                            libc::dlsym(library, $symbol.as_ptr()))
                    };
                )*
            }
        }
    };
}

runtime! {
    parallel: unsafe extern "C" fn(Body, *mut c_void, u32, u32) = c"GOMP_parallel",
    parallel_start: unsafe extern "C" fn(Body, *mut c_void, u32) = c"GOMP_parallel_start",
    parallel_end: unsafe extern "C" fn() = c"GOMP_parallel_end",
    loop_static: ParallelLoop = c"GOMP_parallel_loop_static",
    loop_dynamic: ParallelLoop = c"GOMP_parallel_loop_dynamic",
    loop_guided: ParallelLoop = c"GOMP_parallel_loop_guided",
    loop_nonmonotonic_dynamic: ParallelLoop = c"GOMP_parallel_loop_nonmonotonic_dynamic",
    loop_nonmonotonic_guided: ParallelLoop = c"GOMP_parallel_loop_nonmonotonic_guided",
    loop_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_runtime",
    loop_nonmonotonic_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_nonmonotonic_runtime",
    loop_maybe_nonmonotonic_runtime: ParallelRuntimeLoop = c"GOMP_parallel_loop_maybe_nonmonotonic_runtime",
    loop_static_start: LoopStart = c"GOMP_parallel_loop_static_start",
    loop_dynamic_start: LoopStart = c"GOMP_parallel_loop_dynamic_start",
    loop_guided_start: LoopStart = c"GOMP_parallel_loop_guided_start",
    loop_runtime_start: RuntimeLoopStart = c"GOMP_parallel_loop_runtime_start",
    sections: unsafe extern "C" fn(Body, *mut c_void, u32, u32, u32) = c"GOMP_parallel_sections",
    sections_start: unsafe extern "C" fn(Body, *mut c_void, u32, u32) = c"GOMP_parallel_sections_start",
    reductions: unsafe extern "C" fn(Body, *mut c_void, u32, u32) -> u32 = c"GOMP_parallel_reductions",
    teams_reg: unsafe extern "C" fn(Body, *mut c_void, u32, u32, u32) = c"GOMP_teams_reg",
    task: Task = c"GOMP_task",
    taskloop: TaskLoop = c"GOMP_taskloop",
    taskloop_ull: TaskLoop = c"GOMP_taskloop_ull",
    barrier: unsafe extern "C" fn() = c"GOMP_barrier",
    barrier_cancel: unsafe extern "C" fn() -> bool = c"GOMP_barrier_cancel",
    loop_end: unsafe extern "C" fn() = c"GOMP_loop_end",
    loop_end_cancel: unsafe extern "C" fn() -> bool = c"GOMP_loop_end_cancel",
    sections_end: unsafe extern "C" fn() = c"GOMP_sections_end",
    sections_end_cancel: unsafe extern "C" fn() -> bool = c"GOMP_sections_end_cancel",
    loop_end_nowait: unsafe extern "C" fn() = c"GOMP_loop_end_nowait",
    sections_end_nowait: unsafe extern "C" fn() = c"GOMP_sections_end_nowait",
    chunks_dynamic: Whatever = c"GOMP_loop_dynamic_start",
    chunks_guided: Whatever = c"GOMP_loop_guided_start",
    chunks_nonmonotonic_dynamic: Whatever = c"GOMP_loop_nonmonotonic_dynamic_start",
    chunks_nonmonotonic_guided: Whatever = c"GOMP_loop_nonmonotonic_guided_start",
    chunks_ull_dynamic: Whatever = c"GOMP_loop_ull_dynamic_start",
    chunks_ull_guided: Whatever = c"GOMP_loop_ull_guided_start",
    chunks_ull_nonmonotonic_dynamic: Whatever = c"GOMP_loop_ull_nonmonotonic_dynamic_start",
    chunks_ull_nonmonotonic_guided: Whatever = c"GOMP_loop_ull_nonmonotonic_guided_start",
    loop_dynamic_next: Next = c"GOMP_loop_dynamic_next",
    loop_guided_next: Next = c"GOMP_loop_guided_next",
    loop_runtime_next: Next = c"GOMP_loop_runtime_next",
    loop_nonmonotonic_dynamic_next: Next = c"GOMP_loop_nonmonotonic_dynamic_next",
    loop_nonmonotonic_guided_next: Next = c"GOMP_loop_nonmonotonic_guided_next",
    loop_nonmonotonic_runtime_next: Next = c"GOMP_loop_nonmonotonic_runtime_next",
    loop_maybe_nonmonotonic_runtime_next: Next = c"GOMP_loop_maybe_nonmonotonic_runtime_next",
    loop_ull_dynamic_next: Next = c"GOMP_loop_ull_dynamic_next",
    loop_ull_guided_next: Next = c"GOMP_loop_ull_guided_next",
    loop_ull_runtime_next: Next = c"GOMP_loop_ull_runtime_next",
    loop_ull_nonmonotonic_dynamic_next: Next = c"GOMP_loop_ull_nonmonotonic_dynamic_next",
    loop_ull_nonmonotonic_guided_next: Next = c"GOMP_loop_ull_nonmonotonic_guided_next",
    loop_ull_nonmonotonic_runtime_next: Next = c"GOMP_loop_ull_nonmonotonic_runtime_next",
    loop_ull_maybe_nonmonotonic_runtime_next: Next = c"GOMP_loop_ull_maybe_nonmonotonic_runtime_next",
    taskwait: Wait = c"GOMP_taskwait",
    taskwait_depend: Wait = c"GOMP_taskwait_depend",
    taskgroup_end: Wait = c"GOMP_taskgroup_end",
    set_lock: Wait = c"omp_set_lock",
    set_lock_fortran: Wait = c"omp_set_lock_",
    single_copy_start: Wait = c"GOMP_single_copy_start",
    ordered_start: Wait = c"GOMP_ordered_start",
    critical_start: Wait = c"GOMP_critical_start",
    critical_name_start: Wait = c"GOMP_critical_name_start",
    atomic_start: Wait = c"GOMP_atomic_start",
    cancel: unsafe extern "C" fn(c_int, bool) -> bool = c"GOMP_cancel",
    target: Whatever = c"GOMP_target_ext",
    target_update: Whatever = c"GOMP_target_update_ext",
    target_enter_exit_data: Whatever = c"GOMP_target_enter_exit_data",
    taskwait_depend_nowait: Whatever = c"GOMP_taskwait_depend_nowait",
    target_memcpy_async: Whatever = c"omp_target_memcpy_async",
    target_memcpy_rect_async: Whatever = c"omp_target_memcpy_rect_async",
    get_schedule: unsafe extern "C" fn(*mut c_int, *mut c_int) = c"omp_get_schedule",
    level: unsafe extern "C" fn() -> c_int = c"omp_get_level",
    num_threads: unsafe extern "C" fn() -> c_int = c"omp_get_num_threads",
    thread_num: unsafe extern "C" fn() -> c_int = c"omp_get_thread_num",
    in_parallel: unsafe extern "C" fn() -> c_int = c"omp_in_parallel",
    team_size: unsafe extern "C" fn(c_int) -> c_int = c"omp_get_team_size",
    ancestor_thread_num: unsafe extern "C" fn(c_int) -> c_int = c"omp_get_ancestor_thread_num",
    max_threads: unsafe extern "C" fn() -> c_int = c"omp_get_max_threads",
    set_num_threads: unsafe extern "C" fn(c_int) = c"omp_set_num_threads",
    set_dynamic: unsafe extern "C" fn(c_int) = c"omp_set_dynamic",
    num_procs: unsafe extern "C" fn() -> c_int = c"omp_get_num_procs",
    llvms: Whatever = c"__kmpc_fork_call",
    max_active_levels: unsafe extern "C" fn() -> c_int = c"omp_get_max_active_levels",
}

impl Runtime {
    /// Which of the copies it is, from 0.
    pub fn number(&self) -> usize {
        (&raw const *self).addr().wrapping_sub(TABLE.0.get().addr()) / size_of::<Runtime>()
    }

    /// Whether it has all that is needed to take its barriers and ends of loops over.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.barrier.is_some()
            && self.loop_end_nowait.is_some()
            && self.sections_end_nowait.is_some()
            && self.num_threads.is_some()
            && self.thread_num.is_some()
    }
}

/// Copies of the runtime that are told apart. In a process with more of them, the rest's regions run on one thread.
pub const RUNTIMES: usize = 32;
/// Modules that are told apart; the daemon counts them in a byte.
const MODULES: usize = 255;
/// Addresses remembered; a power of two. At most three quarters are used.
const ADDRESSES: usize = 4096;

/// What is known of the code at an address.
#[derive(Clone, Copy)]
pub struct Code {
    /// The runtime that serves it.
    pub runtime: &'static Runtime,
    /// Number of its module, from 0; [`MODULES`] if there were too many. As wide as the other fields: a copy of the whole that
    /// follows the write of a narrow field waits for it, 7 ns a region.
    pub module: u64,
    /// What `region` remembers of it.
    pub note: &'static AtomicU64,
}

struct Table(core::cell::UnsafeCell<[Runtime; RUNTIMES]>);
// SAFETY: an entry is written once, under `LOCK`, before its number is published in `RUNTIME_BASES`.
unsafe impl Sync for Table {}

static TABLE: Table = Table(core::cell::UnsafeCell::new([Runtime::EMPTY; RUNTIMES]));
/// The link map of each runtime found; null where the table's entry is free.
static RUNTIME_MAPS: [AtomicPtr<LinkMap>; RUNTIMES] = [const { AtomicPtr::new(null_mut()) }; RUNTIMES];
/// The load address of each module met; 0 where its number is void.
static MODULE_BASES: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];
/// How many bytes each of them spans in memory.
static MODULE_SIZES: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];
static MODULES_MET: AtomicU32 = AtomicU32::new(0);
/// 1 after the program asked for a library to be loaded, until [`take_news`].
pub static NEWS: AtomicU32 = AtomicU32::new(0);
/// How many libraries the dynamic linker had loaded by the last [`take_news`].
static LOADS: AtomicU64 = AtomicU64::new(0);
static KEYS: [AtomicUsize; ADDRESSES] = [const { AtomicUsize::new(0) }; ADDRESSES];
/// 0 unknown, else `1 | runtime << 8 | module << 16`.
static VALUES: [AtomicU64; ADDRESSES] = [const { AtomicU64::new(0) }; ADDRESSES];
/// What `region` remembers of an address.
static NOTES: [AtomicU64; ADDRESSES] = [const { AtomicU64::new(0) }; ADDRESSES];
/// Where it remembers nothing in particular: the note of all addresses that found no place.
static NO_NOTE: AtomicU64 = AtomicU64::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);
/// Guards the rare additions to the first three tables.
static LOCK: AtomicU32 = AtomicU32::new(0);

/// How many modules with parallel regions have been met.
pub fn modules_met() -> u32 {
    MODULES_MET.load(Ordering::Acquire)
}

/// What is known of the code at `address`; `None` if no runtime can be found for it.
#[inline(always)]
pub fn of(address: usize) -> Option<Code> {
    let at = slot(address);
    let (Some(key), Some(value), Some(note)) = (KEYS.get(at), VALUES.get(at), NOTES.get(at)) else {
        return None;
    };
    if key.load(Ordering::Relaxed) == address {
        let value = value.load(Ordering::Acquire);
        if value != 0 {
            return decode(value, note);
        }
    }
    let (value, note) = find(address);
    decode(value, note)
}

/// The runtime for the code at `address`, if that was asked before. Never asks the dynamic linker.
#[inline(always)]
pub fn known(address: usize) -> Option<&'static Runtime> {
    remembered(address).map(|code| code.runtime)
}

/// What is known of the code at `address`, if it stands in its first place; without its note.
#[inline(always)]
fn remembered(address: usize) -> Option<Code> {
    let at = slot(address);
    let (key, value) = (KEYS.get(at)?, VALUES.get(at)?);
    let value = if key.load(Ordering::Relaxed) == address { value.load(Ordering::Acquire) } else { 0 };
    decode(value, &NO_NOTE)
}

/// Whether no further address can be remembered.
pub fn is_full() -> bool {
    USED.load(Ordering::Relaxed) >= ADDRESSES / 4 * 3
}

/// The one runtime that has been found so far, if it is one.
pub fn only() -> Option<&'static Runtime> {
    let [first, second, ..] = &RUNTIME_MAPS;
    let one = !first.load(Ordering::Acquire).is_null() && second.load(Ordering::Relaxed).is_null();
    // SAFETY: its map was published after its entry was filled, and entries never change again.
    one.then(|| unsafe { &*TABLE.0.get().cast::<Runtime>() })
}

/// The copy of this number ([`Runtime::number`]).
pub fn by_number(number: usize) -> Option<&'static Runtime> {
    let found = !RUNTIME_MAPS.get(number)?.load(Ordering::Acquire).is_null();
    // SAFETY: as above, and there is an entry for each map.
    found.then(|| unsafe { &*TABLE.0.get().cast::<Runtime>().add(number) })
}

#[inline(always)]
fn slot(address: usize) -> usize {
    // Functions are aligned to 16 bytes; the multiplication spreads what is left over the top bits.
    (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (64 - ADDRESSES.trailing_zeros())
}

#[inline(always)]
fn decode(value: u64, note: &'static AtomicU64) -> Option<Code> {
    let number = (value >> 8 & 0xff) as usize;
    if value == 0 || number >= RUNTIMES {
        return None;
    }
    // SAFETY: the number was published after its entry was filled, and entries never change again.
    let runtime = unsafe { &*TABLE.0.get().cast::<Runtime>().add(number) };
    Some(Code { runtime, module: value >> 16 & 0xffff, note })
}

/// Looks further than the first place, then asks the dynamic linker. The value is 0 if no runtime can be found. (Two words,
/// because they are returned in registers.)
#[cold]
#[inline(never)]
fn find(address: usize) -> (u64, &'static AtomicU64) {
    let first = slot(address);
    let mut place = None;
    for step in 0..16 {
        let at = (first + step) & (ADDRESSES - 1);
        let (Some(key), Some(value), Some(note)) = (KEYS.get(at), VALUES.get(at), NOTES.get(at)) else {
            break;
        };
        let found = key.load(Ordering::Relaxed);
        if found == address {
            let known = value.load(Ordering::Acquire);
            if known != 0 {
                return (known, note);
            }
        }
        if found == address || found == 0 {
            place = Some((key, value, note));
            break;
        }
    }
    let Some(known) = crate::client::keeping_errno(|| resolve(address)) else {
        return (crate::client::keeping_errno(guess).unwrap_or(0), &NO_NOTE);
    };
    let Some((key, value, note)) = place else {
        return (known, &NO_NOTE);
    };
    let ours = match key.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => USED.fetch_add(1, Ordering::Relaxed) < ADDRESSES / 4 * 3,
        Err(there) => there == address,
    };
    if !ours {
        return (known, &NO_NOTE);
    }
    note.store(0, Ordering::Relaxed);
    value.store(known, Ordering::Release);
    (known, note)
}

#[repr(C)]
struct LinkMap {
    base: usize,
    name: *const c_char,
    dynamic: *mut c_void,
    next: *mut LinkMap,
    previous: *mut LinkMap,
}

const RTLD_DL_LINKMAP: c_int = 2;

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *mut c_void,
        flags: c_int,
    ) -> c_int;
}

/// The module that `address` lies in.
fn module_of(address: usize) -> Option<(*mut LinkMap, usize)> {
    let mut info =
        libc::Dl_info { dli_fname: null(), dli_fbase: null_mut(), dli_sname: null(), dli_saddr: null_mut() };
    let mut map: *mut c_void = null_mut();
    // SAFETY: both out-parameters are ours, and RTLD_DL_LINKMAP makes the second a link map.
    let known = unsafe { dladdr1(address as *const c_void, &mut info, &mut map, RTLD_DL_LINKMAP) };
    (known != 0 && !map.is_null()).then_some((map.cast(), info.dli_fbase as usize))
}

fn resolve(address: usize) -> Option<u64> {
    let parallel = parallel_for(address)?;
    let (map, _) = module_of(parallel as usize)?;
    let module = module_of(address).map(|(_, base)| base);
    let runtime = runtime_number(map)?;
    // Code in no module (made at run time) can't be inspected.
    let module = module.map_or(MODULES as u32, module_number);
    Some(1 | (runtime as u64) << 8 | u64::from(module) << 16)
}

/// An entry point of the runtime that code at `address` would have called without us.
fn parallel_for(address: usize) -> Option<*mut c_void> {
    let name = c"GOMP_parallel";
    // Among what was loaded with the program, which comes first for all that is loaded later.
    // SAFETY: a plain search.
    let first = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !first.is_null() {
        return Some(first);
    }
    if let Some(found) = in_library_of(address, name) {
        return Some(found);
    }
    // Among what the program has let all see since, by a name that we don't have ourselves.
    // SAFETY: as above.
    let seen_by_all = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"GOMP_critical_end".as_ptr()) };
    (!seen_by_all.is_null()).then_some(seen_by_all)
}

/// What the library around `address`, or the first of those that it depends on, has by that name.
pub fn in_library_of(address: usize, name: &CStr) -> Option<*mut c_void> {
    let (map, _) = module_of(address)?;
    // SAFETY: the map belongs to a module whose code is running, so it is loaded and has a name (an empty one if
    // it is the program itself, whose libraries are searched in the global order).
    unsafe {
        let file = (*map).name;
        if file.is_null() || *file == 0 {
            return None;
        }
        let library = libc::dlopen(file, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, name.as_ptr());
        libc::dlclose(library);
        (!found.is_null() && !is_ours(found.addr())).then_some(found)
    }
}

/// For a call that the compiler made a jump, so that its return address lies in a module that knows no runtime: no
/// region's code, for that is linked with its own. Not remembered and not numbered, for that module has no regions.
fn guess() -> Option<u64> {
    let (map, _) = module_of(some_runtime()? as usize)?;
    Some(1 | (runtime_number(map)? as u64) << 8 | (MODULES as u64) << 16)
}

/// The `GOMP_parallel` of the first loaded library that is called libgomp something: where nothing tells whose call it
/// is, nearly every process has just one.
fn some_runtime() -> Option<*mut c_void> {
    unsafe extern "C" fn look(about: *mut libc::dl_phdr_info, _: usize, found: *mut c_void) -> c_int {
        // SAFETY: glibc hands in a loaded library's name, and our own out-parameter.
        unsafe {
            let name = (*about).dlpi_name;
            if name.is_null() || libc::strstr(name, c"/libgomp".as_ptr()).is_null() {
                return 0;
            }
            *found.cast::<*const c_char>() = name;
        }
        1
    }
    let mut name: *const c_char = null();
    // SAFETY: plain searches; a library that the program is calling into isn't unloaded meanwhile.
    unsafe {
        libc::dl_iterate_phdr(Some(look), (&raw mut name).cast());
        if name.is_null() {
            return None;
        }
        let library = libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, c"GOMP_parallel".as_ptr());
        libc::dlclose(library);
        (!found.is_null()).then_some(found)
    }
}

/// The runtime's number, which it gets here if it is new.
fn runtime_number(map: *mut LinkMap) -> Option<usize> {
    let known = || RUNTIME_MAPS.iter().position(|known| known.load(Ordering::Acquire) == map);
    if let Some(number) = known() {
        return Some(number);
    }
    // The dynamic linker has a lock of its own, under which a library's constructor may come here: it is asked before
    // ours is taken.
    let mut runtime = Runtime::EMPTY;
    // SAFETY: the map is a loaded library's. The reference that dlopen takes is kept, so the runtime is never
    // unloaded while we know its entry points.
    unsafe {
        let library = libc::dlopen((*map).name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        runtime.load(library);
    }
    let _locked = lock();
    if let Some(number) = known() {
        return Some(number);
    }
    let number = RUNTIME_MAPS.iter().position(|known| known.load(Ordering::Acquire).is_null())?;
    // SAFETY: the entry is free and, under the lock, ours.
    unsafe { TABLE.0.get().cast::<Runtime>().add(number).write(runtime) };
    if let Some(free) = RUNTIME_MAPS.get(number) {
        free.store(map, Ordering::Release);
    }
    Some(number)
}

/// The module's number, which it gets here if it is new.
fn module_number(base: usize) -> u32 {
    let _locked = lock();
    let met = MODULES_MET.load(Ordering::Relaxed);
    for (number, known) in MODULE_BASES.iter().enumerate().take(met.min(MODULES as u32) as usize) {
        if known.load(Ordering::Relaxed) == base {
            return number as u32;
        }
    }
    let (Some(free), Some(size)) = (MODULE_BASES.get(met as usize), MODULE_SIZES.get(met as usize)) else {
        return MODULES as u32;
    };
    size.store(size_of_module(base), Ordering::Relaxed);
    free.store(base, Ordering::Relaxed);
    MODULES_MET.store(met + 1, Ordering::Release);
    met
}

/// Bytes of a module that are there if its header is.
const FIRST_PAGE: u64 = 4096;

/// How many bytes the module loaded at `base` spans, as its header says; 0 if it says nothing.
fn size_of_module(base: usize) -> usize {
    let header = core::ptr::with_exposed_provenance::<libc::Elf64_Ehdr>(base);
    // SAFETY: a module's first bytes are its header, which says where its segments' table is, in memory, too.
    unsafe {
        if (*header).e_ident.first_chunk::<4>() != Some(b"\x7fELF") {
            return 0;
        }
        let end = (*header)
            .e_phoff
            .saturating_add(u64::from((*header).e_phnum) * size_of::<libc::Elf64_Phdr>() as u64);
        // Tools that change files may move the table; where it is in memory then, only the dynamic linker knows.
        if end > FIRST_PAGE {
            return 0;
        }
        let table = header.byte_add((*header).e_phoff as usize).cast::<libc::Elf64_Phdr>();
        let (mut first, mut end) = (u64::MAX, 0);
        for number in 0..usize::from((*header).e_phnum) {
            let segment = &*table.add(number);
            if segment.p_type == libc::PT_LOAD {
                first = first.min(segment.p_vaddr);
                end = end.max(segment.p_vaddr.wrapping_add(segment.p_memsz));
            }
        }
        end.saturating_sub(first) as usize
    }
}

/// The runtime for the code at `address` if that lies in the module of a region's function `body`. Never asks the dynamic linker.
pub fn beside(body: usize, address: usize) -> Option<&'static Runtime> {
    let code = remembered(body)?;
    let (base, size) = (MODULE_BASES.get(code.module as usize)?, MODULE_SIZES.get(code.module as usize)?);
    let within = address.wrapping_sub(base.load(Ordering::Relaxed)) < size.load(Ordering::Relaxed);
    within.then_some(code.runtime)
}

/// Whether `address` lies in this library: what returns there was called, or jumped to, by a function that we called.
#[inline(always)]
pub fn is_ours(address: usize) -> bool {
    static SIZE: AtomicUsize = AtomicUsize::new(0);
    unsafe extern "C" {
        #[link_name = "__ehdr_start"]
        static HEADER: u8;
    }
    let base = (&raw const HEADER).addr();
    let mut size = SIZE.load(Ordering::Relaxed);
    if size == 0 {
        size = size_of_module(base);
        SIZE.store(size, Ordering::Relaxed);
    }
    address.wrapping_sub(base) < size
}

/// Whether a module of this number can ever be resized.
#[inline(always)]
pub fn is_numbered(module: u64) -> bool {
    module < MODULES as u64
}

/// Looks whether libraries were loaded since the last time; if so they take a number, void from the start.
pub fn take_news() {
    unsafe extern "C" fn count(about: *mut libc::dl_phdr_info, _: usize, loads: *mut c_void) -> c_int {
        // SAFETY: glibc hands in its own structure, and our own out-parameter.
        unsafe { *loads.cast::<u64>() = (*about).dlpi_adds };
        1
    }
    NEWS.store(0, Ordering::Relaxed);
    let mut loads = 0u64;
    // SAFETY: `count` has the type that is wanted.
    unsafe { libc::dl_iterate_phdr(Some(count), (&raw mut loads).cast()) };
    let before = LOADS.swap(loads, Ordering::Relaxed);
    if before != 0 && before != loads {
        let _locked = lock();
        let met = MODULES_MET.load(Ordering::Relaxed);
        // At the end of numbers nothing is resized any more: see `region::choose`.
        MODULES_MET.store(met.saturating_add(1), Ordering::Release);
    }
}

/// The program loads a library. Only noted: a jump, so that libc still sees who asks.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlopen() {
    core::arch::naked_asm!(
        "endbr64",
        "mov dword ptr [rip + {news}], 1",
        "mov rax, qword ptr [rip + {real}]",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        "2:",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {find}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        news = sym NEWS,
        real = sym DLOPEN,
        find = sym find_dlopen,
    )
}

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

unsafe extern "C" fn find_dlopen() -> *mut c_void {
    // SAFETY: a plain search; libc has it.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
    DLOPEN.store(real, Ordering::Relaxed);
    real
}

struct Locked;

/// Additions are short and rare, so waiting for another thread's is a spin that yields.
fn lock() -> Locked {
    while LOCK.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        // SAFETY: no arguments.
        unsafe { libc::sched_yield() };
    }
    Locked
}

impl Drop for Locked {
    fn drop(&mut self) {
        LOCK.store(0, Ordering::Release);
    }
}

/// After a fork, in the child: whoever held the lock isn't there any more.
pub fn after_fork() {
    LOCK.store(0, Ordering::Release);
}

/// The program unloads a library: what we remember of addresses in it may become another library's. Forget all
/// addresses, and void the numbers of modules that are gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlclose(handle: *mut c_void) -> c_int {
    type Dlclose = unsafe extern "C" fn(*mut c_void) -> c_int;
    static NEXT: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let mut next = NEXT.load(Ordering::Relaxed);
    if next.is_null() {
        // SAFETY: a plain search; libc has it.
        next = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlclose".as_ptr()) };
        NEXT.store(next, Ordering::Relaxed);
    }
    if next.is_null() {
        return -1;
    }
    // SAFETY: libc's dlclose has this type.
    let result = unsafe { core::mem::transmute::<*mut c_void, Dlclose>(next)(handle) };
    if modules_met() != 0 {
        crate::client::keeping_errno(forget_unloaded);
    }
    result
}

fn forget_unloaded() {
    let mut gone = false;
    for known in MODULE_BASES.iter().take(modules_met() as usize) {
        let base = known.load(Ordering::Relaxed);
        if base != 0 && module_of(base).is_none_or(|(_, now)| now != base) {
            known.store(0, Ordering::Relaxed);
            gone = true;
        }
    }
    if gone {
        for value in &VALUES {
            value.store(0, Ordering::Release);
        }
    }
}
