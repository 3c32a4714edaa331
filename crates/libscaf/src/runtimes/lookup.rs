//! Which copy of the OpenMP runtime serves which code. A process can hold several (Python wheels bring their
//! own), whose threads and barriers don't mix. The code is known by an address in it: the outlined function's
//! for a region (gcc tail-calls `jmp GOMP_parallel`), the caller's elsewhere. The runtime is the one to which
//! the dynamic linker would have bound the call: the first loaded with the program; else the first that the
//! module depends on; else one that all see; else any. Remembered per module and address.

use super::copies::{self, Abi};
use super::entries::Runtime;
use super::linker::{any_module, base_name, file_of, in_library, in_library_of, module_of};
use super::modules;
use crate::sys::errno::keeping_errno;
use crate::sys::symbols::search;
use core::ffi::{CStr, c_char, c_void};
use core::ptr::null;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use scaf_functions::files;

#[derive(Clone, Copy)]
pub struct Code {
    pub runtime: &'static Runtime,
    /// Number of its module, from 0; [`modules::MODULES`] if there were too many. As wide as the other
    /// fields: a copy of the whole would wait for the write of a narrow field, 7 ns a region.
    pub module: u64,
    /// The region's `Record` (`program/region_record.rs`).
    pub record: &'static AtomicU64,
}

/// Addresses remembered; a power of two. At most three quarters are used.
const ADDRESSES: usize = 4096;
static KEYS: [AtomicUsize; ADDRESSES] = [const { AtomicUsize::new(0) }; ADDRESSES];
/// 0 unknown, else `1 | runtime << 8 | module << 16`.
static VALUES: [AtomicU64; ADDRESSES] = [const { AtomicU64::new(0) }; ADDRESSES];
static RECORDS: [AtomicU64; ADDRESSES] = [const { AtomicU64::new(0) }; ADDRESSES];
/// The same for the code of each module, for either ABI. Numbers are void for ever once a module is unloaded.
static OF_MODULES: [[AtomicU64; modules::MODULES]; 2] =
    [const { [const { AtomicU64::new(0) }; modules::MODULES] }; 2];
/// The record of all addresses that found no place.
static NO_RECORD: AtomicU64 = AtomicU64::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);

/// The code at `address`, which calls GCC's entry points or asks about its team; `None` without a runtime.
#[inline(always)]
pub fn of(address: usize) -> Option<Code> {
    served(address, Abi::Gcc)
}

#[inline(always)]
pub fn of_llvms(address: usize) -> Option<Code> {
    served(address, Abi::Llvm)
}

#[inline(always)]
fn served(address: usize, abi: Abi) -> Option<Code> {
    let at = slot(address);
    let (Some(key), Some(value), Some(record)) = (KEYS.get(at), VALUES.get(at), RECORDS.get(at)) else {
        return None;
    };
    if key.load(Ordering::Relaxed) == address {
        let value = value.load(Ordering::Acquire);
        if value != 0 {
            return decode(value, record);
        }
    }
    let (value, record) = find(address, abi);
    decode(value, record)
}

/// The runtime for the code at `address`, if asked before. Never asks the dynamic linker.
#[inline(always)]
pub fn known(address: usize) -> Option<&'static Runtime> {
    remembered(address).map(|code| code.runtime)
}

/// What is known of the code at `address`, if it is in its first place; without its record.
#[inline(always)]
fn remembered(address: usize) -> Option<Code> {
    let at = slot(address);
    let (key, value) = (KEYS.get(at)?, VALUES.get(at)?);
    let value = if key.load(Ordering::Relaxed) == address { value.load(Ordering::Acquire) } else { 0 };
    decode(value, &NO_RECORD)
}

pub fn is_full() -> bool {
    USED.load(Ordering::Relaxed) >= ADDRESSES / 4 * 3
}

#[inline(always)]
fn slot(address: usize) -> usize {
    // Functions are aligned to 16 bytes; the multiplication spreads what is left over the top bits.
    (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (64 - ADDRESSES.trailing_zeros())
}

#[inline(always)]
fn decode(value: u64, record: &'static AtomicU64) -> Option<Code> {
    let runtime = copies::at((value >> 8 & 0xff) as usize).filter(|_| value != 0)?;
    Some(Code { runtime, module: value >> 16 & 0xffff, record })
}

/// Looks beyond the first place, then asks the dynamic linker. 0 if in vain. Two words fit in registers.
#[cold]
#[inline(never)]
fn find(address: usize, abi: Abi) -> (u64, &'static AtomicU64) {
    let first = slot(address);
    let mut place = None;
    for step in 0..16 {
        let at = (first + step) & (ADDRESSES - 1);
        let (Some(key), Some(value), Some(record)) = (KEYS.get(at), VALUES.get(at), RECORDS.get(at)) else {
            break;
        };
        let found = key.load(Ordering::Relaxed);
        if found == address {
            let known = value.load(Ordering::Acquire);
            if known != 0 {
                return (known, record);
            }
        }
        if found == address || found == 0 {
            place = Some((key, value, record));
            break;
        }
    }
    let Some(known) = keeping_errno(|| resolve(address, abi)) else {
        return (keeping_errno(|| guess(abi)).unwrap_or(0), &NO_RECORD);
    };
    let Some((key, value, record)) = place else {
        return (known, &NO_RECORD);
    };
    let ours = match key.compare_exchange(0, address, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => USED.fetch_add(1, Ordering::Relaxed) < ADDRESSES / 4 * 3,
        Err(there) => there == address,
    };
    if !ours {
        return (known, &NO_RECORD);
    }
    record.store(0, Ordering::Relaxed);
    value.store(known, Ordering::Release);
    (known, record)
}

fn resolve(address: usize, abi: Abi) -> Option<u64> {
    // A module's code has one runtime. The dynamic linker would read its symbols for each address.
    let of_module = |number| OF_MODULES.get(abi as usize)?.get(number as usize);
    let known = || of_module(modules::met_at(address)?).map(|value| value.load(Ordering::Acquire));
    if let Some(known) = known().filter(|value| *value != 0) {
        return Some(known);
    }
    // Code that only asks about its team may be LLVM's.
    let or_llvms = || if abi == Abi::Gcc { entry_for(address, Abi::Llvm) } else { None };
    let entry = entry_for(address, abi).or_else(or_llvms)?;
    let (map, _) = module_of(entry as usize)?;
    let module = module_of(address).map(|(_, base)| base);
    let runtime = copies::number_of(map)?;
    // Code in no module (made at run time) can't be inspected.
    let module = module.map_or(modules::MODULES as u32, modules::number_of);
    let value = 1 | (runtime as u64) << 8 | u64::from(module) << 16;
    if let Some(known) = of_module(module) {
        known.store(value, Ordering::Release);
    }
    Some(value)
}

/// An entry point of the runtime that code at `address` would have called without scaf.
fn entry_for(address: usize, abi: Abi) -> Option<*mut c_void> {
    let name = abi.entry();
    // SAFETY: a handle of dlsym's. Libraries loaded with the program come first for all later ones.
    let first = unsafe { search(libc::RTLD_NEXT, name) };
    if !first.is_null() {
        return Some(first);
    }
    if let Some(found) = in_library_of(address, name) {
        return Some(found);
    }
    // SAFETY: a handle of dlsym's. We don't have this name; libraries that all see since may.
    let seen_by_all = unsafe { search(libc::RTLD_DEFAULT, abi.other()) };
    (!seen_by_all.is_null()).then_some(seen_by_all)
}

/// For a call that the compiler made a jump: the return address lies in a module without a runtime, and so
/// without regions. The result is neither remembered nor numbered.
fn guess(abi: Abi) -> Option<u64> {
    let llvms = || if abi == Abi::Gcc { some_runtime(Abi::Llvm) } else { None };
    let (map, _) = module_of(some_runtime(abi).or_else(llvms)? as usize)?;
    Some(1 | (copies::number_of(map)? as u64) << 8 | (modules::MODULES as u64) << 16)
}

pub fn is_any_loaded() -> bool {
    [Abi::Gcc, Abi::Llvm].into_iter().any(|abi| !file_of_some(abi).is_null())
}

/// Whether code at an address is an OpenMP runtime's own.
pub fn is_runtimes_own(address: usize) -> bool {
    // The loader may be held by who waits for this thread.
    copies::hold(address)
        || module_of(address).is_some_and(|(map, _)| {
            // SAFETY: a loaded module's name, a C string; it is in the midst of a call.
            let name = unsafe { (*map).name };
            // SAFETY: as above, where there is one.
            !name.is_null() && files::is_openmp_runtime(base_name(unsafe { CStr::from_ptr(name) }))
        })
}

/// The file of the first loaded libgomp, or libomp or libiomp5; null if there is none.
fn file_of_some(abi: Abi) -> *const c_char {
    let mut file = null();
    any_module(|about| {
        // SAFETY: the dynamic linker has handed it in just now.
        let name = unsafe { file_of(about) };
        let is_it = files::is_openmp_runtime(name) && files::is_libgomp(name) == (abi == Abi::Gcc);
        if is_it {
            file = about.dlpi_name;
        }
        is_it
    });
    file
}

/// The entry point of that runtime: most processes have just one.
fn some_runtime(abi: Abi) -> Option<*mut c_void> {
    // SAFETY: null or a module's name; the program is calling into that module, so it isn't unloaded.
    unsafe { in_library(file_of_some(abi), abi.entry()) }
}

/// The runtime for `address` if that is in the module of a region's function `body`. Never asks the linker.
pub fn beside(body: usize, address: usize) -> Option<&'static Runtime> {
    let code = remembered(body)?;
    modules::holds(code.module, address).then_some(code.runtime)
}

/// After an unload: if a module is gone, voids its number and forgets all addresses, which may be reused.
pub fn forget_unloaded() {
    if modules::met() != 0 && keeping_errno(modules::void_unloaded) {
        for value in &VALUES {
            value.store(0, Ordering::Release);
        }
    }
}
