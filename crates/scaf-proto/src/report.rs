//! The report page: what a program's parallel regions did. Written by the client, mapped read-only by the
//! daemon. Each thread that enters regions, a *master*, has a [`Slot`] of its own, so that each counter has
//! one writer, but for what its team writes ([`Slot::add_wait`], [`Slot::set_mechanism`]). Times are ticks of
//! the time-stamp counter, whose rate the daemon knows. Users of [`ReportPage::read`] check the ranges.

use crate::child_starts::Starts;
use crate::experiment::Experiments;
use crate::rank::Rank;
use crate::rows::Rows;
use crate::runtimes::Runtimes;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::{MAGIC, VERSION, seq};

/// Masters that can be measured at a time; further ones run unmeasured.
pub const SLOTS: usize = 30;

const NAME_WORDS: usize = 8;
/// Bytes of a function's name; of a longer one the beginning is kept.
pub const NAME_BYTES: usize = 4 * NAME_WORDS;

/// What the program has done so far that limits what may be done to it (bits of [`Totals::facts`]).
pub mod fact {
    /// A region had an explicit `num_threads` clause.
    pub const NUM_THREADS_CLAUSE: u32 = 1 << 0;
    /// The program called `omp_set_num_threads`.
    pub const SET_NUM_THREADS: u32 = 1 << 1;
    /// The program called `omp_set_dynamic(0)`.
    pub const SET_DYNAMIC_OFF: u32 = 1 << 2;
    /// The program asked `omp_get_max_threads`: its buffers may have that size.
    pub const ASKED_MAX_THREADS: u32 = 1 << 3;
    /// The program has more masters than slots.
    pub const OVERFLOW: u32 = 1 << 4;
    /// The process has two copies of LLVM's runtime (mostly libomp and libiomp5), each with its own threads.
    pub const TWO_LLVMS: u32 = 1 << 5;
    /// All loops that spin on memory yield where its team has fewer contexts than threads.
    pub const YIELDS: u32 = 1 << 6;
    /// A clause said that its number is no upper limit but the size (`num_threads(strict: ...)`).
    pub const STRICT: u32 = 1 << 7;
    /// While `scaf check` tries it out: a team in a library's code was resized, or might have been.
    pub const TRIED_ELSEWHERE: u32 = 1 << 8;
}

/// One master's counters. Each store delays the runtime's next atomic operation, so there are few, and short
/// regions of one thread are reported many at a time.
#[cfg_attr(loom, derive(Default))]
#[repr(C, align(64))]
pub struct Slot {
    /// Guards the sums below; a write a region, so it also counts the regions reported.
    seq: AtomicU64,
    entered: AtomicU64,
    /// Wall ticks within regions of one thread, and of several.
    alone: AtomicU64,
    wall: AtomicU64,
    capacity: AtomicU64,
    useful: AtomicU64,
    /// Ticks that threads waited; all threads of the team add.
    waits: AtomicU64,
    /// `waits` when the latest region was left, and so when the next one is entered.
    waits_left: AtomicU64,
    promised: AtomicU64,
    team_since: AtomicU64,
    /// Regions of one thread that were not reported one by one.
    others: AtomicU64,
    /// Team size of the latest region; in the upper half the number of its mechanism.
    team: AtomicU64,
    _reserve: [u64; 4],
}

/// A consistent copy of a [`Slot`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SlotCopy {
    /// Threads of the region that is running; 0 between regions.
    pub team: u32,
    /// When that region was entered.
    pub entered: u64,
    /// Regions that ended.
    pub regions: u64,
    /// Regions among them whose team size the program fixed.
    pub promised: u64,
    /// Ticks from the entries of these to their ends.
    pub wall: u64,
    /// Wall ticks times team size.
    pub capacity: u64,
    /// Ticks that threads spent in the outlined function, less their waits.
    pub useful: u64,
    /// Ticks that threads waited at barriers and loop ends, those of the running region included.
    pub waits: u64,
    /// `waits` when the running region was entered.
    pub waits_at_entry: u64,
    /// Team size of the latest region.
    pub last_team: u32,
    /// When a region first had that team size.
    pub team_since: u64,
    /// How the latest region follows the grant: a number of `scaf_team::Mechanism`; 0 before the first.
    pub mechanism: u32,
}

impl Slot {
    /// Master: a region of `team` threads begins at tick `now`, with the mechanism of that number.
    #[inline(always)]
    pub fn enter(&self, team: u32, mechanism: u32, now: u64) {
        let (before, latest) =
            (self.team.load(Ordering::Relaxed), u64::from(mechanism) << 32 | u64::from(team));
        if before != latest {
            self.team.store(latest, Ordering::Relaxed);
            if before as u32 != team {
                self.team_since.store(now, Ordering::Relaxed);
            }
        }
        self.entered.store(now, Ordering::Relaxed);
    }

    /// Master: a region of one thread ends, with `others` like it unreported so far; `wall` is their ticks.
    #[inline(always)]
    pub fn leave_alone(&self, wall: u64, others: u64) {
        // The page was exchanged while the region ran: its entry is not on this one.
        if self.entered.load(Ordering::Relaxed) == 0 {
            return;
        }
        let write = seq::begin(&self.seq);
        self.entered.store(0, Ordering::Relaxed);
        bump(&self.alone, wall);
        bump(&self.others, others);
        seq::end(&self.seq, write);
    }

    /// Master: the region of `team` threads ends at tick `now`. `inside` is the sum of their ticks in the
    /// outlined function, waits included. Returns the useful ones.
    #[inline(always)]
    pub fn leave(&self, now: u64, team: u32, inside: u64) -> u64 {
        let entered = self.entered.load(Ordering::Relaxed);
        if entered == 0 {
            return 0;
        }
        let wall = now.wrapping_sub(entered);
        let waits = self.waits.load(Ordering::Relaxed);
        let waited = waits.wrapping_sub(self.waits_left.load(Ordering::Relaxed));
        let write = seq::begin(&self.seq);
        self.entered.store(0, Ordering::Relaxed);
        self.waits_left.store(waits, Ordering::Relaxed);
        bump(&self.wall, wall);
        bump(&self.capacity, wall.wrapping_mul(u64::from(team)));
        let useful = inside.saturating_sub(waited);
        bump(&self.useful, useful);
        seq::end(&self.seq, write);
        useful
    }

    /// Master: when the running region was entered; 0 between regions.
    #[inline(always)]
    pub fn entered(&self) -> u64 {
        self.entered.load(Ordering::Relaxed)
    }

    /// Master: the program fixed the team size of a region itself.
    #[inline(always)]
    pub fn add_promised(&self) {
        bump(&self.promised, 1);
    }

    /// Any thread of the master's team: the region follows the grant by another mechanism from now on.
    pub fn set_mechanism(&self, mechanism: u32) {
        let team = self.team.load(Ordering::Relaxed) & u64::from(u32::MAX);
        self.team.store(u64::from(mechanism) << 32 | team, Ordering::Relaxed);
    }

    /// Any thread of the master's team: it waited for `ticks` within the region.
    #[inline(always)]
    pub fn add_wait(&self, ticks: u64) {
        self.waits.fetch_add(ticks, Ordering::Relaxed);
    }

    fn copy(&self) -> Option<SlotCopy> {
        seq::read(&self.seq, || {
            let alone = self.alone.load(Ordering::Relaxed);
            let entered = self.entered.load(Ordering::Relaxed);
            let latest = self.team.load(Ordering::Relaxed);
            let last_team = latest as u32;
            SlotCopy {
                team: if entered == 0 { 0 } else { last_team },
                entered,
                regions: seq::writes(&self.seq).wrapping_add(self.others.load(Ordering::Relaxed)),
                promised: self.promised.load(Ordering::Relaxed),
                wall: self.wall.load(Ordering::Relaxed).wrapping_add(alone),
                capacity: self.capacity.load(Ordering::Relaxed).wrapping_add(alone),
                useful: self.useful.load(Ordering::Relaxed).wrapping_add(alone),
                waits: self.waits.load(Ordering::Relaxed),
                waits_at_entry: self.waits_left.load(Ordering::Relaxed),
                last_team,
                team_since: self.team_since.load(Ordering::Relaxed),
                mechanism: (latest >> 32) as u32,
            }
        })
    }
}

/// One writer, so a plain load and store instead of a locked addition (1 ns instead of 5).
#[inline(always)]
fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

/// A store only of another value: each one takes the cache line from its readers.
fn update(cell: &AtomicU32, value: u32) {
    if cell.load(Ordering::Relaxed) != value {
        cell.store(value, Ordering::Relaxed);
    }
}

/// The page itself. All fields belong to the client.
#[repr(C, align(64))]
pub struct ReportPage {
    magic: AtomicU32,
    version: AtomicU32,
    natural: AtomicU32,
    facts: AtomicU32,
    modules: AtomicU32,
    /// Why teams aren't gathered, and the name of the function that forbids it.
    ungathered: AtomicU32,
    forbids: [AtomicU32; NAME_WORDS],
    /// Who overrules the code analysis and permits smaller teams.
    permission: AtomicU32,
    sizes: AtomicU32,
    slots: [Slot; SLOTS],
    rows: Rows,
    experiments: Experiments,
    runtimes: Runtimes,
    rank: Rank,
    starts: Starts,
}

/// What the page says of the program as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// Team size that the program would have without scaf; 0 until known.
    pub natural: u32,
    /// Bits of [`fact`].
    pub facts: u32,
    /// Modules with parallel regions that the client has met.
    pub modules: u32,
    /// Why teams aren't gathered: a number of `scaf_team::gather::obstacle::Obstacle`, or 0.
    pub ungathered: u32,
    /// The name of the function that forbids it, if one does; ends with zeros.
    pub forbids: [u8; NAME_BYTES],
    /// Who overrules the code analysis and permits smaller teams, for the latest region: a number of
    /// `scaf_team::permission::Permission`, or 0.
    pub permission: u32,
    /// Sizes that resized teams had so far in the executable's own code, while `scaf check` tries it out: bit
    /// N for N threads, modulo 32.
    pub sizes: u32,
}

impl ReportPage {
    /// Threads that are making a child.
    pub fn starts(&self) -> &Starts {
        &self.starts
    }

    /// Client: stamps a zeroed page.
    pub fn stamp(&self) {
        self.version.store(VERSION, Ordering::Relaxed);
        self.magic.store(MAGIC, Ordering::Release);
    }

    /// Client: the counters of master number `index`; `None` from [`SLOTS`] on.
    #[inline(always)]
    pub fn slot(&self, index: usize) -> Option<&Slot> {
        self.slots.get(index)
    }

    /// What the runs of each region took: the client adds, the daemon reads.
    #[inline(always)]
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Serial experiments: the client writes, the daemon reads.
    pub fn experiments(&self) -> &Experiments {
        &self.experiments
    }

    /// Runtimes that the program has: the client writes, the daemon reads.
    pub fn runtimes(&self) -> &Runtimes {
        &self.runtimes
    }

    /// What a rank of an MPI job says: the client writes, the daemon reads.
    pub fn rank(&self) -> &Rank {
        &self.rank
    }

    /// Client: sets the team size that the program would have without scaf.
    pub fn set_natural(&self, threads: u32) {
        self.natural.store(threads, Ordering::Relaxed);
    }

    /// Client: adds bits of [`fact`].
    pub fn add_facts(&self, facts: u32) {
        self.facts.fetch_or(facts, Ordering::Relaxed);
    }

    /// Client: sets how many modules with parallel regions it has met.
    pub fn set_modules(&self, modules: u32) {
        self.modules.store(modules, Ordering::Relaxed);
    }

    /// Client: sets why teams aren't gathered; 0 where they are.
    pub fn set_ungathered(&self, why: u32) {
        update(&self.ungathered, why);
    }

    /// Client: sets who permits smaller teams; 0 where nobody does.
    pub fn set_permission(&self, number: u32) {
        update(&self.permission, number);
    }

    /// Client: a team that may be resized has that size.
    pub fn add_size(&self, team: u32) {
        let bit = 1 << (team % 32);
        if self.sizes.load(Ordering::Relaxed) & bit == 0 {
            self.sizes.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Client: the name of the function that forbids it.
    pub fn set_forbids(&self, name: &[u8; NAME_BYTES]) {
        for (word, bytes) in self.forbids.iter().zip(name.as_chunks().0) {
            word.store(u32::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// Daemon: copies head and slots; `None` if the page isn't of this version. A slot whose writer was in a
    /// write in every try is `None`; each other slot is consistent by itself.
    pub fn read(&self) -> Option<(Totals, [Option<SlotCopy>; SLOTS])> {
        if self.magic.load(Ordering::Acquire) != MAGIC || self.version.load(Ordering::Relaxed) != VERSION {
            return None;
        }
        let totals = Totals {
            natural: self.natural.load(Ordering::Relaxed),
            facts: self.facts.load(Ordering::Relaxed),
            modules: self.modules.load(Ordering::Relaxed),
            ungathered: self.ungathered.load(Ordering::Relaxed),
            permission: self.permission.load(Ordering::Relaxed),
            sizes: self.sizes.load(Ordering::Relaxed),
            forbids: core::array::from_fn(|at| {
                self.forbids[at / 4].load(Ordering::Relaxed).to_ne_bytes()[at % 4]
            }),
        };
        Some((totals, core::array::from_fn(|i| self.slots[i].copy())))
    }
}

#[cfg(not(loom))]
const _: () = {
    assert!(size_of::<Slot>() == 128);
    assert!(size_of::<ReportPage>() <= crate::PAGE_BYTES);
    assert!(core::mem::offset_of!(ReportPage, slots) == 64);
    assert!(core::mem::offset_of!(Slot, waits) == 48);
};

#[cfg(loom)]
impl Slot {
    /// Under loom a slot is model-checked on its own: a page of 30 would be out of loom's reach.
    pub fn model_copy(&self) -> Option<SlotCopy> {
        self.copy()
    }
}

#[cfg(all(test, not(loom)))]
#[path = "report_tests.rs"]
mod tests;
