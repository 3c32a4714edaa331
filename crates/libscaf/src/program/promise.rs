//! Calls by which a program fixes the size of its teams. Such a promise is kept: from then on its regions are
//! folded, not resized, unless somebody's word permits it (`permission`). `OMP_NUM_THREADS` is a cap, not a
//! promise.

use crate::link::pages;
use crate::runtimes::entries::Runtime;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::fact;

/// Facts found so far; the report page is a new one after each attachment.
static FACTS: AtomicU32 = AtomicU32::new(0);
const PROMISES: u32 = fact::SET_NUM_THREADS | fact::SET_DYNAMIC_OFF;

#[inline(always)]
pub fn record(fact: u32) {
    if FACTS.load(Ordering::Relaxed) & fact == 0 {
        FACTS.fetch_or(fact, Ordering::Relaxed);
        pages::report().add_facts(fact);
    }
}

#[inline(always)]
pub fn is_recorded(fact: u32) -> bool {
    FACTS.load(Ordering::Relaxed) & fact != 0
}

pub fn report_again() {
    pages::report().add_facts(FACTS.load(Ordering::Relaxed));
}

#[inline(always)]
pub fn is_kept() -> bool {
    FACTS.load(Ordering::Relaxed) & PROMISES != 0
}

/// Whether a clause said that its size is no upper limit: then no word of the user's makes teams smaller.
#[inline(always)]
pub fn is_strict() -> bool {
    FACTS.load(Ordering::Relaxed) & fact::STRICT != 0
}

pub fn llvm_found(_: &Runtime, only: bool) {
    if !only {
        record(fact::TWO_LLVMS);
    }
}
