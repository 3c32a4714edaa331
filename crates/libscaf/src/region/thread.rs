//! What is known of one thread in a region.

use super::float_words::FirstWords;
use super::frame::Frame;
use crate::link::no_syscalls;
use crate::runtimes::entries::Runtime;
use crate::sys::raw_syscalls::set_blocked;
use crate::sys::signals::{Stack, set_stack};
use crate::sys::thread_state::{self, Part, REGION_AT, TBB_AT};
use core::cell::Cell;
use core::ffi::{c_int, c_void};

/// The calling thread's part of the state ([`thread_state`]).
#[repr(C)]
pub struct Thread {
    /// Runtime of the region that the thread is in.
    pub runtime: Cell<Option<&'static Runtime>>,
    /// Runtime of the region around whose team has one thread because of us. Says nothing outside of regions.
    pub shrunk_in: Cell<Option<&'static Runtime>>,
    /// The region itself; null outside, and where it was entered unseen.
    pub frame: Cell<*const Frame>,
    /// Runtime of the regions that the thread has worked in, if it is one of the runtime's own.
    pub home: Cell<Option<&'static Runtime>>,
    /// Tick since which it waits in its region; 0 while it works.
    pub waits_since: Cell<u64>,
    /// Ticks that it has waited and not yet reported.
    pub waited: Cell<u64>,
    /// The region whose outlined function it left last, at whose end it may be.
    pub left: Cell<*const Frame>,
    /// Ticks of tasks that it ran there and hasn't reported.
    pub late: Cell<u64>,
    /// The thread's number in the region's team; [`NO_INDEX`] until asked for.
    pub index: Cell<u32>,
    /// Loops of the region whose end it has reached.
    pub loops: Cell<u32>,
    /// Random state that says which locks are timed.
    pub chance: Cell<u32>,
    /// How many locks a timed one stands for; 0 before the first.
    pub stands_for: Cell<u32>,
    /// Regions that were opened by a `_start` entry point and not yet ended.
    pub started: Cell<u32>,
    /// Team size of a `num_threads` clause, until LLVM's runtime enters its region; 0 without one.
    pub pushed: Cell<u32>,
    /// 1 if such a number is still with LLVM's runtime, though its region is over.
    pub kept_push: Cell<u32>,
    /// Runtimes of the opened regions, outermost first.
    pub started_in: [Cell<Option<&'static Runtime>>; STARTS],
    /// Where LLVM's runtime keeps the thread's numbers for the region that it is about to begin.
    pub numbers: Cell<[*const c_int; 2]>,
    /// Regions of LLVM's that were entered as serial ones: the thread is alone in them, whatever is around.
    pub serial: Cell<u32>,
    /// 1 in a loop whose chunks LLVM's runtime deals to anybody.
    pub deals: Cell<u32>,
    /// While LLVM's threads don't spin because of us: the program's own time in ms, plus one; else 0.
    pub blocktime: Cell<u32>,
    /// Generation of its workers' recorded TLS bases; 0 for none (`mechanisms/gather/worker_tls.rs`).
    pub recorded: Cell<u32>,
    /// 1 if these are to be recorded in the region that it is about to enter.
    pub records: Cell<u32>,
    /// Bytes of its stack; 0 before they were asked for.
    pub stack: Cell<usize>,
    /// The control words with which its workers were started.
    pub first_words: FirstWords,
    /// The member of a gathered team that it is; null for none.
    pub member: Cell<*const c_void>,
    /// As a worker whose TLS is lent: its own mask of signals, and [`LENT`]; else 0.
    pub lent: Cell<u64>,
    /// The handlers' stack that it has set while it was a member, to be its kernel thread's.
    pub new_stack: Cell<Stack>,
}

// SAFETY: null pointers, `None` and 0 are zeros; `Cell`s aren't `Sync`; the bytes are `region`'s.
unsafe impl Part for Thread {
    const AT: usize = REGION_AT;
    const END: usize = TBB_AT;
}

impl Thread {
    #[inline(always)]
    pub fn frame<'a>(&self) -> Option<&'a Frame> {
        // SAFETY: a region's threads reset this before they leave it, and its frame is there until all have.
        unsafe { self.frame.get().as_ref() }
    }

    /// The region at whose end it may be.
    #[inline(always)]
    pub fn left<'a>(&self) -> Option<&'a Frame> {
        // SAFETY: asked by tasks of that region, which end before it does; the next region sets it anew.
        unsafe { self.left.get().as_ref() }
    }
}

/// A bit of [`Thread::lent`] that no mask has: SIGKILL is never blocked.
pub const LENT: u64 = 1 << (libc::SIGKILL - 1);
/// Value of [`Thread::index`] before the runtime was asked.
pub const NO_INDEX: u32 = u32::MAX;
/// Nested `_start` regions whose runtime is remembered; deeper ones are ended in the outermost one's.
pub const STARTS: usize = 3;

/// A worker whose TLS was lent runs a region again.
#[cold]
pub fn take_signals_back(this: &Thread) {
    let own = this.lent.take() & !LENT;
    // Otherwise it keeps ours: a program that filters the calls of all its threads may end for this one.
    if !no_syscalls::are_forbidden_to_all() {
        let stack = this.new_stack.replace(Stack::UNSAID);
        if stack != Stack::UNSAID {
            set_stack(stack);
        }
        set_blocked(own);
    }
}

#[inline(always)]
pub fn thread() -> &'static Thread {
    thread_state::own()
}
