//! The team that a program keeps whatever its DoP is, as far as its page says: for policies, which give no
//! contexts that are of no use to it ([`scaf_policy::steps`]).
//!
//! The page tells the latest region only, so a team counts as kept once four ticks in a row with parallel
//! work (one second) found one size, in a region that is folded or gathered because nothing permits to resize
//! it. A region that is resized or parked, another size, or a second team beside it begin the count anew. So
//! a program with regions of both kinds is mostly taken for one whose teams follow the DoP, as if nothing
//! were known.

use crate::estimate::Seen;
use scaf_team::choice::Mechanism;

/// Ticks in a row.
const LOOKS: u32 = 4;

#[derive(Clone, Copy, Debug, Default)]
pub struct KeptTeam {
    size: u32,
    looks: u32,
    /// Regions left by the last look, and those whose size the program had fixed.
    regions: u64,
    promised: u64,
}

impl KeptTeam {
    /// Its members; 0 if its teams follow the DoP or it isn't known.
    pub fn size(&self) -> u32 {
        if self.looks >= LOOKS { self.size } else { 0 }
    }

    /// Takes in a tick's reading, of a program that has `dop` contexts of the `natural` ones that it would
    /// have without us. `resizes`: its code or a permission lets teams be smaller, but for promised ones.
    pub fn look(&mut self, seen: &Seen, (dop, natural): (u32, u32), resizes: bool) {
        let ended = seen.regions.saturating_sub(self.regions);
        let all_promised = ended > 0 && seen.promised.saturating_sub(self.promised) >= ended;
        (self.regions, self.promised) = (seen.regions, seen.promised);
        if seen.interval.parallel_s <= 0.0 {
            return;
        }
        // Two masters have a team each.
        let alone = !seen.in_region || seen.team == seen.last_team;
        let kept = (!resizes || all_promised) && alone && seen.last_team > 0;
        let size = match seen.mechanism {
            Some(Mechanism::Fold) => seen.last_team,
            Some(Mechanism::Gather) if seen.last_team > dop => seen.last_team,
            // It was entered with as many threads as granted, and its members aren't told. Nearly all such
            // regions ask for as many as they would have.
            Some(Mechanism::Gather) if self.size > dop => self.size,
            Some(Mechanism::Gather) => natural,
            _ => 0,
        };
        if !kept || size == 0 {
            (self.size, self.looks) = (0, 0);
        } else if size == self.size {
            self.looks = self.looks.saturating_add(1);
        } else {
            (self.size, self.looks) = (size, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tests::seen;

    fn of(mechanism: Mechanism, team: u32) -> Seen {
        Seen { mechanism: Some(mechanism), ..seen(team, 0) }
    }

    /// After so many looks at a program with 5 of 16 contexts.
    fn after(looks: &[Seen], resizes: bool) -> u32 {
        let mut kept = KeptTeam::default();
        looks.iter().for_each(|seen| kept.look(seen, (5, 16), resizes));
        kept.size()
    }

    #[test]
    fn a_folded_or_gathered_team_is_known_after_a_second() {
        let folded = [of(Mechanism::Fold, 12); 4];
        assert_eq!([after(&folded[..3], false), after(&folded, false)], [0, 12]);
        assert_eq!(after(&[of(Mechanism::Gather, 5); 4], false), 16, "gathered since its entry");
        assert_eq!(after(&[of(Mechanism::Gather, 12); 4], false), 12, "gathered at a barrier");
        let later = [of(Mechanism::Fold, 12), of(Mechanism::Gather, 5)].repeat(2);
        assert_eq!(after(&later, false), 12, "its size is known from before");
    }

    #[test]
    fn serial_time_says_nothing_and_any_other_kind_of_region_begins_anew() {
        let folded = of(Mechanism::Fold, 12);
        let mut serial = folded;
        serial.interval.parallel_s = 0.0;
        serial.mechanism = Some(Mechanism::Resize);
        let all = |between: Seen| after(&[folded, folded, between, folded, folded], false);
        assert_eq!(all(serial), 12);
        for other in [Mechanism::Resize, Mechanism::Park, Mechanism::Unmanaged] {
            assert_eq!(all(of(other, 12)), 0, "{other:?}");
            assert_eq!(after(&[of(other, 12); 9], false), 0, "{other:?}");
        }
        assert_eq!(all(of(Mechanism::Fold, 4)), 0, "another size");
        assert_eq!(all(Seen { team: 24, ..folded }), 0, "two masters' teams");
        assert_eq!(after(&[folded, of(Mechanism::Fold, 4)].repeat(9), false), 0);
        assert_eq!(after(&[of(Mechanism::Fold, 0); 9], false), 0);
    }

    #[test]
    fn what_may_be_resized_is_kept_only_where_the_program_fixed_every_size() {
        let folded = of(Mechanism::Fold, 12);
        assert_eq!(after(&[folded; 9], true), 0, "a long region that started wide");
        for (promised, size) in [(10, 12), (9, 0)] {
            let mut looks = [folded; 9];
            for (at, seen) in (1..).zip(&mut looks) {
                (seen.regions, seen.promised) = (10 * at, promised * at);
            }
            assert_eq!(after(&looks, true), size, "{promised} of 10");
        }
    }
}
