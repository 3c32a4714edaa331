//! How a thread's time in a region is divided into work and waits. A thread *waits* at barriers, at the ends
//! of loops, for tasks, for locks. While it waits for tasks the runtime has it run others, and those are
//! work: [`Frame::waits`] and [`Frame::in_task`] take turns at its clock.

use super::frame::{Frame, ONE_THREAD, UNTIMED_TASKS};
use super::mechanisms::gather::float_control;
use super::thread::{NO_INDEX, Thread, take_signals_back};
use crate::program::masters::master;
use crate::runtimes::entries::{Body, Runtime};
use crate::sys::arch::ticks;
use core::ffi::c_void;
use core::ptr::null;
use core::sync::atomic::Ordering;

/// A thread reports times once they are a 64th of the region's, so that the addition costs nothing.
const REPORTED_SHIFT: u32 = 6;

/// Ticks of waits at barriers that a thread keeps to itself (30 us at 2 GHz): each report has a cache line go
/// from core to core, as often as there are threads.
const MOST_UNREPORTED: u64 = 1 << 16;

/// What [`Thread`] and [`Master`] say of the region that a thread is in.
type Around = (Option<&'static Runtime>, *const Frame, u32);

impl Frame {
    /// The thread is in this region now; returns where it was.
    #[inline(always)]
    fn enter(&self, this: &Thread) -> Around {
        (
            this.runtime.replace(Some(self.runtime)),
            this.frame.replace(self),
            master().depth.replace(self.depth),
        )
    }

    /// It is back there.
    #[inline(always)]
    fn leave(this: &Thread, (runtime, frame, depth): Around) {
        this.runtime.set(runtime);
        this.frame.set(frame);
        master().depth.set(depth);
    }

    /// The thread does its part of the region.
    #[inline(always)]
    pub fn visit(&self, this: &Thread, work: impl FnOnce()) {
        if this.lent.get() != 0 {
            take_signals_back(this);
        }
        float_control::take();
        let before = self.enter(this);
        if master().slot.get() == 0 {
            this.home.set(Some(self.runtime));
        }
        let (index, loops) = (this.index.replace(NO_INDEX), this.loops.replace(0));
        let (serial, deals) = (this.serial.replace(0), this.deals.replace(0));
        if !self.master.is_null() {
            this.left.set(null());
        }
        let start = ticks();
        work();
        let inside = ticks().wrapping_sub(start) & (ONE_THREAD - 1);
        if this.waited.get() != 0 && self.slot.is_some() {
            self.report_wait(this);
        }
        Frame::leave(this, before);
        this.index.set(index);
        this.loops.set(loops);
        this.serial.set(serial);
        this.deals.set(deals);
        // Nested regions have no timed tasks.
        if !self.master.is_null() {
            this.left.set(self);
            this.late.set(0);
        }
        self.inside.fetch_add(ONE_THREAD | inside, Ordering::Relaxed);
    }

    /// This thread waits in the region while it does `wait`, from tick `since` on.
    #[inline(always)]
    pub fn waits<R>(&self, this: &Thread, since: u64, wait: impl FnOnce() -> R) -> R {
        this.waits_since.set(since);
        let result = wait();
        let more = ticks().wrapping_sub(this.waits_since.take());
        // A region within owes nothing; what the thread owes the one around stays.
        if self.slot.is_some() {
            this.waited.set(this.waited.get().wrapping_add(more));
            if this.waited.get() > MOST_UNREPORTED {
                self.report_wait(this);
            }
        }
        result
    }

    /// This thread has waited for `ticks` in the region, at tick `now`.
    #[inline(always)]
    pub fn waited(&self, this: &Thread, ticks: u64, now: u64) {
        this.waited.set(this.waited.get().wrapping_add(ticks));
        if this.waited.get() > self.worth_reporting(now) {
            self.report_wait(this);
        }
    }

    #[inline(always)]
    fn report_wait(&self, this: &Thread) {
        let waited = this.waited.take();
        if let Some(slot) = self.slot
            && self.seen.load(Ordering::Relaxed) & UNTIMED_TASKS == 0
        {
            slot.add_wait(waited);
        }
    }

    /// Ticks of a thread that are worth reporting at tick `now`.
    #[inline(always)]
    fn worth_reporting(&self, now: u64) -> u64 {
        now.wrapping_sub(self.entered) >> REPORTED_SHIFT
    }

    /// Runs a task of a region that times them, on a thread of its team.
    /// # Safety
    /// `data` is what the task's function takes.
    pub unsafe fn in_task(this: &Thread, body: Body, data: *mut c_void) {
        // SAFETY: the caller's promise.
        let run = || unsafe { body(data) };
        if let Some(frame) = this.left() {
            // At the region's end, outside of the outlined function. It includes tasks that it waits for.
            let before = frame.enter(this);
            this.left.set(null());
            let since = ticks();
            run();
            let now = ticks();
            this.late.set(this.late.get().wrapping_add(now.wrapping_sub(since)));
            if this.waited.get() != 0 {
                frame.report_wait(this);
            }
            Frame::leave(this, before);
            this.left.set(frame);
            if this.late.get() > frame.worth_reporting(now) {
                frame.inside.fetch_add(this.late.take() & (ONE_THREAD - 1), Ordering::Relaxed);
            }
        } else if this.waits_since.get() == 0 {
            run();
        } else {
            let now = ticks();
            if let Some(frame) = this.frame() {
                frame.waited(this, now.wrapping_sub(this.waits_since.get()), now);
            }
            this.waits_since.set(0);
            run();
            this.waits_since.set(ticks());
        }
    }
}
