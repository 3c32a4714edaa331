//! Calls by which a program fixes the size of its teams. Such a promise is kept: from then on none of its regions is
//! resized, they are folded instead.
//!
//! The calls are passed to the runtime of whoever makes them. `OMP_NUM_THREADS` is a cap, not a promise.

use crate::pages;
use crate::runtime::{self, Runtime};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::grant::count;
use scaf_proto::report::fact;

/// Facts found so far; kept apart from the report page, which is a new one after each attachment.
static FACTS: AtomicU32 = AtomicU32::new(0);

const PROMISES: u32 = fact::SET_NUM_THREADS | fact::SET_DYNAMIC_OFF;

/// Notes a fact about the program.
#[inline(always)]
pub fn note(fact: u32) {
    if FACTS.load(Ordering::Relaxed) & fact == 0 {
        FACTS.fetch_or(fact, Ordering::Relaxed);
        pages::report().add_facts(fact);
    }
}

/// Whether a fact was noted.
#[inline(always)]
pub fn is_noted(fact: u32) -> bool {
    FACTS.load(Ordering::Relaxed) & fact != 0
}

/// Reports all facts again, to a new page.
pub fn report_again() {
    pages::report().add_facts(FACTS.load(Ordering::Relaxed));
}

/// Whether the program has fixed its team sizes for good.
#[inline(always)]
pub fn is_kept() -> bool {
    FACTS.load(Ordering::Relaxed) & PROMISES != 0
}

fn runtime_of(caller: usize) -> Option<&'static Runtime> {
    runtime::of(caller).map(|code| code.runtime)
}

pub unsafe extern "C" fn set_num_threads(threads: c_int, caller: usize) {
    note(fact::SET_NUM_THREADS);
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.set_num_threads) {
        // SAFETY: the program's own argument.
        unsafe { real(threads) }
    }
}

pub unsafe extern "C" fn set_dynamic(dynamic: c_int, caller: usize) {
    if dynamic == 0 {
        note(fact::SET_DYNAMIC_OFF);
    }
    if let Some(real) = runtime_of(caller).and_then(|runtime| runtime.set_dynamic) {
        // SAFETY: the program's own argument.
        unsafe { real(dynamic) }
    }
}

pub unsafe extern "C" fn get_max_threads(caller: usize) -> c_int {
    note(fact::ASKED_MAX_THREADS);
    match runtime_of(caller).and_then(|runtime| runtime.max_threads) {
        // SAFETY: no arguments.
        Some(real) => unsafe { real() },
        None => 1,
    }
}

/// The processors of the program's own affinity: the runtime would count those that it is folded onto just now.
pub unsafe extern "C" fn get_num_procs(caller: usize) -> c_int {
    let grant = pages::grant();
    match grant.word().folded().then(|| grant.masks()).flatten() {
        Some(masks) => count(&masks.own).max(1) as c_int,
        // SAFETY: no arguments.
        None => runtime_of(caller).and_then(|runtime| runtime.num_procs).map_or(1, |real| unsafe { real() }),
    }
}

/// Fortran passes arguments by address, as 4-byte or 8-byte integers.
pub unsafe extern "C" fn set_num_threads_fortran(threads: *const i32, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_num_threads(*threads, caller) }
}

pub unsafe extern "C" fn set_num_threads_fortran_8(threads: *const i64, caller: usize) {
    // SAFETY: Fortran's calling convention. Values out of range are clamped as libgomp does.
    unsafe { set_num_threads((*threads).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32, caller) }
}

pub unsafe extern "C" fn set_dynamic_fortran(dynamic: *const i32, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_dynamic(*dynamic, caller) }
}

pub unsafe extern "C" fn set_dynamic_fortran_8(dynamic: *const i64, caller: usize) {
    // SAFETY: Fortran's calling convention.
    unsafe { set_dynamic(i32::from(*dynamic != 0), caller) }
}
