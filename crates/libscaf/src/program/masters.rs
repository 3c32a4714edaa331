//! The threads that start regions, each with a slot of the report page, and their teams' shared budget.

use super::promise;
use crate::link::affinity::own_pus;
use crate::link::{attachment, pages};
use crate::runtimes::copies::RUNTIMES;
use crate::runtimes::entries::Runtime;
use crate::sys::kernel_threads::when_ends;
use crate::sys::thread_state::{self, PROGRAM_AT, Part, REGION_AT};
use core::cell::Cell;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_proto::report::{SLOTS, Slot, fact};

/// What is kept of each thread as one that starts regions.
pub struct Master {
    /// Number of its slot, plus one; 0 before its first region, [`NO_SLOT`] where there was none left.
    pub slot: Cell<u32>,
    /// Parallel regions around it.
    pub depth: Cell<u32>,
    /// Short regions until the next measured one.
    pub left_out: Cell<u32>,
}

/// Value of [`Master::slot`] for a master that runs unmeasured.
pub const NO_SLOT: u32 = u32::MAX;

// SAFETY: numbers may be 0; `Cell`s aren't `Sync`; the bytes are `program`'s.
unsafe impl Part for Master {
    const AT: usize = PROGRAM_AT;
    const END: usize = REGION_AT;
}

#[inline(always)]
pub fn master() -> &'static Master {
    thread_state::own()
}

/// Team size of the program without scaf, as last reported; 0 until known.
static NATURAL: AtomicU32 = AtomicU32::new(0);
/// Threads that other libraries' work would run on without scaf; 0 if there is none.
static OTHER: AtomicU32 = AtomicU32::new(0);
/// The same for the program's own pools, which may go again.
static POOLS: AtomicU32 = AtomicU32::new(0);
/// The team size that each copy of the runtime has said: they may differ.
static NATURALS: [AtomicU32; RUNTIMES] = [const { AtomicU32::new(0) }; RUNTIMES];
static SLOTS_TAKEN: AtomicU32 = AtomicU32::new(0);
/// Threads of the measured team that runs; [`u32::MAX`] if there is none, or there may be others, and where
/// one is gathered from its beginning.
pub static LATEST: AtomicU32 = AtomicU32::new(u32::MAX);
/// Threads in the teams of all masters; kept only while there are several masters.
static IN_TEAMS: AtomicU32 = AtomicU32::new(0);

#[inline(always)]
pub fn natural() -> u32 {
    NATURAL.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn in_teams() -> u32 {
    IN_TEAMS.load(Ordering::Relaxed)
}

#[inline(always)]
pub fn ask_natural(runtime: &Runtime) -> u32 {
    let Some(most) = runtime.ask_max_threads() else { return 1 };
    let natural = most.max(1) as u32;
    let before = NATURALS.get(runtime.number()).map_or(0, |said| said.swap(natural, Ordering::Relaxed));
    if before != natural || natural != self::natural() {
        if before != natural && before != 0 {
            // The program set it in a way that we haven't seen, say through a handle of the runtime's file.
            promise::record(fact::SET_NUM_THREADS);
        }
        NATURAL.store(natural, Ordering::Relaxed);
        report_natural();
    }
    natural
}

/// Threads that work outside of OpenMP would run on without scaf; 0 if none is known.
#[inline(always)]
pub fn other() -> u32 {
    OTHER.load(Ordering::Relaxed).max(in_pools())
}

#[inline(always)]
pub fn widen(threads: u32) {
    if threads > OTHER.load(Ordering::Relaxed) && OTHER.fetch_max(threads, Ordering::Relaxed) < threads {
        report_natural();
    }
}

/// Threads of the program's largest pool, 0 if there is none.
#[inline(always)]
pub fn in_pools() -> u32 {
    POOLS.load(Ordering::Relaxed)
}

pub fn set_pools(threads: u32) {
    if POOLS.swap(threads, Ordering::Relaxed) != threads {
        report_natural();
    }
}

pub fn report_natural() {
    attachment::set_natural(natural().max(other()).clamp(1, 65_535));
}

/// After attaching. While it isn't known, what the program has said as it attached stands.
pub fn report_known() {
    if natural().max(other()) != 0 {
        report_natural();
    }
}

pub fn look(runtime: &Runtime) {
    ask_natural(runtime);
}

#[inline(always)]
pub fn one_master() -> bool {
    let taken = SLOTS_TAKEN.load(Ordering::Relaxed);
    taken & taken.wrapping_sub(1) == 0
}

/// A measured team of so many threads begins.
#[inline(always)]
pub fn begin_team(team: u32) {
    LATEST.store(team, Ordering::Relaxed);
    // Or another master came meanwhile.
    if !one_master() {
        forget_team();
    }
}

/// It has ended, or there may be others.
#[inline(always)]
pub fn forget_team() {
    if LATEST.load(Ordering::Relaxed) != u32::MAX {
        LATEST.store(u32::MAX, Ordering::Relaxed);
    }
}

pub fn is_team_running() -> bool {
    LATEST.load(Ordering::Relaxed) != u32::MAX
}

/// Whether that team is larger than the grant now; where there may be others, whether a full one would be.
#[inline(always)]
pub fn is_latest_oversubscribed() -> bool {
    is_oversubscribed(match LATEST.load(Ordering::Relaxed) {
        u32::MAX => natural(),
        team => team,
    })
}

/// Whether the program's threads are more than its contexts, if one of its teams has `team` threads.
#[inline(always)]
pub fn is_oversubscribed(team: u32) -> bool {
    let word = pages::grant().word();
    word.folded() && word.dop().is_some_and(|dop| team.max(in_teams()) > dop)
}

/// Whether a team has more threads than the program has PUs of its own, by its own choice.
#[inline(always)]
pub fn is_too_large(team: u32) -> bool {
    team > own_pus() && pages::grant().word().dop().is_some()
}

/// Joins the masters that share the budget: each takes what others leave. Returns what [`leave_teams`] gets.
#[inline(always)]
pub fn join_teams(team: u32) -> u32 {
    if one_master() {
        return 0;
    }
    IN_TEAMS.fetch_add(team, Ordering::Relaxed);
    team
}

#[inline(always)]
pub fn leave_teams(team: u32) {
    if team != 0 {
        // In a child of a fork in a region it isn't counted any more.
        let left = |all: u32| all.checked_sub(team);
        let _ = IN_TEAMS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
    }
}

/// The calling master's slot; taken at its first region, given back when its thread ends.
#[inline(always)]
pub fn slot_of(this: &Master) -> Option<&'static Slot> {
    if this.slot.get() == 0 {
        this.slot.set(take_slot());
    }
    pages::report().slot((this.slot.get() as usize).wrapping_sub(1))
}

#[cold]
fn take_slot() -> u32 {
    loop {
        let taken = SLOTS_TAKEN.load(Ordering::Relaxed);
        let free = taken.trailing_ones();
        if free as usize >= SLOTS {
            promise::record(fact::OVERFLOW);
            return NO_SLOT;
        }
        let now = taken | 1 << (free & 31);
        if SLOTS_TAKEN.compare_exchange(taken, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            when_ends(ended, free + 1);
            return free + 1;
        }
    }
}

extern "C" fn ended(slot: *mut c_void) {
    free_slot(slot.addr() as u32);
}

/// Frees a slot; `slot` is its number plus one.
pub fn free_slot(slot: u32) {
    SLOTS_TAKEN.fetch_and(!(1 << (slot.wrapping_sub(1) & 31)), Ordering::Relaxed);
}

/// Takes the slot from a thread that doesn't end. Returns its number plus one, for [`free_slot`], or 0.
pub fn leave_slot() -> u32 {
    master().slot.take()
}

pub fn after_fork() {
    let slot = master().slot.get();
    let mine = if slot == 0 || slot == NO_SLOT { 0 } else { 1 << (slot.wrapping_sub(1) & 31) };
    SLOTS_TAKEN.store(mine, Ordering::Relaxed);
    IN_TEAMS.store(0, Ordering::Relaxed);
    LATEST.store(u32::MAX, Ordering::Relaxed);
    NATURAL.store(0, Ordering::Relaxed);
    OTHER.store(0, Ordering::Relaxed);
    POOLS.store(0, Ordering::Relaxed);
    for said in &NATURALS {
        said.store(0, Ordering::Relaxed);
    }
}
