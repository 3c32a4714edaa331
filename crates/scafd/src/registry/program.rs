//! One program: its parts, and what follows from several of them together.

use super::code::{Code, Teams};
use super::evidence::Evidence;
use super::grant::Grant;
use super::identity::{Binding, Identity, Limits, Reach};
use super::phase::Phase;
use super::stuck::Stuck;
use crate::apply::Target;
use crate::estimate::Seen;
use scaf_policy::counters::Counts;
use scaf_policy::earlier_runs::EarlierRuns;
use scaf_policy::efficiency::Interval;
use scaf_policy::observed::Runs;
use scaf_policy::{PuSet, explore};
use scaf_proto::grant::Word;

#[derive(Clone, Debug)]
pub struct Program {
    pub identity: Identity,
    pub limits: Limits,
    pub reach: Reach,
    pub code: Code,
    pub grant: Grant,
    pub evidence: Evidence,
    pub phase: Phase,
}

impl Program {
    /// Team size without us, within its usable PUs.
    pub fn natural(&self) -> u32 {
        let reported = self.evidence.seen.map_or(0, |seen| seen.natural);
        let natural = if reported > 0 { reported } else { self.limits.natural };
        natural.min(u32::try_from(self.reach.usable.len()).unwrap_or(u32::MAX)).max(1)
    }

    /// Its user's word and the kernel's.
    pub fn weight(&self) -> f64 {
        self.limits.weight * self.reach.weight()
    }

    /// The most contexts that its user and its control groups permit.
    pub fn most(&self) -> u32 {
        let wished = if self.limits.max == 0 { u32::MAX } else { self.limits.max };
        self.reach.cgroup.contexts().map_or(wished, |quota| quota.min(wished))
    }

    /// Whether it may have all contexts that it would have without us.
    pub fn may_have_all(&self) -> bool {
        self.most() >= self.natural()
    }

    /// Contexts that it uses now.
    pub fn contexts(&self) -> u32 {
        self.grant.dop.unwrap_or_else(|| self.natural())
    }

    /// Whether it has been in a parallel region, by the latest reading of its page.
    pub fn had_region(&self) -> bool {
        self.evidence.seen.is_some_and(|seen| seen.last_team > 0)
    }

    /// Whether its teams may be resized, by its code or a permission.
    pub fn resizes(&self) -> bool {
        self.code.teams == Teams::Resizable
            || self.evidence.seen.is_some_and(|seen| seen.permission.is_some())
    }

    /// Its threads, for changing their affinity.
    pub fn target(&self) -> Target<'_> {
        let Identity { pid, starttime, .. } = self.identity;
        let any_mask = self.reach.binding == Binding::Runtime;
        Target { pid, starttime, own: &self.reach.own, masks: &self.grant.masks, any_mask }
    }

    pub fn word(&self) -> Word {
        let Some(dop) = self.grant.dop else {
            let unmanaged = Word::UNMANAGED.with_epoch(self.grant.epoch);
            // One that is left alone for its loops may still have them yield, and then share.
            return match self.code.is_found_rigid() {
                true => unmanaged.with_spins(true).with_inspected(self.code.inspected),
                false => unmanaged,
            };
        };
        Word::managed(u16::try_from(dop).unwrap_or(u16::MAX))
            .with_folded(self.grant.set.is_some())
            .with_spins(self.code.spins.is_some())
            .with_inspected(self.code.inspected)
            .with_lent(self.grant.lent)
            .with_borrowed(self.grant.borrows)
            .with_resizable(self.code.teams == Teams::Resizable)
            .with_gathers(self.code.gathers())
            .with_epoch(self.grant.epoch)
    }

    /// The program as policies see it.
    pub fn request(&self) -> scaf_policy::Program {
        let judged = self.evidence.judged(self.natural());
        scaf_policy::Program {
            id: self.identity.id,
            user: self.identity.owner,
            tree: self.identity.tree,
            min: self.limits.min.min(self.most()),
            max: self.most(),
            weight: self.weight(),
            natural: self.natural(),
            dop: judged.map_or(self.grant.dop.unwrap_or(0), |(dop, _)| dop),
            efficiency: judged.map(|(_, efficiency)| efficiency),
            curve: self.evidence.known.iter().map(|known| known.measured).collect(),
            profile: self.evidence.profile.clone(),
            serial: self.phase.serial,
            idle: self.phase.idle,
            background: self.reach.is_background(),
            team: 0,
            fixed_team: self.fixed_team(),
            rigid: self.code.rigid().is_some(),
        }
    }

    /// The team that it keeps; a rigid program's and an unmanaged one's don't matter.
    fn fixed_team(&self) -> u32 {
        let follows = self.grant.dop.is_some() && self.code.rigid().is_none();
        if follows { self.evidence.kept_team.size() } else { 0 }
    }

    /// Records a decision. True if DoP or PUs changed, so that it has to be applied.
    pub fn regrant(&mut self, dop: Option<u32>, pus: PuSet, reason: String, now_ns: u64) -> bool {
        self.grant.reason = reason;
        self.grant.change(dop, pus, self.evidence.seen.as_ref(), now_ns)
    }

    /// Records that it is unmanaged from now on.
    pub fn ungrant(&mut self, why: String, now_ns: u64) {
        self.regrant(None, self.reach.own.clone(), why, now_ns);
    }

    /// Adds a reading and its interval's efficiency at the present DoP; not of a step (`stepped`).
    pub fn measured(&mut self, seen: Seen, stepped: bool) {
        // A smaller team from before the grant says nothing of the DoP that was granted.
        self.evidence.seen = Some(seen);
        let may_be_resized = self.resizes() || self.code.teams == Teams::Pending;
        let contexts = (self.contexts(), self.natural());
        self.evidence.kept_team.look(&seen, contexts, may_be_resized);
        let outlived = self.grant.outlived_by(&seen);
        self.evidence.measured(&seen, self.contexts(), !stepped && !self.lends_all(), outlived);
    }

    /// Adds an interval's efficiency as it was measured from outside.
    pub fn measured_outside(&mut self, interval: &Interval) {
        self.evidence.measured_outside(self.contexts(), interval);
        self.know();
    }

    /// Adds what its regions did in the latest interval.
    pub fn ran(&mut self, runs: &[Runs]) {
        if !(self.lends_all() && runs.is_empty()) {
            self.evidence.ran(self.contexts(), runs);
        }
    }

    /// Adds what was counted in that interval; it has had its DoP for `steady_s`.
    pub fn counted(&mut self, counts: &Counts, steady_s: f64) {
        if !self.lends_all() {
            self.evidence.counted(self.contexts(), counts, steady_s);
        }
    }
    /// Updates the known curve: once a tick, since decisions may be many more.
    pub fn know(&mut self) {
        self.evidence.know(self.natural(), self.contexts());
    }

    /// Takes what earlier runs measured. It stays the profile, unless one was given.
    pub fn remember(&mut self, past: EarlierRuns) {
        self.evidence.remember(past);
        self.know();
    }

    /// The earlier runs were another program's.
    pub fn forget_past(&mut self) {
        self.evidence.forget_past();
        self.know();
    }

    /// Takes a step, if there is a DoP worth it.
    pub fn explore(&mut self, now_ns: u64) {
        let Some(dop) = self.grant.dop else { return };
        let (observed, min) = (&self.evidence.observed, self.limits.min);
        self.evidence
            .steps
            .take(&observed.dops_beside(dop), now_ns, |tried| explore::step(observed, (min, dop), tried));
    }

    /// Checks whether the grant is in effect at `now_ns`; the latest team has had its size since
    /// `team_since_ns`.
    pub fn settle(&mut self, team_since_ns: u64, now_ns: u64) {
        let resized = self.resizes();
        let team = self.evidence.seen.filter(|seen| resized && seen.last_team > 0);
        self.grant.settle(team, self.natural(), team_since_ns, now_ns);
    }

    /// Whether it waits for itself: folded in a region, with loops that spin, by [`Stuck::watch`]. `runnable`
    /// counts its runnable threads, up to some number at least.
    pub fn is_stuck(
        &mut self,
        (cpu_ns, now_ns): (u64, u64),
        known: bool,
        runnable: impl FnOnce(usize) -> usize,
    ) -> bool {
        let seen = self.evidence.seen.filter(|seen| seen.in_region && Some(seen.team) > self.grant.dop);
        let bound = !self.resizes() || seen.is_some_and(|seen| seen.promised > 0);
        let folded = self.code.spins.is_some()
            && self.reach.alone.is_none()
            && self.code.rigid().is_none()
            && self.grant.set.is_some()
            && !self.phase.idle
            && bound;
        let seen = seen.filter(|seen| !seen.yields);
        let (Some(seen), Some(dop), true) = (seen, self.grant.dop, folded) else {
            self.phase.stuck = None;
            return false;
        };
        // Out of its turn it is always runnable.
        let takes_turns = self.phase.takes_turns;
        let oversubscribed = || !takes_turns && runnable(dop as usize + 1) > dop as usize;
        Stuck::watch(&mut self.phase.stuck, (&seen, dop), (cpu_ns, now_ns), known, oversubscribed)
    }

    /// Whether it is known to make progress on `part` contexts, without turns.
    pub fn shares(&self, part: u32) -> bool {
        let spins_alone = || self.code.only_spins() && self.natural() > part;
        self.code.teams != Teams::Pending && self.code.rigid().is_none() && !spins_alone()
    }

    /// Ends turns or being left alone if its loops have begun to yield. True if they have.
    pub fn learn_yields(&mut self) -> bool {
        let yields = self.evidence.seen.is_some_and(|seen| seen.yields);
        let before = if yields { self.code.yields() } else { None };
        if before.is_some() && self.reach.alone == before {
            self.reach.alone = None;
        }
        if before.is_some() {
            self.reach.keep_no_more();
        }
        before.is_some()
    }

    /// Whether all contexts but its minimum are lent, so that what it does isn't measured.
    pub fn lends_all(&self) -> bool {
        self.grant.lent && self.contexts() <= self.limits.min.max(1)
    }

    /// Whether it has to send a packet when it enters a region: it is serial and has fewer contexts than it
    /// can use.
    pub fn is_lent(&self) -> bool {
        self.phase.serial && self.grant.dop.is_some_and(|dop| dop < self.natural())
    }
}
