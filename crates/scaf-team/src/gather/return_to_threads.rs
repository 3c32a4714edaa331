//! Teams that are gathered in the middle of a region, and return to threads.
//!
//! All threads of the team are at a barrier. Each becomes a member that its own thread runs, switches to an
//! idle stack, marks the member as suspended, and sleeps. Only this thread takes a member that waits for
//! [`Until::OwnThread`](super::scheduler::Until::OwnThread), as all do at the region's end.
//!
//! They also return in the middle of the region if that is requested ([`FiberScheduler::request_return`]):
//! the last member to arrive at the next barrier starts it ([`FiberScheduler::start_requested_return`]), and
//! carriers leave. Then each thread takes its member as soon as that has passed the barrier and nobody runs
//! it. The master's own thread is carrier 0, which is always on some member's stack. To get off another
//! member's, it takes the master even if that has to wait ([`FiberScheduler::take_master`]).

use super::member_state::{RUNNING, SUSPENDED};
use super::scheduler::FiberScheduler;
use super::wait_until::OWN_THREAD;
use crate::Sleep;
use crate::sync::Ordering;

/// Values of `returning`. 0: the members have no threads of their own.
const POSSIBLE: u32 = 1;
const REQUESTED: u32 = 2;
const RETURNING: u32 = 3;

impl<const MOST: usize> FiberScheduler<MOST> {
    /// The last thread of a team of `size` to arrive at a barrier makes members of all, on up to `carriers`.
    /// Each is run by its own thread.
    pub fn gather(&self, size: u32, carriers: u32) {
        self.size.store(size, Ordering::Relaxed);
        self.initial_carriers.store(carriers, Ordering::Relaxed);
        self.finished.0.store(0, Ordering::Relaxed);
        self.cut(carriers);
        self.exclusive.begin(carriers);
        self.uncancel();
        for member in self.members.iter().take(size as usize) {
            member.state.store(RUNNING, Ordering::Relaxed);
        }
        self.returning.store(POSSIBLE, Ordering::Relaxed);
        self.carrier_limit.0.store(carriers, Ordering::SeqCst);
    }

    /// Requests that all return at the next barrier, if they have threads of their own.
    pub fn request_return(&self) {
        let _ = self.returning.compare_exchange(POSSIBLE, REQUESTED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The last member has arrived at a barrier behind which the team may return, and is about to
    /// [release](Self::pass) it.
    #[inline(always)]
    pub fn start_requested_return(&self) {
        if self.returning.load(Ordering::Relaxed) == REQUESTED {
            // From now on threads take their members.
            self.exclusive.give_up();
            self.returning.store(RETURNING, Ordering::Release);
            self.close();
        }
    }

    /// Whether the team returns to threads behind the barrier that the caller has passed.
    #[inline(always)]
    pub fn is_returning(&self) -> bool {
        self.returning.load(Ordering::Acquire) == RETURNING
    }

    /// A running member has reached the region's end, and will return to its thread.
    pub fn finish_midway(&self, sleep: &impl Sleep) {
        self.finished.0.fetch_add(1, Ordering::SeqCst);
        self.notify(sleep);
    }

    /// A thread takes its own member, if that is suspended and waits for it or is to return.
    pub fn take_for_own_thread(&self, member: usize) -> bool {
        let Some(member) = self.members.get(member) else { return false };
        let is_due = || {
            member.waits.load(Ordering::Relaxed) == OWN_THREAD || self.is_returning() && self.is_ready(member)
        };
        if member.state.load(Ordering::Acquire) == SUSPENDED
            && is_due()
            && member.state.compare_exchange(SUSPENDED, RUNNING, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            if is_due() {
                return true;
            }
            member.state.store(SUSPENDED, Ordering::Release);
        }
        false
    }

    /// Carrier 0 takes the master if it is suspended, whatever it waits for.
    pub fn take_master(&self) -> bool {
        let Some(master) = self.members.first() else { return false };
        master.state.compare_exchange(SUSPENDED, RUNNING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}
