//! Carriers: the kernel threads that run members, and the watch, which calls further ones.
//!
//! While a region is gathered the watch looks every [`PERIOD_MS`]. It has the region on as many carriers as
//! the grant says now. Where a member is ready that nobody runs, and a carrier has not changed since the last
//! look, that one may sleep in the kernel, or want something that the other member has: then one more carrier
//! comes, up to one each, which is what folding has. A region that needs this often is folded for a while.

use super::team::{CARRIERS, CREW, Carrier, MASTERS, MOST, reset_idle, was_idle};
use super::turns::carry;
use super::{look, storage, stuck};
use crate::link::{pages, silence};
use crate::region::kind::Region;
use crate::runtimes::lookup::Code;
use crate::sys::arch::{self, Context};
use crate::sys::futex::Futex;
use crate::sys::thread::{give_way, own_task, pause, spawn};
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use scaf_team::Sleep;

/// What carriers without work sleep on.
static BELL: AtomicU32 = AtomicU32::new(0);
/// The code of the region that is gathered.
struct Running(Cell<Option<Code>>);
// SAFETY: written by the master before it opens a region; the watch reads it within one.
unsafe impl Sync for Running {}
static RUNNING: Running = Running(Cell::new(None));

/// The master begins a region; its own carrier.
#[inline]
pub fn begin(region: &Region) -> &'static Carrier {
    RUNNING.0.set(Some(region.code));
    MASTERS.task.store(storage::task(0), Ordering::Relaxed);
    reset_idle();
    watch_again();
    MASTERS
}

/// A region is gathered at a barrier of its threads.
pub fn gather(code: Code) {
    RUNNING.0.set(Some(code));
}

/// Its master, behind that barrier; its own carrier.
pub fn gathered() -> &'static Carrier {
    MASTERS.task.store(own_task(), Ordering::Relaxed);
    reset_idle();
    watch_again();
    MASTERS
}

/// Calls carriers up to that number, the master's included.
#[cold]
pub fn call(carriers: u32) {
    for number in 1..carriers {
        let Some(carrier) = CARRIERS.get(number as usize) else { break };
        if carrier.there.load(Ordering::Relaxed) == 0 && carrier.there.swap(1, Ordering::Relaxed) == 0 {
            carrier.number.store(number, Ordering::Relaxed);
            if !spawn(run, without_provenance_mut(number as usize)) {
                carrier.there.store(0, Ordering::Relaxed);
            }
        }
    }
    BELL.fetch_add(1, Ordering::SeqCst);
    Futex.wake_all(&BELL);
}

/// Waits until no carrier but the master's is in the region that was closed.
#[inline]
pub fn dismiss() {
    if !CREW.is_empty() {
        CREW.tell(&Futex);
        while !CREW.is_empty() {
            give_way();
        }
    }
}

/// What a carrier but the master's runs.
extern "C" fn run(number: *mut c_void) -> *mut c_void {
    let number = number.addr();
    let Some(carrier) = CARRIERS.get(number) else { return null_mut() };
    let number = number as u32;
    // SAFETY: its own home, before it has any work.
    unsafe { *carrier.home.get() = Context::with_storage(arch::storage()) };
    carrier.task.store(own_task(), Ordering::Relaxed);
    storage::take_signals();
    loop {
        let bell = BELL.load(Ordering::SeqCst);
        if CREW.board(number) {
            serve(carrier, number);
            CREW.unboard();
        } else {
            Futex.sleep(&BELL, bell, 0);
        }
    }
}

/// Runs members until the carrier isn't wanted any more.
fn serve(carrier: &'static Carrier, number: u32) {
    while !CREW.is_surplus(number) {
        let next = CREW.take(number, 0).or_else(|| {
            let look = || match CREW.take(number, 0) {
                None => CREW.is_surplus(number).then_some(None),
                next => Some(next),
            };
            let since = arch::ticks();
            let found = carrier.nap(look);
            was_idle(arch::ticks().wrapping_sub(since));
            found.flatten()
        });
        if let Some(next) = next {
            // SAFETY: it was taken.
            unsafe { carry(carrier, next) };
        }
    }
}

/// Time between two looks of the watch, in milliseconds.
const PERIOD_MS: i64 = 2;
/// Looks in a row without a region after which the watch sleeps.
const IDLE_LOOKS: u32 = 50;
/// Looks after which a carrier that computes all the time counts as stuck: it may spin on memory.
const COMPUTES: u32 = 10;
/// The same where all that wait for its PU are members that spin on memory, and so for it in all likelihood.
const COMPUTES_LONG: u32 = 100;
/// Time on a PU that it must have had meanwhile.
const COMPUTES_NS: u64 = COMPUTES as u64 * PERIOD_MS as u64 * 1_000_000 / 2;
/// Looks in a row without need after which a further carrier leaves.
const CALM: u32 = 10;
/// Rescues after each other, with no more than [`RARE`] looks between two, after which a region is folded for
/// a while.
const RESCUES: u32 = 4;
const RARE: u32 = 64;

/// The watch: not there, awake, or asleep.
static WATCH: AtomicU32 = AtomicU32::new(GONE);
const GONE: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
/// Regions gathered so far.
static REGIONS: AtomicU32 = AtomicU32::new(0);

/// A region is about to be gathered.
#[inline(always)]
fn watch_again() {
    // Before the watch is looked at: see its falling asleep.
    REGIONS.fetch_add(1, Ordering::SeqCst);
    if WATCH.load(Ordering::SeqCst) != AWAKE {
        wake_watch();
    }
}

#[cold]
fn wake_watch() {
    match WATCH.swap(AWAKE, Ordering::SeqCst) {
        ASLEEP => Futex.wake_all(&WATCH),
        GONE if !spawn(watch, null_mut()) => WATCH.store(GONE, Ordering::SeqCst),
        _ => {}
    }
}

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    storage::take_signals();
    let mut seen = [(0u32, 0u32, 0u64); MOST];
    let (mut further, mut calm, mut idle) = (0u32, 0, 0);
    let (mut rescues, mut since) = (0, RARE);
    let mut before = REGIONS.load(Ordering::SeqCst);
    loop {
        pause(PERIOD_MS);
        silence::rest();
        let regions = REGIONS.load(Ordering::SeqCst);
        let open = CREW.open();
        if regions != before {
            (further, calm) = (0, 0);
        }
        since = since.saturating_add(1);
        if open != 0 {
            look::look(RUNNING.0.get());
            let wanted = wanted();
            if is_stuck(open, &mut seen) && wanted.saturating_add(further) < CREW.size() {
                (further, calm) = (further + 1, 0);
                rescues = if since > RARE { 1 } else { rescues + 1 };
                since = 0;
                if rescues >= RESCUES
                    && let Some(code) = RUNNING.0.get()
                {
                    stuck::gets_stuck(code);
                }
            } else if further != 0 {
                calm += 1;
                if calm > CALM {
                    (further, calm) = (further - 1, 0);
                }
            }
            let wanted = wanted.saturating_add(further).min(CREW.size());
            if CREW.widen(wanted) {
                call(wanted);
            } else {
                CREW.narrow(wanted);
            }
        }
        idle = if open == 0 && regions == before { idle + 1 } else { 0 };
        before = regions;
        if idle > IDLE_LOOKS {
            idle = 0;
            WATCH.store(ASLEEP, Ordering::SeqCst);
            // Whoever came before has found us awake.
            if REGIONS.load(Ordering::SeqCst) == before {
                while WATCH.load(Ordering::SeqCst) == ASLEEP {
                    Futex.sleep(&WATCH, ASLEEP, 0);
                }
            }
            WATCH.store(AWAKE, Ordering::SeqCst);
        }
    }
}

/// Carriers that the region is to have by the grant.
fn wanted() -> u32 {
    pages::grant().word().dop().unwrap_or(u32::MAX).clamp(1, CREW.size().max(1))
}

/// Whether a member is ready that nobody runs, and a carrier is stuck with another one.
fn is_stuck(open: u32, seen: &mut [(u32, u32, u64); MOST]) -> bool {
    let ready = CREW.has_ready();
    let waits = ready || CREW.has_spinning();
    let most = if ready { COMPUTES } else { COMPUTES_LONG };
    let mut stuck = false;
    for (carrier, (changes, looks, ran)) in CARRIERS.iter().zip(seen).take(open as usize) {
        let now = carrier.changes.load(Ordering::Relaxed);
        // One that naps looks for members by itself.
        if now != *changes || !waits || carrier.naps.load(Ordering::Relaxed) != 0 {
            (*changes, *looks) = (now, 0);
            continue;
        }
        *looks += 1;
        let task = carrier.task.load(Ordering::Relaxed);
        if *looks == 1 {
            *ran = ran_for(task);
        }
        // One that others keep from running isn't stuck.
        let computes = *looks >= most && ran_for(task).wrapping_sub(*ran) >= COMPUTES_NS;
        stuck |= computes || is_asleep(task);
        if stuck || *looks >= most {
            *looks = 0;
        }
    }
    stuck
}

/// Nanoseconds for which a thread of this process has run; counts on where the kernel doesn't say.
fn ran_for(task: u32) -> u64 {
    static UNKNOWN: AtomicU64 = AtomicU64::new(0);
    let mut text = [0u8; 128];
    let length = storage::read_of_task(task, b"/schedstat\0", &mut text).unwrap_or(0);
    let digits = text.iter().take(length).take_while(|byte| byte.is_ascii_digit());
    match digits.fold(0u64, |value, digit| value.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'))) {
        0 => UNKNOWN.fetch_add(COMPUTES_NS, Ordering::Relaxed),
        known => known,
    }
}

/// Whether a thread of this process sleeps in the kernel; one that only has no PU doesn't.
fn is_asleep(task: u32) -> bool {
    let mut text = [0u8; 128];
    let Some(length) = storage::read_of_task(task, b"/stat\0", &mut text) else { return true };
    // The state is behind the name, which is in brackets and may have brackets itself.
    let text = text.get(..length).unwrap_or(&[]);
    let behind = text.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    !matches!(text.get(behind), Some(b'R'))
}

/// After a fork, in the child: no carrier and no watch is there.
pub fn after_fork() {
    for carrier in &CARRIERS {
        carrier.there.store(0, Ordering::Relaxed);
    }
    WATCH.store(GONE, Ordering::Relaxed);
    CREW.after_fork();
}
