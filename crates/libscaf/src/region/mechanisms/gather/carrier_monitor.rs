//! The watch over gathered regions: a thread that looks at the running one now and then ([`Pace`]), and at
//! once when the grant changes.
//!
//! It has the region on as many carriers as the grant says now. Where a member is ready that nobody runs, and
//! a carrier has not changed since the last look, that one may sleep in the kernel, or want something that
//! the other member has: then one more carrier comes, up to one each, which is what folding has. A region
//! that needs this often is folded for a while.

use super::gathered_team::{CARRIERS, Carrier, MOST, SCHEDULER};
use super::{carriers, midway_report, stuck_regions, worker_tls};
use crate::link::{grant, pages, silence};
use crate::runtimes::lookup::Code;
use crate::sys::clock::{now_ms, ran_for};
use crate::sys::futex::Futex;
use crate::sys::kernel_threads::spawn;
use crate::sys::order::{can_order, order};
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;
use scaf_team::gather::monitor_pace::{LONG_MS, Pace, SHORT_MS};

/// The code of the region that is gathered.
struct Running(Cell<Option<Code>>);
// SAFETY: written by the master before it opens a region; the watch reads it within one.
unsafe impl Sync for Running {}
static RUNNING: Running = Running(Cell::new(None));

/// Time awake after which the kernel is asked for order. The first time, it lets whoever asks wait for 25 ms,
/// and a process doesn't end before that: many programs end sooner.
const BEFORE_ORDER_MS: u32 = 200;
/// Time without a region after which the watch sleeps.
const IDLE_MS: u32 = 100;
/// Time without a change of members after which a carrier that computes all the time counts as stuck: it may
/// spin on memory.
const COMPUTES_MS: u32 = 20;
/// The same where all that wait for its PU are members that spin on memory, and so for it in all likelihood.
const COMPUTES_LONG_MS: u32 = 200;
/// Time on a PU that it must have had meanwhile.
const COMPUTES_NS: u64 = COMPUTES_MS as u64 * 1_000_000 / 2;
/// Of each millisecond, the time on a PU of a carrier that runs all the time, but for what the kernel does.
const RUNS_NS: u64 = 875_000;

/// The watch: not there, awake, or asleep.
static WATCH: AtomicU32 = AtomicU32::new(GONE);
const GONE: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
/// Regions gathered so far.
static REGIONS: AtomicU32 = AtomicU32::new(0);

/// The region of this code is gathered next.
pub fn of(code: Code) {
    RUNNING.0.set(Some(code));
}

/// It is about to be.
#[inline(always)]
pub fn again() {
    // Before the watch is looked at: see its falling asleep.
    REGIONS.fetch_add(1, Ordering::SeqCst);
    if WATCH.load(Ordering::SeqCst) != AWAKE {
        wake();
    }
}

/// Whether there is one, or one can be started.
pub fn is_there() -> bool {
    if WATCH.load(Ordering::Relaxed) == GONE {
        wake();
    }
    WATCH.load(Ordering::Relaxed) != GONE
}

#[cold]
fn wake() {
    match WATCH.swap(AWAKE, Ordering::SeqCst) {
        ASLEEP => Futex.wake_all(&WATCH),
        GONE if !spawn(watch, null_mut()) => WATCH.store(GONE, Ordering::SeqCst),
        _ => {}
    }
}

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    let mut has = None;
    let (mut pace, mut seen) = (Pace::new(), [Seen::default(); MOST]);
    let (mut looked, mut idle) = (now_ms(), 0u32);
    let mut before_order = Some(BEFORE_ORDER_MS);
    let mut before = REGIONS.load(Ordering::SeqCst);
    loop {
        worker_tls::take_signals(&mut has);
        // Read before anybody acts by the grant, so that a change after this ends the sleep.
        let word = pages::grant().word();
        let passed = u32::try_from(now_ms().saturating_sub(looked)).unwrap_or(u32::MAX);
        let regions = REGIONS.load(Ordering::SeqCst);
        // Woken by the grant it may be early, and nobody is stuck after no time.
        if passed >= SHORT_MS {
            looked = looked.saturating_add(passed.into());
            if regions != before {
                pace.begins();
            }
            pace.passes(passed);
            let is_stuck = look_for_stuck(&mut pace, &mut seen, passed);
            before_order = before_order.map(|left| left.saturating_sub(passed));
            // That takes a while, so not where somebody waits for us.
            if before_order == Some(0) && !is_stuck {
                SCHEDULER.allow_exclusive(can_order());
                before_order = None;
            }
            idle = if SCHEDULER.carrier_limit() == 0 && regions == before {
                idle.saturating_add(passed)
            } else {
                0
            };
            before = regions;
        }
        if SCHEDULER.carrier_limit() != 0 {
            midway_report::look(RUNNING.0.get());
            let carriers = pace.carriers(wanted(), SCHEDULER.size());
            if SCHEDULER.widen(carriers, put_in_order) {
                carriers::wake(carriers);
            } else {
                SCHEDULER.narrow(carriers);
                carriers::wake_missing(SCHEDULER.carrier_limit());
            }
        }
        if idle > IDLE_MS {
            idle = 0;
            WATCH.store(ASLEEP, Ordering::SeqCst);
            // Whoever came before has found us awake.
            if REGIONS.load(Ordering::SeqCst) == before {
                while WATCH.load(Ordering::SeqCst) == ASLEEP {
                    Futex.sleep(&WATCH, ASLEEP, 0);
                }
            }
            WATCH.store(AWAKE, Ordering::SeqCst);
            pace.wakes();
            looked = now_ms();
        }
        grant::sleep(word, pace.period());
        silence::rest();
    }
}

/// See [`order()`]. A process that was saved and restored may have to ask anew.
fn put_in_order() -> bool {
    order() || can_order() && order()
}

/// Carriers that the region is to have by the grant.
fn wanted() -> u32 {
    pages::grant().word().dop().unwrap_or(u32::MAX).clamp(1, SCHEDULER.size().max(1))
}

/// Whether a member is stuck.
fn look_for_stuck(pace: &mut Pace, seen: &mut [Seen; MOST], passed: u32) -> bool {
    let open = SCHEDULER.carrier_limit();
    if open == 0 {
        return false;
    }
    let may_have_more = pace.carriers(wanted(), u32::MAX) < SCHEDULER.size();
    let stuck = is_stuck(open, seen, passed) && may_have_more;
    if !stuck {
        pace.is_calm(passed);
        if pace.is_slow() && may_have_more && sleeps(open, seen) {
            pace.wakes();
        }
    } else if pace.rescues()
        && let Some(code) = RUNNING.0.get()
    {
        stuck_regions::gets_stuck(code);
    }
    stuck
}

/// Whether a carrier sleeps in the kernel while a member is ready. It may be for a moment only: but where
/// members do that now and then, slow looks wouldn't see one stuck twice.
fn sleeps(open: u32, seen: &[Seen; MOST]) -> bool {
    let naps = |carrier: &Carrier| carrier.naps.load(Ordering::Relaxed) != 0;
    let sleeps = |(carrier, seen): (&Carrier, &Seen)| {
        !naps(carrier) && !seen.runs && is_asleep(carrier.task.load(Ordering::Relaxed))
    };
    SCHEDULER.has_ready() && CARRIERS.iter().zip(seen).take(open as usize).any(sleeps)
}

/// What was seen of a carrier at the last look.
#[derive(Clone, Copy, Default)]
struct Seen {
    changes: u32,
    /// For how long it hasn't changed members, in ms and one more, and how long it had run when that was
    /// first seen, in ns.
    same: u32,
    ran: u64,
    /// How long it had run at the last look, and whether it has run ever since the one before: then it
    /// doesn't sleep, and no file has to say so, which costs as much as all the rest of a look.
    at_look: u64,
    runs: bool,
}

/// Whether a member is ready that nobody runs, and a carrier is stuck with another one.
fn is_stuck(open: u32, seen: &mut [Seen; MOST], passed: u32) -> bool {
    let ready = SCHEDULER.has_ready();
    let waits = ready || SCHEDULER.has_spinning();
    let most = if ready { COMPUTES_MS } else { COMPUTES_LONG_MS };
    let mut stuck = false;
    for (carrier, seen) in CARRIERS.iter().zip(seen).take(open as usize) {
        let changes = carrier.changes.load(Ordering::Relaxed);
        let task = carrier.task.load(Ordering::Relaxed);
        let told = ran_for(task);
        // Where the kernel doesn't say it has run all the time, unless a file says that it sleeps.
        let ran = told.unwrap_or_else(|| seen.at_look.wrapping_add(u64::from(passed) * RUNS_NS));
        seen.runs = told.is_some() && ran.wrapping_sub(seen.at_look) >= u64::from(passed) * RUNS_NS;
        seen.at_look = ran;
        // One that naps looks for members by itself.
        if changes != seen.changes || !waits || carrier.naps.load(Ordering::Relaxed) != 0 {
            (seen.changes, seen.same) = (changes, 0);
            continue;
        }
        match seen.same {
            0 => (seen.same, seen.ran) = (1, ran),
            // A look that comes late counts as one.
            _ => seen.same = seen.same.saturating_add(passed.min(LONG_MS)),
        }
        // One that others keep from running isn't stuck.
        let computes = seen.same >= most && ran.wrapping_sub(seen.ran) >= COMPUTES_NS;
        stuck |= computes || !seen.runs && is_asleep(task);
        if stuck || seen.same >= most {
            seen.same = 0;
        }
    }
    stuck
}

/// Whether a thread of this process sleeps in the kernel; one that only has no PU doesn't.
fn is_asleep(task: u32) -> bool {
    let mut text = [0u8; 128];
    let Some(length) = worker_tls::read_of_task(task, b"/stat\0", &mut text) else { return true };
    // The state is behind the name, which is in brackets and may have brackets itself.
    let text = text.get(..length).unwrap_or(&[]);
    let behind = text.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    !matches!(text.get(behind), Some(b'R'))
}

/// After a fork, in the child: it isn't there.
pub fn after_fork() {
    WATCH.store(GONE, Ordering::Relaxed);
}
