//! Regions whose members blocked too often are folded for a while ([`Backoff`]).

use crate::program::region_record::Record;
use crate::runtimes::lookup::Code;
use crate::sys::arch::ticks;
use scaf_team::gather::backoff::Backoff;

/// Room for a program's regions that wait in the kernel. Further ones are gathered again sooner.
static BACKOFF: Backoff<16> = Backoff::new();

/// Whether the region is to be folded for now.
#[inline(always)]
pub fn is_folded(code: Code) -> bool {
    Record::of(code).was_stuck() && BACKOFF.is_folded(region(code), ticks())
}

/// The carrier monitor found its members blocked too often.
#[cold]
pub fn gets_stuck(code: Code) {
    BACKOFF.gets_stuck(region(code), ticks());
    Record::gets_stuck(code);
}

/// A region is identified by the address of its record.
fn region(code: Code) -> usize {
    code.record.as_ptr().addr()
}
