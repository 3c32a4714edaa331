//! Detects cycles of a feedback loop: when it is about to return to an earlier *place* (an allocation), the
//! best of them by *worth* (weighted sum of speedups measured there) is *held* until programs change.

/// Places a loop has been, latest last.
#[derive(Debug, Default)]
pub(crate) struct Trail {
    visits: Vec<Visit>,
    held: Option<Visit>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Visit {
    pub dops: Vec<u32>,
    pub efficiencies: Vec<f64>,
    pub worth: f64,
}

impl Trail {
    /// The longest cycle looked for, in decisions.
    pub const LONGEST: usize = 8;
    /// Relative change of an efficiency that ends the hold on a place.
    pub const TOLERANCE: f64 = 0.10;

    pub fn clear(&mut self) {
        *self = Trail::default();
    }

    pub fn held(&self) -> Option<&Visit> {
        self.held.as_ref()
    }

    pub fn visit(&mut self, now: Visit) {
        if let Some(held) = &self.held {
            if held.dops == now.dops && !held.still_true(&now) {
                self.clear();
                self.visits.push(now);
            }
            return;
        }
        match self.visits.last_mut() {
            // Staying is no step, but the later measurement has settled more.
            Some(last) if last.dops == now.dops => *last = now,
            _ => self.visits.push(now),
        }
        if self.visits.len() > Self::LONGEST {
            self.visits.remove(0);
        }
    }

    /// Before the loop moves on to `next`: the place to hold instead, if any. Moving back to a place among
    /// the last [`Trail::LONGEST`] closes a cycle; the best of them is then held.
    pub fn closes_at(&mut self, next: &[u32]) -> Option<&Visit> {
        if self.held.is_none() {
            let here = self.visits.len().checked_sub(1)?;
            if self.visits[here].dops == next {
                return None;
            }
            if self.visits.iter().all(|v| v.dops != next) {
                return None;
            }
            // The later of equals: less to change.
            self.held = self.visits.iter().max_by(|a, b| a.worth.total_cmp(&b.worth)).cloned();
        }
        self.held.as_ref()
    }
}

impl Visit {
    /// Whether `now`, measured at the same place, agrees with this visit.
    fn still_true(&self, now: &Visit) -> bool {
        let pairs = self.efficiencies.iter().zip(&now.efficiencies).zip(&self.dops);
        // On one context the efficiency is always 1.
        pairs
            .filter(|(_, dop)| **dop > 1)
            .all(|((then, now), _)| (now - then).abs() <= Trail::TOLERANCE * then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(dops: &[u32], worth: f64) -> Visit {
        Visit { dops: dops.to_vec(), efficiencies: vec![0.5; dops.len()], worth }
    }

    #[test]
    fn a_loop_that_keeps_moving_on_or_stays_is_left_alone() {
        let mut trail = Trail::default();
        for dops in [[1, 5], [2, 4], [3, 3], [3, 3]] {
            trail.visit(visit(&dops, 1.0));
        }
        assert_eq!(trail.closes_at(&[4, 2]), None);
        assert_eq!(trail.closes_at(&[3, 3]), None);
    }

    #[test]
    fn returning_holds_the_best_place_that_was_seen() {
        let mut trail = Trail::default();
        trail.visit(visit(&[5, 1], 2.5));
        trail.visit(visit(&[1, 5], 1.0));
        trail.visit(visit(&[2, 4], 3.0));
        trail.visit(visit(&[3, 3], 2.0));
        assert_eq!(trail.closes_at(&[1, 5]).unwrap().dops, [2, 4]);
        assert_eq!(trail.closes_at(&[6, 0]).unwrap().dops, [2, 4], "and keeps holding it");
    }

    #[test]
    fn a_held_place_is_given_up_when_a_program_changes_by_more_than_a_tenth() {
        let mut trail = Trail::default();
        trail.visit(visit(&[1, 5], 2.0));
        trail.visit(visit(&[2, 4], 1.0));
        trail.closes_at(&[1, 5]);
        let at = |e: [f64; 2]| Visit { efficiencies: e.to_vec(), ..visit(&[1, 5], 2.0) };
        trail.visit(at([0.1, 0.54]));
        assert!(trail.held().is_some(), "0.54 is within a tenth of 0.5, and one context says nothing");
        trail.visit(at([0.5, 0.44]));
        assert!(trail.held().is_none());
    }

    #[test]
    fn cycles_longer_than_the_memory_are_not_seen() {
        let mut trail = Trail::default();
        for i in 0..=Trail::LONGEST as u32 {
            trail.visit(visit(&[i], 1.0));
        }
        assert_eq!(trail.closes_at(&[0]), None);
        assert!(trail.closes_at(&[1]).is_some());
    }
}
