//! What is known of one thread in a region.

use super::frame::Frame;
use crate::link::silence;
use crate::runtimes::entries::Runtime;
use crate::sys::bare::set_blocked;
use crate::sys::thread::{self, REGION_AT, TBB_AT};
use core::ffi::{c_int, c_void};

/// The calling thread. All zero when it starts.
#[repr(C)]
pub struct Thread {
    /// Runtime of the region that the thread is in; null outside.
    pub runtime: *const Runtime,
    /// Runtime of the region around whose team has one thread because of us; null if there is none. Says
    /// nothing outside of regions.
    pub shrunk_in: *const Runtime,
    /// The region itself; null outside, and where it was entered unseen.
    pub frame: *const Frame,
    /// Runtime of the regions that the thread has worked in, if it is one of the runtime's own; else null.
    pub home: *const Runtime,
    /// Tick since which it waits in its region; 0 while it works.
    pub waits_since: u64,
    /// Ticks that it has waited and not yet reported.
    pub waited: u64,
    /// The region whose outlined function it left last, at whose end it may be.
    pub left: *const Frame,
    /// Ticks of tasks that it ran there and hasn't reported.
    pub late: u64,
    /// The thread's number in the region's team; [`NO_INDEX`] until asked for.
    pub index: u32,
    /// Loops of the region whose end it has reached.
    pub loops: u32,
    /// Random state that says which locks are timed.
    pub chance: u32,
    /// How many locks a timed one stands for; 0 before the first.
    pub stands_for: u32,
    /// Regions that were opened by a `_start` entry point and not yet ended.
    pub started: u32,
    /// Team size of a `num_threads` clause, until LLVM's runtime enters its region; 0 without one.
    pub pushed: u32,
    /// 1 if such a number is still with LLVM's runtime, though its region is over.
    pub kept_push: u32,
    /// Runtimes of the opened regions, outermost first.
    pub started_in: [*const Runtime; STARTS],
    /// Where LLVM's runtime keeps the thread's numbers for the region that it is about to begin.
    pub numbers: [*const c_int; 2],
    /// Regions of LLVM's that were entered as serial ones: the thread is alone in them, whatever is around.
    pub serial: u32,
    /// 1 in a loop whose chunks LLVM's runtime deals to anybody.
    pub deals: u32,
    /// While LLVM's threads don't spin because of us: the program's own time in ms, plus one; else 0.
    pub blocktime: u32,
    /// The notes of its workers' storage, by number; 0 for none (`mechanisms/gather/worker_tls.rs`).
    pub noted: u32,
    /// 1 if the region that it is about to enter is to take such notes.
    pub notes: u32,
    /// The member of a gathered team that it is; null for none.
    pub member: *const c_void,
    /// As a worker whose storage is lent: its own mask of signals, and [`LENT`]; else 0.
    pub lent: u64,
}

const _: () = assert!(size_of::<Thread>() <= TBB_AT - REGION_AT);
/// A bit of [`Thread::lent`] that no mask has: SIGKILL is never blocked.
pub const LENT: u64 = 1 << (libc::SIGKILL - 1);
/// Value of [`Thread::index`] before the runtime was asked.
pub const NO_INDEX: u32 = u32::MAX;
/// Nested `_start` regions whose runtime is remembered; deeper ones are ended in the outermost one's.
pub const STARTS: usize = 3;

/// A worker whose storage was lent runs a region again.
#[cold]
pub unsafe fn take_signals_back(this: *mut Thread) {
    // SAFETY: this thread's own state.
    let own = unsafe { core::mem::take(&mut (*this).lent) & !LENT };
    // Otherwise it keeps ours: a program that filters the calls of all its threads may end for this one.
    if !silence::is_for_all() {
        set_blocked(own);
    }
}

#[inline(always)]
pub fn thread() -> *mut Thread {
    thread::part::<Thread, REGION_AT>()
}
