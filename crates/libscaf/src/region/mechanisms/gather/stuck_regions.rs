//! Regions whose members blocked too often are folded for a while ([`Backoff`]).

use crate::program::sampling::Note;
use crate::runtimes::lookup::Code;
use crate::sys::arch::ticks;
use scaf_team::gather::backoff::Backoff;

/// Room for a program's regions that wait in the kernel. Further ones are gathered again sooner.
static BACKOFF: Backoff<16> = Backoff::new();

/// Whether the region is to be folded for now.
#[inline(always)]
pub fn is_folded(code: Code) -> bool {
    Note::of(code).was_stuck() && BACKOFF.is_folded(region(code), ticks())
}

/// The carrier monitor found its members blocked too often.
#[cold]
pub fn gets_stuck(code: Code) {
    BACKOFF.gets_stuck(region(code), ticks());
    Note::gets_stuck(code);
}

/// A region is identified by the address of its note.
fn region(code: Code) -> usize {
    code.note.as_ptr().addr()
}
