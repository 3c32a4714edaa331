//! What a program has, since when, and when that took effect.

use crate::apply::MASKS;
use crate::estimate::Seen;
use scaf_policy::PuSet;

/// What a program has now.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Grant {
    pub dop: Option<u32>,
    pub pus: PuSet,
    /// Affinity that we have set, if any.
    pub set: Option<PuSet>,
    /// This and earlier ones, the latest last: threads created during a change may have any.
    pub masks: Vec<PuSet>,
    /// When its affinity was changed last,
    pub moved_ns: Option<u64>,
    /// its number of threads then, and when they were counted last.
    pub threads: u32,
    pub counted: u32,
    /// Whether new threads of it weren't moved at the last tick, because it was making a child.
    pub put_off: bool,
    pub epoch: u32,
    /// When this DoP was granted (CLOCK_MONOTONIC), its affinity set, and when it was in effect.
    pub granted_ns: u64,
    pub affinity_ns: Option<u64>,
    pub effective_ns: Option<u64>,
    grew: bool,
    promised: u64,
    regions: u64,
    /// Whether the program is to send a packet when it enters a region; see [`super::Program::is_lent`].
    pub lent: bool,
    /// Whether that is for its phase ([`super::Phase::lends`]), and not for a wait in MPI alone.
    pub lent_by_phase: bool,
    /// Whether some of its contexts are borrowed.
    pub borrows: bool,
    pub reason: String,
}

pub(super) const LONG_REGION_NS: u64 = 100_000_000;

impl Grant {
    /// Before the first decision; `set` is an affinity of ours that the program has inherited.
    pub fn before(set: Option<PuSet>, threads: u32) -> Grant {
        Grant { masks: set.iter().cloned().collect(), set, threads, counted: threads, ..Grant::default() }
    }

    /// Records an affinity that is about to be set.
    pub fn remember(&mut self, mask: &PuSet) {
        self.masks.retain(|known| known != mask);
        self.masks.push(mask.clone());
        let surplus = self.masks.len().saturating_sub(MASKS);
        self.masks.drain(..surplus);
    }

    /// Something else is published about the same contexts.
    pub fn renew(&mut self) {
        self.epoch = self.epoch.wrapping_add(1).max(1);
    }

    /// Records a decision, given the latest reading of the page. True if DoP or PUs changed.
    pub fn change(&mut self, dop: Option<u32>, pus: PuSet, seen: Option<&Seen>, now_ns: u64) -> bool {
        let resized = self.dop != dop || self.epoch == 0;
        if !resized && self.pus == pus {
            return false;
        }
        if resized {
            self.grew = self.epoch != 0 && dop.unwrap_or(u32::MAX) > self.dop.unwrap_or(u32::MAX);
            self.granted_ns = now_ns;
            self.affinity_ns = None;
            self.effective_ns = None;
            (self.promised, self.regions) = seen.map_or((0, 0), |seen| (seen.promised, seen.regions));
        }
        self.dop = dop;
        self.pus = pus;
        self.renew();
        true
    }

    /// The page at the moment of a grant: regions left since the last tick were entered before it.
    pub fn made_at(&mut self, seen: &Seen) {
        (self.promised, self.regions) = (seen.promised, seen.regions);
    }

    /// Whether a smaller team still runs a region that was entered before this grant.
    pub fn outlived_by(&self, seen: &Seen) -> bool {
        let old = seen.in_region && seen.regions <= self.regions;
        old && self.dop.is_some_and(|dop| seen.team < dop)
    }

    /// Records that the affinity was set.
    pub fn affinity_set(&mut self, set: Option<PuSet>, now_ns: u64) {
        if let Some(mask) = &set {
            self.remember(mask);
        }
        self.set = set;
        self.moved_ns = Some(now_ns);
        // A thread created meanwhile is counted before it is listed, so the next tick checks all once more.
        self.threads = 0;
        self.affinity_ns.get_or_insert(now_ns);
    }

    /// Checks whether the grant is in effect at `now_ns`, for a program that has `natural` contexts alone.
    /// `team` is the latest reading where teams are resized, and `team_since_ns` when that team first had its
    /// size. A region entered under a larger grant is folded: in effect with the affinity, unless it soon
    /// ends.
    pub fn settle(&mut self, team: Option<Seen>, natural: u32, team_since_ns: u64, now_ns: u64) {
        let (None, Some(affinity_ns)) = (self.effective_ns, self.affinity_ns) else { return };
        let (Some(dop), Some(seen)) = (self.dop, team) else {
            // It isn't managed, is folded, or has yet to enter a region: the affinity is all there is.
            self.effective_ns = Some(affinity_ns);
            return;
        };
        let promised = seen.promised > self.promised && seen.last_team > dop;
        let there = if self.grew { seen.last_team >= dop.min(natural) } else { seen.last_team <= dop };
        let caught = seen.in_region
            && !self.grew
            && seen.last_team > dop
            && now_ns.saturating_sub(affinity_ns) > LONG_REGION_NS;
        if promised || caught {
            self.effective_ns = Some(affinity_ns);
        } else if there {
            self.effective_ns = Some(affinity_ns.max(team_since_ns));
        }
    }
}
