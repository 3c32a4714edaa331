//! The one team that is gathered at a time: a program with several masters isn't gathered.

use super::current_task::CurrentTask;
use super::icvs::Icvs;
use super::inner_region::Inner;
use super::kept::SignalState;
use super::llvm_state::LlvmState;
use crate::link::pages;
use crate::region::thread::Thread;
use crate::runtimes::entries::Body;
use crate::sys::arch::{Fiber, ticks};
use crate::sys::futex::Futex;
use crate::sys::settings;
use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::hint::spin_loop;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use scaf_team::gather::scheduler::{Cancelled, FiberScheduler};
use scaf_team::gather::worksharing::{Assigned, Shares};

/// Members of the largest team that is gathered.
pub const MOST: usize = 64;

pub static SCHEDULER: FiberScheduler<MOST> = FiberScheduler::new();
pub static SHARES: Shares = Shares::new();
pub static MEMBERS: [Member; MOST] = [const { Member::new() }; MOST];

/// A member. Whoever runs it has it for itself.
#[repr(align(64))]
pub struct Member {
    pub fiber: UnsafeCell<Fiber>,
    pub number: Cell<u32>,
    /// Who runs it.
    pub carrier: Cell<Option<&'static Carrier>>,
    /// The share that it came to last.
    pub share: Cell<u32>,
    /// What it has of it.
    pub assigned: Cell<Assigned>,
    /// What iterations of the `doacross` loop that it is in have told.
    pub marks: Cell<&'static [AtomicU64]>,
    /// What the program has chosen, if it may ask for that.
    pub icvs: Cell<Icvs>,
    /// The task that it runs.
    pub task: Cell<CurrentTask>,
    /// The innermost region within the region that it is in.
    pub inner: Cell<*const Inner>,
    /// What it has changed of its kernel thread.
    pub changed: Cell<SignalState>,
    /// What is cancelled of the region within that it is in, as the scheduler has it of the gathered one.
    pub cancelled: Cell<u32>,
    /// What it answers for `omp_get_max_threads`.
    pub most: Cell<u32>,
    /// What LLVM's runtime would keep of it.
    pub llvm: LlvmState,
}

// SAFETY: a member is used by whoever holds it in the scheduler, one at a time.
unsafe impl Sync for Member {}

/// What all members of the region share.
pub struct Team {
    pub body: Cell<Option<Body>>,
    pub data: Cell<*mut c_void>,
    /// The share that all members came to last before the region.
    pub share: Cell<u32>,
    /// Whether the program may create tasks.
    pub has_tasks: Cell<bool>,
    /// Whether members may cancel constructs.
    pub cancels: Cell<bool>,
    /// Data that one member has and the others copy.
    pub copied: AtomicPtr<c_void>,
    /// 1 while a member adds its values to a reduction's result.
    pub adding: AtomicU32,
}

// SAFETY: cells are written by the master before the scheduler begins.
unsafe impl Sync for Team {}

pub static TEAM: Team = Team {
    body: Cell::new(None),
    data: Cell::new(null_mut()),
    share: Cell::new(0),
    has_tasks: Cell::new(false),
    cancels: Cell::new(false),
    copied: AtomicPtr::new(null_mut()),
    adding: AtomicU32::new(0),
};

impl Member {
    const fn new() -> Member {
        Member {
            fiber: UnsafeCell::new(Fiber::NONE),
            number: Cell::new(0),
            carrier: Cell::new(None),
            share: Cell::new(0),
            assigned: Cell::new(Assigned::NONE),
            marks: Cell::new(&[]),
            icvs: Cell::new(Icvs::UNKNOWN),
            task: Cell::new(CurrentTask::MEMBERS),
            inner: Cell::new(null()),
            changed: Cell::new(SignalState::NOTHING),
            cancelled: Cell::new(0),
            most: Cell::new(0),
            llvm: LlvmState::new(),
        }
    }
    #[inline(always)]
    pub fn inside(&self) -> Option<&Inner> {
        // SAFETY: it lies on the member's stack for as long as the region within lasts.
        unsafe { self.inner.get().as_ref() }
    }

    /// Whether it is in a region within the region, where it is alone.
    #[inline(always)]
    pub fn is_alone(&self) -> bool {
        !self.inner.get().is_null() || self.llvm.opened.get() != 0
    }

    /// Whether that is cancelled in the innermost region around it.
    #[inline]
    pub fn has_cancelled(&self, what: Cancelled) -> bool {
        match self.is_alone() {
            true => self.cancelled.get() & what as u32 != 0,
            false => SCHEDULER.is_cancelled(what),
        }
    }

    /// Parallel regions around it, the gathered one among them.
    pub fn levels(&self) -> c_int {
        let mut levels = (self.llvm.opened.get() as c_int).wrapping_add(1);
        let mut inner = self.inner.get();
        // SAFETY: as above.
        while let Some(one) = unsafe { inner.as_ref() } {
            levels += 1;
            inner = one.outer;
        }
        levels
    }
}

/// The member that the calling thread is, if it is one.
#[inline(always)]
pub unsafe fn around(this: &Thread) -> Option<&'static Member> {
    // SAFETY: this thread's own state; members live for ever.
    unsafe { this.member.get().cast::<Member>().as_ref() }
}

/// Longest nap of a carrier, in milliseconds.
const NAP_MS: u32 = 2;
/// Ticks for which a carrier with a context of its own looks again before it naps (about 0.1 ms), and rounds
/// between two looks: each reads what the others write.
const LOOKS_TICKS: u64 = 1 << 18;
const ROUNDS: u32 = 16;

/// Whether the carrier of that number has a context to itself, others have some, too, and threads may spin.
/// Carriers that came where one is stuck are more than there are contexts.
pub fn has_context(number: u32) -> bool {
    let dop = pages::grant().word().dop().unwrap_or(0);
    dop > 1
        && number < dop
        && SCHEDULER.carrier_limit() <= dop
        && settings::get().spin.is_some_and(|rounds| rounds != 0)
}

/// A carrier. What it writes at each change has lines of its own.
#[repr(align(64))]
pub struct Carrier {
    /// Its own stack and storage.
    pub home: UnsafeCell<Fiber>,
    /// What its kernel thread has by itself, while a member that it runs or ran has something else.
    pub own: Cell<SignalState>,
    pub number: AtomicU32,
    /// Its kernel thread's number.
    pub task: AtomicU32,
    /// 1 if its thread is there.
    pub there: AtomicU32,
    /// Changes from one context to another.
    pub changes: AtomicU32,
    /// 1 while it has nothing to do, and sleeps for a while.
    pub naps: AtomicU32,
    /// Ticks in which it had nothing to do, since that was last asked.
    idle: AtomicU64,
    /// 1 if it last found members to run beyond its own part.
    roams: AtomicU32,
}

// SAFETY: its home and what it keeps are its own thread's.
unsafe impl Sync for Carrier {}

impl Carrier {
    const fn new() -> Carrier {
        Carrier {
            home: UnsafeCell::new(Fiber::NONE),
            own: Cell::new(SignalState::NOTHING),
            number: AtomicU32::new(0),
            task: AtomicU32::new(0),
            there: AtomicU32::new(0),
            changes: AtomicU32::new(0),
            naps: AtomicU32::new(0),
            idle: AtomicU64::new(0),
            roams: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Where its own context is kept while it runs members.
    pub fn home(&self) -> *mut Fiber {
        self.home.get()
    }

    /// Waits until there may be something to do, for a while at most: asleep, unless that would leave a
    /// context without use.
    pub fn nap<T>(&self, look: impl Fn() -> Option<T>) -> Option<T> {
        let since = ticks();
        while has_context(self.number()) && ticks().wrapping_sub(since) < LOOKS_TICKS {
            if let Some(found) = look() {
                return Some(found);
            }
            (0..ROUNDS).for_each(|_| spin_loop());
        }
        self.naps.store(1, Ordering::Relaxed);
        let found = SCHEDULER.nap(&Futex, NAP_MS, look);
        self.naps.store(0, Ordering::Relaxed);
        found
    }

    /// It has had nothing to do since `since`, in ticks.
    #[inline]
    pub fn was_idle(&self, since: u64) {
        self.idle.fetch_add(ticks().wrapping_sub(since), Ordering::Relaxed);
    }

    /// How long it had nothing to do since this was last asked, in ticks.
    pub fn take_idle(&self) -> u64 {
        if self.idle.load(Ordering::Relaxed) == 0 { 0 } else { self.idle.swap(0, Ordering::Relaxed) }
    }

    #[inline]
    pub fn roams(&self) -> bool {
        self.roams.load(Ordering::Relaxed) != 0
    }

    #[inline]
    pub fn set_roams(&self, roams: bool) {
        self.roams.store(roams.into(), Ordering::Relaxed);
    }

    /// It changes to another context.
    #[inline(always)]
    pub fn has_changed(&self) {
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

pub static CARRIERS: [Carrier; MOST] = [const { Carrier::new() }; MOST];
/// The master's own kernel thread.
pub static MASTERS: &Carrier = &CARRIERS[0];

/// A region begins.
pub fn reset_idle() {
    take_idle();
}

/// Ticks in which carriers of the region had nothing to do.
pub fn take_idle() -> u64 {
    let others = CARRIERS.iter().skip(1).take_while(|carrier| carrier.there.load(Ordering::Relaxed) != 0);
    others.fold(MASTERS.take_idle(), |sum, carrier| sum.wrapping_add(carrier.take_idle()))
}
