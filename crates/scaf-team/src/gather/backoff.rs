//! How long regions are folded whose members blocked too often: each for a while first, and for twice as long
//! whenever it happens again soon, up to a limit. Other programs may have delayed the members, so nothing is
//! for good. A region that blocks in every run costs next to nothing in the end.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Ticks of the first time: 0.5 to 1 s at 2 to 4 GHz.
pub const FIRST: u64 = 1 << 31;
/// Ticks of the longest: 35 to 70 s.
pub const LONGEST: u64 = FIRST << 6;
/// After so many times as long without blocking, a region starts over.
const HOLDS_OUT: u64 = 4;

/// The regions that got stuck last. One writes, and others read: a region that takes another's place
/// meanwhile is gathered or folded once when it shouldn't be, which is right, too.
#[derive(Debug)]
pub struct Backoff<const REGIONS: usize>([Place; REGIONS]);

#[derive(Debug)]
struct Place {
    /// 0 for none.
    region: AtomicUsize,
    /// For how long it is folded, and until which tick.
    ticks: AtomicU64,
    until: AtomicU64,
}

impl Place {
    const fn none() -> Place {
        Place { region: AtomicUsize::new(0), ticks: AtomicU64::new(0), until: AtomicU64::new(0) }
    }
}

impl<const REGIONS: usize> Backoff<REGIONS> {
    /// No region got stuck.
    pub const fn new() -> Self {
        Backoff([const { Place::none() }; REGIONS])
    }

    fn find(&self, region: usize) -> Option<&Place> {
        self.0.iter().find(|place| place.region.load(Ordering::Relaxed) == region)
    }

    /// Whether the region is to be folded at tick `now`.
    pub fn is_folded(&self, region: usize, now: u64) -> bool {
        self.find(region).is_some_and(|place| now < place.until.load(Ordering::Relaxed))
    }

    /// Its members got stuck too often, at tick `now`. One caller at a time.
    pub fn gets_stuck(&self, region: usize, now: u64) {
        let least = |place: &&Place| place.until.load(Ordering::Relaxed);
        let Some(place) = self.find(region).or_else(|| self.0.iter().min_by_key(least)) else { return };
        let mut ticks = FIRST;
        if place.region.load(Ordering::Relaxed) == region {
            let (last, until) = (place.ticks.load(Ordering::Relaxed), place.until.load(Ordering::Relaxed));
            if now < until {
                // A run that began before isn't over.
                return;
            }
            if now.wrapping_sub(until) < last.saturating_mul(HOLDS_OUT) {
                ticks = last.saturating_mul(2).min(LONGEST);
            }
        }
        place.ticks.store(ticks, Ordering::Relaxed);
        place.until.store(now.saturating_add(ticks), Ordering::Relaxed);
        place.region.store(region, Ordering::Relaxed);
    }
}

impl<const REGIONS: usize> Default for Backoff<REGIONS> {
    fn default() -> Self {
        Backoff::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Until when a region that gets stuck at `now` is folded.
    fn until<const REGIONS: usize>(backoff: &Backoff<REGIONS>, region: usize, now: u64) -> u64 {
        backoff.gets_stuck(region, now);
        assert!(backoff.is_folded(region, now));
        backoff.find(region).expect("it has a place").until.load(Ordering::Relaxed)
    }

    #[test]
    fn a_region_that_is_stuck_whenever_it_is_gathered_is_folded_for_longer_each_time() {
        let backoff = Backoff::<2>::new();
        let (mut now, mut last) = (1, 0);
        for _ in 0..20 {
            let end = until(&backoff, 7, now);
            assert_eq!(end - now, (last * 2).clamp(FIRST, LONGEST));
            assert!(!backoff.is_folded(7, end) && !backoff.is_folded(8, now));
            (last, now) = (end - now, end + 1000);
        }
        assert_eq!(last, LONGEST);
    }

    #[test]
    fn a_region_that_held_out_begins_anew() {
        let backoff = Backoff::<2>::new();
        let first = until(&backoff, 7, 1);
        let second = until(&backoff, 7, first);
        assert_eq!(second - first, 2 * FIRST);
        let later = second + 8 * FIRST;
        assert_eq!(until(&backoff, 7, later) - later, FIRST);
    }

    #[test]
    fn what_a_run_does_that_began_before_makes_it_no_longer() {
        let backoff = Backoff::<2>::new();
        let end = until(&backoff, 7, 1);
        assert_eq!(until(&backoff, 7, end - 1), end);
    }

    proptest! {
        /// Of more regions than there is room for, each is folded when it gets stuck, never for longer than
        /// the limit; and with room for all none forgets.
        #[test]
        fn nobody_is_folded_for_longer_than_the_limit(
            steps in prop::collection::vec((1usize..6, 0..LONGEST), 1..60)
        ) {
            let (few, many) = (Backoff::<2>::new(), Backoff::<8>::new());
            let (mut now, mut last) = (1, [(0, 0); 6]);
            for (region, passed) in steps {
                now += passed;
                prop_assert!(until(&few, region, now) <= now + LONGEST);
                let (ticks, end) = last[region];
                let found = until(&many, region, now);
                let expected = match () {
                    () if now < end => end,
                    () if ticks != 0 && now - end < 4 * ticks => now + (2 * ticks).min(LONGEST),
                    () => now + FIRST,
                };
                prop_assert_eq!(found, expected);
                if now >= end {
                    last[region] = (found - now, found);
                }
            }
        }
    }
}
