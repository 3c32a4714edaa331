//! How the carrier monitor proceeds: when it looks next, how many carriers it adds to those of the grant, and
//! when the region is folded for a while. All times are in milliseconds.

/// Time between two looks at first, and after a member was blocked.
pub const SHORT_MS: u32 = 2;
/// The same after [`QUIET_MS`] without a blocked member: each look takes some 20 us from the members.
pub const LONG_MS: u32 = 8;
const QUIET_MS: u32 = 64;
/// Time without a blocked member after which an added carrier leaves.
const CALM_MS: u32 = 20;
/// Number of rescues, with at most [`RARE_MS`] between two, after which a region is folded.
const RESCUES: u32 = 4;
const RARE_MS: u32 = 512;

/// What the monitor remembers.
#[derive(Debug)]
pub struct Pace {
    /// Carriers beyond the grant's.
    further: u32,
    /// Time since added carriers were needed, and since anything was.
    calm: u32,
    quiet: u32,
    rescues: u32,
    /// Time since the last rescue.
    since: u32,
}

impl Pace {
    /// Nothing yet.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Pace {
        Pace { further: 0, calm: 0, quiet: 0, rescues: 0, since: RARE_MS }
    }

    /// Time until the next look.
    pub fn period(&self) -> u32 {
        if self.is_slow() { LONG_MS } else { SHORT_MS }
    }

    /// Whether no member was blocked for long.
    pub fn is_slow(&self) -> bool {
        self.quiet >= QUIET_MS
    }

    /// Time has passed.
    pub fn passes(&mut self, time: u32) {
        self.since = self.since.saturating_add(time);
        self.quiet = self.quiet.saturating_add(time);
    }

    /// Another region may run.
    pub fn begins(&mut self) {
        (self.further, self.calm) = (0, 0);
    }

    /// The monitor has slept, or a member may block soon.
    pub fn wakes(&mut self) {
        self.quiet = 0;
    }

    /// Carriers for a region of `size` members with this grant.
    pub fn carriers(&self, wanted: u32, size: u32) -> u32 {
        wanted.saturating_add(self.further).min(size)
    }

    /// A member blocks its carrier: adds a carrier. Returns whether that was needed too often.
    #[must_use]
    pub fn rescues(&mut self) -> bool {
        self.rescues = if self.since > RARE_MS { 1 } else { self.rescues.saturating_add(1) };
        (self.further, self.calm) = (self.further.saturating_add(1), 0);
        (self.since, self.quiet) = (0, 0);
        self.rescues >= RESCUES
    }

    /// No member was blocked in this time, or each has a carrier.
    pub fn is_calm(&mut self, time: u32) {
        if self.further == 0 {
            return;
        }
        self.quiet = 0;
        self.calm = self.calm.saturating_add(time);
        if self.calm > CALM_MS {
            (self.further, self.calm) = (self.further - 1, 0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn calm(pace: &mut Pace, time: u32) {
        pace.passes(time);
        pace.is_calm(time);
    }

    #[test]
    fn it_looks_less_often_where_nobody_needs_help_and_more_often_once_one_does() {
        let mut pace = Pace::new();
        for _ in 0..QUIET_MS / SHORT_MS {
            assert_eq!(pace.period(), SHORT_MS);
            calm(&mut pace, SHORT_MS);
        }
        assert_eq!(pace.period(), LONG_MS);
        assert!(!pace.rescues());
        assert_eq!((pace.period(), pace.carriers(2, 8)), (SHORT_MS, 3));
        for _ in 0..=CALM_MS / SHORT_MS {
            assert_eq!(pace.carriers(2, 8), 3);
            calm(&mut pace, SHORT_MS);
        }
        assert_eq!((pace.carriers(2, 8), pace.period()), (2, SHORT_MS));
        calm(&mut pace, QUIET_MS);
        assert_eq!(pace.period(), LONG_MS);
        pace.wakes();
        assert_eq!(pace.period(), SHORT_MS);
    }

    #[test]
    fn four_rescues_in_close_sequence_are_too_many_and_rare_ones_are_not() {
        let mut pace = Pace::new();
        for _ in 0..100 {
            pace.passes(RARE_MS + 1);
            assert!(!pace.rescues());
        }
        for times in 2..=RESCUES {
            pace.passes(RARE_MS);
            assert_eq!(pace.rescues(), times == RESCUES);
        }
    }

    #[test]
    fn further_carriers_are_one_regions_and_never_more_than_its_members() {
        let mut pace = Pace::new();
        for _ in 0..5 {
            let _: bool = pace.rescues();
        }
        assert_eq!((pace.carriers(1, 4), pace.carriers(1, 64)), (4, 6));
        pace.begins();
        assert_eq!(pace.carriers(1, 4), 1);
    }
}
