//! How a thread's time in a region is divided into work and waits. A thread *waits* at barriers, at the ends
//! of loops, for tasks, for locks. While it waits for tasks the runtime has it run others, and those are
//! work: [`Frame::waits`] and [`Frame::in_task`] take turns at its clock.

use super::frame::{Frame, ONE_THREAD, UNTIMED_TASKS};
use super::mechanisms::gather::float_control;
use super::thread::{NO_INDEX, Thread, take_signals_back};
use crate::program::thread::master;
use crate::runtimes::entries::Body;
use crate::sys::arch::ticks;
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::Ordering;

/// A thread reports times once they are a 64th of the region's, so that the addition costs nothing.
const TOLD_SHIFT: u32 = 6;

/// Ticks of waits at barriers that a thread keeps to itself (30 us at 2 GHz): each report has a cache line go
/// from core to core, as often as there are threads.
const MOST_UNTOLD: u64 = 1 << 16;

impl Frame {
    #[inline(always)]
    pub unsafe fn visit(&self, this: *mut Thread, work: impl FnOnce()) {
        // SAFETY: a thread's state is its own.
        unsafe {
            if (*this).lent != 0 {
                take_signals_back(this);
            }
            float_control::take();
            let before = ((*this).runtime, (*this).frame, (*master()).depth);
            let counts = ((*this).index, (*this).loops, (*this).serial, (*this).deals);
            (*this).runtime = self.runtime;
            (*this).frame = self;
            (*master()).depth = self.depth;
            if (*master()).slot == 0 {
                (*this).home = self.runtime;
            }
            ((*this).index, (*this).loops, (*this).serial, (*this).deals) = (NO_INDEX, 0, 0, 0);
            if !self.master.is_null() {
                (*this).left = null();
            }
            let start = ticks();
            work();
            let inside = ticks().wrapping_sub(start) & (ONE_THREAD - 1);
            if (*this).waited != 0 && !self.slot.is_null() {
                self.tell(this);
            }
            ((*this).runtime, (*this).frame, (*master()).depth) = before;
            ((*this).index, (*this).loops, (*this).serial, (*this).deals) = counts;
            // Nested regions have no timed tasks.
            if !self.master.is_null() {
                ((*this).left, (*this).late) = (self, 0);
            }
            self.inside.fetch_add(ONE_THREAD | inside, Ordering::Relaxed);
        }
    }

    /// This thread waits in the region while it does `wait`, from tick `since` on.
    #[inline(always)]
    pub unsafe fn waits<R>(&self, this: *mut Thread, since: u64, wait: impl FnOnce() -> R) -> R {
        // SAFETY: this thread's own state.
        unsafe {
            (*this).waits_since = since;
            let result = wait();
            let more = ticks().wrapping_sub((*this).waits_since);
            (*this).waits_since = 0;
            // A region within owes nothing; what the thread owes the one around stays.
            if !self.slot.is_null() {
                (*this).waited = (*this).waited.wrapping_add(more);
                if (*this).waited > MOST_UNTOLD {
                    self.tell(this);
                }
            }
            result
        }
    }

    /// This thread has waited for `ticks` in the region, at tick `now`.
    #[inline(always)]
    pub unsafe fn waited(&self, this: *mut Thread, ticks: u64, now: u64) {
        // SAFETY: this thread's own state.
        unsafe {
            (*this).waited = (*this).waited.wrapping_add(ticks);
            if (*this).waited > self.told_after(now) {
                self.tell(this);
            }
        }
    }

    #[inline(always)]
    unsafe fn tell(&self, this: *mut Thread) {
        // SAFETY: this thread's own state; slots live in the report page, which is never unmapped.
        unsafe {
            if let Some(slot) = self.slot.as_ref()
                && self.seen.load(Ordering::Relaxed) & UNTIMED_TASKS == 0
            {
                slot.add_wait((*this).waited);
            }
            (*this).waited = 0;
        }
    }

    /// Ticks of a thread that are worth reporting at tick `now`.
    #[inline(always)]
    fn told_after(&self, now: u64) -> u64 {
        now.wrapping_sub(self.entered) >> TOLD_SHIFT
    }

    /// Runs a task of a region that times them, on a thread of its team.
    pub unsafe fn in_task(this: *mut Thread, body: Body, data: *mut c_void) {
        // SAFETY: this thread's own state; the program's own function and data. A team's tasks end before its
        // region, whose threads are in it or at its end: `left` or `frame` is the region's, and lives.
        unsafe {
            if let Some(frame) = (*this).left.as_ref() {
                // At the region's end, outside of the outlined function. It includes tasks that it waits for.
                let before = ((*this).runtime, (*this).frame, (*master()).depth);
                ((*this).runtime, (*this).frame, (*master()).depth) = (frame.runtime, frame, frame.depth);
                (*this).left = null();
                let since = ticks();
                body(data);
                let now = ticks();
                (*this).late = (*this).late.wrapping_add(now.wrapping_sub(since));
                if (*this).waited != 0 {
                    frame.tell(this);
                }
                ((*this).runtime, (*this).frame, (*master()).depth) = before;
                (*this).left = frame;
                if (*this).late > frame.told_after(now) {
                    frame.inside.fetch_add((*this).late & (ONE_THREAD - 1), Ordering::Relaxed);
                    (*this).late = 0;
                }
            } else if (*this).waits_since == 0 {
                body(data);
            } else {
                let now = ticks();
                if let Some(frame) = (*this).frame.as_ref() {
                    frame.waited(this, now.wrapping_sub((*this).waits_since), now);
                }
                (*this).waits_since = 0;
                body(data);
                (*this).waits_since = ticks();
            }
        }
    }
}
