//! Divides a process's contexts among several thread pools. oneTBB asks for a *permit* for each arena: the
//! most and the fewest *workers* that it could use. *Masters* are threads that entered an arena from outside.
//! What they leave of the share is divided:
//! - Arenas at the outermost level come first. A nested arena gets what is left: its masters are the outer
//!   one's threads, so it makes progress without workers.
//! - Permits of one rank get the same, or what they want if that is less.
//! - Workers leave when they have finished a task. Until then only lower ranks get less.

use core::cell::Cell;

/// The order in which permits get workers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Rank {
    /// At the outermost level.
    #[default]
    Outer,
    /// Within the work of another permit.
    Inner,
    /// Keeps its workers for later: gets what the others leave.
    Idle,
    /// Wants no workers.
    Off,
}

const RANKS: [Rank; 3] = [Rank::Outer, Rank::Inner, Rank::Idle];

/// What one permit wants and gets, in workers.
#[derive(Clone, Debug, Default)]
pub struct Permit {
    /// Its rank.
    pub rank: Cell<Rank>,
    /// Fewest workers that it needs, whatever the share.
    pub least: Cell<u32>,
    /// Most workers that it can use, not below `least`.
    pub most: Cell<u32>,
    /// Workers that are running.
    pub running: Cell<u32>,
    /// It keeps what it has while it is active.
    pub rigid: Cell<bool>,
    /// Workers that it may have, set by [`divide`].
    pub given: Cell<u32>,
}

impl Permit {
    fn bounds(&self) -> (u32, u32) {
        if self.rigid.get() && self.given.get() >= self.least.get() && self.given.get() != 0 {
            return (self.given.get(), self.given.get());
        }
        (self.least.get(), self.most.get().max(self.least.get()))
    }

    fn at(&self, level: u32) -> u64 {
        let (least, most) = self.bounds();
        u64::from(level.clamp(least, most))
    }
}

/// Divides `share` contexts, of which `masters` are taken; `None` gives each permit its most. Together they
/// get at most what is left, or what they need. Returns the number of changed permits.
pub fn divide<'p>(
    share: Option<u32>,
    masters: u32,
    permits: impl Iterator<Item = &'p Permit> + Clone,
) -> usize {
    let changed = Cell::new(0);
    let give = |permit: &Permit, workers: u64| {
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        if permit.given.replace(workers) != workers {
            changed.set(changed.get() + 1);
        }
    };
    let of = |rank: Rank| permits.clone().filter(move |permit| permit.rank.get() == rank);
    let least = |rank: Rank| of(rank).map(|permit| permit.at(0)).sum::<u64>();
    of(Rank::Off).for_each(|permit| give(permit, 0));
    let Some(share) = share else {
        RANKS.iter().flat_map(|rank| of(*rank)).for_each(|permit| give(permit, permit.at(u32::MAX)));
        return changed.get();
    };
    let mut left = u64::from(share.saturating_sub(masters));
    for (number, rank) in RANKS.into_iter().enumerate() {
        let owed: u64 = RANKS.iter().skip(number + 1).map(|rank| least(*rank)).sum();
        let budget = left.saturating_sub(owed);
        let at = |level: u32| of(rank).map(|permit| permit.at(level)).sum::<u64>();
        // The highest level within the budget.
        let (mut level, mut above) = (0, budget.min(u64::from(u32::MAX - 1)) as u32 + 1);
        while above - level > 1 {
            let middle = level + (above - level) / 2;
            if at(middle) <= budget {
                level = middle;
            } else {
                above = middle;
            }
        }
        let mut rest = budget.saturating_sub(at(level));
        let mut taken = 0;
        for permit in of(rank) {
            let more = u64::from(rest > 0 && permit.at(level + 1) > permit.at(level));
            rest -= more;
            let workers = permit.at(level) + more;
            give(permit, workers);
            taken += workers.max(u64::from(permit.running.get()));
        }
        left = left.saturating_sub(taken);
        if rank == Rank::Outer {
            // Workers of a permit that wants none any more may work in another one.
            let late: u64 = of(Rank::Off).map(|permit| u64::from(permit.running.get())).sum();
            left = left.saturating_sub(late);
        }
    }
    changed.get()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn permit(rank: Rank, least: u32, most: u32) -> Permit {
        Permit { rank: rank.into(), least: least.into(), most: most.into(), ..Permit::default() }
    }

    fn given(permits: &[Permit]) -> Vec<u32> {
        permits.iter().map(|permit| permit.given.get()).collect()
    }

    fn divided<const N: usize>(share: u32, masters: u32, permits: [Permit; N]) -> Vec<u32> {
        divide(Some(share), masters, permits.iter());
        given(&permits)
    }

    #[test]
    fn one_arena_gets_what_its_master_leaves() {
        assert_eq!(divided(4, 1, [permit(Rank::Outer, 0, 7)]), [3]);
        assert_eq!(divided(1, 1, [permit(Rank::Outer, 0, 7)]), [0]);
        assert_eq!(divided(8, 1, [permit(Rank::Outer, 0, 3)]), [3]);
    }

    #[test]
    fn two_arenas_of_two_masters_get_the_same() {
        let arena = || permit(Rank::Outer, 0, 7);
        assert_eq!(divided(8, 2, [arena(), arena()]), [3, 3]);
        assert_eq!(divided(8, 2, [permit(Rank::Outer, 0, 1), arena()]), [1, 5]);
        assert_eq!(divided(7, 2, [arena(), arena()]), [3, 2]);
    }

    #[test]
    fn an_inner_arena_gets_what_the_outer_one_does_not_want() {
        let inner = || permit(Rank::Inner, 0, 7);
        assert_eq!(divided(8, 1, [inner(), permit(Rank::Outer, 0, 7)]), [0, 7]);
        assert_eq!(divided(8, 1, [inner(), permit(Rank::Outer, 0, 3), inner()]), [2, 3, 2]);
    }

    #[test]
    fn an_inner_arena_waits_until_workers_of_the_outer_one_have_left() {
        let outer = permit(Rank::Outer, 0, 1);
        outer.running.set(3);
        let inner = permit(Rank::Inner, 0, 7);
        divide(Some(4), 1, [&outer, &inner].into_iter());
        assert_eq!((outer.given.get(), inner.given.get()), (1, 0));
        outer.running.set(1);
        divide(Some(4), 1, [&outer, &inner].into_iter());
        assert_eq!((outer.given.get(), inner.given.get()), (1, 2));
        outer.rank.set(Rank::Off);
        divide(Some(4), 1, [&outer, &inner].into_iter());
        assert_eq!((outer.given.get(), inner.given.get()), (0, 2));
    }

    #[test]
    fn who_can_not_do_without_a_worker_gets_it() {
        assert_eq!(divided(1, 1, [permit(Rank::Outer, 1, 7), permit(Rank::Inner, 1, 1)]), [1, 1]);
        assert_eq!(divided(3, 1, [permit(Rank::Outer, 0, 7), permit(Rank::Inner, 1, 1)]), [1, 1]);
    }

    #[test]
    fn a_rigid_permit_keeps_what_it_got() {
        let rigid = permit(Rank::Outer, 0, 7);
        rigid.rigid.set(true);
        let other = permit(Rank::Outer, 0, 7);
        divide(Some(5), 1, [&rigid].into_iter());
        divide(Some(3), 1, [&rigid, &other].into_iter());
        assert_eq!((rigid.given.get(), other.given.get()), (4, 0));
    }

    #[test]
    fn unmanaged_each_gets_what_it_wants() {
        let permits = [permit(Rank::Outer, 0, 7), permit(Rank::Inner, 0, 7), permit(Rank::Off, 0, 7)];
        assert_eq!(divide(None, 1, permits.iter()), 2);
        assert_eq!(given(&permits), [7, 7, 0]);
        assert_eq!(divide(None, 1, permits.iter()), 0);
    }

    fn any_permit() -> impl Strategy<Value = Permit> {
        let rank = prop_oneof![
            4 => Just(Rank::Outer), 2 => Just(Rank::Inner), 1 => Just(Rank::Idle), 1 => Just(Rank::Off)
        ];
        (rank, 0..3u32, 0..40u32, 0..10u32).prop_map(|(rank, least, more, running)| Permit {
            running: running.into(),
            ..permit(rank, least, least + more)
        })
    }

    proptest! {
        #[test]
        fn together_they_get_no_more_than_there_is(
            share in 0..100u32, masters in 0..8u32, permits in prop::collection::vec(any_permit(), 0..12)
        ) {
            divide(Some(share), masters, permits.iter());
            let active = || permits.iter().filter(|permit| permit.rank.get() != Rank::Off);
            let owed: u32 = active().map(|permit| permit.least.get()).sum();
            let sum: u32 = given(&permits).iter().sum();
            prop_assert!(sum <= share.saturating_sub(masters).max(owed));
            for permit in &permits {
                let (least, most) = if permit.rank.get() == Rank::Off { (0, 0) } else { permit.bounds() };
                prop_assert!((least..=most).contains(&permit.given.get()));
            }
        }

        #[test]
        fn nobody_goes_without_while_a_context_is_free(
            share in 0..100u32, masters in 0..8u32, permits in prop::collection::vec(any_permit(), 0..12)
        ) {
            permits.iter().for_each(|permit| permit.running.set(0));
            divide(Some(share), masters, permits.iter());
            let wants = permits.iter().any(|permit| {
                permit.rank.get() != Rank::Off && permit.given.get() < permit.most.get()
            });
            let sum: u32 = given(&permits).iter().sum();
            prop_assert!(!wants || sum >= share.saturating_sub(masters));
        }

        #[test]
        fn those_of_one_rank_differ_by_one_at_most_unless_they_want_less(
            share in 0..100u32, permits in prop::collection::vec(any_permit(), 0..12)
        ) {
            divide(Some(share), 1, permits.iter());
            for a in &permits {
                for b in permits.iter().filter(|b| b.rank == a.rank && a.rank.get() != Rank::Off) {
                    let content = a.given == a.most || b.given == b.least;
                    prop_assert!(content || a.given.get() + 1 >= b.given.get());
                }
            }
        }

        #[test]
        fn a_better_rank_is_content_before_a_worse_one_gets_more_than_it_has_to(
            share in 0..100u32, permits in prop::collection::vec(any_permit(), 0..12)
        ) {
            divide(Some(share), 1, permits.iter());
            for a in &permits {
                for b in permits.iter().filter(|b| a.rank < b.rank && b.rank.get() != Rank::Off) {
                    prop_assert!(a.given == a.most || b.given == b.least);
                }
            }
        }

        #[test]
        fn dividing_again_changes_nothing(
            share in 0..100u32, permits in prop::collection::vec(any_permit(), 0..12)
        ) {
            divide(Some(share), 1, permits.iter());
            prop_assert_eq!(divide(Some(share), 1, permits.iter()), 0);
        }
    }
}
