//! Modules with regions, numbered in the order in which they are met. The daemon says up to which number it
//! has inspected everything that was loaded; while there are more, nothing is resized. A library loaded
//! without our knowing its code ([`NEWS`]) takes a number too, because an inspected region may call into it.
//! An unloaded module's number is void for ever.

use super::linker::{any_module, module_of, size_of_module};
use crate::sys::lock::Lock;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use scaf_proto::grant::Word;

/// Modules that are told apart; the daemon counts them in a byte.
pub const MODULES: usize = 255;
/// The load address of each module met; 0 where its number is void.
static BASES: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];
/// Bytes that each of them spans in memory.
static SIZES: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];
static MET: AtomicU32 = AtomicU32::new(0);
/// 1 after the program asked for a library to be loaded, until [`take_news`].
pub static NEWS: AtomicU32 = AtomicU32::new(0);
/// How many libraries the dynamic linker had loaded by the last [`take_news`].
static LOADS: AtomicU64 = AtomicU64::new(0);
static LOCK: Lock = Lock::new();

pub fn met() -> u32 {
    MET.load(Ordering::Acquire)
}

/// Whether the daemon has inspected all that was loaded.
#[inline(always)]
pub fn are_inspected(grant: Word) -> bool {
    met() <= grant.inspected() && NEWS.load(Ordering::Relaxed) == 0
}

/// Whether it has inspected all that was loaded by the last [`take_news`].
#[inline(always)]
pub fn met_are_inspected(grant: Word) -> bool {
    met() <= grant.inspected()
}

/// Whether regions of a module of this number can ever be resized.
#[inline(always)]
pub fn is_numbered(module: u64) -> bool {
    module < MODULES as u64
}

pub fn holds(module: u64, address: usize) -> bool {
    let (Some(base), Some(size)) = (BASES.get(module as usize), SIZES.get(module as usize)) else {
        return false;
    };
    let base = base.load(Ordering::Relaxed);
    base != 0 && address.wrapping_sub(base) < size.load(Ordering::Relaxed)
}

/// The number of the module met before that holds the address.
pub fn met_at(address: usize) -> Option<u32> {
    (0..met().min(MODULES as u32)).find(|number| holds(u64::from(*number), address))
}

/// The module's number, given out here if it is new.
pub fn number_of(base: usize) -> u32 {
    let _locked = LOCK.take();
    let met = MET.load(Ordering::Relaxed);
    for (number, known) in BASES.iter().enumerate().take(met.min(MODULES as u32) as usize) {
        if known.load(Ordering::Relaxed) == base {
            return number as u32;
        }
    }
    let (Some(free), Some(size)) = (BASES.get(met as usize), SIZES.get(met as usize)) else {
        return MODULES as u32;
    };
    size.store(size_of_module(base), Ordering::Relaxed);
    free.store(base, Ordering::Relaxed);
    MET.store(met + 1, Ordering::Release);
    met
}

/// If libraries were loaded since the last time, they take a number, void from the start.
pub fn take_news() {
    NEWS.store(0, Ordering::Relaxed);
    let loads = count_loads();
    let before = LOADS.swap(loads, Ordering::Relaxed);
    if before != 0 && before != loads {
        let _locked = LOCK.take();
        let met = MET.load(Ordering::Relaxed);
        // Once numbers run out nothing is resized any more (`resize::is_inspected`).
        MET.store(met.saturating_add(1), Ordering::Release);
    }
}

/// How many libraries the dynamic linker has ever loaded.
fn count_loads() -> u64 {
    let mut loads = 0;
    any_module(|about| {
        loads = about.dlpi_adds;
        true
    });
    loads
}

/// Voids the numbers of unloaded modules; `true` if there were any.
pub fn void_unloaded() -> bool {
    let mut gone = false;
    for known in BASES.iter().take(met() as usize) {
        let base = known.load(Ordering::Relaxed);
        if base != 0 && module_of(base).is_none_or(|(_, now)| now != base) {
            known.store(0, Ordering::Relaxed);
            gone = true;
        }
    }
    gone
}

pub fn after_fork() {
    LOCK.after_fork();
}
