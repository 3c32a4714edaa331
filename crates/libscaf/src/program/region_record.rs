//! What is remembered of a region ([`Record`], one word): how long it is, which of its runs are measured, and
//! what the others count for. Measuring costs 10 ns a time stamp, and 150 ns for each thread's time at two
//! threads, because a cache line moves between cores. That is nothing for a region of 20 us and a lot for one
//! of 0.3 us. So a region that was short several times in a row is *sampled*: of [`SAMPLE`] runs one is
//! measured, and the others count as that one did. An unmeasured run of several threads still has its time
//! stamps, because the region may have become long. With one thread that can wait for the next measured run.

use super::masters::{Master, one_master};
use crate::link::grant::dop_of;
use crate::link::pages;
use crate::runtimes::entries::Body;
use crate::runtimes::lookup::Code;
use core::sync::atomic::{AtomicU64, Ordering};
use scaf_proto::grant::Word;
use scaf_proto::rows::{Key, ROWS};
use scaf_team::choice::Length;

/// Regions up to this long (8 to 16 us at 2 to 4 GHz) are short with one or two threads. With more, up to as
/// many times that as there are pairs: each thread's time costs as much.
const SHORT_TICKS: u64 = 1 << 15;
/// Regions from this long on (70 to 130 ms) are to follow a grant that changes meanwhile. Shorter ones follow
/// at the next entry: a folded team takes 5 to 26% longer than a resized one (docs/decisions/waits.md).
const LONG_TICKS: u64 = 1 << 28;
/// One of so many short runs is measured. A prime, so that each of several regions in turn is met.
const SAMPLE: u32 = 61;
/// Measured runs in a row that must be short, without tasks and nested regions, before runs are left out.
const STREAK: u64 = 4;
/// The same for runs of one thread, whose time isn't taken at all. More than a multigrid cycle has on its
/// coarse levels, so that its long runs on fine levels aren't missed; and one bit of a record.
const STREAK_ALONE: u64 = 128;

/// Bits 0 to 15: the useful share of a team's time; 16 to 31: wall ticks with one thread; both smoothed. 32
/// to 39, 40 to 47: short runs in a row, of several threads and of one. Then the fields below.
pub struct Record(u64);

/// Two bits: 0 before the first run; [`NOT_LONG`] or [`LONG`], as the latest measured run was; [`WAS_LONG`],
/// if only the one before was. Programs run a region once for a start and then at length.
const LENGTH: u64 = 3 << 48;
const NOT_LONG: u64 = 1 << 48;
const LONG: u64 = 2 << 48;
const WAS_LONG: u64 = 3 << 48;
/// Eight bits: the region's latest row on the report page.
const ROW: u64 = 0xff << ROW_SHIFT;
const ROW_SHIFT: u32 = 52;
const _: () = assert!(ROWS <= 0xff);
/// One bit: the region is reported by its barriers, from its start.
const MARKED: u64 = 1 << 60;

/// A bit of a record: members of the region's gathered team got stuck too often.
const STUCK: u64 = 1 << 61;

/// Runs of a region with teams of one size.
pub struct Runs {
    /// The grant at the entry of the latest run.
    pub grant: Word,
    pub team: u32,
    pub count: u64,
    pub wall: u64,
    /// Iterations of each run, where the region is one loop.
    pub iterations: Option<u64>,
}

/// The useful share of a team's time, in 65,536ths.
pub struct Share(u64);

impl Share {
    #[inline(always)]
    pub fn of(&self, ticks: u64) -> u64 {
        // Doesn't overflow: only a short region is estimated, and 2^48 ticks are a day.
        ticks.wrapping_mul(self.0) >> 16
    }
}

impl Record {
    #[inline(always)]
    pub fn of(code: Code) -> Record {
        Record(code.record.load(Ordering::Relaxed))
    }

    /// The share that this run of several threads counts for, if it isn't measured.
    #[inline(always)]
    pub fn team(&self, this: &Master) -> Option<Share> {
        (self.team_streak() >= STREAK && is_left_out(this)).then_some(Share(self.0 & 0xffff))
    }

    #[inline(always)]
    pub fn is_short_alone(&self) -> bool {
        self.alone_streak() >= STREAK_ALONE
    }

    /// Runs of one thread left out for each that is measured, and their ticks together.
    #[inline(always)]
    pub fn left_out_alone(&self) -> (u64, u64) {
        let others = if self.is_short_alone() { u64::from(SAMPLE) - 1 } else { 0 };
        (others, others * (self.0 >> 16 & 0xffff))
    }

    #[inline(always)]
    pub fn length(&self) -> Length {
        match self.0 & LENGTH {
            0 => Length::Unknown,
            LONG | WAS_LONG => Length::Long,
            _ => Length::Short,
        }
    }

    /// A run took `wall` ticks, and nothing else is known of it.
    #[inline(always)]
    pub fn learn_length(record: &AtomicU64, wall: u64) {
        let before = record.load(Ordering::Relaxed);
        let now = before & (ROW | MARKED | STUCK) | length(before, wall);
        if before != now {
            record.store(now, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub fn is_marked(&self) -> bool {
        self.0 & MARKED != 0
    }

    #[inline(always)]
    pub fn learn_marked(code: Code) {
        let before = code.record.load(Ordering::Relaxed);
        if before & MARKED == 0 {
            code.record.store(before | MARKED, Ordering::Relaxed);
        }
    }

    /// Reports runs, unless the grant changed in the latest of them or there are several masters.
    #[inline(always)]
    pub fn report(code: Code, body: Body, runs: &Runs) {
        let before = code.record.load(Ordering::Relaxed);
        let row = ((before & ROW) >> ROW_SHIFT) as usize;
        if pages::grant().word() != runs.grant || !one_master() {
            return;
        }
        let region = body as usize;
        let key = if runs.iterations.is_some() { Key::of_loop } else { Key::new }(region, dop_of(runs.team));
        let iterations = runs.iterations.map_or(0, |each| each.wrapping_mul(runs.count));
        let at = pages::report().rows().add(row, key, runs.count, runs.wall, iterations);
        if at != row && at < ROWS {
            code.record.store(before & !ROW | (at as u64) << ROW_SHIFT & ROW, Ordering::Relaxed);
        }
    }

    /// Whether members of the region's gathered team ever got stuck too often.
    #[inline(always)]
    pub fn was_stuck(&self) -> bool {
        self.0 & STUCK != 0
    }

    /// They did.
    pub fn gets_stuck(code: Code) {
        code.record.fetch_or(STUCK, Ordering::Relaxed);
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
        if wall > short_ticks(threads) || !plain {
            return Record::learn_length(code.record, wall);
        }
        let record = Record::of(code);
        let all = wall.wrapping_mul(threads).max(1);
        let share = (useful << 16).checked_div(all).unwrap_or(0).min(0xffff);
        let streak = record.team_streak();
        let share = smooth(streak, record.0 & 0xffff, share);
        let rest = record.0 & !(LENGTH | 0xff_0000_ffff) | length(record.0, wall);
        code.record.store(rest | (streak + 1).min(STREAK) << 32 | share, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn learn_alone(code: Code, wall: u64) {
        if wall > SHORT_TICKS {
            return Record::learn_length(code.record, wall);
        }
        let record = Record::of(code);
        let streak = record.alone_streak();
        let rest = record.0 & !(LENGTH | 0xff00_ffff_0000) | length(record.0, wall);
        let wall = smooth(streak, record.0 >> 16 & 0xffff, wall);
        code.record.store(rest | (streak + 1).min(STREAK_ALONE) << 40 | wall << 16, Ordering::Relaxed);
    }

    /// An unmeasured run of several `threads` took `wall` ticks: is the region still short?
    #[inline(always)]
    pub fn check(code: Code, threads: u64, wall: u64) {
        if wall > 2 * short_ticks(threads) {
            Record::learn_length(code.record, wall);
        }
    }
}

#[inline(always)]
fn short_ticks(threads: u64) -> u64 {
    SHORT_TICKS.wrapping_mul((threads / 2).max(1))
}

#[inline(always)]
fn length(record: u64, wall: u64) -> u64 {
    match record & LENGTH {
        _ if wall >= LONG_TICKS => LONG,
        LONG => WAS_LONG,
        _ => NOT_LONG,
    }
}

/// Three parts of the old value, one of the new; only the new at first.
#[inline(always)]
fn smooth(streak: u64, was: u64, is: u64) -> u64 {
    if streak == 0 { is } else { (was * 3 + is) / 4 }
}

/// Whether this run of a short region isn't measured. If not, [`is_left_out`] is to be asked.
#[inline(always)]
pub fn is_passed_by(this: &Master) -> bool {
    let left = this.left_out.get();
    if left != 0 {
        this.left_out.set(left - 1);
    }
    left != 0
}

/// Whether [`is_left_out`] will say so.
#[inline(always)]
pub fn is_next_left_out(this: &Master) -> bool {
    this.left_out.get() != 0
}

/// As [`is_passed_by`]; if the run is measured, counts anew.
#[inline(always)]
pub fn is_left_out(this: &Master) -> bool {
    let left_out = is_passed_by(this);
    if !left_out {
        this.left_out.set(SAMPLE - 1);
    }
    left_out
}
