//! Tasks, and the calls in which a thread waits for them or for a lock. A waiting thread runs tasks, and at a
//! region's end all threads do, so useful time can be told from waits only if each task is timed. A task's
//! data is the program's, with no room for ours. So *where* a task is entered says which function is meant:
//! each task function has an entrance of ours. Whoever waits for a lock sleeps or spins, and never works.
//! Most locks are free: of these one in [`SHARE`] is timed.

use super::frame::Frame;
use super::mechanisms::fold;
use super::place::place;
use super::thread::{Thread, thread};
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::{self, ENTRANCE_BYTES, ticks};
use crate::sys::symbols::function;
use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Task functions told apart; a power of two. Of others' tasks all the region's time counts as useful.
const FUNCTIONS: usize = 128;
const PROBES: usize = 16;
static BODIES: [AtomicUsize; FUNCTIONS] = [const { AtomicUsize::new(0) }; FUNCTIONS];

arch::entrances!(FUNCTIONS, run);

unsafe extern "C" {
    fn scaf_tasks(data: *mut c_void);
}

/// What each entrance leads to; `here` is an address in it.
unsafe extern "C" fn run(data: *mut c_void, here: usize) {
    let number = here.wrapping_sub(scaf_tasks as *const () as usize) / ENTRANCE_BYTES;
    let body = BODIES.get(number).map_or(0, |body| body.load(Ordering::Relaxed));
    // SAFETY: an entrance is given out after its function was noted, and that never changes.
    unsafe {
        if let Some(body) = function::<Body>(body) {
            Frame::in_task(thread(), body, data);
        }
    }
}

#[inline(always)]
fn entrance(body: Body) -> Option<Body> {
    if body as usize == 0 {
        return None;
    }
    let first = (body as usize as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    for step in 0..PROBES {
        let at = (first as usize).wrapping_add(step) % FUNCTIONS;
        let place = BODIES.get(at)?;
        let there = place.load(Ordering::Relaxed);
        if there == body as usize
            || there == 0 && {
                let taken = place.compare_exchange(0, body as usize, Ordering::Relaxed, Ordering::Relaxed);
                taken.is_ok() || taken == Err(body as usize)
            }
        {
            let address = (scaf_tasks as *const () as usize).wrapping_add(at.wrapping_mul(ENTRANCE_BYTES));
            // SAFETY: that is where the entrance of this number begins.
            return Some(unsafe { core::mem::transmute::<usize, Body>(address) });
        }
    }
    None
}

#[inline(always)]
pub fn create(body: Body) -> Option<(&'static Runtime, Body)> {
    let this = thread();
    let (runtime, frame) = place(this, body as usize)?;
    let Some(frame) = frame else { return Some((runtime, body)) };
    let timed = if frame.times_tasks() { entrance(body) } else { None };
    frame.has_tasks(timed.is_some());
    Some((runtime, timed.unwrap_or(body)))
}

/// Creates a loop's tasks by `create`, which may also wait for them.
#[inline(always)]
pub fn create_many(body: Body, create: impl FnOnce(&'static Runtime, Body)) {
    let this = thread();
    if let Some((runtime, body)) = self::create(body) {
        match this.frame() {
            Some(frame) => wait(this, frame, || create(runtime, body)),
            None => create(runtime, body),
        }
    }
}

/// Of free locks one in so many is timed, by chance, for threads may take turns at a lock; a power of 2.
const SHARE: u32 = 2;
/// A lock that was to be had within so many ticks (about 0.5 us) counts as free.
const FREE_TICKS: u64 = 1 << 11;

#[inline(always)]
pub fn lock(this: &Thread, frame: &Frame, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    if this.stands_for.get() == SHARE {
        this.chance.set(this.chance.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        if this.chance.get() >> (32 - SHARE.trailing_zeros()) != 0 {
            return real();
        }
    }
    let since = ticks();
    let result = real();
    let now = ticks();
    let wait = now.wrapping_sub(since);
    frame.waited(this, wait.wrapping_mul(u64::from(this.stands_for.get().max(1))), now);
    this.stands_for.set(if wait < FREE_TICKS { SHARE } else { 1 });
    result
}

/// Waits within the runtime, in which the thread may run tasks.
#[inline(always)]
pub fn wait<R>(this: &Thread, frame: &Frame, real: impl FnOnce() -> R) -> R {
    frame.waits(this, ticks(), || {
        fold::follow_midway(frame);
        real()
    })
}
