//! Regions whose members got stuck too often, which are folded for a while ([`Backoff`]).

use crate::program::region_record::Record;
use crate::runtimes::lookup::Code;
use crate::sys::arch::ticks;
use scaf_team::gather::backoff::Backoff;

/// Room for a program's regions that wait in the kernel. One that finds none is gathered again sooner.
static BACKOFF: Backoff<16> = Backoff::new();

/// Whether the region is to be folded for now.
#[inline(always)]
pub fn is_folded(code: Code) -> bool {
    Record::of(code).was_stuck() && BACKOFF.is_folded(region(code), ticks())
}

/// The watch has seen its members stuck too often.
#[cold]
pub fn gets_stuck(code: Code) {
    BACKOFF.gets_stuck(region(code), ticks());
    Record::gets_stuck(code);
}

/// The region, by where its note is.
fn region(code: Code) -> usize {
    code.record.as_ptr().addr()
}
