//! Has libgomp's own waits follow the fold where they can't be taken over: at a region's end, and between two
//! regions. libgomp's threads spin before they sleep, by default for 300,000 rounds, 15 ms: right while each
//! has a context, and ruinous while not. For how many rounds, each of them reads when its wait begins, so
//! that number is changed ([`crate::runtimes::spins`]). While a team is *crowded*, larger than the grant that
//! it is folded onto, it is what libgomp takes where it has more threads than there are PUs.
//!
//! A wait that has begun can't be shortened. Programs are often started together, and the first of them has
//! all contexts for a moment. Others that are started again and again compute before they attach. So the
//! waits of a program's first second are short ones, at barriers that are ours ([`super::meet`]), too.

use crate::link::pages;
use crate::program::masters::is_oversubscribed;
use crate::region::frame::Frame;
use crate::runtimes::entries::Runtime;
use crate::runtimes::spins::{self, OVERSUBSCRIBED, Spins};
use crate::sys::arch::ticks;
use crate::sys::settings;
use core::sync::atomic::{AtomicU64, Ordering};

/// Rounds in ranks of MPI jobs, some 0.1 ms. Their teams change many times a second, when ranks lend contexts
/// to each other, and a thread that has just lost its context would spin for milliseconds on its master's. A
/// rank of regions of 0.35 ms takes 0.97 s with these, 0.92 with libgomp's default, 1.24 with 100 and 1.35
/// where threads sleep at once.
const OF_RANKS: u64 = 2_000;
/// Rounds in a program's first [`FIRST_TICKS`], 0.25 ms. Two programs by others of 0.2 s each (john and GCC's
/// parallel mode), started again and again, are at 0.73 of `pinned` if that ends after 0.1 s, else at 0.82 to
/// 0.86.
const AT_START: u32 = 5_000;
/// 0.5 to 1 s.
const FIRST_TICKS: u64 = 1 << 31;

/// Tick of the first region; 0 before.
static FIRST: AtomicU64 = AtomicU64::new(0);

/// A region of a team of so many threads is entered, at tick `at`.
#[inline(always)]
pub fn enter(runtime: &Runtime, team: u32, at: u64) {
    if let Some(spins) = ours(runtime) {
        if FIRST.load(Ordering::Relaxed) == 0 {
            FIRST.store(at, Ordering::Relaxed);
        }
        set(&spins, if is_oversubscribed(team) { OVERSUBSCRIBED } else { undersubscribed(&spins, at) });
    }
}

/// A thread of a region is about to wait within libgomp.
#[inline(always)]
pub fn follow(frame: &Frame) {
    let runtime = frame.runtime();
    let Some(spins) = ours(runtime) else { return };
    if pages::grant().word().folded() {
        // Not the frame's own number: the thread may be in a region within, which was entered unseen.
        let team = runtime.team();
        if is_oversubscribed(team) {
            return set(&spins, OVERSUBSCRIBED);
        }
        // A team within another one says nothing of that.
        if frame.master.is_null() || team == 1 {
            return;
        }
    }
    if spins.now.load(Ordering::Relaxed) < most(&spins) {
        set(&spins, undersubscribed(&spins, ticks()));
    }
}

/// The number, if neither the user nor the program has chosen how threads wait.
#[inline(always)]
fn ours(runtime: &Runtime) -> Option<Spins> {
    let settings = settings::get();
    if settings.spin.is_none() || settings.fixed_spin { None } else { spins::of(runtime) }
}

/// The number at tick `now` while each thread has a context.
#[inline(always)]
fn undersubscribed(spins: &Spins, now: u64) -> u64 {
    most(spins).min(at_start(now).map_or(u64::MAX, u64::from))
}

/// Most rounds of a wait that begins at tick `now`, in the start of a program that is managed and hasn't
/// chosen how its threads wait. Only programs on libgomp have a start here.
#[inline(always)]
pub fn at_start(now: u64) -> Option<u32> {
    let is_start = now.wrapping_sub(FIRST.load(Ordering::Relaxed)) < FIRST_TICKS;
    let may = is_start && !settings::get().fixed_spin && pages::grant().word().dop().is_some();
    may.then_some(AT_START)
}

/// The number after the start.
#[inline(always)]
fn most(spins: &Spins) -> u64 {
    let managed_rank = settings::get().is_rank && pages::grant().word().dop().is_some();
    spins.at_first.min(if managed_rank { OF_RANKS } else { u64::MAX })
}

#[inline(always)]
fn set(spins: &Spins, rounds: u64) {
    if spins.now.load(Ordering::Relaxed) != rounds {
        spins.now.store(rounds, Ordering::Relaxed);
    }
}
