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

use crate::lock::Lock;
use crate::{kmpc, promise};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use scaf_proto::report::fact;

pub use crate::entries::*;

impl Runtime {
    /// Which of the copies it is, from 0.
    pub fn number(&self) -> usize {
        (&raw const *self).addr().wrapping_sub(TABLE.0.get().addr()) / size_of::<Runtime>()
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
static LOCK: Lock = Lock::new();

/// How many modules with parallel regions have been met.
pub fn modules_met() -> u32 {
    MODULES_MET.load(Ordering::Acquire)
}

/// Whose entry points code calls; that decides in which library they are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// GCC's. LLVM's runtime has them, too.
    Gcc,
    /// LLVM's.
    Llvm,
}

impl Port {
    /// The name by which a runtime that has these entry points is known, ours among them.
    const fn entry(self) -> &'static CStr {
        match self {
            Port::Gcc => c"GOMP_parallel",
            Port::Llvm => c"__kmpc_fork_call",
        }
    }

    /// One that isn't ours.
    const fn other(self) -> &'static CStr {
        match self {
            Port::Gcc => c"GOMP_critical_end",
            Port::Llvm => c"__kmpc_end_critical",
        }
    }
}

/// What is known of the code at `address`, which calls GCC's entry points or asks about its team; `None` if no runtime can be
/// found for it.
#[inline(always)]
pub fn of(address: usize) -> Option<Code> {
    served(address, Port::Gcc)
}

/// The same for code that calls LLVM's entry points.
#[inline(always)]
pub fn of_llvms(address: usize) -> Option<Code> {
    served(address, Port::Llvm)
}

#[inline(always)]
fn served(address: usize, port: Port) -> Option<Code> {
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
    let (value, note) = find(address, port);
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

/// The one runtime that has been found so far, if it is one, and if it is one that serves only this port: code that calls
/// GCC's entry points isn't LLVM's because LLVM's runtime was met first.
pub fn only_of(port: Port) -> Option<&'static Runtime> {
    sole().filter(|runtime| runtime.is_llvms() == (port == Port::Llvm))
}

/// The one runtime that has been found so far, if it is one.
#[inline(always)]
pub fn sole() -> Option<&'static Runtime> {
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

/// Where the copy of this number was loaded, and from which file; the file's name is empty if that is the program itself.
pub fn file_of(number: usize) -> Option<(usize, &'static [u8])> {
    let map = RUNTIME_MAPS.get(number)?.load(Ordering::Acquire);
    // SAFETY: the map of a library that is never unloaded, and its name.
    unsafe {
        let name = map.as_ref()?.name;
        Some((map.addr(), if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() }))
    }
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
fn find(address: usize, port: Port) -> (u64, &'static AtomicU64) {
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
    let Some(known) = crate::client::keeping_errno(|| resolve(address, port)) else {
        return (crate::client::keeping_errno(|| guess(port)).unwrap_or(0), &NO_NOTE);
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

fn resolve(address: usize, port: Port) -> Option<u64> {
    // Code that only asks about its team may be LLVM's.
    let or_llvms = || if port == Port::Gcc { entry_for(address, Port::Llvm) } else { None };
    let entry = entry_for(address, port).or_else(or_llvms)?;
    let (map, _) = module_of(entry as usize)?;
    let module = module_of(address).map(|(_, base)| base);
    let runtime = runtime_number(map)?;
    // Code in no module (made at run time) can't be inspected.
    let module = module.map_or(MODULES as u32, module_number);
    Some(1 | (runtime as u64) << 8 | u64::from(module) << 16)
}

/// An entry point of the runtime that code at `address` would have called without us.
fn entry_for(address: usize, port: Port) -> Option<*mut c_void> {
    let name = port.entry();
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
    let seen_by_all = unsafe { libc::dlsym(libc::RTLD_DEFAULT, port.other().as_ptr()) };
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
fn guess(port: Port) -> Option<u64> {
    let llvms = || if port == Port::Gcc { some_runtime(Port::Llvm) } else { None };
    let (map, _) = module_of(some_runtime(port).or_else(llvms)? as usize)?;
    Some(1 | (runtime_number(map)? as u64) << 8 | (MODULES as u64) << 16)
}

/// The entry point of the first loaded library that is called libgomp something, or libomp or libiomp5: where nothing tells
/// whose call it is, nearly every process has just one.
fn some_runtime(port: Port) -> Option<*mut c_void> {
    struct Search {
        port: Port,
        found: *const c_char,
    }
    unsafe extern "C" fn look(about: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: glibc hands in a loaded library's name, and our own search.
        unsafe {
            let (name, search) = ((*about).dlpi_name, &mut *search.cast::<Search>());
            let is_called = |what: &CStr| !name.is_null() && !libc::strstr(name, what.as_ptr()).is_null();
            let is_it = match search.port {
                Port::Gcc => is_called(c"/libgomp"),
                Port::Llvm => is_called(c"/libomp") || is_called(c"/libiomp5"),
            };
            if is_it {
                search.found = name;
            }
            c_int::from(is_it)
        }
    }
    let mut search = Search { port, found: null() };
    // SAFETY: plain searches; a library that the program is calling into isn't unloaded meanwhile.
    unsafe {
        libc::dl_iterate_phdr(Some(look), (&raw mut search).cast());
        let name = search.found;
        if name.is_null() {
            return None;
        }
        let library = libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if library.is_null() {
            return None;
        }
        let found = libc::dlsym(library, port.entry().as_ptr());
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
    let _locked = LOCK.take();
    if let Some(number) = known() {
        return Some(number);
    }
    let number = RUNTIME_MAPS.iter().position(|known| known.load(Ordering::Acquire).is_null())?;
    // SAFETY: the entry is free and, under the lock, ours.
    unsafe { TABLE.0.get().cast::<Runtime>().add(number).write(runtime) };
    if let Some(free) = RUNTIME_MAPS.get(number) {
        free.store(map, Ordering::Release);
    }
    let llvms = |number: usize| by_number(number).filter(|runtime| runtime.is_llvms());
    if let Some(runtime) = llvms(number) {
        let only = (0..number).all(|other| llvms(other).is_none());
        kmpc::found(runtime, only);
        if !only {
            promise::note(fact::TWO_LLVMS);
        }
    }
    Some(number)
}

/// The module's number, which it gets here if it is new.
fn module_number(base: usize) -> u32 {
    let _locked = LOCK.take();
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
        let _locked = LOCK.take();
        let met = MODULES_MET.load(Ordering::Relaxed);
        // At the end of numbers nothing is resized any more: see `region::choose`.
        MODULES_MET.store(met.saturating_add(1), Ordering::Release);
    }
}

/// The program loads a library. Only noted: a jump, so that libc still sees who asks. But where oneTBB loads a manager
/// of its threads, it may get ourselves.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlopen() {
    core::arch::naked_asm!(
        "endbr64",
        "mov dword ptr [rip + {news}], 1",
        "mov dword ptr [rip + {blas}], 1",
        "push rdi",
        "push rsi",
        "mov rsi, qword ptr [rsp + 16]",
        "sub rsp, 8",
        "call {instead}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jz 3f",
        "ret",
        "3:",
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
        blas = sym crate::blas::NEWS,
        real = sym DLOPEN,
        find = sym find_dlopen,
        instead = sym crate::tcm::instead_of,
    )
}

static DLOPEN: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

unsafe extern "C" fn find_dlopen() -> *mut c_void {
    // SAFETY: a plain search; libc has it.
    let real = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
    DLOPEN.store(real, Ordering::Relaxed);
    real
}

/// After a fork, in the child: whoever held the lock isn't there any more.
pub fn after_fork() {
    LOCK.after_fork();
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
    crate::tbb_libraries::forget();
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
