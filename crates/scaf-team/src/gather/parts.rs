//! How members meet at a barrier.
//!
//! A count that all members share goes to and fro between the carriers, once for each member. So members are
//! in as many *parts* as there are carriers, by their numbers. Each part has a count, and its last member
//! counts for all of it. Carriers look in the part of the member that they run before they look elsewhere, so
//! a part mostly stays with one. Any carrier may run any member all the same: parts only say who counts
//! where.

use super::crew::Crew;
use crate::Sleep;
use crate::sync::Ordering;

impl<const MOST: usize> Crew<MOST> {
    /// Makes parts of the members for so many carriers, of which nobody has arrived anywhere: there is no
    /// region, or all have arrived.
    #[inline]
    pub(super) fn cut(&self, carriers: u32) {
        let size = self.size();
        let parts = carriers.min(size).max(1);
        let (mut part, mut first, mut end) = (0, 0, 0);
        for (number, member) in (0..size).zip(&self.members) {
            if number == end {
                part += 1;
                // Both are at most `MOST`.
                (first, end) = (end, part * size / parts);
            }
            member.part.first.store(first, Ordering::Relaxed);
            member.part.size.store(end - first, Ordering::Relaxed);
            member.part.arrived.store(0, Ordering::Relaxed);
        }
        self.parts.store(parts, Ordering::Relaxed);
        self.arrived.0.store(0, Ordering::Relaxed);
    }

    /// A held member arrives at the barrier. `None` if it was the last: it has all go [on](Self::pass).
    #[inline(always)]
    pub fn arrive(&self, member: usize) -> Option<u32> {
        let word = self.word();
        (!self.is_last(member)).then_some(word)
    }

    #[inline(always)]
    fn is_last(&self, member: usize) -> bool {
        let Some(member) = self.members.get(member) else { return false };
        let size = member.part.size.load(Ordering::Relaxed);
        let Some(first) = self.members.get(member.part.first.load(Ordering::Relaxed) as usize) else {
            return false;
        };
        let parts = self.parts.load(Ordering::Relaxed);
        if first.part.arrived.fetch_add(1, Ordering::AcqRel).wrapping_add(1) < size {
            return false;
        }
        // Nobody of the part arrives again before all have passed.
        first.part.arrived.store(0, Ordering::Relaxed);
        parts == 1 || self.arrived.0.fetch_add(1, Ordering::AcqRel).wrapping_add(1) >= parts
    }

    /// All go on behind the barrier.
    #[inline(always)]
    pub fn pass(&self, sleep: &impl Sleep) {
        let carriers = self.open.0.load(Ordering::Relaxed).min(self.size());
        if carriers != self.parts.load(Ordering::Relaxed) && carriers != 0 {
            self.cut(carriers);
        }
        self.arrived.0.store(0, Ordering::Relaxed);
        self.uncancel_shares();
        self.passed.0.store(self.passed.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::SeqCst);
        self.tell(sleep);
    }

    /// Takes the next member of `last`'s part that is free and ready.
    #[inline(always)]
    pub fn take_near(&self, carrier: u32, last: usize) -> Option<usize> {
        let part = &self.members.get(last)?.part;
        let first = part.first.load(Ordering::Relaxed) as usize;
        let end = first.wrapping_add(part.size.load(Ordering::Relaxed) as usize);
        self.take_of(carrier, last, first..end)
    }

    /// The member behind which a carrier begins to look that comes to the region.
    pub fn place(&self, carrier: u32) -> usize {
        let size = self.size().max(1);
        let first = carrier.wrapping_mul(size) / self.open().max(1);
        first.wrapping_add(size).wrapping_sub(1).checked_rem(size).unwrap_or(0) as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::gather::crew::Until;
    use crate::testing::Parking;
    use proptest::prelude::*;

    proptest! {
        /// However many carriers there are, and come and go: all pass when the last one arrives.
        #[test]
        fn the_last_member_to_arrive_is_told_so(
            size in 1u32..=9, carriers in 1u32..=9,
            rounds in proptest::collection::vec((any::<u64>(), 1u32..=9, 0usize..9), 1..20),
        ) {
            let (crew, parking) = (Crew::<9>::new(), Parking::default());
            crew.begin(size, carriers);
            for (order, wanted, when) in rounds {
                let mut members = (0..size as usize).collect::<Vec<_>>();
                members.sort_by_key(|member| order.rotate_left(7 * *member as u32) % 1009);
                for (arrived, member) in members.iter().enumerate() {
                    if arrived == when {
                        crew.narrow(wanted);
                        crew.widen(wanted);
                    }
                    let word = crew.arrive(*member);
                    prop_assert_eq!(word.is_none(), arrived + 1 == size as usize);
                    if let Some(word) = word {
                        prop_assert!(!crew.is_met(Until::Passed(word)));
                    }
                }
                crew.pass(&parking);
                prop_assert_eq!(crew.parts.load(Ordering::Relaxed), crew.open().min(size));
            }
        }

        /// Each carrier has a part where there are enough members, and all parts together are the team.
        #[test]
        fn parts_are_as_large_as_others(size in 1u32..=64, carriers in 1u32..=64) {
            let crew = Crew::<64>::new();
            crew.begin(size, carriers);
            let parts = carriers.min(size);
            let mut next = 0;
            for carrier in 0..parts {
                let last = crew.place(carrier) as u32;
                if carriers <= size {
                    prop_assert_eq!((last + 1) % size, next);
                }
                let part = &crew.members[next as usize].part;
                let members = part.size.load(Ordering::Relaxed);
                prop_assert!((size / parts..=size.div_ceil(parts)).contains(&members));
                for member in next..next + members {
                    prop_assert_eq!(crew.members[member as usize].part.first.load(Ordering::Relaxed), next);
                }
                next += members;
            }
            prop_assert_eq!(next, size);
        }
    }

    #[test]
    fn who_looks_near_takes_nobody_of_another_part() {
        let crew = Crew::<5>::new();
        crew.begin(5, 2);
        // Members 0 and 1, and 2 to 4.
        assert_eq!(crew.take_near(0, 0), Some(1));
        assert_eq!(crew.take_near(0, 1), None);
        assert_eq!(crew.take(1, crew.place(1)), Some(2));
        assert_eq!(
            (crew.take_near(1, 2), crew.take_near(1, 3), crew.take_near(1, 4)),
            (Some(3), Some(4), None)
        );
        crew.set_free(4);
        assert_eq!((crew.take_near(0, 1), crew.take(0, 1)), (None, Some(4)));
    }
}
