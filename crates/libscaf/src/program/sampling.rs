//! What is remembered of a region: how long it is, which of its runs are measured, and what the others count
//! for.
//!
//! Measuring costs 10 ns a time stamp, and 150 ns for each thread's time at two threads: a cache line moves
//! between cores. That is nothing for a region of 20 us and a lot for one of 0.3 us. So a region that has
//! been short several times in a row is *sampled*: of [`SAMPLE`] runs one is measured, and the others count
//! as that one did. What is remembered of a region is its [`Note`], one word.
//!
//! A run with several threads still has its time stamps taken, because the region may have become a long one.
//! With one thread that can wait for the next measured run: its time counts as one context's use, in a region
//! or not.

use super::masters::one_master;
use super::thread::Master;
use crate::link::grant::dop_of;
use crate::link::pages;
use crate::runtimes::entries::Body;
use crate::runtimes::lookup::Code;
use core::sync::atomic::{AtomicU64, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::rows::{Key, ROWS};
use scaf_team::choice::Length;

/// Regions up to this long (8 to 16 us at 2 to 4 GHz) are short.
const SHORT_TICKS: u64 = 1 << 15;
/// Regions from this long on (70 to 130 ms) are long: they are to follow a grant that changes meanwhile.
/// Shorter ones follow at the next entry, for a folded team takes 5 to 26% longer than a resized one
/// (docs/decisions/waits.md).
const LONG_TICKS: u64 = 1 << 28;
/// One of so many runs of short regions is measured. A prime, so that of regions that take turns each is met.
const SAMPLE: u32 = 61;
/// Measured runs in a row that must have been short, without tasks and nested regions, before runs are left
/// out.
const STREAK: u64 = 4;
/// The same for runs of one thread, whose time isn't taken at all: a region may be a short one at a
/// multigrid's coarse levels and a long one at the fine ones, and those mustn't be missed. Above what such a
/// cycle has, and one bit of a note.
const STREAK_ALONE: u64 = 128;

/// Lower 16 bits: the useful share of a team's time. Next 16: wall ticks with one thread. Then 8 bits each:
/// how many measured runs in a row were short, with several threads and with one. Shares and ticks are
/// smoothed. Then [`LENGTH`], [`WHOLE`], [`ROW`], and [`MARKED`].
pub struct Note(u64);

/// Bits of a note: 0 if the region hasn't run yet, else [`NOT_LONG`] or [`LONG`], as its latest measured run
/// was; or [`WAS_LONG`], as only the one before was. Programs run a region once for a start and then at
/// length.
const LENGTH: u64 = 3 << 48;
const NOT_LONG: u64 = 1 << 48;
const LONG: u64 = 2 << 48;
const WAS_LONG: u64 = 3 << 48;

/// Two bits of a note: how many measured runs had all threads that they should have, up to [`ENOUGH`]; or
/// [`NEVER`].
const WHOLE: u64 = 3 << 50;
const ONE_WHOLE: u64 = 1 << 50;
const ENOUGH: u64 = 2 << 50;
/// The region's threads turned out to need each other.
const NEVER: u64 = 3 << 50;

/// Eight bits of a note: where the region's latest row on the report page is.
const ROW: u64 = 0xff << ROW_SHIFT;
const ROW_SHIFT: u32 = 52;
const _: () = assert!(ROWS <= 0xff);
/// A bit of a note: the region is told by its barriers, at every DoP and from its start.
const MARKED: u64 = 1 << 60;

/// A bit of a note: members of the region's gathered team got stuck too often.
const STUCK: u64 = 1 << 61;

/// Runs of a region with teams of one size.
pub struct Runs {
    /// The grant under which the latest one was entered.
    pub grant: Word,
    /// Threads of each team.
    pub team: u32,
    /// How many they are.
    pub count: u64,
    /// Ticks of all.
    pub wall: u64,
    /// Iterations of each, where the region is one loop.
    pub iterations: Option<u64>,
}

/// The useful share of a team's time, in 65,536ths.
pub struct Share(u64);

impl Share {
    /// The useful part of `ticks` spent by a team.
    #[inline(always)]
    pub fn of(&self, ticks: u64) -> u64 {
        // Only a region that was short a moment ago is estimated, so the product doesn't overflow: 2^48 ticks
        // are a day.
        ticks.wrapping_mul(self.0) >> 16
    }
}

impl Note {
    /// What is remembered of a region.
    #[inline(always)]
    pub fn of(code: Code) -> Note {
        Note(code.note.load(Ordering::Relaxed))
    }

    /// The share that this run of several threads is to count for, if it is one that isn't measured.
    #[inline(always)]
    pub fn team(&self, this: *mut Master) -> Option<Share> {
        (self.team_streak() >= STREAK && is_left_out(this)).then_some(Share(self.0 & 0xffff))
    }

    /// Whether runs of one thread are left out.
    #[inline(always)]
    pub fn is_short_alone(&self) -> bool {
        self.alone_streak() >= STREAK_ALONE
    }

    /// How many runs of one thread are left out for each that is measured, and their ticks together.
    #[inline(always)]
    pub fn left_out_alone(&self) -> (u64, u64) {
        let others = if self.is_short_alone() { u64::from(SAMPLE) - 1 } else { 0 };
        (others, others * (self.0 >> 16 & 0xffff))
    }

    /// How long the region takes.
    #[inline(always)]
    pub fn length(&self) -> Length {
        match self.0 & LENGTH {
            0 => Length::Unknown,
            LONG | WAS_LONG => Length::Long,
            _ => Length::Short,
        }
    }

    /// A run took `wall` ticks of which nothing else is known.
    #[inline(always)]
    pub fn learn_length(note: &AtomicU64, wall: u64) {
        let before = note.load(Ordering::Relaxed);
        let now = before & (WHOLE | ROW | MARKED | STUCK) | length(before, wall);
        if before != now {
            note.store(now, Ordering::Relaxed);
        }
    }

    /// Whether the region is told by its barriers.
    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.0 & MARKED != 0
    }

    /// It is from now on.
    #[inline(always)]
    pub fn learn_marked(code: Code) {
        let before = code.note.load(Ordering::Relaxed);
        if before & MARKED == 0 {
            code.note.store(before | MARKED, Ordering::Relaxed);
        }
    }

    /// Reports runs of a region. If the grant changed in the latest of them, they say nothing about any DoP.
    #[inline(always)]
    pub fn report(code: Code, body: Body, runs: &Runs) {
        let before = code.note.load(Ordering::Relaxed);
        let row = ((before & ROW) >> ROW_SHIFT) as usize;
        if pages::grant().word() != runs.grant || !one_master() {
            return;
        }
        let region = body as usize;
        let key = if runs.iterations.is_some() { Key::of_loop } else { Key::new }(region, dop_of(runs.team));
        let iterations = runs.iterations.map_or(0, |each| each.wrapping_mul(runs.count));
        let at = pages::report().rows().add(row, key, runs.count, runs.wall, iterations);
        if at != row && at < ROWS {
            code.note.store(before & !ROW | (at as u64) << ROW_SHIFT & ROW, Ordering::Relaxed);
        }
    }

    /// Whether the region has run often enough with all its threads for it to be tried with fewer.
    #[inline(always)]
    pub fn has_run_whole(&self) -> bool {
        self.0 & WHOLE == ENOUGH
    }

    /// A run had all its threads.
    #[inline(always)]
    pub fn learn_whole(code: Code) {
        let note = code.note.load(Ordering::Relaxed);
        if note & WHOLE < ENOUGH {
            code.note.store(note.wrapping_add(ONE_WHOLE), Ordering::Relaxed);
        }
    }

    /// The region's threads need each other.
    #[cold]
    pub fn never_virtual(code: Code) {
        code.note.fetch_or(NEVER, Ordering::Relaxed);
    }

    /// Whether the region's team isn't to be gathered any more.
    #[inline(always)]
    pub fn is_never_gathered(&self) -> bool {
        self.0 & STUCK != 0
    }

    /// It isn't from now on.
    #[cold]
    pub fn never_gather(code: Code) {
        code.note.fetch_or(STUCK, Ordering::Relaxed);
    }

    fn team_streak(&self) -> u64 {
        self.0 >> 32 & 0xff
    }

    fn alone_streak(&self) -> u64 {
        self.0 >> 40 & 0xff
    }

    /// A run of `threads` was measured; `plain` says that it had no tasks and no nested regions.
    #[inline(always)]
    pub fn learn_team(code: Code, wall: u64, useful: u64, threads: u64, plain: bool) {
        if wall > SHORT_TICKS || !plain {
            return Note::learn_length(code.note, wall);
        }
        let note = Note::of(code);
        let all = wall.wrapping_mul(threads).max(1);
        let share = (useful << 16).checked_div(all).unwrap_or(0).min(0xffff);
        let streak = note.team_streak();
        let share = smooth(streak, note.0 & 0xffff, share);
        let rest = note.0 & !(LENGTH | 0xff_0000_ffff) | length(note.0, wall);
        code.note.store(rest | (streak + 1).min(STREAK) << 32 | share, Ordering::Relaxed);
    }

    /// A run of one thread was measured.
    #[inline(always)]
    pub fn learn_alone(code: Code, wall: u64) {
        if wall > SHORT_TICKS {
            return Note::learn_length(code.note, wall);
        }
        let note = Note::of(code);
        let streak = note.alone_streak();
        let rest = note.0 & !(LENGTH | 0xff00_ffff_0000) | length(note.0, wall);
        let wall = smooth(streak, note.0 >> 16 & 0xffff, wall);
        code.note.store(rest | (streak + 1).min(STREAK_ALONE) << 40 | wall << 16, Ordering::Relaxed);
    }

    /// A run of several threads that wasn't measured took `wall` ticks: was that short?
    #[inline(always)]
    pub fn check(code: Code, wall: u64) {
        if wall > 2 * SHORT_TICKS {
            Note::learn_length(code.note, wall);
        }
    }
}

/// The bits of [`LENGTH`] after a run of `wall` ticks.
#[inline(always)]
fn length(note: u64, wall: u64) -> u64 {
    match note & LENGTH {
        _ if wall >= LONG_TICKS => LONG,
        LONG => WAS_LONG,
        _ => NOT_LONG,
    }
}

/// Three parts of what was, one of what is; just what is at first.
#[inline(always)]
fn smooth(streak: u64, was: u64, is: u64) -> u64 {
    if streak == 0 { is } else { (was * 3 + is) / 4 }
}

/// Whether this run of a short region is one that isn't measured. One that isn't left out is asked about
/// again, by [`is_left_out`].
#[inline(always)]
pub fn is_passed_by(this: *mut Master) -> bool {
    // SAFETY: the calling thread's own state.
    unsafe {
        let left = (*this).left_out;
        if left != 0 {
            (*this).left_out = left - 1;
        }
        left != 0
    }
}

/// Whether this run of a short region is one that isn't measured.
#[inline(always)]
pub fn is_left_out(this: *mut Master) -> bool {
    let left_out = is_passed_by(this);
    if !left_out {
        // SAFETY: the calling thread's own state.
        unsafe { (*this).left_out = SAMPLE - 1 };
    }
    left_out
}
