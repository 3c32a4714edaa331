//! A scheduler in the middle of a region that began on real threads, and its members' way back to them.
//!
//! All threads of the team are at a barrier. Each becomes a member that it holds itself, puts itself on a
//! stack of its own, sets the member free, and sleeps: it is the member's *home*. Only a home takes a member
//! that waits for it ([`Until::OwnThread`](super::scheduler::Until::OwnThread)), which all do at the region's
//! end.
//!
//! They also go home in the middle of the region where that is asked for
//! ([`FiberScheduler::request_return`]): the last one to arrive at the next barrier has all do so behind it
//! ([`FiberScheduler::start_requested_return`]), and no carrier is wanted any more. A home takes its member
//! then as soon as that may pass the barrier and nobody runs it. The master's home is carrier 0, which always
//! stands on a member's stack. So it takes the master even where that has to wait, to get off another
//! member's ([`FiberScheduler::take_master`]).

use super::member_state::{RUNNING, SUSPENDED};
use super::scheduler::FiberScheduler;
use super::wait_until::OWN_THREAD;
use crate::Sleep;
use crate::sync::Ordering;

/// Values of [`FiberScheduler::home`]: they have no homes, or may be asked, were asked, are on their way.
const POSSIBLE: u32 = 1;
const REQUESTED: u32 = 2;
const RETURNING: u32 = 3;

impl<const MOST: usize> FiberScheduler<MOST> {
    /// The last thread of a team of `size` to arrive at a barrier makes members of all, on up to `carriers`.
    /// Each is held by its own thread.
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

    /// Has all go home at the next barrier, if they have homes.
    pub fn request_return(&self) {
        let _ = self.returning.compare_exchange(POSSIBLE, REQUESTED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The last member has arrived at a barrier behind which all can be threads, and is about to have them
    /// [pass](Self::pass) it.
    #[inline(always)]
    pub fn start_requested_return(&self) {
        if self.returning.load(Ordering::Relaxed) == REQUESTED {
            // Homes take their members from now on.
            self.exclusive.give_up();
            self.returning.store(RETURNING, Ordering::Release);
            self.close();
        }
    }

    /// Whether all go home behind the barrier that the caller has passed.
    #[inline(always)]
    pub fn is_returning(&self) -> bool {
        self.returning.load(Ordering::Acquire) == RETURNING
    }

    /// A held member has run to its end, and will go home.
    pub fn finish_midway(&self, sleep: &impl Sleep) {
        self.finished.0.fetch_add(1, Ordering::SeqCst);
        self.notify(sleep);
    }

    /// A home takes its member, if that is free and waits for it, or is on its way.
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

    /// Carrier 0 takes the master, if that is free, whatever it waits for.
    pub fn take_master(&self) -> bool {
        let Some(master) = self.members.first() else { return false };
        master.state.compare_exchange(SUSPENDED, RUNNING, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}
