//! How members meet at a barrier.
//!
//! A count that all members share goes to and fro between the carriers, once for each member. So members are
//! in *parts*, by their numbers, one for each carrier if there are enough members. Each of several has a
//! count, and its last member counts for all of it. Carriers look in their own part before they look
//! elsewhere. Any carrier may run any member all the same: parts only say who counts where, and who looks
//! where first.

use super::scheduler::FiberScheduler;
use crate::Sleep;
use crate::sync::Ordering;

impl<const MOST: usize> FiberScheduler<MOST> {
    /// Makes parts of the members for so many carriers. Nobody has arrived anywhere: there is no region, or
    /// all have arrived.
    #[inline]
    pub(super) fn cut(&self, carriers: u32) {
        let size = self.size();
        let parts = carriers.min(size).max(1);
        let mut first = 0;
        for (number, part) in (1..=parts).zip(&self.parts) {
            // Both are at most `MOST`.
            let end = number * size / parts;
            part.first.store(first, Ordering::Relaxed);
            part.end.store(end, Ordering::Relaxed);
            part.arrived.store(0, Ordering::Relaxed);
            for member in self.members.iter().take(end as usize).skip(first as usize) {
                member.part.store(number - 1, Ordering::Relaxed);
            }
            first = end;
        }
        self.cut.store(parts, Ordering::Relaxed);
        self.arrived.0.store(0, Ordering::Relaxed);
    }

    /// A held member arrives at the barrier. `None` if it was the last: it has all go [on](Self::pass).
    #[inline(always)]
    pub fn arrive(&self, member: usize) -> Option<u32> {
        let word = self.passed();
        (!self.is_last(member)).then_some(word)
    }

    #[inline(always)]
    fn is_last(&self, member: usize) -> bool {
        // Both before it arrives: whoever arrives last may cut anew.
        let parts = self.cut.load(Ordering::Relaxed);
        if parts == 1 {
            return self.one_more_arrived() >= self.size();
        }
        let Some(member) = self.members.get(member) else { return false };
        let Some(part) = self.parts.get(member.part.load(Ordering::Relaxed) as usize) else { return false };
        let size = part.end.load(Ordering::Relaxed).wrapping_sub(part.first.load(Ordering::Relaxed));
        if part.arrived.fetch_add(1, Ordering::AcqRel).wrapping_add(1) < size {
            return false;
        }
        // Nobody of the part arrives again before all have passed.
        part.arrived.store(0, Ordering::Relaxed);
        self.arrived.0.fetch_add(1, Ordering::AcqRel).wrapping_add(1) >= parts
    }

    /// What all members count in if they are one part.
    #[inline(always)]
    fn one_more_arrived(&self) -> u32 {
        let arrived = &self.arrived.0;
        let plainly = || {
            let now = arrived.load(Ordering::Relaxed).wrapping_add(1);
            arrived.store(now, Ordering::Release);
            now
        };
        let by_itself = self.exclusive.exclusively(plainly);
        by_itself.unwrap_or_else(|| arrived.fetch_add(1, Ordering::AcqRel).wrapping_add(1))
    }

    /// All go on behind the barrier.
    #[inline(always)]
    pub fn pass(&self, sleep: &impl Sleep) {
        let carriers = self.carrier_limit.0.load(Ordering::Relaxed).min(self.size());
        if carriers != self.cut.load(Ordering::Relaxed) && carriers != 0 {
            self.cut(carriers);
        }
        self.arrived.0.store(0, Ordering::Relaxed);
        self.uncancel_shares();
        let passed = self.passed().wrapping_add(1);
        // By itself it has nobody to tell.
        if self.exclusive.exclusively(|| self.passed.0.store(passed, Ordering::Release)).is_none() {
            self.passed.0.store(passed, Ordering::SeqCst);
            self.notify(sleep);
        }
    }

    /// Takes a member of the carrier's part that is free and ready: the next behind `last`, if that is one.
    #[inline(always)]
    pub fn take_near(&self, carrier: u32, last: usize) -> Option<usize> {
        match self.cut.load(Ordering::Relaxed) {
            1 => return self.take(carrier, last),
            parts if carrier >= parts => return None,
            _ => {}
        }
        let part = self.parts.get(carrier as usize)?;
        let first = part.first.load(Ordering::Relaxed) as usize;
        let end = part.end.load(Ordering::Relaxed) as usize;
        self.take_of(carrier, if last < first { end } else { last }, first, end)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::gather::scheduler::Until;
    use crate::testing::Parking;
    use proptest::prelude::*;

    proptest! {
        /// However many carriers there are, and come and go: all pass when the last one arrives.
        #[test]
        fn the_last_member_to_arrive_is_told_so(
            size in 1u32..=9, carriers in 1u32..=9,
            rounds in proptest::collection::vec((any::<u64>(), 1u32..=9, 0usize..9), 1..20),
        ) {
            let (scheduler, parking) = (FiberScheduler::<9>::new(), Parking::default());
            scheduler.begin(size, carriers);
            for (order, wanted, when) in rounds {
                let mut members = (0..size as usize).collect::<Vec<_>>();
                members.sort_by_key(|member| order.rotate_left(7 * *member as u32) % 1009);
                for (arrived, member) in members.iter().enumerate() {
                    if arrived == when {
                        scheduler.narrow(wanted);
                        scheduler.widen(wanted, || true);
                    }
                    let word = scheduler.arrive(*member);
                    prop_assert_eq!(word.is_none(), arrived + 1 == size as usize);
                    if let Some(word) = word {
                        prop_assert!(!scheduler.is_met(Until::Passed(word)));
                    }
                }
                scheduler.pass(&parking);
                prop_assert_eq!(scheduler.cut.load(Ordering::Relaxed), scheduler.carrier_limit().min(size));
            }
        }

        /// Each carrier has a part where there are enough members, and all parts together are the team.
        #[test]
        fn parts_are_as_large_as_others(size in 1u32..=64, carriers in 1u32..=64) {
            let scheduler = FiberScheduler::<64>::new();
            scheduler.begin(size, carriers);
            let parts = carriers.min(size);
            let mut next = 0;
            for (number, part) in (0..parts).zip(&scheduler.parts) {
                let (first, end) = (part.first.load(Ordering::Relaxed), part.end.load(Ordering::Relaxed));
                prop_assert_eq!(first, next);
                prop_assert!((size / parts..=size.div_ceil(parts)).contains(&(end - first)));
                for member in first..end {
                    prop_assert_eq!(scheduler.members[member as usize].part.load(Ordering::Relaxed), number);
                }
                next = end;
            }
            prop_assert_eq!(next, size);
        }
    }

    #[test]
    fn who_looks_near_takes_nobody_of_another_part() {
        let scheduler = FiberScheduler::<5>::new();
        scheduler.begin(5, 2);
        // Members 0 and 1, and 2 to 4.
        assert_eq!(scheduler.take_near(0, 0), Some(1));
        assert_eq!(scheduler.take_near(0, 1), None);
        assert_eq!((scheduler.take_near(1, 0), scheduler.take_near(1, 2)), (Some(2), Some(3)));
        assert_eq!(scheduler.take(0, 1), Some(4));
        scheduler.set_suspended(1);
        // Whoever took one of another part looks in its own.
        assert_eq!(
            (scheduler.take_near(1, 4), scheduler.take_near(2, 4), scheduler.take_near(0, 4)),
            (None, None, Some(1))
        );
    }
}
