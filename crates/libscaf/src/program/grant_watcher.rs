//! A thread that tells others when the grant has changed: runtimes and libraries with a setter for their
//! number of threads, which nobody calls at each piece of work. It sleeps on the grant page, and the daemon
//! wakes it for each grant. Once in [`LOOK_MS`] it wakes by itself, to notice that the daemon is gone, or
//! back. It starts when the process is attached and has listeners, and stays while `main` does: a process
//! whose `main` has ended would never end. A forked child has none until it attaches. Listeners may hold
//! locks of their libraries. So none is called during a fork, for the child would find such a lock taken
//! for ever; nor after `exit` has begun, when those libraries are taken down.

use crate::link::{attachment, grant, pages};
use crate::runtimes::hooks;
use crate::sys::arch::ticks;
use crate::sys::clock::now_ms;
use crate::sys::errno::keeping_errno;
use crate::sys::futex::Futex;
use crate::sys::helpers::{self, spawn};
use core::ffi::c_void;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use scaf_team::Sleep;
use scaf_team::dop_notifier::{DopNotifier, Due};

/// Called with the new DoP, at least 1, on a thread of ours. It may take locks and make threads; it must not
/// call `exit` or `fork`, nor wait for a thread that does.
pub type Listener = fn(u32);
const LISTENERS: usize = 8;
/// Longest sleep, in milliseconds.
const LOOK_MS: u32 = 1_000;
/// Longest wait of a fork for listeners, and of the program's end.
const FORK_MS: u32 = 1_000;
const END_MS: u32 = 100;
static TABLE: [AtomicPtr<()>; LISTENERS] = [const { AtomicPtr::new(null_mut()) }; LISTENERS];
static UP: AtomicU32 = AtomicU32::new(0);
/// Held while listeners are called and while the process forks; [`CLOSED`] for good when it ends.
static LOCK: AtomicU32 = AtomicU32::new(FREE);
const FREE: u32 = 0;
const HELD: u32 = 1;
const CLOSED: u32 = 2;

/// Has `listener` called with the current DoP, and then whenever that changes: at once if it is smaller, at
/// most a few times a second if it is larger. `false` if the table is full. A function counts once, for good.
pub fn on_change(listener: Listener) -> bool {
    let function = listener as *mut ();
    let there = TABLE.iter().any(|place| {
        let found = place.compare_exchange(null_mut(), function, Ordering::AcqRel, Ordering::Acquire);
        found.is_ok() || found == Err(function)
    });
    if there && attachment::is_attached() {
        start_if_needed();
        // The grant watcher has to call the new listener.
        grant::wake();
    }
    there
}

/// Starts it if there are listeners. To be called while the process is attached.
#[inline(always)]
pub fn start_if_needed() {
    if UP.load(Ordering::Relaxed) == 0 && listeners() != 0 {
        start();
    }
}

/// After it was dismissed for a while.
pub fn start_again() {
    if attachment::is_attached() {
        start_if_needed();
    }
}

pub fn is_running() -> bool {
    UP.load(Ordering::Relaxed) != 0
}

fn listeners() -> usize {
    TABLE.iter().take_while(|place| !place.load(Ordering::Acquire).is_null()).count()
}

#[cold]
#[inline(never)]
fn start() {
    static AT_EXIT: AtomicU32 = AtomicU32::new(0);
    if helpers::are_to_leave() {
        return;
    }
    if UP.swap(1, Ordering::SeqCst) != 0 {
        return;
    }
    if AT_EXIT.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: a function of this library, which is never unloaded. Registered last, it is called first.
        keeping_errno(|| unsafe { libc::atexit(at_exit) });
    }
    if !spawn(watch, null_mut()) {
        UP.store(0, Ordering::SeqCst);
    }
}

extern "C" fn watch(_: *mut c_void) -> *mut c_void {
    let mut notifier = DopNotifier::new();
    let mut known = 0;
    loop {
        if helpers::are_to_leave() {
            UP.store(0, Ordering::SeqCst);
            return null_mut();
        }
        if helpers::has_main_ended() {
            hooks::call(hooks::get().main_has_ended);
            continue;
        }
        attachment::poll_outside_region(ticks());
        // Read before the DoP, so that a change after this load ends the sleep.
        let word = pages::grant().word();
        let (dop, there, now) = (grant::dop(), listeners(), now_ms());
        let due = if there == known { notifier.due(dop, now) } else { Due::Now };
        let pause = match due {
            Due::Now => {
                tell(dop, 0);
                notifier.notified(dop, now);
                known = there;
                continue;
            }
            Due::In(ms) => ms,
            Due::Known => LOOK_MS,
        };
        grant::sleep(word, pause);
    }
}

/// `main` has ended, and nobody will tell the listeners of another grant: the process is as without us from
/// now on. Where there are none, its regions are managed still.
pub fn leave_for_good() {
    if listeners() != 0 {
        attachment::give_up_syscalls(false);
        tell(grant::dop(), END_MS);
    }
}

/// Calls the listeners, unless others hold the lock for so long; 0 is no limit.
fn tell(dop: u32, limit_ms: u32) {
    if !lock(limit_ms) {
        return;
    }
    for place in &TABLE {
        let function = place.load(Ordering::Acquire);
        if function.is_null() {
            break;
        }
        // SAFETY: only `on_change` writes there, and that a listener.
        unsafe { transmute::<*mut (), Listener>(function)(dop) };
    }
    unlock();
}

/// Takes the lock; `false` if that fails within `limit_ms`, where 0 means no limit.
fn lock(limit_ms: u32) -> bool {
    loop {
        let Err(taken) = LOCK.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed) else {
            return true;
        };
        // A closed lock is never given back: the grant watcher stays here until the process has ended.
        let in_vain = taken == CLOSED && limit_ms != 0;
        if in_vain || Futex.sleep(&LOCK, taken, limit_ms) {
            return false;
        }
    }
}

fn unlock() {
    if LOCK.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed).is_ok() {
        Futex.wake_all(&LOCK);
    }
}

extern "C" fn at_exit() {
    keeping_errno(|| {
        lock(END_MS);
        LOCK.store(CLOSED, Ordering::Release);
    });
}

/// Whether the forking thread holds the lock.
static FORKING: AtomicU32 = AtomicU32::new(0);

pub fn before_fork() {
    if UP.load(Ordering::SeqCst) != 0 && lock(FORK_MS) {
        FORKING.store(1, Ordering::Relaxed);
    }
}

pub fn after_fork_in_parent() {
    if FORKING.swap(0, Ordering::Relaxed) != 0 {
        unlock();
    }
}

pub fn after_fork() {
    FORKING.store(0, Ordering::Relaxed);
    LOCK.store(FREE, Ordering::Relaxed);
    UP.store(0, Ordering::Relaxed);
}
