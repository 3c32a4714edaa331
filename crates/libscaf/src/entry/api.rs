//! The C API of include/scaf.h: pools of threads that the program made itself. Programs look its functions up
//! by name; the names, the types and the size of `scaf_work` are an ABI (tests/e2e/api.rs). A pool is a
//! number from 1, of which only the thread count and the name are known.

use super::blas;
use crate::link::grant::{sleep, wake};
use crate::link::{attachment, pages};
use crate::program::masters;
use crate::program::non_openmp::{self, Ticket};
use crate::runtimes::found::Found;
use crate::sys::arch::ticks;
use crate::sys::clock::now_ms;
use crate::sys::settings;
use crate::sys::undisturbed::undisturbed;
use core::ffi::{CStr, c_char, c_int};
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::runtimes::{Kind, Promise};

const VERSION: u32 = 1;
/// Most threads of a pool; also the answer for a pool that doesn't exist.
const MOST_THREADS: u32 = 65_535;
/// Longest sleep without a look at the daemon, in milliseconds.
const LOOK_MS: u64 = 1_000;
const MOST_POOLS: usize = 32;
/// Threads of each pool; 0 where there is none.
static POOLS: [AtomicU32; MOST_POOLS] = [const { AtomicU32::new(0) }; MOST_POOLS];
/// The pools' names, padded with zeros. A number that is used again keeps the name that people know it by.
static NAMES: [Name; MOST_POOLS] = [const { [const { AtomicU8::new(0) }; NAME_BYTES] }; MOST_POOLS];
type Name = [AtomicU8; NAME_BYTES];
const NAME_BYTES: usize = 23;
const UNNAMED: &CStr = c"pool";

pub fn discover(found: &mut dyn FnMut(Found<'_>)) {
    let grant = pages::grant().word();
    for (pool, name) in POOLS.iter().zip(&NAMES) {
        let mut file = [0; NAME_BYTES];
        for (byte, letter) in file.iter_mut().zip(name) {
            *byte = letter.load(Ordering::Relaxed);
        }
        let length = file.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
        let (Some(file), true) = (file.get(..length), length > 0) else { continue };
        let most = pool.load(Ordering::Relaxed);
        let threads = limit(most, grant);
        let id = (&raw const *pool).addr();
        found(Found { id, kind: Kind::Api, file, promise: Promise::Notified, threads, most, running: 0 });
    }
}

/// `struct scaf_work`.
#[repr(C)]
pub struct Work {
    ticket: Ticket,
    reserved: [u64; 3],
}

const _: () = assert!(size_of::<Work>() == 64 && align_of::<Work>() == 8);

fn threads_of(pool: u32) -> Option<u32> {
    let threads = POOLS.get((pool as usize).wrapping_sub(1))?.load(Ordering::Relaxed);
    (threads != 0).then_some(threads)
}

fn widest() -> u32 {
    POOLS.iter().map(|pool| pool.load(Ordering::Relaxed)).max().unwrap_or(0)
}

/// Polls the connection and returns the grant. Only for pools that exist.
fn grant() -> Word {
    if masters::in_pools() == 0 {
        // In a forked child, `masters` has forgotten the pools.
        masters::set_pools(widest());
    }
    attachment::poll_outside_region(ticks());
    pages::grant().word()
}

fn limit(threads: u32, grant: Word) -> u32 {
    grant.dop().map_or(threads, |dop| dop.min(threads))
}

#[unsafe(no_mangle)]
pub extern "C" fn scaf_api_version() -> u32 {
    VERSION
}

/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scaf_register(name: *const c_char, threads: u32) -> u32 {
    if !(1..=MOST_THREADS).contains(&threads) {
        return 0;
    }
    let free =
        |pool: &AtomicU32| pool.compare_exchange(0, threads, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    let Some(at) = POOLS.iter().position(free) else {
        return 0;
    };
    // SAFETY: not null, so it is a C string, as the caller says.
    let name = if name.is_null() { UNNAMED } else { unsafe { CStr::from_ptr(name) } };
    let name = if name.is_empty() { UNNAMED } else { name };
    if let Some(place) =
        NAMES.get(at).filter(|place| place.iter().all(|byte| byte.load(Ordering::Relaxed) == 0))
    {
        for (letter, byte) in place.iter().zip(name.to_bytes()) {
            letter.store(*byte, Ordering::Relaxed);
        }
    }
    masters::set_pools(widest());
    grant();
    at as u32 + 1
}

#[unsafe(no_mangle)]
pub extern "C" fn scaf_unregister(pool: u32) {
    let Some(place) = POOLS.get((pool as usize).wrapping_sub(1)) else {
        return;
    };
    if place.swap(0, Ordering::Relaxed) != 0 {
        masters::set_pools(widest());
        wake();
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn scaf_dop(pool: u32) -> u32 {
    threads_of(pool).map_or(MOST_THREADS, |threads| limit(threads, grant()))
}

#[unsafe(no_mangle)]
pub extern "C" fn scaf_wait(pool: u32, seen: u32, timeout_ms: i32) -> u32 {
    let until = (timeout_ms >= 0).then(|| now_ms().saturating_add(timeout_ms as u64));
    loop {
        // Read before the DoP, so that a change after this load ends the sleep.
        let word = pages::grant().word();
        let now = scaf_dop(pool);
        let left = until.map_or(u64::MAX, |until| until.saturating_sub(now_ms()));
        if now != seen || left == 0 {
            return now;
        }
        sleep(word, left.min(LOOK_MS) as u32);
        if threads_of(pool).is_none() {
            // The pool is gone: no change will come.
            return scaf_dop(pool);
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn scaf_managed() -> c_int {
    c_int::from(pages::grant().word().dop().is_some())
}

/// Exact results from here on, or no longer. Regions ask at their entry; BLAS libraries are told.
#[unsafe(no_mangle)]
pub extern "C" fn scaf_exact(on: c_int) {
    settings::count_block(on != 0);
    undisturbed(blas::exactness_changed);
}

/// # Safety
/// `work` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scaf_begin(work: *mut Work, pool: u32, kind: u64, threads: u32) {
    let ticket = if threads_of(pool).is_some() { non_openmp::begin(kind, threads) } else { Ticket::NONE };
    // SAFETY: the caller says that it can be written.
    unsafe { work.write(Work { ticket, reserved: [0; 3] }) };
}

/// # Safety
/// `work` was written by [`scaf_begin`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn scaf_end(work: *mut Work, units: u64) {
    // SAFETY: `scaf_begin` has written it, as the caller says. A second end finds `Ticket::NONE`.
    let ticket = unsafe { core::mem::replace(&mut (*work).ticket, Ticket::NONE) };
    non_openmp::end(ticket, units);
}
