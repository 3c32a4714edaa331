//! The carrier monitor: a thread that looks at the running gathered region at intervals ([`Pace`]), and at
//! once when the grant changes.
//!
//! It gives the region as many carriers as the grant says. If a member is ready and a carrier hasn't switched
//! since the last look, that carrier may be blocked in the kernel, or wait for something that the ready
//! member has. Then the monitor adds a carrier, up to one for each member, which is what folding has. A
//! region that needs this often is folded for a while.

use super::gathered_team::{CARRIERS, Carrier, MOST, SCHEDULER};
use super::{carriers, midway_report, stuck_regions, worker_tls};
use crate::link::{grant, no_syscalls, pages};
use crate::runtimes::lookup::Code;
use crate::sys::clock::{now_ms, ran_for};
use crate::sys::futex::Futex;
use crate::sys::helpers::{self, spawn};
use crate::sys::membarrier::{can_order, order};
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, Ordering};
use scaf_team::Sleep;
use scaf_team::gather::monitor_pace::{LONG_MS, Pace, SHORT_MS};

/// The code of the gathered region.
struct Running(Cell<Option<Code>>);
// SAFETY: the master writes it before it opens a region; the monitor reads it within one.
unsafe impl Sync for Running {}
static RUNNING: Running = Running(Cell::new(None));

/// Time awake before the process registers for membarrier. That blocks the caller for 25 ms, and the process
/// can't exit meanwhile: many programs are over sooner.
const BEFORE_ORDER_MS: u32 = 200;
/// Time without a region after which the monitor sleeps.
const IDLE_MS: u32 = 100;
/// Time without a switch after which a computing carrier counts as blocked: its member may spin on memory.
const COMPUTES_MS: u32 = 20;
/// The same if all members that wait for its PU spin on memory, and probably for this one.
const COMPUTES_LONG_MS: u32 = 200;
/// The same until no carrier leaves for being needed no more; less than that takes.
const UNDECIDED_MS: u32 = COMPUTES_MS / 2;
/// CPU time that it must have had meanwhile.
const COMPUTES_NS: u64 = COMPUTES_MS as u64 * 1_000_000 / 2;
/// CPU time in each millisecond of a carrier that never sleeps; the kernel takes the rest.
const RUNS_NS: u64 = 875_000;

static MONITOR: AtomicU32 = AtomicU32::new(GONE);
const GONE: u32 = 0;
const AWAKE: u32 = 1;
const ASLEEP: u32 = 2;
static REGIONS: AtomicU32 = AtomicU32::new(0);

/// Sets the code of the region that is gathered next.
pub fn of(code: Code) {
    RUNNING.0.set(Some(code));
}

/// A region is about to be gathered.
#[inline(always)]
pub fn again() {
    // Before `MONITOR` is read: see where the monitor falls asleep.
    REGIONS.fetch_add(1, Ordering::SeqCst);
    if MONITOR.load(Ordering::SeqCst) != AWAKE {
        wake();
    }
}

/// So that it leaves if it is to.
pub fn wake_idle() {
    Futex.wake_all(&MONITOR);
}

/// Whether there is a monitor, or one can be started.
pub fn is_there() -> bool {
    if helpers::are_to_leave() {
        return false;
    }
    if MONITOR.load(Ordering::Relaxed) == GONE {
        wake();
    }
    MONITOR.load(Ordering::Relaxed) != GONE
}

#[cold]
fn wake() {
    match MONITOR.swap(AWAKE, Ordering::SeqCst) {
        ASLEEP => Futex.wake_all(&MONITOR),
        GONE if !spawn(monitor, null_mut()) => MONITOR.store(GONE, Ordering::SeqCst),
        _ => {}
    }
}

extern "C" fn monitor(_: *mut c_void) -> *mut c_void {
    let mut has = None;
    let (mut pace, mut seen) = (Pace::new(), [Seen::default(); MOST]);
    let (mut looked, mut idle) = (now_ms(), 0u32);
    let mut before_order = Some(BEFORE_ORDER_MS);
    let mut before = REGIONS.load(Ordering::SeqCst);
    loop {
        worker_tls::take_signals(&mut has);
        // Read before anybody acts by the grant, so that a later change ends the sleep.
        let word = pages::grant().word();
        let passed = u32::try_from(now_ms().saturating_sub(looked)).unwrap_or(u32::MAX);
        let regions = REGIONS.load(Ordering::SeqCst);
        // After a wake-up by the grant too little time may have passed to tell.
        if passed >= SHORT_MS {
            looked = looked.saturating_add(passed.into());
            if regions != before {
                pace.begins();
            }
            pace.passes(passed);
            let is_stuck = look_for_stuck(&mut pace, &mut seen, passed);
            before_order = before_order.map(|left| left.saturating_sub(passed));
            // Registering takes a while, so not while a member needs help.
            if before_order == Some(0) && !is_stuck {
                SCHEDULER.allow_exclusive(can_order());
                before_order = None;
            }
            let is_idle = SCHEDULER.carrier_limit() == 0 && regions == before;
            idle = if is_idle && helpers::are_to_leave() {
                IDLE_MS + 1
            } else if is_idle {
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
            MONITOR.store(ASLEEP, Ordering::SeqCst);
            // A master that came earlier has found the monitor awake.
            if REGIONS.load(Ordering::SeqCst) == before {
                let mut is_idle = false;
                while MONITOR.load(Ordering::SeqCst) == ASLEEP {
                    if (is_idle || helpers::are_to_leave())
                        && MONITOR.compare_exchange(ASLEEP, GONE, Ordering::SeqCst, Ordering::SeqCst).is_ok()
                    {
                        return null_mut();
                    }
                    is_idle = Futex.sleep(&MONITOR, ASLEEP, helpers::IDLE_MS);
                }
            }
            MONITOR.store(AWAKE, Ordering::SeqCst);
            pace.wakes();
            looked = now_ms();
        }
        grant::sleep(word, pace.period());
        no_syscalls::sleep_while_forbidden();
    }
}

/// See [`order()`]. A process that was checkpointed and restored may have to register again.
fn put_in_order() -> bool {
    order() || can_order() && order()
}

/// Number of carriers by the grant.
fn wanted() -> u32 {
    pages::grant().word().dop().unwrap_or(u32::MAX).clamp(1, SCHEDULER.size().max(1))
}

fn look_for_stuck(pace: &mut Pace, seen: &mut [Seen; MOST], passed: u32) -> bool {
    let open = SCHEDULER.carrier_limit();
    if open == 0 {
        return false;
    }
    let may_have_more = pace.carriers(wanted(), u32::MAX) < SCHEDULER.size();
    let found = look_at_carriers(open, seen, passed);
    let stuck = found == Found::Stuck && may_have_more;
    if !stuck {
        if found != Found::Undecided {
            pace.is_calm(passed);
        }
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

/// Whether a carrier sleeps in the kernel while a member is ready. That may be brief; but at slow intervals,
/// repeated brief blocking would never be seen twice.
fn sleeps(open: u32, seen: &[Seen; MOST]) -> bool {
    let naps = |carrier: &Carrier| carrier.naps.load(Ordering::Relaxed) != 0;
    let sleeps = |(carrier, seen): (&Carrier, &Seen)| {
        !naps(carrier) && !seen.runs && is_asleep(carrier.task.load(Ordering::Relaxed))
    };
    SCHEDULER.has_ready() && CARRIERS.iter().zip(seen).take(open as usize).any(sleeps)
}

#[derive(Clone, Copy, Default)]
struct Seen {
    changes: u32,
    /// Time since its last switch, in ms plus one, and its CPU time when that was first seen, in ns.
    same: u32,
    ran: u64,
    /// Its CPU time at the last look, and whether it was running ever since the one before: then it doesn't
    /// sleep, and no file in /proc has to be read, which costs as much as the rest of a look.
    at_look: u64,
    runs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Moves,
    /// A carrier hasn't switched for a while: it may be about to, or other carriers that spin on its PU keep
    /// it from running. None may leave yet.
    Undecided,
    Stuck,
}

/// Whether a member is ready and a carrier is blocked with another one.
fn look_at_carriers(open: u32, seen: &mut [Seen; MOST], passed: u32) -> Found {
    let ready = SCHEDULER.has_ready();
    let waits = ready || SCHEDULER.has_spinning();
    let most = if ready { COMPUTES_MS } else { COMPUTES_LONG_MS };
    let mut found = Found::Moves;
    for (carrier, seen) in CARRIERS.iter().zip(seen).take(open as usize) {
        let changes = carrier.changes.load(Ordering::Relaxed);
        let task = carrier.task.load(Ordering::Relaxed);
        let measured = ran_for(task);
        // If the kernel doesn't tell, it counts as running unless /proc says that it sleeps.
        let ran = measured.unwrap_or_else(|| seen.at_look.wrapping_add(u64::from(passed) * RUNS_NS));
        seen.runs = measured.is_some() && ran.wrapping_sub(seen.at_look) >= u64::from(passed) * RUNS_NS;
        seen.at_look = ran;
        // A carrier that naps looks for members itself.
        if changes != seen.changes || !waits || carrier.naps.load(Ordering::Relaxed) != 0 {
            (seen.changes, seen.same) = (changes, 0);
            continue;
        }
        match seen.same {
            0 => (seen.same, seen.ran) = (1, ran),
            // A late look counts as one.
            _ => seen.same = seen.same.saturating_add(passed.min(LONG_MS)),
        }
        // A carrier that others keep from running isn't blocked for that.
        let computes = seen.same >= most && ran.wrapping_sub(seen.ran) >= COMPUTES_NS;
        if computes || !seen.runs && is_asleep(task) {
            found = Found::Stuck;
        } else if seen.same >= UNDECIDED_MS && found == Found::Moves {
            found = Found::Undecided;
        }
        if found == Found::Stuck {
            seen.same = 0;
        }
    }
    found
}

/// Whether a thread of this process sleeps in the kernel, and not only waits for a PU.
fn is_asleep(task: u32) -> bool {
    let mut text = [0u8; 128];
    let Some(length) = worker_tls::read_of_task(task, b"/stat\0", &mut text) else { return true };
    // The state follows the name, which is in parentheses and may contain some.
    let text = text.get(..length).unwrap_or(&[]);
    let behind = text.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
    !matches!(text.get(behind), Some(b'R'))
}

pub fn after_fork() {
    MONITOR.store(GONE, Ordering::Relaxed);
}
