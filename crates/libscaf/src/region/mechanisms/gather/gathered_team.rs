//! The gathered team: there is one at a time, because programs with several masters aren't gathered.

use super::current_task::CurrentTask;
use super::icvs::Icvs;
use super::inner_region::Inner;
use super::llvm_state::LlvmState;
use super::signal_state::SignalState;
use crate::link::pages;
use crate::region::thread::thread;
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

/// Size of the largest team that is gathered.
pub const MOST: usize = 64;

// Large, and not zero: in a section of their own they aren't between what every start writes
// (`crate::loaded`).
#[unsafe(link_section = "scaf_tables")]
pub static SCHEDULER: FiberScheduler<MOST> = FiberScheduler::new();
#[unsafe(link_section = "scaf_tables")]
pub static SHARES: Shares = Shares::new();
#[unsafe(link_section = "scaf_tables")]
pub static MEMBERS: Members = Members([const { Member::new() }; MOST]);

/// A member. The thread that runs it uses it alone.
#[repr(align(64))]
pub struct Member {
    pub fiber: UnsafeCell<Fiber>,
    pub number: Cell<u32>,
    /// The carrier that runs it.
    pub carrier: Cell<Option<&'static Carrier>>,
    /// Number of the worksharing construct that it reached last.
    pub share: Cell<u32>,
    /// What it was assigned of that one.
    pub assigned: Cell<Assigned>,
    /// Which iterations of its `doacross` loop are complete.
    pub marks: Cell<&'static [AtomicU64]>,
    /// Its internal control variables, if the program may ask for them.
    pub icvs: Cell<Icvs>,
    /// Its current task.
    pub task: Cell<CurrentTask>,
    /// The innermost nested region that it is in.
    pub inner: Cell<*const Inner>,
    /// Signal state that it has changed on its kernel thread.
    pub changed: Cell<SignalState>,
    /// What is cancelled in its nested region; for the gathered region, the scheduler knows.
    pub cancelled: Cell<u32>,
    /// What `omp_get_max_threads` returns.
    pub most: Cell<u32>,
    /// What LLVM's runtime would keep for it.
    pub llvm: LlvmState,
}

/// What all members of the region share.
pub struct Team {
    pub body: Cell<Option<Body>>,
    pub data: Cell<*mut c_void>,
    /// Number of the last worksharing construct before the region.
    pub share: Cell<u32>,
    /// Whether the program may create tasks.
    pub has_tasks: Cell<bool>,
    /// Whether members may cancel constructs.
    pub cancels: Cell<bool>,
    /// Data of one member that the others copy.
    pub copied: AtomicPtr<c_void>,
    /// 1 while a member adds its values to a reduction's result.
    pub adding: AtomicU32,
}

// SAFETY: the master writes the cells before the scheduler opens the region; members only read them.
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
            task: Cell::new(CurrentTask::IMPLICIT),
            inner: Cell::new(null()),
            changed: Cell::new(SignalState::NOTHING),
            cancelled: Cell::new(0),
            most: Cell::new(0),
            llvm: LlvmState::new(),
        }
    }
    #[inline(always)]
    pub fn inside(&self) -> Option<&Inner> {
        // SAFETY: it lives on the member's stack until the nested region ends.
        unsafe { self.inner.get().as_ref() }
    }

    /// Whether it is alone in a nested region.
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

    /// Number of parallel regions around it, including the gathered one.
    pub fn levels(&self) -> c_int {
        let mut levels = (self.llvm.opened.get() as c_int).wrapping_add(1);
        let mut inner = self.inner.get();
        // SAFETY: nested regions live on the member's stack until they end.
        while let Some(one) = unsafe { inner.as_ref() } {
            levels += 1;
            inner = one.outer;
        }
        levels
    }
}

/// The member that the calling thread runs. A `&'static Member` stands for the right to act as that member:
/// besides this, only [`Members::get`] gives one.
#[inline(always)]
pub fn current() -> Option<&'static Member> {
    // SAFETY: it is null or points to a member, which is a static. Only the thread itself sets it, while it
    // runs that member.
    unsafe { thread().member.get().cast::<Member>().as_ref() }
}

/// The members of the one gathered team.
pub struct Members([Member; MOST]);

// SAFETY: members are reached through `get`, whose callers see to it that no two threads use one.
unsafe impl Sync for Members {}

impl Members {
    /// # Safety
    /// The calling thread runs the member, or nobody does and the fiber scheduler gives it to no other.
    #[inline(always)]
    pub unsafe fn get(&self, number: usize) -> Option<&Member> {
        self.0.get(number)
    }

    /// The first `size` members.
    /// # Safety
    /// As for [`Self::get`], for each of them.
    pub unsafe fn all(&self, size: u32) -> impl Iterator<Item = (usize, &Member)> {
        self.0.iter().enumerate().take(size as usize)
    }
}

/// Longest nap of a carrier, in milliseconds.
const NAP_MS: u32 = 2;
/// How long (about 0.1 ms) a carrier with a context of its own looks for ready fibers before it naps, in
/// ticks, and spin rounds between two looks: each look reads cache lines that others write.
const LOOKS_TICKS: u64 = 1 << 18;
const ROUNDS: u32 = 16;

/// Whether this carrier has a context of its own, and threads of this program may spin. Carriers that were
/// added for blocked ones exceed the contexts.
pub fn has_context(number: u32) -> bool {
    let dop = pages::grant().word().dop().unwrap_or(0);
    dop > 1
        && number < dop
        && SCHEDULER.carrier_limit() <= dop
        && settings::get().spin.is_some_and(|rounds| rounds != 0)
}

/// A carrier. It writes to its own cache lines at each switch.
#[repr(align(64))]
pub struct Carrier {
    /// The fiber of its own stack and TLS.
    pub own_fiber: UnsafeCell<Fiber>,
    /// Its kernel thread's own signal state, while a member has changed it.
    pub own: Cell<SignalState>,
    pub number: AtomicU32,
    /// Its kernel thread's number.
    pub task: AtomicU32,
    /// 1 if its thread exists.
    pub there: AtomicU32,
    /// Number of switches.
    pub changes: AtomicU32,
    /// 1 while it naps.
    pub naps: AtomicU32,
    /// Ticks without work since that was last asked.
    idle: AtomicU64,
    /// 1 if it last found ready members outside its own part.
    roams: AtomicU32,
}

// SAFETY: only the carrier's own thread uses its cells.
unsafe impl Sync for Carrier {}

impl Carrier {
    const fn new() -> Carrier {
        Carrier {
            own_fiber: UnsafeCell::new(Fiber::NONE),
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

    /// Where its own fiber is saved while it runs members.
    pub fn own_fiber(&self) -> *mut Fiber {
        self.own_fiber.get()
    }

    /// Waits for work for a limited time: spins while that leaves no context unused that others could use,
    /// then sleeps.
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

    /// It has had no work since tick `since`.
    #[inline]
    pub fn was_idle(&self, since: u64) {
        self.idle.fetch_add(ticks().wrapping_sub(since), Ordering::Relaxed);
    }

    /// Ticks without work since this was last called.
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

    /// It switches fibers.
    #[inline(always)]
    pub fn has_changed(&self) {
        self.changes.store(self.changes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

pub static CARRIERS: [Carrier; MOST] = [const { Carrier::new() }; MOST];
/// The carrier that is the master's own kernel thread.
pub static MASTERS: &Carrier = &CARRIERS[0];

/// A region begins.
pub fn reset_idle() {
    take_idle();
}

/// Ticks in which carriers of the region had no work.
pub fn take_idle() -> u64 {
    let others = CARRIERS.iter().skip(1).take_while(|carrier| carrier.there.load(Ordering::Relaxed) != 0);
    others.fold(MASTERS.take_idle(), |sum, carrier| sum.wrapping_add(carrier.take_idle()))
}
