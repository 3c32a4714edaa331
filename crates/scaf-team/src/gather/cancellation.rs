//! What members cancel: the region, or the loop or sections that they are in.
//!
//! A cancelled loop is cancelled until the next barrier is passed: members leave it as they come to know, and
//! that is where they meet. A cancelled region is so until its end. Who cancels it never comes to the barrier
//! that is next to be passed, so nobody passes that. Members that wait there, if it is one at which
//! cancellation shows, go on. As some have arrived there and some haven't, they meet at the region's end by a
//! count of its own.

use super::scheduler::{Cancelled, FiberScheduler, Until};
use crate::Sleep;
use crate::sync::Ordering;

impl<const MOST: usize> FiberScheduler<MOST> {
    /// A held member cancels that.
    #[cold]
    pub fn cancel(&self, what: Cancelled, sleep: &impl Sleep) {
        self.cancelled.0.fetch_or(what as u32, Ordering::SeqCst);
        if what == Cancelled::Region {
            self.notify(sleep);
        }
    }

    /// Whether that is cancelled.
    #[inline(always)]
    pub fn is_cancelled(&self, what: Cancelled) -> bool {
        self.cancelled.0.load(Ordering::Acquire) & what as u32 != 0
    }

    /// A region begins.
    #[inline(always)]
    pub(super) fn uncancel(&self) {
        self.cancelled.0.store(0, Ordering::Relaxed);
        self.ended.0.store(0, Ordering::Relaxed);
    }

    /// All members have arrived at a barrier, so all have left what was cancelled.
    #[inline(always)]
    pub(super) fn uncancel_shares(&self) {
        if self.is_cancelled(Cancelled::Shares) {
            self.cancelled.0.fetch_and(!(Cancelled::Shares as u32), Ordering::Relaxed);
        }
    }

    /// A held member comes to the end of a region that may be cancelled. What it waits for; `None` if it was
    /// the last: it has all go [on](Self::pass).
    #[inline]
    pub fn arrive_at_end(&self) -> Option<Until> {
        // Whether the region is cancelled or not, no other barrier is passed any more.
        let word = self.passed();
        let last = self.ended.0.fetch_add(1, Ordering::AcqRel).wrapping_add(1) >= self.size();
        (!last).then_some(Until::Passed(word))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Parking;
    use proptest::prelude::*;

    /// What a member does next.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Barrier(usize),
        Waits(usize, Until),
        End,
        WaitsAtEnd(Until),
        Over,
    }

    proptest! {
        /// Members come to barriers in any order, one of them cancels behind one, or nobody does.
        #[test]
        fn all_members_come_to_the_end(
            size in 2usize..6, cancels in proptest::option::of((0usize..6, 0usize..4)),
            turns in proptest::collection::vec(0usize..6, 400),
        ) {
            const BARRIERS: usize = 4;
            let (scheduler, parking) = (FiberScheduler::<8>::new(), Parking::default());
            scheduler.begin(size as u32, 1);
            let mut members = vec![At::Barrier(0); size];
            let mut passed = vec![0; size];
            for turn in turns.into_iter().chain((0..400).map(|turn| turn % 6)) {
                let me = turn % size;
                members[me] = match members[me] {
                    At::Barrier(number) if cancels == Some((me, number)) => {
                        scheduler.cancel(Cancelled::Region, &parking);
                        At::End
                    }
                    At::Barrier(BARRIERS) => At::End,
                    At::Barrier(_) if scheduler.is_cancelled(Cancelled::Region) => At::End,
                    At::Barrier(number) => match scheduler.arrive(me) {
                        Some(word) => At::Waits(number, Until::PassedOrCancelled(word)),
                        None => {
                            scheduler.pass(&parking);
                            passed[me] += 1;
                            At::Barrier(number + 1)
                        }
                    },
                    At::Waits(_, until) if !scheduler.is_met(until) => continue,
                    At::Waits(..) if scheduler.is_cancelled(Cancelled::Region) => At::End,
                    At::Waits(number, _) => {
                        passed[me] += 1;
                        At::Barrier(number + 1)
                    }
                    At::End => match scheduler.arrive_at_end() {
                        Some(until) => At::WaitsAtEnd(until),
                        None => {
                            scheduler.pass(&parking);
                            At::Over
                        }
                    },
                    At::WaitsAtEnd(until) if scheduler.is_met(until) => {
                        prop_assert!(members.iter().all(|at| matches!(at, At::WaitsAtEnd(_) | At::Over)));
                        At::Over
                    }
                    at => at,
                };
            }
            prop_assert!(members.iter().all(|at| *at == At::Over));
            // Nobody is before a barrier that somebody has passed, but for who was told late.
            let most = cancels.filter(|(me, _)| *me < size).map_or(BARRIERS, |(_, number)| number);
            prop_assert!(passed.iter().all(|passed| *passed <= most));
            prop_assert!(most != BARRIERS || passed.iter().all(|passed| *passed == most));
        }
    }

    #[test]
    fn what_members_have_left_is_not_cancelled_any_more() {
        let (scheduler, parking) = (FiberScheduler::<2>::new(), Parking::default());
        scheduler.begin(2, 1);
        scheduler.cancel(Cancelled::Shares, &parking);
        assert!(scheduler.is_cancelled(Cancelled::Shares) && !scheduler.is_cancelled(Cancelled::Region));
        assert!(
            scheduler.arrive(0).is_some()
                && scheduler.arrive(1).is_none()
                && scheduler.is_cancelled(Cancelled::Shares)
        );
        scheduler.pass(&parking);
        assert!(!scheduler.is_cancelled(Cancelled::Shares));
        scheduler.cancel(Cancelled::Region, &parking);
        scheduler.begin(2, 1);
        assert!(!scheduler.is_cancelled(Cancelled::Region));
    }
}
