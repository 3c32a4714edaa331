//! A parallel region while it runs: what its threads share.

use super::kind::{Kind, Work};
use crate::link::grant::dop_of;
use crate::link::pages;
use crate::program::masters::{Master, master, one_master};
use crate::runtimes::entries::Runtime;
use crate::runtimes::lookup::Code;
use crate::sys::futex::Futex;
use core::cell::Cell;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::report::Slot;
use scaf_proto::rows::{Key, ROWS};
use scaf_team::barrier::Barrier;
use scaf_team::gate::Gate;

/// Handed to `enter::run_thread` for the program's data. On the master's stack until all threads end.
#[repr(C)]
pub struct Frame {
    /// A copy of the first word of the program's data where the runtime itself reads it (task reductions).
    pub first_word: usize,
    work: Work,
    pub runtime: &'static Runtime,
    /// Where the region is reported; `None` if it is nested or unmeasured.
    pub slot: Option<&'static Slot>,
    pub depth: u32,
    /// Bits such as [`HAS_TASKS`].
    pub seen: AtomicU32,
    /// Threads that have left the function (upper 12 bits), and their ticks in it (52 bits, 20 days).
    pub inside: AtomicU64,
    /// The PU of the master's, plus one, where the team's threads are to be [`super::spread`]; else 0.
    pub spread_from: u32,
    /// `dyn-var` is off for the runtime only: each thread turns it on again.
    pub dynamic: bool,
    /// Whether barriers and ends of loops are ours.
    pub takes_over: bool,
    /// The region's code, if its team may be gathered at a barrier.
    pub gathers: Option<Code>,
    /// Barriers at which the team had more threads than contexts.
    pub oversubscribed: AtomicU32,
    /// Threads of the team, as the runtime says; 0 until somebody had to know.
    team: AtomicU32,
    pub barrier: Barrier,
    /// Where threads of dynamic loops are parked.
    pub gate: Gate,
    pub entered: u64,
    /// Its master; null if the region is nested, or opened by one call and ended by another.
    pub master: *const Master,
    /// Used by the master only.
    marks: Cell<Marks>,
}

/// One thread, in [`Frame::inside`].
pub const ONE_THREAD: u64 = 1 << 52;
/// Barriers are marked in regions that have run for so long (10 to 20 ms at 2 to 4 GHz).
const MARK_TICKS: u64 = 1 << 25;

#[derive(Clone, Copy)]
struct Marks {
    /// Ticks from the entry on for which barriers aren't marked.
    after: u64,
    /// Tick of the latest mark; 0 if there was none.
    last: u64,
    /// The grant at that tick.
    grant: Word,
    /// Row on the report page, as a hint.
    row: usize,
    told: bool,
}

/// A bit of [`Frame::seen`]: a task was created in the region.
const HAS_TASKS: u32 = 1;
/// A region was entered within it: threads have to know that they are in one.
const HAS_NESTED: u32 = 2;
/// A task was created whose time isn't taken: a wait may be work.
pub const UNTIMED_TASKS: u32 = 4;

impl Frame {
    pub fn new(runtime: &'static Runtime, work: Work, depth: u32) -> Frame {
        Frame {
            first_word: 0,
            work,
            runtime,
            slot: None,
            depth,
            seen: AtomicU32::new(0),
            inside: AtomicU64::new(0),
            spread_from: 0,
            dynamic: false,
            takes_over: false,
            gathers: None,
            oversubscribed: AtomicU32::new(0),
            team: AtomicU32::new(0),
            barrier: Barrier::new(),
            gate: Gate::new(),
            entered: 0,
            master: null(),
            marks: Cell::new(Marks {
                after: MARK_TICKS,
                last: 0,
                grant: Word::UNMANAGED,
                row: 0,
                told: false,
            }),
        }
    }

    #[inline(always)]
    pub fn runtime(&self) -> &'static Runtime {
        self.runtime
    }

    pub fn body(&self) -> usize {
        self.work.body as usize
    }

    /// # Safety
    /// The region's work is the program's own.
    #[inline(always)]
    pub unsafe fn run_body(&self) {
        // SAFETY: the program would call that function with these data on this thread.
        unsafe { (self.work.run)(self.work.data) }
    }

    /// Where the runtime reads the first word of what it takes for the program's data, that is the frame's.
    /// # Safety
    /// The data are those of a region of that kind.
    #[inline(always)]
    pub unsafe fn copy_first_word(&mut self, kind: Kind) {
        if kind == Kind::Reductions {
            // SAFETY: the data of a region with task reductions begin with the address of their list.
            self.first_word = unsafe { *self.work.data.cast::<usize>() };
        }
    }

    #[inline(always)]
    pub fn team(&self, runtime: &Runtime) -> u32 {
        let known = self.team.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let team = runtime.team();
        self.team.store(team, Ordering::Relaxed);
        team
    }

    /// Threads that have left the outlined function, and the ticks that they spent in it together.
    pub fn inside(&self) -> (u32, u64) {
        let packed = self.inside.load(Ordering::Relaxed);
        ((packed >> 52) as u32, packed & (ONE_THREAD - 1))
    }

    /// A thread is at a barrier at tick `now`: marks that if the thread is the master of a long region.
    #[inline(always)]
    pub fn mark(&self, now: u64, team: u32) {
        if core::ptr::eq(master(), self.master) {
            let mut marks = self.marks.get();
            if marks.last != 0 || now.wrapping_sub(self.entered) > marks.after {
                let grant = pages::grant().word();
                if marks.last != 0 && marks.grant == grant && one_master() {
                    let key = Key::marks(self.work.body as usize, dop_of(team));
                    let wall = now.wrapping_sub(marks.last);
                    marks.row = pages::report().rows().add(marks.row, key, 1, wall, 0);
                    marks.told |= marks.row < ROWS;
                }
                (marks.last, marks.grant) = (now, grant);
                self.marks.set(marks);
            }
        }
    }

    /// Whether tasks created in it are timed: all its threads come through [`Frame::visit`].
    #[inline(always)]
    pub fn times_tasks(&self) -> bool {
        self.depth == 1 && self.slot.is_some() && !self.master.is_null()
    }

    /// A task is created. Barriers are the runtime's from now on: it runs tasks there.
    #[inline(always)]
    pub fn has_tasks(&self, timed: bool) {
        let bits = if timed { HAS_TASKS } else { HAS_TASKS | UNTIMED_TASKS };
        if self.seen.load(Ordering::Relaxed) & bits != bits
            && self.seen.fetch_or(bits, Ordering::Relaxed) & HAS_TASKS == 0
        {
            self.barrier.hand_over(&Futex);
        }
    }

    pub fn has_nested(&self) {
        self.seen.fetch_or(HAS_NESTED, Ordering::Relaxed);
    }

    /// Whether it has had neither tasks nor regions within it.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.seen.load(Ordering::Relaxed) == 0
    }

    pub fn has_no_tasks(&self) -> bool {
        self.seen.load(Ordering::Relaxed) & (HAS_TASKS | UNTIMED_TASKS) == 0
    }

    /// Whether threads may have worked, unmeasured, while they waited.
    #[inline(always)]
    pub fn has_untimed_tasks(&self) -> bool {
        self.seen.load(Ordering::Relaxed) & UNTIMED_TASKS != 0
    }

    pub fn mark_at_once(&mut self) {
        self.marks.get_mut().after = 0;
    }

    pub fn is_told(&self) -> bool {
        self.marks.get().told
    }

    /// The region may be being cancelled: its waits are the runtime's from now on.
    pub fn is_cancelled(&self) {
        self.barrier.hand_over(&Futex);
        self.gate.close_down(&Futex);
    }
}
